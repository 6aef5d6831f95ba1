# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which hosts a pattern addresses, whatever somebody has named a server."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from support.run import Runner

from .conftest import KNOWN, Source, failures, hosts

pytestmark = pytest.mark.promise("misdirected")


def named(*names: str, **fields: str) -> list[dict[str, Any]]:
    """Return running servers with these names."""
    return [
        {**KNOWN[0], "id": f"srv_{number}", "name": name, "ipv4": f"203.0.113.{number}", **fields}
        for number, name in enumerate(names, start=1)
    ]


@pytest.fixture
def other(runner: Runner, tmp_path: Path) -> Generator[Source, None, None]:
    """Return a source over an account with a server in the region us-1."""
    servers = [{**KNOWN[0], "id": "srv_b", "name": "b-1", "region": "us-1"}]
    with Sandbox(servers=servers, token="t0ken-of-the-0ther") as api:
        yield Source(runner, api, tmp_path)


def test_a_server_never_gets_the_name_of_a_possible_group(source: Source) -> None:
    names = ["status_stopped", "region_us_1", "plan_large", "created_2030", "web_x", "up", "ours"]
    source.sandbox.servers = named(*names, "web-1")
    path = source.file(
        groups={"ours": "server_name == 'nobody'"},
        keyed_groups=[
            {"key": "server_created_at[:4]", "prefix": "created", "parent_group": "up"},
            {"key": "server_plan", "prefix": "web", "separator": "-"},
        ],
    )
    found = source.addressed([*names, "all:!status_stopped", "created_2026"], path)
    everything = ["web-1", *(f"srv_{number}" for number in range(1, len(names) + 1))]
    for name in set(names) - {"up"}:
        assert found[name] == [], name
    for pattern in ("up", "created_2026", "all:!status_stopped"):
        assert sorted(found[pattern]) == sorted(everything), pattern


def test_a_server_of_one_account_is_not_addressed_as_a_group_of_another(
    source: Source, other: Source
) -> None:
    source.sandbox.servers = named("region_us_1", "web-1")
    second = other.file("second.server_management.yml")
    cases: list[tuple[dict[str, Any], dict[str, list[str]]]] = [
        ({}, {"region_us_1": ["b-1"], "srv_1": ["srv_1"]}),
        # The first account makes no such groups, so that the host has its name before.
        ({"group_by": []}, {"region_us_1": ["region_us_1"], "b-1": ["b-1"]}),
    ]
    for options, expected in cases:
        first = source.file("first.server_management.yml", **options)
        assert source.addressed(expected, first, second) == expected
    listed = source.runner.inventory("-i", first, "-i", second, "--list").ok()
    assert listed.says("Groups left out, because a host of another source or this machine has")
    assert "region_us_1" not in listed.json()


STATIC = """
db-prod ansible_host=198.51.100.7
old ansible_ssh_host=198.51.100.8
merged colour=red
[routers]
router
[routers:vars]
ansible_host=198.51.100.9
"""


def test_a_server_does_not_replace_the_host_of_another_source(source: Source) -> None:
    static = source.folder / "static.ini"
    static.write_text(STATIC)
    source.sandbox.servers = named("db-prod", "old", "merged", "router")
    path = source.file()
    result = source.runner.inventory("-i", static, "-i", path, "--list").ok()
    hostvars = result.json()["_meta"]["hostvars"]
    addresses = {name: values.get("ansible_host") for name, values in hostvars.items()}
    assert addresses == {
        "db-prod": "198.51.100.7",
        "db-prod_srv_1": "203.0.113.1",
        "old": None,
        "old_srv_2": "203.0.113.2",
        "merged": "203.0.113.3",
        "router": "198.51.100.9",
        "router_srv_4": "203.0.113.4",
    }
    assert hostvars["merged"]["colour"] == "red"
    assert result.says("3 servers have names of hosts of other sources, so their ids are added")
    assert not result.says("share a name")
    patterns = ["db-prod", "status_running"]
    found = source.addressed(patterns, static, path)
    assert found["db-prod"] == ["db-prod"]
    assert sorted(found["status_running"]) == sorted(
        ["db-prod_srv_1", "old_srv_2", "merged", "router_srv_4"]
    )
    strict = source.runner.inventory("-i", static, "-i", source.file(strict=True), "--list")
    assert hosts(strict.json()) == ["db-prod", "merged", "old", "router"]
    assert strict.says("hostnames: 3 servers have names of hosts of other sources")


def test_a_group_does_not_take_the_name_of_a_host_of_another_source(source: Source) -> None:
    static = source.folder / "static.yml"
    static.write_text("all: {hosts: {region_eu_1: {own: 1}, web: {own: 2}}}\n")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"group": "web"}, "group: web is a host of another source"),
        ({"groups": {"web": False}}, "groups: web is a host of another source"),
        (
            {"keyed_groups": [{"key": "server_plan", "parent_group": "web"}]},
            "keyed_groups: web is a host of another source",
        ),
    ]
    paths: list[str | Path] = []
    for number, (options, _text) in enumerate(cases):
        paths += ["-i", source.file(f"{number}.server_management.yml", **options)]
    result = source.runner.inventory("-i", static, *paths, "--list")
    assert hosts(result.json()) == ["region_eu_1", "web"]
    told = failures(result)
    for number, (_options, text) in enumerate(cases):
        assert "".join(text.split()) in told[f"{number}.server_management.yml"]
    # Groups that are made from values are left out.
    (source.folder / "group_vars").mkdir()
    (source.folder / "group_vars" / "region_eu_1.yml").write_text("of_group: true\n")
    path = source.file(keyed_groups=[{"key": "'web'", "separator": ""}])
    listed = source.runner.inventory("-i", static, "-i", path, "--list").ok()
    assert listed.says("Groups left out, because a host of another source or this machine has")
    assert listed.says("region_eu_1, web")
    hostvars = listed.json()["_meta"]["hostvars"]
    assert hostvars["region_eu_1"] == {"own": 1}
    assert "of_group" not in hostvars["web-1"]
    patterns = {"region_eu_1": ["region_eu_1"], "web": ["web"], "region_eu_2": ["web-2"]}
    assert source.addressed(patterns, static, path) == patterns


def test_no_server_is_addressed_as_this_machine(source: Source) -> None:
    source.sandbox.servers[0]["plan"] = "localhost"
    source.sandbox.servers[1]["name"] = "localhost"
    path = source.file(keyed_groups=[{"key": "server_plan", "separator": ""}])
    found = source.addressed(["localhost", "large"], path)
    assert found == {"localhost": ["localhost"], "large": ["db-1"]}
    assert source.runner.results[-1].says("Groups left out")


def test_a_server_without_a_usable_address_is_not_reached_by_its_name(source: Source) -> None:
    source.sandbox.servers = named("gitlab.internal", "192.168.77.5", "web-1", ipv4="")
    source.sandbox.servers[2]["ipv4"] = "::1"
    path = source.file(compose={"ansible_port": 2222})
    result = source.runner.inventory("-i", path, "--list").ok()
    for values in result.json()["_meta"]["hostvars"].values():
        assert values["ansible_host"] == "no-usable-ipv4.invalid."
    assert result.says("so ansible_host is no-usable-ipv4.invalid.")
    chosen = source.file(compose={"ansible_host": "server_name ~ '.example.com'"})
    listed = source.runner.inventory("-i", chosen, "--list").ok().json()
    assert listed["_meta"]["hostvars"]["web-1"]["ansible_host"] == "web-1.example.com"
