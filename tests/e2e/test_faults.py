# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults of every kind, each in a separate account: many of them in one command.

A good account in the same command stays whole, whatever becomes of the others.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest

from sandbox import Fault
from support.fixtures import KNOWN, KNOWN_NAMES
from support.run import without_white_space

from .conftest import Sources, as_arguments, failures, hosts

MOST_MEMORY = 600  # MiB; a listing may have 32 MiB

# What the command says goes to its own standard error, the peak of its memory to standard output.
MEASURED = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


# One fault of each kind: the unit tests of the client, and of its files, have the others.
FAULTS: dict[str, tuple[Fault, str | tuple[str, ...]]] = {
    "redirect": (
        Fault(status=302, location="/api/v1/servers"),
        ('redirects to "/api/v1/servers"', "HTTP 302", "set base_url to it"),
    ),
    "token": (Fault(status=401), ("rejected the token", "Check api_token", "HTTP 401")),
    "scope": (Fault(status=403), ("may lack the scope servers:read", "HTTP 403")),
    "path": (
        Fault(status=404),
        ("no list of servers at http://127.0.0.1:", "/api/v1/servers", "Check base_url"),
    ),
    "failing": (Fault(status=503), ("The API is failing", "HTTP 503")),
    "reset": (Fault.reset(), ("Cannot reach 127.0.0.1:", "reset")),
    "close": (Fault(cut="body"), ("Cannot reach 127.0.0.1:", "closed before the end")),
    "html": (Fault.html(), ("not JSON", "text/html")),
    "no_more": (Fault(body={"data": []}), 'no boolean "has_more"'),
    "more": (Fault(has_more=True), ("has more servers than the 3", "Set pagination")),
}
# The groups of the good account, and Ansible's own.
GROUPS = [
    "good", "plan_large", "plan_small", "region_eu_1", "region_eu_2", "status_running",
    "status_stopped", "ungrouped",
]  # fmt: skip


@pytest.mark.promise("whole", "atomic")
def test_each_fault_has_its_message_and_adds_nothing(sources: Sources) -> None:
    apis = [sources.serve(servers=KNOWN) for _case in FAULTS]
    for api, (case, (fault, texts)) in zip(apis, FAULTS.items(), strict=True):
        api.fail(fault, times=None)
        sources.add(case, api, fails=texts)
    # A later page fails, and an attempt is repeated.
    paged = sources.serve(servers=KNOWN, page_size=2, pagination="cursor")
    paged.fail(Fault(status=429, retry_after=0), times=None, page=2)
    texts = ("throttling", "HTTP 429", "Tried 2 times")
    sources.add("throttled", paged, fails=texts, pagination="cursor", retries=1)
    sources.add("good", sources.serve(servers=KNOWN), hosts=KNOWN_NAMES)
    listing = sources.check().json()
    assert hosts(listing) == KNOWN_NAMES
    # No group of a source that failed remains; elsewhere, empty groups are not printed.
    assert sorted(listing["all"]["children"]) == GROUPS
    assert [len(api.requests) for api in (*apis, paged)] == [1] * len(apis) + [3]


def _objects() -> Fault:
    body = b'{"data":[' + b"{}," * 2**22 + b'0],"has_more":false}'
    return Fault(body=gzip.compress(body, 1), headers={"Content-Encoding": "gzip"})


BOMBS: dict[str, tuple[Callable[[], Fault], str]] = {
    "objects": (_objects, "Element 0 of data has no text id"),
    "gzip": (Fault.gzip_bomb, "larger than 32 MiB"),
    "endless": (Fault.endless, "larger than 32 MiB"),
    "nested": (lambda: Fault.nested(1_000_000), "nested too deeply"),
}


@pytest.mark.promise("bounded")
def test_a_bomb_takes_little_memory(sources: Sources) -> None:
    for name, (fault, _text) in BOMBS.items():
        sources.add(name).fail(fault(), times=None)
    paths = as_arguments(case.path for case in sources.all.values())
    command = ("ansible-inventory", "--list", *paths)
    result = sources.runner.run("python", "-c", MEASURED, *command).ok()
    messages = failures(result)
    for name, (_fault, text) in BOMBS.items():
        assert without_white_space(text) in messages[name], name
    assert int(result.stdout) < MOST_MEMORY
