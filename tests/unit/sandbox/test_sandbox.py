# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the account: its servers, and how it changes."""

from ipaddress import ip_address, ip_network

import pytest

from sandbox import Change
from sandbox.account import make_servers
from sandbox.changes import Schedule


# Networks of RFC 5737, RFC 2544 and RFC 1122, in which no host can be reached but this one.
@pytest.mark.parametrize(
    ("addresses", "networks"),
    [
        ("documentation", ["203.0.113.0/24", "198.51.100.0/24", "192.0.2.0/24", "198.18.0.0/15"]),
        ("loopback", ["127.0.0.0/8"]),
    ],
)
def test_generated_servers_are_unique_and_at_addresses_of_no_real_host(addresses, networks):
    servers = make_servers(2_000, addresses)
    assert servers[:12] == make_servers(12, addresses)
    for field in ("id", "name", "ipv4"):
        values = {server[field] for server in servers}
        assert len(values) == 2_000
    for server in servers:
        address = ip_address(server["ipv4"])
        assert any(address in ip_network(network) for network in networks)


def test_changes_are_made_in_order_when_they_are_due(monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 1000.0)
    servers = list(make_servers(2))
    changes = [
        Change("disappear", "db-01", at=30),
        Change("appear", "new-01", at=10),
        Change("change", "new-01", at=20, fields={"status": "stopped"}),
    ]
    schedule = Schedule(changes)
    schedule.start()

    def names_at(seconds):
        monkeypatch.setattr("time.monotonic", lambda: 1000.0 + seconds)
        schedule.apply(servers)
        return [server["name"] for server in servers]

    assert names_at(9) == ["web-01", "db-01"]
    assert names_at(10) == ["web-01", "db-01", "new-01"]
    assert servers[2]["status"] == "running"
    assert names_at(20) == ["web-01", "db-01", "new-01"]
    assert servers[2]["status"] == "stopped"
    assert names_at(40) == ["web-01", "new-01"]
