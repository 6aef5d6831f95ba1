# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the generated servers."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter

import pytest

from sandbox.account import SERVER, make_servers


def test_the_same_number_gives_the_same_servers() -> None:
    assert make_servers(40) == make_servers(40)
    assert make_servers(40)[:12] == make_servers(12)


def test_servers_have_the_documented_form() -> None:
    for server in make_servers(300):
        assert list(server) == list(SERVER)
        assert re.fullmatch(r"srv_[a-z0-9]+", server["id"])
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", server["created_at"])


def test_servers_have_different_regions_plans_and_statuses() -> None:
    servers = make_servers(12)
    assert len({server["region"] for server in servers}) == 3
    assert len({server["plan"] for server in servers}) == 4
    statuses = Counter(server["status"] for server in servers)
    assert statuses == {"running": 10, "made-up-stopped": 1, "made-up-starting": 1}
    assert [server["name"] for server in servers[:3]] == ["web-01", "db-01", "web-02"]


@pytest.mark.parametrize("addresses", ["documentation", "loopback"])
def test_ids_names_and_addresses_are_unique(addresses: str) -> None:
    servers = make_servers(100_000, addresses)
    for field in ("id", "name", "ipv4"):
        assert len({server[field] for server in servers}) == 100_000


def test_addresses_are_reserved_for_documentation_and_benchmarks() -> None:
    reserved = ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "198.18.0.0/15")
    networks = [ipaddress.ip_network(network) for network in reserved]
    for server in make_servers(2_000):
        assert any(ipaddress.ip_address(server["ipv4"]) in network for network in networks)


def test_loopback_addresses_start_after_the_address_of_the_sandbox() -> None:
    addresses = [server["ipv4"] for server in make_servers(3, "loopback")]
    assert addresses == ["127.0.0.2", "127.0.0.3", "127.0.0.4"]


@pytest.mark.parametrize("count", [-1, 200_000])
def test_an_invalid_number_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match="servers: expected"):
        make_servers(count)


def test_unknown_addresses_are_refused() -> None:
    with pytest.raises(ValueError, match="addresses: expected documentation or loopback"):
        make_servers(1, "public")
