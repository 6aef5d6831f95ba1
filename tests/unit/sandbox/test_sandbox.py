# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the account, which requests get a fault, and the command that serves them."""

import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import yaml

from sandbox import Change, Fault, Sandbox
from sandbox.account import example_servers, make_servers
from sandbox.changes import Schedule
from sandbox.cli import main, parse_fault

from .conftest import call

SANDBOX = Path(__file__).resolve().parents[2] / "sandbox"
COMMAND = (sys.executable, "-E", "-B", "-W", "error", str(SANDBOX))


def test_generated_servers_are_unique_and_at_addresses_of_no_real_host():
    servers = make_servers(2_000)
    assert servers[:12] == make_servers(12)
    for field in ("id", "name", "ipv4"):
        values = {server[field] for server in servers}
        assert len(values) == len(servers)
    for server in servers:
        assert server["ipv4"].startswith("198.18.")  # RFC 2544
        assert server["status"].startswith(("running", "made-up-"))


CHANGES = [
    Change("disappear", "db-01", at=30),
    Change("appear", "new-01", at=10),
    Change("change", "new-01", at=20, fields={"status": "stopped"}),
]


STATES = yaml.safe_load("""
9: {web-01: running, db-01: running}
10: {web-01: running, db-01: running, new-01: running}
20: {web-01: running, db-01: running, new-01: stopped}
29: {web-01: running, db-01: running, new-01: stopped}
30: {web-01: running, new-01: stopped}
""")


def test_changes_are_made_in_order_when_they_are_due(monkeypatch):
    clock = Mock(return_value=1000)
    monkeypatch.setattr("time.monotonic", clock)
    servers = make_servers(2)
    schedule = Schedule(CHANGES)
    for seconds, states in STATES.items():
        clock.return_value = 1000 + seconds
        schedule.apply(servers)
        assert {server["name"]: server["status"] for server in servers} == states


def test_only_its_own_address_is_served():
    # If it listened on all addresses, the network would reach it, and so would 127.0.0.2.
    with Sandbox() as sandbox, pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", sandbox.port), 60)


def test_faults_are_used_in_order_by_the_requests_they_are_meant_for():
    with Sandbox() as sandbox:
        sandbox.fail(Fault(status=500), times=2, after=1)
        sandbox.fail(Fault(status=503), times=None)
        # They take precedence over the checks of the token and of the path.
        for status in (503, 500, 500, 503):
            assert call(sandbox, "/nowhere", headers={}).status_code == status
        sandbox.recover()
        assert call(sandbox).status_code == 200


@contextmanager
def running(*options):
    """Run the command on a free port during the block; its first line has the URL and the token."""
    command = [*COMMAND, "--port", "0", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout
            first = process.stdout.readline()
            _listening, _on, url, _with, _token, token = first.split()
            yield SimpleNamespace(process=process, url=url, token=token)
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_url_and_stops(number):
    with running("--servers", "3") as server:
        assert server.token == "sandbox-token"
        assert len(call(server).json()["data"]) == 3
        server.process.send_signal(number)
        output = server.process.stdout.read()
        assert server.process.wait() == 0
        assert server.process.stderr.read() == ""
    assert f"export SERVER_MANAGEMENT_BASE_URL={server.url}\n" in output


INVALID = ["--fault=boom", "--change=appear=a,disappear=b", "--page-size=0"]


@pytest.mark.parametrize("option", INVALID)
def test_an_invalid_option_is_named(capsys, option):
    name, _equals, value = option.partition("=")
    with pytest.raises(SystemExit):
        main([option])
    shown = capsys.readouterr().err
    assert name in shown
    assert repr(value) in shown


def test_the_options_reach_the_sandbox():
    options = """
    --token o$wn --servers 3 --verbose --page-size 2
    --fault status=503,retry_after=1
    """
    with running(*options.split()) as server:
        assert server.token == "o$wn"
        failed = call(server)
        assert failed.status_code == 503
        assert failed.headers["Retry-After"] == "1"
        page = call(server).json()
        assert page == {"data": make_servers(3)[:2], "has_more": True}
        server.process.terminate()
        _failed, last = server.process.stderr.read().splitlines()
        assert "export SERVER_MANAGEMENT_API_TOKEN='o$wn'\n" in server.process.stdout.read()
    assert last.endswith("GET /api/v1/servers: 200")


def test_the_account_of_the_documents_is_served_and_changes_on_schedule():
    changes = ["--change", "appear=new-01,plan=large", "--change", "at=3600,disappear=new-01"]
    with running("--example", *changes) as server:
        *known, new = call(server).json()["data"]
    assert known == example_servers()
    # Loopback addresses: a newcomer who runs a playbook reaches only this machine.
    for server in known:
        assert server["ipv4"].startswith("127.")
    assert new["name"] == "new-01"
    assert new["plan"] == "large"


SPECS = yaml.safe_load("""
- ['status=503,times=2,retry_after=1', {status: 503, retry_after: 1}, {times: 2}]
- ['hang,times=always', {cut: start, end: hang}, {times: null}]
- ['chunked=true,has_more=maybe', {chunked: true, has_more: maybe}, {}]
- ['location=/?a=b,status=302', {location: '/?a=b', status: 302}, {}]
""")


@pytest.mark.parametrize(("spec", "fault", "requests"), SPECS)
def test_a_fault_is_parsed(spec, fault, requests):
    assert parse_fault(spec) == (Fault(**fault), requests)
