# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import ClassVar

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
    leave_out_groups,
)


def _host(name="web-1", server_id="srv_1", created_at=""):
    server = Server(server_id, {"created_at": created_at})
    return Host(server, {}, ["zone"], name)


def _known(inventory, *hosts, root_url="https://a"):
    return KnownServers(inventory, root_url, hosts, [])


def test_a_group_with_the_name_of_a_host_or_of_this_machine_is_left_out():
    host = _host()
    host.groups = ["g", "web", "localhost"]
    problems = []
    parents = [("up", "web"), ("web", "g"), ("up", "g")]
    kept = leave_out_groups([host], parents, {"web", "b"}, problems.append)
    assert kept == [("up", "g")]
    assert host.groups == ["g"]
    (problem,) = problems
    assert problem.startswith("Groups can't be added, because a host of another source or this ")
    assert problem.endswith(": localhost, web.")


def _is_another(first, second, root_url="https://a"):
    """Return whether the second host is another server than the first one, from https://a."""
    inventory = InventoryData()
    inventory.add_group("zone")
    add_hosts(inventory, [first], _known(inventory))
    return _known(inventory, root_url=root_url).is_taken("web-1", second.server)


CREATED = "2026-01-01T00:00:00Z"


def test_the_same_server_is_in_several_inventory_files():
    assert not _is_another(_host(created_at=CREATED), _host(created_at=CREATED))


def test_an_unknown_time_of_creation_equals_any_other():
    assert not _is_another(_host(created_at=CREATED), _host())
    assert not _is_another(_host(), _host(created_at=CREATED))


def test_a_server_is_another_if_its_url_id_or_time_of_creation_differs():
    first = _host(created_at=CREATED)
    assert _is_another(first, _host(created_at="2026-01-01T00:00:01Z"))
    assert _is_another(first, _host(created_at=CREATED, server_id="srv_2"))
    assert _is_another(first, first, root_url="https://b")


def _static(**variables):
    """Return an inventory to which another source has added web-1 with these variables."""
    inventory = InventoryData()
    inventory.add_host("web-1")
    for name, value in variables.items():
        inventory.set_variable("web-1", name, value)
    return inventory


def _obstacle(inventory, address="203.0.113.1", *composed):
    """Return why a server with this address is not the host web-1, or nothing if it is."""
    host = _host()
    host.address = address
    known = KnownServers(inventory, "https://a", [host], composed)
    if not known.is_taken("web-1", host.server):
        return ""
    return known.obstacle("web-1", host.server)


OF_CONNECTION = [
    "ansible_host", "ansible_ssh_host", "ansible_connection", "ansible_password",
    "ansible_ssh_pass", "ansible_become_pass", "ansible_ssh_password", "ansible_become_password",
]  # fmt: skip
OTHERS = [
    "ansible_user", "ansible_port", "ansible_become", "rack", "password",
    "ansible_ssh_private_key_file", "ansible_hosts",
]  # fmt: skip


@pytest.mark.parametrize("variable", OF_CONNECTION)
def test_a_host_with_a_connection_of_its_own_keeps_its_name(variable):
    inventory = _static(**{variable: "x"})
    assert _obstacle(inventory).startswith(f"The host web-1 has {variable}")


def test_a_host_with_the_connection_of_a_group_keeps_its_name():
    inventory = _static()
    inventory.add_group("above")
    inventory.add_group("storage")
    inventory.add_child("above", "storage")
    inventory.add_child("storage", "web-1")
    inventory.set_variable("above", "ansible_password", "x")
    assert _obstacle(inventory).startswith("The host web-1 has ansible_password: ")


@pytest.mark.parametrize("variable", OTHERS)
def test_a_host_without_a_connection_of_its_own_is_merged(variable):
    inventory = _static(**{variable: "x"})
    assert _obstacle(inventory) == ""


def test_what_all_hosts_have_belongs_to_none_of_them():
    inventory = _static()
    inventory.set_variable("all", "ansible_password", "x")
    inventory.reconcile_inventory()  # puts web-1 into all
    assert _obstacle(inventory) == ""


@pytest.mark.parametrize(
    "variables",
    [
        {"ansible_host": "203.0.113.1"},
        {"ansible_ssh_host": "203.0.113.1"},
        {"ansible_host": "203.0.113.1", "ansible_winrm_host": "203.0.113.1"},
        {"ansible_host": "203.0.113.1", "ansible_connection": "local", "ansible_password": "x"},
        {"ansible_host": trust("203.0.113.1")},
        {"ansible_host": mark("203.0.113.1")},
    ],
)
def test_a_host_with_the_address_of_a_server_is_that_server(variables):
    assert _obstacle(_static(**variables)) == ""


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        (
            {"ansible_host": "192.0.2.9", "ansible_ssh_host": "203.0.113.1"},
            "The host web-1 has ansible_host 192.0.2.9, and the server has 203.0.113.1: "
            "the same address or none would make them one host.",
        ),
        (
            {"ansible_host": "203.0.113.1", "ansible_ssh_host": "a.example.com"},
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
            "The host web-1 has ansible_connection: "
            "without ansible_connection, they would be one host.",
        ),
    ],
)
def test_what_is_in_the_way_of_a_server_is_described(variables, sentence):
    assert _obstacle(_static(**variables)) == sentence


