# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    is_trusted,
    mark,
    trust_plain,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._inventory import (
    add_groups,
    add_hosts,
    add_parents,
    leave_out_groups,
    taken_names,
)


def _host(name: str = "web-1", **fields: str) -> Host:
    fields = {"id": "srv_1", **fields}
    return Host(Server(fields["id"], fields), {}, ["zone"], name)


class Proxy:
    """What each source gets for the inventory from ansible-core 2.19 on."""

    def __init__(self, inventory: InventoryData) -> None:
        self.__wrapped__ = inventory

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)


@pytest.mark.promise("misdirected")
def test_a_group_made_from_a_value_with_the_name_of_a_host_is_left_out() -> None:
    hosts = [Host(Server("a", {}), {}, ["g", "web", "localhost"]), Host(Server("b", {}), {}, ["g"])]
    warnings: list[str] = []
    parents = [("up", "web"), ("web", "g"), ("up", "g")]
    assert leave_out_groups(hosts, parents, {"web", "b"}, warnings.append) == [("up", "g")]
    assert [host.groups for host in hosts] == [["g"], ["g"]]
    (warning,) = warnings
    assert warning.endswith(": localhost, web.")
    kept = leave_out_groups(hosts, [("up", "g")], {"web"}, warnings.append)
    assert kept == [("up", "g")]
    assert len(warnings) == 1


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    ("variable", "is_taken"),
    [
        *((name, True) for name in ("ansible_host", "ansible_ssh_host", "ansible_connection")),
        *((name, True) for name in ("ansible_password", "ansible_ssh_pass", "ansible_become_pass")),
        *((name, True) for name in ("ansible_ssh_password", "ansible_become_password")),
        *((name, False) for name in ("ansible_user", "ansible_port", "ansible_become", "rack")),
        *((name, False) for name in ("password", "ansible_ssh_private_key_file", "ansible_hosts")),
    ],
)
def test_a_host_with_a_connection_of_its_own_keeps_its_name(variable: str, is_taken: bool) -> None:
    names = ("web-1", "web-2", "web-3")
    inventory = InventoryData()
    for group in ("storage", "above"):
        inventory.add_group(group)
    inventory.add_child("above", "storage")
    for name in names:
        inventory.add_host(name)
    inventory.set_variable("web-1", variable, "x")
    inventory.add_child("storage", "web-2")
    inventory.set_variable("above", variable, "x")
    check = taken_names(inventory, "https://api.example.com")
    server = _host().server
    assert [check(name, server) for name in names] == [is_taken, is_taken, False]
    # What every host gets belongs to none of them.
    inventory.set_variable("all", variable, "x")
    assert check("web-3", server) is False
    assert check("web-4", server) is False


@pytest.mark.promise("lost")
@pytest.mark.parametrize(
    ("root_url", "fields", "is_taken"),
    [
        ("https://a", {}, False),
        ("https://a", {"created_at": ""}, False),  # unknown: equals any other time
        ("https://a", {"created_at": "2026-01-01T00:00:00Z"}, False),
        ("https://a", {"created_at": "2026-01-01T00:00:01Z"}, True),
        ("https://b", {"created_at": "2026-01-01T00:00:00Z"}, True),
        ("https://a", {"id": "srv_2", "created_at": "2026-01-01T00:00:00Z"}, True),
    ],
)
def test_a_server_is_known_by_its_root_url_id_and_time_of_creation(
    root_url: str, fields: dict[str, str], is_taken: bool
) -> None:
    inventory = InventoryData()
    inventory.add_group("zone")
    add_hosts(Proxy(inventory), [_host(created_at="2026-01-01T00:00:00Z")], "https://a")
    server = _host(**fields).server
    assert taken_names(Proxy(inventory), root_url)("web-1", server) is is_taken
    add_hosts(inventory, [_host()], "https://a")
    later = _host(created_at="x").server
    assert not taken_names(inventory, "https://a")("web-1", later)


def test_hosts_are_in_the_order_in_which_they_are_added_in_all_too() -> None:
    inventory = InventoryData()
    added = [["d", "b", "c"], ["a", "c", "e"]]  # of two files; one server is in both
    for number, names in enumerate(added):
        hosts = [_host(name) for name in names]
        for host in hosts:
            host.groups = [f"file_{number}", f"zone_{host.name < 'c'}"]
        add_groups(inventory, hosts, f"file_{number}")
        add_hosts(inventory, hosts, "https://a")
        inventory.reconcile_inventory()
    assert [host.name for host in inventory.groups["all"].get_hosts()] == [*"dbc", *"ae"]
    assert [host.name for host in inventory.groups["file_1"].get_hosts()] == added[1]
    assert inventory.groups["ungrouped"].get_hosts() == []
    assert inventory.hosts["a"].get_magic_vars()["group_names"] == ["file_1", "zone_True"]


@pytest.mark.promise("data")
def test_variables_are_those_that_ansible_would_set() -> None:
    values: list[Any] = ["a", "{{ 1 }}", 5, "b", "[x]", ["{{ 1 }}", "c"], None, "d", "{% x"]
    hosts = [
        Host(Server(name, {}), {"first": mark(value), "second": "x"}, ["all"], name)
        for name, value in zip("abcdefghi", values, strict=True)
    ]
    ours, theirs = InventoryData(), InventoryData()
    add_hosts(ours, hosts, "https://a")
    for host in hosts:
        theirs.add_host(host.name)
        for variable, value in host.variables.items():
            theirs.set_variable(host.name, variable, trust_plain(value))
        found, expected = ours.hosts[host.name].vars, theirs.hosts[host.name].vars
        assert found == expected
        for variable in ("first", "second"):
            assert type(found[variable]) is type(expected[variable])
            assert is_trusted(found[variable]) == is_trusted(expected[variable])


def test_parents_are_added_with_their_groups() -> None:
    inventory = InventoryData()
    inventory.add_group("child")
    add_parents(inventory, [("parent", "child")])
    assert [group.name for group in inventory.groups["parent"].child_groups] == ["child"]
