# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the command line, in a separate process."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import threading
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from sandbox import Change, Fault
from sandbox.account import example_servers
from sandbox.cli import parse_change, parse_fault

from .conftest import call

SANDBOX = Path(__file__).resolve().parents[2] / "sandbox"


def command(*options: str) -> list[str]:
    """Return the command line, for a free port unless an option sets another."""
    return [sys.executable, "-E", "-B", "-W", "error", str(SANDBOX), "--port", "0", *options]


def run(*options: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        command(*options), capture_output=True, check=False, text=True, timeout=60
    )


@contextmanager
def running(*options: str) -> Iterator[SimpleNamespace]:
    """Run the command during the block; its first line contains the URL and the token."""
    with subprocess.Popen(
        command(*options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        # A process that prints nothing fails the test instead of blocking it.
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        try:
            first = process.stdout.readline() if process.stdout else ""
            match = re.fullmatch(r"Listening on (\S+) with token (\S+)\n", first)
            assert match, first
            host, port = re.findall(r"^https?://(.+):(\d+)$", match[1])[0]
            yield SimpleNamespace(
                process=process, url=match[1], token=match[2], host=host, port=int(port)
            )
        finally:
            watchdog.cancel()
            process.kill()


def finish(process: subprocess.Popen[str], number: signal.Signals) -> tuple[int, str, str]:
    """Send a signal and return the exit status and the rest of the output."""
    process.send_signal(number)
    assert process.stdout
    assert process.stderr
    # Not communicate(), which would miss what readline() has read ahead.
    output, errors = process.stdout.read(), process.stderr.read()
    return process.wait(), output, errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_url_and_stops_although_a_client_waits(number: signal.Signals) -> None:
    with (
        running("--servers", "3", "--fault", "hang,after=1") as server,
        socket.create_connection((server.host, server.port), 60) as connection,
    ):
        assert server.token == "sandbox-token"
        assert len(call(server).json()["data"]) == 3
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        status, output, errors = finish(server.process, number)
        assert (status, errors) == (0, "")
        assert f"export SERVER_MANAGEMENT_BASE_URL={server.url}\n" in output
        assert "ansible-inventory -i " in output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--certfile", "none.pem"], "tls: can't use none.pem"),
        (["--data", "none.json"], "can't read none.json"),
        (["--port", "70000"], "expected 0 to 65535"),
        (["--change", "disappear=web-99"], "change: no server is named 'web-99' after 0 s"),
    ],
)
def test_an_invalid_option_is_named(options: list[str], message: str) -> None:
    result = run(*options)
    assert result.returncode in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_the_options_reach_the_sandbox(tmp_path: Path) -> None:
    data = tmp_path / "servers.json"
    servers = [1, {"id": "srv_ü"}, None]
    data.write_text(json.dumps(servers, ensure_ascii=False), encoding="utf-8")
    options = ["--token", "own", "--data", str(data), "--host", "127.0.0.2", "--verbose"]
    paging = ["--pagination", "link", "--pagination-parameter", "p", "--page-size", "2"]
    with running(*options, *paging, "--fault", "status=503,retry_after=1,times=2") as server:
        assert (server.token, server.host) == ("own", "127.0.0.2")
        assert [call(server).headers.get("Retry-After") for _number in range(3)] == ["1", "1", None]
        assert call(server).json() == {"data": servers[:2], "has_more": True}
        assert call(server, "/servers?p=2").json() == {"data": [None], "has_more": False}
        errors = finish(server.process, signal.SIGTERM)[2]
        assert len(errors.splitlines()) == 5
        assert "GET /api/v1/servers?p=2: 200" in errors


def test_the_account_of_the_documents_is_served_and_changes_on_schedule() -> None:
    changes = ["--change", "appear=new-01,plan=large", "--change", "at=3600,disappear=new-01"]
    with running("--example", *changes) as server:
        *known, new = call(server).json()["data"]
    assert known == example_servers()
    assert (new["name"], new["plan"]) == ("new-01", "large")
    assert all(one["ipv4"].startswith("127.0.") for one in (*known, new))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("status=503,times=2,retry_after=1", (Fault(status=503, retry_after="1"), {"times": 2})),
        ("hang,times=always", (Fault.hang(), {"times": None})),
        (
            "cut=body,drip_body=0.1,chunked=true",
            (Fault(cut="body", drip_body=0.1, chunked=True), {}),
        ),
        ("location=/?a=b,status=302", (Fault(location="/?a=b", status=302), {})),
        ("at=1.5,appear=web-99,plan=a=b", Change("appear", "web-99", 1.5, {"plan": "a=b"})),
        ("change=srv_1,name=new,at=2", Change("change", "srv_1", 2, {"name": "new"})),
    ],
)
def test_a_fault_or_change_is_parsed(spec: str, expected: object) -> None:
    assert (parse_change if isinstance(expected, Change) else parse_fault)(spec) == expected


@pytest.mark.parametrize(
    ("parse", "spec", "message"),
    [
        (parse_fault, "boom", "can't use 'boom'"),
        (parse_fault, "colour=red", "can't use 'colour=red'"),
        (parse_fault, "cut=late", "cut: expected start, headers or body, not 'late'"),
        (parse_change, "at=soon,appear=a", "can't use 'at=soon'"),
        (parse_change, "appear=a,disappear=b", "exactly one of"),
        (parse_change, "appear=", "needs the name of a server"),
        (parse_change, "change=a", "a: nothing is to be changed"),
        (parse_change, "disappear=a,status=off", "no new values"),
    ],
)
def test_an_invalid_fault_or_change_is_refused(
    parse: Callable[[str], object], spec: str, message: str
) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        parse(spec)
