# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the account: where it is served, its servers, and how it changes."""

from __future__ import annotations

import ipaddress

import pytest

from sandbox import Change, Sandbox
from sandbox.account import DOCUMENTATION_NETWORKS, make_servers
from sandbox.changes import Schedule


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "192.0.2.1", "::", "::ffff:127.0.0.1", "localhost", ""]
)
def test_it_listens_only_on_loopback(host: str) -> None:
    with pytest.raises(ValueError, match=r"127\.0\.0\.0/8 or ::1"):
        Sandbox(host=host)


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
