# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults of every kind, each in a separate account: many of them in one command.

A good account in the same command stays whole, whatever becomes of the others.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from sandbox import Fault

from .conftest import KNOWN, THREE, Cases, as_arguments, check_refused, failures, hosts, members

MOST_MEMORY = 600  # MiB; a listing may have 32 MiB

# What the command says goes to its own standard error, the peak of its memory to standard output.
MEASURED = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


@dataclass(frozen=True)
class Case:
    """A fault of each response (or of one page), and the expected message and requests."""

    fault: Fault
    texts: tuple[str, ...]
    requests: int = 1
    page: int | None = None
    options: dict[str, Any] = field(default_factory=dict)


# One fault of each kind: the unit tests of the client, and of its files, have the others.
FAULTS = {
    "redirect": Case(
        Fault(status=302, location="/api/v1/servers"),
        ('redirects to "/api/v1/servers"', "HTTP 302", "set base_url to it"),
    ),
    "token": Case(Fault(status=401), ("rejected the token", "Check api_token", "HTTP 401")),
    "scope": Case(Fault(status=403), ("may lack the scope servers:read", "HTTP 403")),
    "path": Case(
        Fault(status=404),
        ("no list of servers at http://127.0.0.1:", "/api/v1/servers", "Check base_url"),
    ),
    "failing": Case(Fault(status=503), ("The API is failing", "HTTP 503")),
    "reset": Case(Fault.reset(), ("Cannot reach 127.0.0.1:", "reset")),
    "close": Case(Fault(cut="body"), ("Cannot reach 127.0.0.1:", "closed before the end")),
    "hang": Case(Fault.hang(), ("within 0.4 s", "timeout"), options={"timeout": 0.4}),
    "throttled": Case(
        Fault(status=429, retry_after=0),
        ("throttling", "HTTP 429", "Tried 2 times"),
        requests=2,
        options={"retries": 1},
    ),
    "html": Case(Fault.html(), ("not JSON", "text/html")),
    "no_more": Case(Fault(body={"data": []}), ('no boolean "has_more"',)),
    "element": Case(Fault(data=["x"]), ("Element 0 of data is not an object",)),
    "twice": Case(
        Fault(body=b'{"data":[{"id":"a","id":"b"}],"has_more":false}'), ('the key "id" twice',)
    ),
    "page_fails": Case(
        Fault(status=503),
        ("The API is failing",),
        requests=2,
        page=2,
        options={"pagination": "cursor"},
    ),
    "elsewhere": Case(
        Fault(has_more=True, link='<http://localhost:1{next}>; rel="next"'),
        ("another origin",),
        options={"pagination": "link"},
    ),
    "more": Case(Fault(has_more=True), ("has more servers than the 3", "Set pagination")),
}
# The groups of the good account, and Ansible's own.
GROUPS = [
    "good", "plan_large", "plan_small", "region_eu_1", "region_eu_2", "status_running",
    "status_stopped", "ungrouped",
]  # fmt: skip


@pytest.mark.promise("whole", "atomic")
def test_each_fault_has_its_message_and_its_tries(cases: Cases) -> None:
    apis = {}
    for name, case in FAULTS.items():
        paging: dict[str, Any] = {"page_size": 2, "pagination": "cursor"} if case.page else {}
        apis[name] = cases.serve(servers=KNOWN, **paging)
        apis[name].fail(case.fault, times=None, page=case.page)
        cases.add(name, apis[name], **case.options)
    cases.add("good", cases.serve(servers=KNOWN))
    result = cases.run()
    listing = result.json()
    assert hosts(listing) == THREE
    # No group of a source that failed remains; elsewhere, empty groups are not printed.
    assert sorted(listing["all"]["children"]) == GROUPS
    check_refused(result, {name: case.texts for name, case in FAULTS.items()})
    requests = {name: len(api.requests) for name, api in apis.items()}
    assert requests == {name: case.requests for name, case in FAULTS.items()}


@pytest.mark.promise("whole")
def test_paging_gives_the_whole_account(cases: Cases) -> None:
    expected = {}
    for case, style, count, pages in (
        ("empty", "link", 0, 1),
        ("link", "link", 9, 3),
        ("full", "cursor", 4, 1),
        ("cursor", "cursor", 9, 3),
    ):
        names = [f"{case}-{number}" for number in range(count)]
        api = cases.serve(*names, servers=[], pagination=style, page_size=4)
        cases.add(case, api, pagination=style)
        expected[case] = (api, names, pages)
    listing = cases.list()
    for case, (api, names, requests) in expected.items():
        assert members(listing, case) == names, case
        assert len(api.requests) == requests, case
        assert len({request.connection for request in api.requests}) == 1, case


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
def test_a_bomb_takes_little_memory(cases: Cases) -> None:
    for name, (fault, _text) in BOMBS.items():
        cases.add(name).fail(fault(), times=None)
    command = ("ansible-inventory", "--list", *as_arguments(cases.paths.values()))
    result = cases.runner.run("python", "-c", MEASURED, *command).ok()
    messages = failures(result)
    for name, (_fault, text) in BOMBS.items():
        assert "".join(text.split()) in messages[f"{name}.server_management.yml"]
    assert int(result.stdout) < MOST_MEMORY
