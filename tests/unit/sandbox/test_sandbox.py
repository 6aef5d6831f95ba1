# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the account: its servers, how it changes, and which requests get a fault."""

import re
import socket
from unittest.mock import Mock

import pytest
import yaml

from sandbox import Change, Fault, Sandbox
from sandbox.account import Schedule, make_servers

from .conftest import call


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


# What a client sends, and the status of the only response.
SENT = {
    "GET http://[x HTTP/1.1\r\nConnection: close\r\n\r\n": 404,
    "POST /api/v1/servers HTTP/1.1\r\nContent-Length: 9\r\n\r\nGET / HTTP/1.1\r\n\r\n": 405,
}


@pytest.mark.parametrize("sent", SENT)
def test_neither_a_malformed_target_nor_a_body_harms_the_connection(capfd, sent):
    with Sandbox() as sandbox:
        client = socket.create_connection((sandbox.host, sandbox.port), 60)
        with client, client.makefile("rb") as response:
            client.sendall(sent.encode())
            assert re.findall(rb"HTTP/1.1 (\d+)", response.read()) == [b"%d" % SENT[sent]]
    assert capfd.readouterr().err == ""


def test_the_last_requests_are_kept(monkeypatch):
    monkeypatch.setattr("sandbox.server.MAX_REQUESTS", 2)
    with Sandbox() as sandbox:
        for path in ("/1", "/2", "/3"):
            call(sandbox, path)
        assert [request.path for request in sandbox.requests] == ["/api/v1/2", "/api/v1/3"]
