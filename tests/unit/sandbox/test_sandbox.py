# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the tests of the plugins, which run against the sandbox, take for granted."""

from __future__ import annotations

import http.client
import ipaddress
import time
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any

import pytest

from sandbox import Change, Sandbox
from sandbox.account import DOCUMENTATION_NETWORKS, make_servers
from sandbox.changes import Schedule
from sandbox.cli import parse_change


@pytest.mark.parametrize(
    "value", ["", "Bearer", "Bearer wrong", "bearer sandbox-token", "Basic eA=="]
)
def test_another_authorization_is_rejected(fetch: Callable[..., Any], value: str) -> None:
    with Sandbox() as sandbox:
        response = fetch(sandbox, headers={"Authorization": value})
        assert (response.status, response.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_a_token_without_the_scope_is_refused(fetch: Callable[..., Any]) -> None:
    with Sandbox(scopes=["billing:read"]) as sandbox:
        assert fetch(sandbox).status == 403


def test_requests_and_their_connections_are_recorded(fetch: Callable[..., Any]) -> None:
    with Sandbox(prefix="/tenant") as sandbox:
        connection = http.client.HTTPConnection(sandbox.host, sandbox.port, timeout=5)
        served = "/tenant/api/v1/servers?a=1&b="
        headers = {"User-Agent": "test/1"}
        assert fetch(sandbox, served, headers=headers, connection=connection).status == 200
        sent = fetch(sandbox, "/other", method="POST", body=b"sent", connection=connection)
        connection.close()
        assert (sent.status, fetch(sandbox).status) == (404, 404)
        first, second, third = sandbox.requests
    assert (first.method, first.path) == ("GET", "/tenant/api/v1/servers")
    assert (first.query, first.headers["user-agent"]) == ({"a": "1", "b": ""}, "test/1")
    assert (second.method, second.path, second.body) == ("POST", "/other", b"sent")
    assert first.received <= second.received <= time.monotonic()
    assert (first.connection, second.connection, third.connection) == (1, 1, 2)
    assert sandbox.connections == 2


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "192.0.2.1", "::", "::ffff:127.0.0.1", "localhost", ""]
)
def test_it_listens_only_on_loopback(host: str) -> None:
    with pytest.raises(ValueError, match=r"127\.0\.0\.0/8 or ::1"):
        Sandbox(host=host)


def test_it_ignores_paging_that_is_not_set_and_refuses_an_unknown_cursor(
    fetch: Callable[..., Any],
) -> None:
    with Sandbox(4, page_size=2) as sandbox:
        response = fetch(sandbox, "/api/v1/servers?resume=2&starting_after=none")
        assert response.json == {"data": sandbox.servers, "has_more": False}
    with Sandbox(pagination="cursor") as sandbox:
        assert fetch(sandbox, "/api/v1/servers?starting_after=srv_none").status == 400


@pytest.mark.parametrize("addresses", ["documentation", "loopback"])
def test_generated_servers_are_unique_and_at_addresses_of_no_real_host(addresses: str) -> None:
    networks = DOCUMENTATION_NETWORKS if addresses == "documentation" else ("127.0.0.0/8",)
    allowed = [ipaddress.ip_network(network) for network in networks]
    servers = make_servers(2_000, addresses)
    assert servers[:12] == make_servers(12, addresses)
    for field in ("id", "name", "ipv4"):
        assert len({server[field] for server in servers}) == 2_000
    for server in servers:
        assert any(ipaddress.ip_address(server["ipv4"]) in network for network in allowed)


def test_changes_are_made_when_they_are_due() -> None:
    now = [1000.0]
    servers = list(make_servers(2))
    changes = [
        Change("disappear", "db-01", at=30),
        Change("appear", "new-01", at=10),
        Change("change", "new-01", at=20, fields={"status": "stopped"}),
    ]
    schedule = Schedule(changes, "documentation", lambda: now[0])
    schedule.check(servers)
    schedule.start()
    states = []
    for now[0] in (1009, 1010, 1020, 1030, 1040):
        schedule.apply(servers)
        states.append({server["name"]: server["status"] for server in servers})
    running = {"web-01": "running", "db-01": "running"}
    assert states == [
        running,
        {**running, "new-01": "running"},
        {**running, "new-01": "stopped"},
        {"web-01": "running", "new-01": "stopped"},
        {"web-01": "running", "new-01": "stopped"},
    ]


@pytest.mark.parametrize(
    ("spec", "change"),
    [
        ("appear=web-99", Change("appear", "web-99")),
        ("at=1.5,appear=web-99,plan=a=b", Change("appear", "web-99", 1.5, {"plan": "a=b"})),
        ("change=srv_1,name=new,at=2", Change("change", "srv_1", 2, {"name": "new"})),
        ("disappear=web-99,at=9", Change("disappear", "web-99", 9)),
    ],
)
def test_a_change_is_parsed(spec: str, change: Change) -> None:
    assert parse_change(spec) == change


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "can't use ''"),
        ("at=soon,appear=a", "can't use 'at=soon'"),
        ("at=-1,appear=a", "expected at to be 0 or more"),
        ("appear=a,disappear=b", "exactly one of"),
        ("appear=", "needs the name of a server"),
        ("change=a", "a: nothing is to be changed"),
        ("disappear=a,status=off", "no new values"),
    ],
)
def test_an_invalid_change_is_refused(spec: str, message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        parse_change(spec)
