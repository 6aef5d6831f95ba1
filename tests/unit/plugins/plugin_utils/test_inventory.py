# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    is_trusted,
    mark,
    trust,
    trust_plain,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._inventory import (
    KnownServers,
    add_groups,
    add_hosts,
    add_parents,
    leave_out_groups,
)


def _host(name: str = "web-1", **fields: str) -> Host:
    fields = {"id": "srv_1", **fields}
    return Host(Server(fields["id"], fields), {}, ["zone"], name)


def _known(inventory: InventoryData, root_url: str = "https://a", *hosts: Host) -> KnownServers:
    return KnownServers(inventory, root_url, hosts, [])


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
    host = _host()
    check = _known(inventory, "https://a", host).is_taken
    server = host.server
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
    known = _host(created_at="2026-01-01T00:00:00Z")
    add_hosts(inventory, [known], _known(inventory))
    server = _host(**fields).server
    assert _known(inventory, root_url).is_taken("web-1", server) is is_taken
    add_hosts(inventory, [_host()], _known(inventory))
    later = _host(created_at="x").server
    assert not _known(inventory).is_taken("web-1", later)


ADDRESS = "203.0.113.1"


def _static(**variables: Any) -> InventoryData:
    """Return an inventory in which another source has added web-1 with these variables."""
    inventory = InventoryData()
    inventory.add_host("web-1")
    for name, value in variables.items():
        inventory.set_variable("web-1", name, value)
    return inventory


def _obstacle(
    inventory: InventoryData, address: str = ADDRESS, composed: Collection[str] = ()
) -> str:
    """Return why the server web-1, which has this address, is not the host web-1, if it is not."""
    host = _host()
    host.address = address
    known = KnownServers(inventory, "https://a", [host], composed)
    if not known.is_taken("web-1", host.server):
        return ""
    return known.obstacle("web-1", host.server)


@pytest.mark.parametrize(
    "variables",
    [
        {"ansible_host": ADDRESS},
        {"ansible_ssh_host": ADDRESS},
        {"ansible_host": ADDRESS, "ansible_ssh_host": ADDRESS, "ansible_winrm_host": ADDRESS},
        {"ansible_host": ADDRESS, "ansible_connection": "local", "ansible_password": "x"},
        {"ansible_host": trust(ADDRESS)},
        {"ansible_host": mark(ADDRESS)},
    ],
)
def test_a_host_with_the_address_of_a_server_is_that_server(variables: dict[str, Any]) -> None:
    assert _obstacle(_static(**variables)) == ""


@pytest.mark.parametrize("address", ["127.0.2.20", "172.15.0.1", "172.32.0.1", "100.63.0.1"])
def test_an_address_that_is_not_private_identifies_a_server(address: str) -> None:
    assert _obstacle(_static(ansible_host=address), address) == ""


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        (
            {"ansible_host": "192.0.2.9", "ansible_ssh_host": ADDRESS},
            "The host web-1 has ansible_host 192.0.2.9, and the server has 203.0.113.1: "
            "the same address or none would make them one host.",
        ),
        (
            {"ansible_host": ADDRESS, "ansible_ssh_host": "a.example.com"},
            "The host web-1 has ansible_ssh_host a.example.com, and the server has 203.0.113.1: "
            "the same address or none would make them one host.",
        ),
        (
            {"ansible_host": "192.0.2.9", "ansible_password": "secret"},
            "The host web-1 has ansible_host 192.0.2.9 and ansible_password, and the server has "
            "203.0.113.1: with the same address, or without ansible_host and ansible_password, "
            "they would be one host.",
        ),
        (
            {"ansible_connection": "local"},
            "The host web-1 has ansible_connection: without ansible_connection, they would be one "
            "host.",
        ),
        (
            {"ansible_host": "{{ '203.0.113.1' }}"},
            "The host web-1 has ansible_host, and the server has 203.0.113.1: "
            "the same address or none would make them one host.",
        ),
    ],
)
def test_what_is_in_the_way_of_a_server_is_described(
    variables: dict[str, Any], sentence: str
) -> None:
    assert _obstacle(_static(**variables)) == sentence


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize("value", ["", None, 5, "203.0.113.1 ", "{{ x }}", "-oProxyCommand=id"])
def test_an_address_is_neither_equal_nor_shown_unless_it_is_plain_text(value: Any) -> None:
    sentence = _obstacle(_static(ansible_host=value))
    assert sentence.startswith("The host web-1 has ansible_host, and the server has ")


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    "address", ["10.0.0.1", "172.16.0.1", "172.31.0.1", "192.168.0.1", "100.64.0.1", "169.254.0.1"]
)
def test_a_private_address_does_not_identify_a_server(address: str) -> None:
    assert _obstacle(_static(ansible_host=address), address) == (
        f"The host web-1 has ansible_host {address}, and the server has {address}, which is "
        "private: without ansible_host, they would be one host."
    )


