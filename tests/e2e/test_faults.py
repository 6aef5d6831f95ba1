# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults of every kind, each in a separate account: many of them in one command.

Each command lists a good account too: it stays whole, whatever becomes of the others.
"""

from __future__ import annotations

import datetime
import gzip
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trustme

from sandbox import Fault

from .conftest import KNOWN, THREE, Cases, as_arguments, check_refused, failures, hosts

MOST_MEMORY = 600  # MiB; a response may have 128 MiB

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


def _status(status: int, *texts: str, **changes: Any) -> Case:
    return Case(f"status-{status}", Fault(status=status), (*texts, f"HTTP {status}"), **changes)


def _passing(status: int, text: str) -> Case:
    fault = Fault(status=status, retry_after=0)
    texts = (text, f"HTTP {status}", "Tried 2 times")
    return Case(f"status-{status}", fault, texts, 2, options={"retries": 1})


def _waits(name: str, value: int | str, *texts: str) -> Case:
    return Case(f"retry-{name}", Fault(status=429, retry_after=value), ("throttling", *texts))


def _paged(name: str, fault: Fault, *texts: str, style: str = "page", **changes: Any) -> Case:
    account = {"servers": 9, "page_size": 4, "pagination": style}
    return Case(
        f"page-{name}", fault, texts, options={"pagination": style}, account=account, **changes
    )


FAILING = "The API is failing"
UNEXPECTED = "unexpected status"
ENVELOPE = '{"data": [], "has_more": false}'
FINAL = {"retries": 3}  # tries that must not be made

STATUSES = [
    *(_status(status, UNEXPECTED, options=FINAL) for status in (101, 201, 202, 204, 206)),
    *(_status(status, "redirects to nowhere", options=FINAL) for status in (300, 304, 305)),
    *(_status(status, UNEXPECTED, options=FINAL) for status in (400, 409, 418)),
    _status(401, "rejected the token", "Check api_token", options=FINAL),
    _status(403, "lacks the scope servers:read", options=FINAL),
    _status(404, "Check base_url", options=FINAL),
    _passing(429, "throttling"),
    *(_passing(status, FAILING) for status in (500, 502, 503, 504)),
    *(_status(status, FAILING, options=FINAL) for status in (501, 599)),
]
RETRIES = [
    _waits("seconds", 61, "61 s"),
    _waits("date", "Fri, 31 Dec 2100 23:59:59 GMT", "It asks to wait"),
    _waits("past", "Fri, 31 Dec 1999 23:59:59 GMT", "0 s"),
    _waits("negative", "-5", "HTTP 429"),
    _waits("garbage", "soon", "HTTP 429"),
]
BROKEN = [
    Case("reset-start", Fault.reset(), ("Cannot reach 127.0.0.1:", "reset")),
    Case("close-start", Fault(cut="start"), ("Cannot reach 127.0.0.1:", "closed before the end")),
    Case("reset-headers", Fault(cut="headers", end="reset"), ("Cannot reach 127.0.0.1:",)),
    Case("close-headers", Fault(cut="headers"), ("closed before the end",)),
    Case("reset-body", Fault(cut="body", end="reset"), ("Cannot reach 127.0.0.1:",)),
    Case("close-body", Fault(cut="body"), ("closed before the end",)),
    Case("close-chunk", Fault(cut="body", chunked=True), ("closed before the end",)),
    Case(
        "short", Fault(headers={"Content-Length": "9999"}, cut="body"), ("closed before the end",)
    ),
    Case("long", Fault(headers={"Content-Length": "20"}), ("not JSON",)),
]
SLOW = [
    Case(name, fault, ("within 0.4 s", "timeout"), options={"timeout": 0.4})
    for name, fault in (
        ("hang-start", Fault.hang()),
        ("hang-headers", Fault(cut="headers", end="hang")),
        ("hang-body", Fault(cut="body", end="hang")),
        ("drip-headers", Fault(drip_headers=0.1)),
        ("drip-body", Fault(drip_body=0.1)),
        ("drip-chunks", Fault(drip_body=0.1, chunked=True)),
    )
]
CONTENT = [
    Case("html", Fault.html(), ("not JSON", "text/html")),
    Case("no-type", Fault(body="no", headers={"Content-Type": None}), ("not JSON",)),
    Case("lying-type", Fault(body="<html>"), ("not JSON", "application/json")),
    Case("latin-1", Fault(body=b'{"data": [{"id": "\xe9"}], "has_more": false}'), ("UTF-8",)),
    Case("no-gzip", Fault(headers={"Content-Encoding": "gzip"}), ("compressed",)),
    *(
        Case(
            f"encoding-{name}",
            Fault(headers={"Content-Encoding": name}),
            ("although only gzip was requested",),
        )
        for name in ("br", "deflate", "x-unknown")
    ),
    Case("named", Fault(headers={"Content-Encoding": "br"}), ('the encoding "br"',)),
    Case("list", Fault(body=[]), ("not an object",)),
    Case("no-data", Fault(body={"data": {}, "has_more": False}), ('no list "data"',)),
    Case("no-more", Fault(body={"data": []}), ('no boolean "has_more"',)),
    Case("element", Fault(data=["x"]), ("Element 0 of data is not an object",)),
    Case("no-id", Fault(data=[{"id": ""}]), ("Element 0 of data has no text id",)),
    Case("digits", Fault(data=[{"id": "a", "n": 10**309}]), ("a number is too large",)),
    Case(
        "exponent", Fault(body='{"data": [1e999], "has_more": false}'), ("a number is too large",)
    ),
    Case(
        "deep-field",
        Fault(body=b'{"data":[{"id":"a","x":' + b"[" * 33 + b"]" * 33 + b'}],"has_more":false}'),
        ("nested deeper than 32 levels",),
    ),
    Case(
        "deep-envelope",
        Fault(body=b'{"x":' + b"[" * 33 + b"]" * 33 + b',"data":[],"has_more":false}'),
        ("nested deeper than 32 levels",),
    ),
    Case("empty", Fault(body=""), ("not JSON",)),
    Case("two", Fault(body=ENVELOPE * 2), ("not JSON",)),
]
PAGES = [
    _paged("fails", Fault(status=503), FAILING, page=2, requests=2),
    _paged("denies", Fault(status=401), "rejected the token", page=3, requests=3),
    _paged("breaks", Fault(cut="body"), "closed before the end", page=2, requests=2),
    _paged("repeats", Fault(shift=4, has_more=True), "has no new", page=2, requests=2),
    _paged("shrinks", Fault(data=[], has_more=True), "is empty", page=2, requests=2),
    _paged(
        "loops",
        Fault(link='<{origin}/api/v1/servers>; rel="next"'),
        "has no new",
        style="link",
        requests=2,
    ),
    Case("more", Fault(has_more=True), ("has more servers than the 3", "Set pagination")),
    _paged("lost", Fault(link=""), "no Link header", style="link", page=2, requests=2),
]


TABLES = (STATUSES, RETRIES, BROKEN, SLOW, CONTENT, PAGES)
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


@pytest.mark.promise("home", "atomic")
def test_no_redirect_and_no_link_leads_the_token_away(cases: Cases) -> None:
    (cases.runner.home / ".netrc").write_text("default login somebody password else\n")
    other = cases.serve(servers=KNOWN)
    targets = {
        "host": f"{other.url}/api/v1/servers",
        "scheme": other.url.replace("http:", "https:"),
        "itself": "/api/v1/servers",
    }
    apis, texts = {}, {}
    for status in (301, 302, 303, 307, 308):
        for kind, target in targets.items():
            name = f"{kind}-{status}"
            apis[name] = cases.add(name, retries=3)
            apis[name].fail(Fault(status=status, location=target), times=None)
            texts[name] = (f'redirects to "{target}"', f"HTTP {status}", "set base_url to it")
    linked = cases.serve(servers=9, page_size=4, pagination="link")
    linked.fail(Fault(link=f'<{other.url}{{next}}>; rel="next"'), times=None)
    apis["link"] = cases.add("link", linked, pagination="link")
    refuse(cases, {**texts, "link": ("another origin",)})
    assert other.requests == []
    for name, api in apis.items():
        (request,) = api.requests
        assert request.headers["Authorization"] == f"Bearer {api.token}", name


@pytest.mark.promise("home", "atomic")
def test_no_token_is_sent_over_an_unverified_connection(cases: Cases, tmp_path: Path) -> None:
    ours = trustme.CA()
    ours.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    past = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    certificates = {
        "unknown": (trustme.CA().issue_cert("127.0.0.1"), "issuer"),
        "elsewhere": (ours.issue_cert("api.example.com"), "127.0.0.1"),
        "expired": (ours.issue_cert("127.0.0.1", not_after=past), "expired"),
    }
    texts: dict[str, tuple[str, ...]] = {}
    apis = []
    for name, (certificate, word) in certificates.items():
        path = tmp_path / f"{name}.pem"
        certificate.private_key_and_cert_chain_pem.write_to_path(str(path))
        apis.append(cases.serve(servers=KNOWN, tls=(path, None)))
        cases.add(name, apis[-1], ca_path=str(tmp_path / "ca.pem"), retries=3)
        texts[name] = ("TLS with", word, "ca_path")
    plain = cases.serve(servers=KNOWN)
    for name, base_url, *words in (
        ("no-tls", f"https://127.0.0.1:{plain.port}", "does not use TLS", "base_url"),
        ("nobody", "http://127.0.0.1:1", "127.0.0.1:1: connection refused", "Check base_url"),
        ("no-name", "https://api.invalid", "Cannot reach api.invalid:443", "does not resolve"),
        ("tls-only", f"http://127.0.0.1:{apis[0].port}", "Cannot reach", "write https in base_url"),
    ):
        cases.add(name, plain, base_url=base_url)
        texts[name] = tuple(words)
    refuse(cases, texts)
    assert [api.requests for api in (*apis, plain)] == [[]] * 4


def _objects() -> Fault:
    body = b'{"data":[' + b"{}," * (2**27 // 3 - 10) + b'0],"has_more":false}'
    return Fault(body=gzip.compress(body, 1), headers={"Content-Encoding": "gzip"})


BOMBS: dict[str, tuple[Callable[[], Fault], str]] = {
    "objects": (_objects, "more than 4,000,000 JSON values"),
    "gzip": (Fault.gzip_bomb, "larger than 128 MiB"),
    "endless": (Fault.endless, "larger than 128 MiB"),
    "nested": (lambda: Fault.nested(1_000_000), "nested deeper than 32 levels"),
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
