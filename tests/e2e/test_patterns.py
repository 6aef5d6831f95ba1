# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which hosts a pattern addresses, whatever somebody has named a server."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import KNOWN, Cases, Source, check_refused, members

pytestmark = pytest.mark.promise("misdirected")


def named(*names: str, **fields: str) -> list[dict[str, Any]]:
    """Return running servers with these names."""
    return [
        {**KNOWN[0], "id": f"srv_{number}", "name": name, "ipv4": f"203.0.113.{number}", **fields}
        for number, name in enumerate(names, start=1)
    ]


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
    source: Source, cases: Cases
) -> None:
    source.sandbox.servers = named("region_us_1", "web-1")
    other = cases.serve(servers=[{**KNOWN[0], "id": "srv_b", "name": "b-1", "region": "us-1"}])
    cases.add("second", other)
    options: list[tuple[dict[str, Any], dict[str, list[str]]]] = [
        ({}, {"region_us_1": ["b-1"], "srv_1": ["srv_1"]}),
        # The first account makes no such groups, so that the host has its name before.
        ({"group_by": []}, {"region_us_1": ["region_us_1"], "b-1": ["b-1"]}),
    ]
    for chosen, expected in options:
        first = source.file("first.server_management.yml", **chosen)
        assert source.addressed(expected, first, cases.paths["second"]) == expected
    text = "Groups left out, because a host of another source or this machine has"
    assert source.runner.results[-1].says(text)


STATIC = """
db-prod ansible_host=198.51.100.7
old ansible_ssh_host=198.51.100.8
merged colour=red
[routers]
router
[routers:vars]
ansible_host=198.51.100.9
"""


def test_a_server_does_not_replace_the_host_of_another_source(source: Source, cases: Cases) -> None:
    static = source.folder / "static.ini"
    static.write_text(STATIC)
    source.sandbox.servers = named("db-prod", "old", "merged", "router")
    cases.add("strict", source.sandbox, strict=True)
    cases.add("lenient", source.sandbox)
    result = cases.run("-i", static)
    listing = result.json()
    hostvars = listing["_meta"]["hostvars"]
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
    assert "db-prod" not in listing
    assert sorted(members(listing, "status_running")) == [
        "db-prod_srv_1",
        "merged",
        "old_srv_2",
        "router_srv_4",
    ]
    assert result.says("3 servers have names of hosts of other sources, so their ids are added")
    assert not result.says("share a name")
    check_refused(result, {"strict": "hostnames: 3 servers have names of hosts of other sources"})


def test_a_group_does_not_take_the_name_of_a_host_of_another_source(
    source: Source, cases: Cases
) -> None:
    static = source.folder / "static.yml"
    static.write_text("all: {hosts: {region_eu_1: {own: 1}, web: {own: 2}}}\n")
    (source.folder / "group_vars").mkdir()
    (source.folder / "group_vars" / "region_eu_1.yml").write_text("of_group: true\n")
    options: dict[str, dict[str, Any]] = {
        "group": {"group": "web"},
        "groups": {"groups": {"web": False}},
        "keyed_groups": {"keyed_groups": [{"key": "server_plan", "parent_group": "web"}]},
    }
    for case, chosen in options.items():
        cases.add(case, source.sandbox, **chosen)
    # Groups that are made from values are left out.
    cases.add("values", source.sandbox, keyed_groups=[{"key": "'web'", "separator": ""}])
    result = cases.run("-i", static)
    check_refused(result, {case: f"{case}: web is a host of another source" for case in options})
    assert result.says("Groups left out, because a host of another source or this machine has")
    assert result.says("region_eu_1, web")
    listing = result.json()
    hostvars = listing["_meta"]["hostvars"]
    assert sorted(hostvars) == ["db-1", "region_eu_1", "web", "web-1", "web-2"]
    assert hostvars["region_eu_1"] == {"own": 1}
    assert "of_group" not in hostvars["web-1"]
    assert {"region_eu_1", "web"} & set(listing) == set()
    assert members(listing, "region_eu_2") == ["web-2"]


def test_no_server_is_addressed_as_this_machine(source: Source) -> None:
    source.sandbox.servers[0]["plan"] = "localhost"
    source.sandbox.servers[1]["name"] = "localhost"
    path = source.file(keyed_groups=[{"key": "server_plan", "separator": ""}])
    found = source.addressed(["localhost", "large"], path)
    assert found == {"localhost": ["localhost"], "large": ["db-1"]}
    assert source.runner.results[-1].says("Groups left out")


def test_a_server_without_a_usable_address_is_not_reached_by_its_name(
    source: Source, cases: Cases
) -> None:
    source.sandbox.servers = named("gitlab.internal", "192.168.77.5", "web-1", ipv4="")
    source.sandbox.servers[2]["ipv4"] = "::1"
    cases.add("unusable", source.sandbox, compose={"ansible_port": 2222})
    chosen = cases.serve(servers=named("web-2", ipv4=""))
    cases.add("chosen", chosen, compose={"ansible_host": "server_name ~ '.example.com'"})
    result = cases.run()
    listing = result.json()
    addresses = {
        name: values["ansible_host"] for name, values in listing["_meta"]["hostvars"].items()
    }
    assert addresses.pop("web-2") == "web-2.example.com"
    assert list(addresses.values()) == ["no-usable-ipv4.invalid."] * 3
    assert result.says("so ansible_host is no-usable-ipv4.invalid.")