@pytest.mark.promise("misdirected")
def test_a_server_without_an_address_is_no_host_with_one() -> None:
    sentence = _obstacle(_static(ansible_host=""), address="")
    assert ", and the server has no usable address: without ansible_host, they would" in sentence


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize("composed", ["ansible_host", "ansible_ssh_host", "ansible_winrm_host"])
def test_a_composed_address_is_not_that_of_a_host(composed: str) -> None:
    sentence = _obstacle(_static(ansible_host=ADDRESS), composed=["ansible_user", composed])
    assert ", and the server has 203.0.113.1, which compose replaces: without" in sentence
    assert _obstacle(_static(ansible_host=ADDRESS), composed=["ansible_user"]) == ""


@pytest.mark.promise("misdirected")
def test_an_address_of_several_servers_does_not_identify_one() -> None:
    hosts = [_host(), _host("db-1", id="srv_2")]
    for host in hosts:
        host.address = ADDRESS
    known = KnownServers(_static(ansible_host=ADDRESS), "https://a", hosts, ())
    assert known.is_taken("web-1", hosts[0].server)
    sentence = known.obstacle("web-1", hosts[0].server)
    assert ", and the server has 203.0.113.1, which other servers have, too: " in sentence


@pytest.mark.promise("misdirected")
def test_the_address_of_a_group_counts_as_ansible_would_use_it() -> None:
    inventory = _static()
    for group in ("outer", "a", "z"):
        inventory.add_group(group)
    inventory.add_child("outer", "a")
    for group in ("a", "z"):
        inventory.add_child(group, "web-1")
    for group in ("all", "outer", "z"):
        inventory.set_variable(group, "ansible_host", "192.0.2.9")
    assert _obstacle(inventory) != ""
    # A deeper group comes before an outer one, then a higher priority, then the host itself.
    inventory.set_variable("a", "ansible_host", ADDRESS)
    assert _obstacle(inventory) == ""
    inventory.groups["z"].depth = inventory.groups["a"].depth
    assert _obstacle(inventory) != ""
    inventory.set_variable("a", "ansible_group_priority", 2)
    assert _obstacle(inventory) == ""
    inventory.set_variable("web-1", "ansible_host", "192.0.2.9")
    assert _obstacle(inventory) != ""


def test_hosts_are_in_the_order_in_which_they_are_added_in_all_too() -> None:
    inventory = InventoryData()
    added = [["d", "b", "c"], ["a", "c", "e"]]  # of two files; one server is in both
    for number, names in enumerate(added):
        hosts = [_host(name) for name in names]
        for host in hosts:
            host.groups = [f"file_{number}", f"zone_{host.name < 'c'}"]
        add_groups(inventory, hosts, f"file_{number}")
        add_hosts(inventory, hosts, _known(inventory))
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
    add_hosts(ours, hosts, _known(ours))
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
