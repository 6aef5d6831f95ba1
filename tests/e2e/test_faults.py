# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults of every kind, each in a separate account: many of them in one command.

Each command lists a good account too: it stays whole, whatever becomes of the others.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from sandbox import Fault

from .conftest import KNOWN, THREE, Cases, as_arguments, check_refused, failures, hosts

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

    name: str
    fault: Fault
    texts: tuple[str, ...]
    requests: int = 1
    page: int | None = None
    options: dict[str, Any] = field(default_factory=dict)
    account: dict[str, Any] = field(default_factory=dict)


def _status(status: int, *texts: str, retries: int = 3) -> Case:
    options, texts = {"retries": retries}, (*texts, f"HTTP {status}")
    return Case(f"status-{status}", Fault(status=status), texts, options=options)


def _paged(name: str, fault: Fault, *texts: str, style: str = "cursor", **changes: Any) -> Case:
    account = {"servers": 9, "page_size": 4, "pagination": style}
    return Case(
        f"page-{name}", fault, texts, options={"pagination": style}, account=account, **changes
    )


FAILING = "The API is failing"
# One fault of each kind: the unit tests of the client, and of its files, have the others.
STATUSES = [
    _status(204, "unexpected status"),
    Case(
        "redirect",
        Fault(status=302, location="/api/v1/servers"),
        ('redirects to "/api/v1/servers"', "HTTP 302", "set base_url to it"),
    ),
    _status(401, "rejected the token", "Check api_token"),
    _status(403, "may lack the scope servers:read"),
    _status(404, "no list of servers at http://127.0.0.1:", "/api/v1/servers", "Check base_url"),
    _status(501, FAILING),
    _status(503, FAILING, retries=0),
]
BROKEN = [
    Case("reset", Fault.reset(), ("Cannot reach 127.0.0.1:", "reset")),
    Case("close", Fault(cut="body"), ("Cannot reach 127.0.0.1:", "closed before the end")),
    Case("hang", Fault.hang(), ("within 0.4 s", "timeout"), options={"timeout": 0.4}),
    Case(
        "throttled",
        Fault(status=429, retry_after=0),
        ("throttling", "HTTP 429", "Tried 2 times"),
        requests=2,
        options={"retries": 1},
    ),
]
CONTENT = [
    Case("html", Fault.html(), ("not JSON", "text/html")),
    Case("encoding", Fault(headers={"Content-Encoding": "br"}), ('the encoding "br"',)),
    Case("no-more", Fault(body={"data": []}), ('no boolean "has_more"',)),
    Case("element", Fault(data=["x"]), ("Element 0 of data is not an object",)),
    Case("no-id", Fault(data=[{"id": "a"}, {"id": ""}]), ("Element 1 of data has no text id",)),
    Case(
        "twice",
        Fault(body=b'{"data":[{"id":"a","id":"b"}],"has_more":false}'),
        ('the key "id" twice',),
    ),
]
PAGES = [
    _paged("fails", Fault(status=503), FAILING, page=2, requests=2),
    _paged(
        "elsewhere",
        Fault(link='<http://localhost:1{next}>; rel="next"'),
        "another origin",
        style="link",
    ),
    Case("more", Fault(has_more=True), ("has more servers than the 3", "Set pagination")),
]
TABLES = (STATUSES, BROKEN, CONTENT, PAGES)
# The groups of the good account, and Ansible's own.
GROUPS = [
    "good", "plan_large", "plan_small", "region_eu_1", "region_eu_2", "status_running",
    "status_stopped", "ungrouped",
]  # fmt: skip


def refuse(cases: Cases, texts: dict[str, tuple[str, ...]]) -> None:
    """List accounts that must fail with these texts, and a good one, which must be whole."""
    cases.add("good", cases.serve(servers=KNOWN))
    result = cases.run()
    listing = result.json()
    assert hosts(listing) == THREE
    # No group of a source that failed remains; elsewhere, empty groups are not printed.
    assert sorted(listing["all"]["children"]) == GROUPS
    check_refused(result, texts)


@pytest.mark.promise("whole", "atomic")
def test_each_fault_has_its_message_and_its_tries(cases: Cases) -> None:
    faults = {case.name: case for table in TABLES for case in table}
    assert len(faults) == sum(map(len, TABLES))
    apis = {}
    for name, case in faults.items():
        apis[name] = cases.serve(**{"servers": KNOWN, **case.account})
        apis[name].fail(case.fault, times=None, page=case.page)
        cases.add(name, apis[name], **case.options)
    refuse(cases, {name: case.texts for name, case in faults.items()})
    asked = {name: len(api.requests) for name, api in apis.items()}
    assert asked == {name: case.requests for name, case in faults.items()}


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
