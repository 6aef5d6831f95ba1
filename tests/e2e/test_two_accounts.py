# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two accounts in one run: no host of one is lost to the other, and nothing is shared."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from support.run import Result, Runner

from .conftest import KNOWN, Source, hosts, members

# The second account has a server named as one of the first, and one of its own.
OTHERS = [
    {**KNOWN[0], "id": "srv_a", "ipv4": "198.51.100.1", "region": "us-1"},
    {**KNOWN[1], "id": "srv_b", "ipv4": "198.51.100.2", "name": "cache-1"},
]


@pytest.fixture
def other(runner: Runner, tmp_path: Path) -> Generator[Source, None, None]:
    with Sandbox(servers=OTHERS, token="t0ken-of-the-0ther") as api:
        yield Source(runner, api, tmp_path)


def both(source: Source, other: Source, *arguments: str, **options: Any) -> Result:
    """List both accounts; the options are those of the second one."""
    first = source.file("first.server_management.yml")
    second = other.file("second.server_management.yml", **options)
    return source.runner.inventory("-i", first, "-i", second, "--list", *arguments).ok()


@pytest.mark.promise("lost")
@pytest.mark.parametrize("options", [{}, {"hostvars_prefix": "vm_"}], ids=str)
def test_no_host_is_lost(source: Source, other: Source, options: dict[str, Any]) -> None:
    result = both(source, other, **options)
    listing = result.json()
    assert hosts(listing) == ["cache-1", "db-1", "web-1", "web-1_srv_a", "web-2"]
    hostvars = listing["_meta"]["hostvars"]
    assert hostvars["web-1"]["ansible_host"] == KNOWN[0]["ipv4"]
    assert hostvars["web-1_srv_a"]["ansible_host"] == OTHERS[0]["ipv4"]
    assert members(listing, "region_eu_1") == ["db-1", "web-1"]
    assert members(listing, "region_us_1") == ["web-1_srv_a"]
    assert result.says(
        "second.server_management.yml: 1 server has the name of a host of another source, so its "
        "id is added: web-1_srv_a."
    )
    assert not result.says("share")
    for api in (source.sandbox, other.sandbox):
        assert [request.headers["Authorization"] for request in api.requests] == [
            f"Bearer {api.token}"
        ]


def test_one_account_in_two_files_is_one_fleet(source: Source) -> None:
    running = source.file("a.server_management.yml", statuses=["running"], group="up")
    url = f"{source.sandbox.url}/api/v1/"
    every = source.file("b.server_management.yml", base_url=url, hostvars_prefix="vm_")
    result = source.runner.inventory("-i", running, "-i", every, "--list").ok()
    assert result.stderr == ""
    listing = result.json()
    assert hosts(listing) == ["db-1", "web-1", "web-2"]
    assert members(listing, "up") == ["db-1", "web-1"]
    known = listing["_meta"]["hostvars"]["web-1"]
    assert known["server_id"] == known["vm_id"] == "srv_1"


@pytest.mark.promise("lost")
def test_two_apis_may_give_the_same_id(source: Source, other: Source) -> None:
    other.sandbox.servers[0]["id"] = KNOWN[0]["id"]
    listing = both(source, other).json()
    assert hosts(listing) == ["cache-1", "db-1", "web-1", "web-1_srv_1", "web-2"]


def test_each_account_has_its_own_options_and_faults(source: Source, other: Source) -> None:
    result = both(source, other, api_token="wrong")
    assert hosts(result.json()) == ["db-1", "web-1", "web-2"]
    assert result.says("second.server_management.yml")
    assert result.says("rejected the token")
    assert not result.says("first.server_management.yml: ")
