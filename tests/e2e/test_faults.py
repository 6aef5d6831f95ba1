# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Faults of every kind, each in an account of its own: many of them in one command.

Each command lists a good account too: it stays whole, whatever becomes of the others.
"""

from __future__ import annotations

import datetime
import gzip
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trustme

from sandbox import Fault, Sandbox
from support.run import Runner

from .conftest import KNOWN, Source, hosts

THREE = ["db-1", "web-1", "web-2"]
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


class Accounts:
    """Accounts that each have a fault, and a good one, as sources of one command."""

    def __init__(self, runner: Runner, folder: Path, stack: ExitStack) -> None:
        self._runner = runner
        self._folder = folder
        self._stack = stack
        self._told: dict[Path, tuple[str, ...]] = {}
        self.add("good", Sandbox(servers=KNOWN), ())

    def add(self, name: str, api: Sandbox, texts: tuple[str, ...], **options: Any) -> Sandbox:
        """Serve an account, as the source ``name``, of which these texts must be said."""
        self._stack.enter_context(api)
        source = Source(self._runner, api, self._folder)
        self._told[source.file(f"{name}.server_management.yml", **options)] = texts
        return api

    def check(self) -> None:
        """List all of them, and compare what is said of each; the good one must be whole."""
        sources = [word for path in self._told for word in ("-i", path)]
        result = self._runner.inventory("--list", *sources).ok()
        assert "Traceback" not in result.output
        assert hosts(result.json()) == THREE
        rest = "".join(result.stderr.split())
        for path, texts in self._told.items():
            if not texts:
                continue
            # Ansible ends with this what it says of a source.
            said, end, rest = rest.partition(f"Unabletoparse{path}asaninventorysource")
            assert end, f"{path.name} was listed\n{result}"
            for text in texts:
                assert "".join(text.split()) in said, f"{path.name}: {text!r}\n{said}"


TABLES = {
    "statuses": STATUSES,
    "retries": RETRIES,
    "broken": BROKEN,
    "slow": SLOW,
    "content": CONTENT,
    "pages": PAGES,
}


@pytest.mark.promise("whole", "atomic")
@pytest.mark.parametrize("table", TABLES)
def test_each_fault_has_its_message_and_its_tries(
    runner: Runner, tmp_path: Path, table: str
) -> None:
    cases = TABLES[table]
    with ExitStack() as stack:
        accounts = Accounts(runner, tmp_path, stack)
        apis = []
        for case in cases:
            api = Sandbox(**{"servers": KNOWN, **case.account})
            api.fail(case.fault, times=None, page=case.page)
            apis.append(accounts.add(case.name, api, case.texts, **case.options))
        accounts.check()
        asked = {case.name: len(api.requests) for case, api in zip(cases, apis, strict=True)}
    assert asked == {case.name: case.requests for case in cases}


@pytest.mark.promise("home", "atomic")
def test_no_redirect_and_no_link_leads_the_token_away(runner: Runner, tmp_path: Path) -> None:
    (runner.home / ".netrc").write_text("default login somebody password else\n")
    statuses = (301, 302, 303, 307, 308)
    with ExitStack() as stack:
        accounts = Accounts(runner, tmp_path, stack)
        other = stack.enter_context(Sandbox(servers=KNOWN))
        targets = {
            "host": f"{other.url}/api/v1/servers",
            "scheme": other.url.replace("http:", "https:"),
            "itself": "/api/v1/servers",
        }
        apis = []
        for status in statuses:
            for name, target in targets.items():
                api = Sandbox(servers=KNOWN)
                api.fail(Fault(status=status, location=target), times=None)
                texts = (f'redirects to "{target}"', f"HTTP {status}", "set base_url to it")
                apis.append(accounts.add(f"{name}-{status}", api, texts, retries=3))
        linked = Sandbox(servers=9, page_size=4, pagination="link")
        linked.fail(Fault(link=f'<{other.url}{{next}}>; rel="next"'), times=None)
        apis.append(accounts.add("link", linked, ("another origin",), pagination="link"))
        accounts.check()
        assert other.requests == []
        for api in apis:
            (request,) = api.requests
            assert request.headers["Authorization"] == f"Bearer {api.token}"


@pytest.mark.promise("home", "atomic")
def test_no_token_is_sent_over_an_unverified_connection(runner: Runner, tmp_path: Path) -> None:
    ours = trustme.CA()
    ours.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    past = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    certificates = {
        "unknown": trustme.CA().issue_cert("127.0.0.1"),
        "elsewhere": ours.issue_cert("api.example.com"),
        "expired": ours.issue_cert("127.0.0.1", not_after=past),
    }
    words = {"unknown": "issuer", "elsewhere": "127.0.0.1", "expired": "expired"}
    trust = {"ca_path": str(tmp_path / "ca.pem"), "retries": 3}
    with ExitStack() as stack:
        accounts = Accounts(runner, tmp_path, stack)
        apis = []
        for name, certificate in certificates.items():
            path = tmp_path / f"{name}.pem"
            certificate.private_key_and_cert_chain_pem.write_to_path(str(path))
            api = Sandbox(servers=KNOWN, tls=(path, None))
            apis.append(accounts.add(name, api, ("TLS with", words[name], "ca_path"), **trust))
        plain = Sandbox(servers=KNOWN)
        stack.enter_context(plain)
        url = f"https://127.0.0.1:{plain.port}"
        nowhere = "https://api.invalid"
        for name, base_url, texts in (
            ("no-tls", url, ("does not use TLS", "base_url")),
            ("nobody", "http://127.0.0.1:1", ("127.0.0.1:1: connection refused", "Check base_url")),
            ("no-name", nowhere, ("Cannot reach api.invalid:443", "does not resolve")),
        ):
            accounts.add(name, Sandbox(servers=KNOWN), texts, base_url=base_url)
        accounts.check()
        assert [api.requests for api in (*apis, plain)] == [[]] * 4


def _many(value: bytes) -> Fault:
    body = b'{"data":[' + value * (2**27 // len(value) - 10) + b'0],"has_more":false}'
    return Fault(body=gzip.compress(body), headers={"Content-Encoding": "gzip"})


BOMBS = {
    "objects": _many(b"{},"),
    "members": _many(b'{"a":1},'),
    "gzip": Fault.gzip_bomb(),
    "endless": Fault.endless(),
    "nested": Fault.nested(1_000_000),
}


@pytest.mark.promise("bounded")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_little_memory(source: Source, name: str) -> None:
    source.sandbox.fail(BOMBS[name], times=None)
    command = ("ansible-inventory", "--list", "-i", source.file())
    result = source.runner.run("python", "-c", MEASURED, *command).ok()
    words = {"nested": "nested deeper than 32 levels", "gzip": "larger than 128 MiB"}
    words["endless"] = words["gzip"]
    assert result.says(words.get(name, "more than 4,000,000 JSON values"))
    assert int(result.stdout) < MOST_MEMORY


@pytest.mark.promise("cache", "whole")
def test_two_commands_at_once_share_a_cache(source: Source, tmp_path: Path) -> None:
    path = source.file(
        cache=True,
        cache_plugin="ansible.builtin.jsonfile",
        cache_connection=str(tmp_path / "cache"),
    )

    def list_twice_at_once() -> int:
        with ThreadPoolExecutor(2) as pool:
            runs = [pool.submit(source.runner.inventory, "-i", path, "--list") for run in range(2)]
            results = [run.result().ok() for run in runs]
        assert [hosts(result.json()) for result in results] == [THREE, THREE]
        assert [result.stderr for result in results] == ["", ""]
        return len(source.sandbox.requests)

    asked = list_twice_at_once()
    assert 1 <= asked <= 2
    assert list_twice_at_once() == asked