@pytest.mark.parametrize(
    "value", ["", None, 5, "203.0.113.1 ", "{{ x }}", "{{x}}", "-oProxyCommand=id"]
)
def test_a_value_that_is_not_a_plain_address_is_neither_equal_nor_shown(value):
    sentence = _obstacle(_static(ansible_host=value))
    assert sentence.startswith("The host web-1 has ansible_host, and the server has 203.0.113.1: ")


class VaultedValue:
    """Has the name of the tag that ansible-core 2.19 and later give to a decrypted text."""


class DecryptedText(str):
    _ansible_tags_mapping: ClassVar = {VaultedValue: "the encrypted text"}


def test_a_decrypted_value_is_neither_equal_nor_shown():
    sentence = _obstacle(_static(ansible_host=DecryptedText("203.0.113.1")))
    assert sentence.startswith("The host web-1 has ansible_host, and the server has 203.0.113.1: ")


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1", "172.16.0.1", "172.29.0.1", "172.31.0.1", "192.168.0.1", "169.254.0.1",
        "100.64.0.1", "100.99.0.1", "100.119.0.1", "100.127.0.1",
    ],
)  # fmt: skip
def test_a_private_address_does_not_identify_a_server(address):
    assert _obstacle(_static(ansible_host=address), address) == (
        f"The host web-1 has ansible_host {address}, and the server has {address}, which is "
        "private: without ansible_host, they would be one host."
    )


@pytest.mark.parametrize(
    "address",
    ["127.0.2.20", "11.0.0.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1"],
)
def test_any_other_address_identifies_a_server(address):
    assert _obstacle(_static(ansible_host=address), address) == ""


def test_a_server_without_an_address_is_not_a_host_with_an_empty_one():
    sentence = _obstacle(_static(ansible_host=""), "")
    assert ", and the server has no usable address: without ansible_host, they would" in sentence


@pytest.mark.parametrize("composed", ["ansible_host", "ansible_ssh_host", "ansible_winrm_host"])
def test_a_server_with_a_composed_address_is_not_identified_by_its_own(composed):
    inventory = _static(ansible_host="203.0.113.1")
    sentence = _obstacle(inventory, "203.0.113.1", "ansible_user", composed)
    assert ", and the server has 203.0.113.1, which compose replaces: without" in sentence


def test_other_composed_variables_do_not_matter():
    inventory = _static(ansible_host="203.0.113.1")
    assert _obstacle(inventory, "203.0.113.1", "ansible_user") == ""


def test_an_address_of_several_servers_identifies_none_of_them():
    first = _host()
    second = _host("db-1", "srv_2")
    first.address = second.address = "203.0.113.1"
    known = _known(_static(ansible_host="203.0.113.1"), first, second)
    assert known.is_taken("web-1", first.server)
    sentence = known.obstacle("web-1", first.server)
    assert ", and the server has 203.0.113.1, which other servers have, too: " in sentence


def test_an_address_of_a_group_counts_as_for_ansible():
    inventory = _static()
    for group in ("above", "a", "z"):
        inventory.add_group(group)
    inventory.add_child("above", "a")
    inventory.add_child("a", "web-1")
    inventory.add_child("z", "web-1")
    # The deepest group comes first, then the one with the highest priority, then the last name.
    inventory.set_variable("above", "ansible_host", "192.0.2.9")
    inventory.set_variable("a", "ansible_host", "203.0.113.1")
    inventory.set_variable("z", "ansible_host", "192.0.2.9")
    assert _obstacle(inventory) == ""
    inventory.groups["z"].depth = inventory.groups["a"].depth
    assert _obstacle(inventory) != ""
    inventory.groups["a"].set_priority(2)
    assert _obstacle(inventory) == ""
    inventory.set_variable("web-1", "ansible_host", "192.0.2.9")
    assert _obstacle(inventory) != ""


def test_hosts_are_in_the_order_in_which_they_are_added_in_all_too():
    inventory = InventoryData()
    # Two files; one server is in both.
    first = [_host("d"), _host("b"), _host("c")]
    second = [_host("a"), _host("c"), _host("e")]
    first[1].groups.append("other")
    for hosts in (first, second):
        add_groups(inventory, hosts, "fleet")
        add_hosts(inventory, hosts, _known(inventory))
        inventory.reconcile_inventory()
    assert _names_in(inventory, "all") == ["d", "b", "c", "a", "e"]
    assert _names_in(inventory, "zone") == ["d", "b", "c", "a", "e"]
    assert _names_in(inventory, "ungrouped") == []


def _names_in(inventory, group):
    return [host.name for host in inventory.groups[group].get_hosts()]


VALUES = ["a", "{{ 1 }}", 5, "b", "[x]", ["{{ 1 }}", "c"], None, "d", "{% x"]


def test_variables_are_those_that_ansible_would_set():
    hosts = []
    expected = InventoryData()
    for number, value in enumerate(VALUES):
        name = f"host-{number}"
        marked = mark(value)
        hosts.append(Host(Server("a", {}), {"first": marked, "second": "x"}, ["all"], name))
        expected.add_host(name)
        expected.set_variable(name, "first", trust_plain(marked))
        expected.set_variable(name, "second", trust_plain("x"))
    inventory = InventoryData()
    add_hosts(inventory, hosts, _known(inventory))
    for name, host in expected.hosts.items():
        found = inventory.hosts[name].vars
        assert found == host.vars
        assert _kind(found["first"]) == _kind(host.vars["first"])
        assert _kind(found["second"]) == _kind(host.vars["second"])


def _kind(value):
    return type(value), is_trusted(value)
