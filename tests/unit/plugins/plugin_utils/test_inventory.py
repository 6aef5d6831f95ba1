# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import importlib

import pytest
import yaml
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    SINCE_2_19,
    mark,
    unmark_plain,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._inventory import (
    ExistingHosts,
    add_hosts,
)
from support.expressions import is_trusted

DECRYPTED = []
if SINCE_2_19:
    tags = importlib.import_module("ansible._internal._datatag._tags")
    DECRYPTED = [tags.VaultedValue(ciphertext="x").tag("203.0.113.1")]

CREATED = "2026-01-01T00:00:00Z"


def new_host(name="web-1", server_id="srv_1", created_at=CREATED):
    fields = {"created_at": created_at, "ipv4": "203.0.113.1"}
    return Host(Server(server_id, fields), {}, ["zone"], name, address="203.0.113.1")


def add(inventory, *hosts):
    return add_hosts(inventory, hosts, [], "https://a")


def obstacle_for(host, inventory, root_url="https://a"):
    """Return why the server of a host can't be the host web-1, or None if it can."""
    addresses = {host.server.id: host.address}
    return ExistingHosts(inventory.hosts, root_url, addresses).obstacle("web-1", host.server)


def test_hosts_are_in_the_order_in_which_they_are_added_in_all_too():
    inventory = InventoryData()
    # Two files; one server is in both.
    first = [new_host("d"), new_host("b"), new_host("c")]
    second = [new_host("a"), new_host("c"), new_host("e")]
    first[1].groups.append("other")
    for hosts in (first, second):
        add(inventory, *hosts)
        inventory.reconcile_inventory()
    order = "[d, b, c, a, e]"
    assert str(inventory.groups["all"].get_hosts()) == order
    assert str(inventory.groups["zone"].get_hosts()) == order
    assert inventory.groups["ungrouped"].get_hosts() == []


def test_a_group_with_the_name_of_a_host_stays_as_it_is():
    inventory = InventoryData()
    inventory.add_group("web")
    inventory.add_host("web", "web")
    inventory.add_host("static", "web")
    host = new_host("web")
    host.variables.update({"text": "x", "template": mark("{{ 1 }}")})
    add(inventory, host)
    variables = inventory.hosts["web"].vars
    assert (variables["text"], variables["template"]) == ("x", "{{ 1 }}")
    assert not is_trusted(variables["template"])
    assert "text" not in inventory.groups["web"].vars
    assert str(inventory.groups["zone"].get_hosts()) == "[web]"


def kind_of(value):
    return value, type(value), is_trusted(value)


def test_variables_are_those_that_ansible_would_set():
    inventory = InventoryData()
    expected = InventoryData()
    hosts = []
    for value in ("a", "{{ 1 }}", 5, "b", "[x]", ["{{ 1 }}", "c"], None, "d", "{% x"):
        name = f"host-{len(hosts)}"
        marked = mark(value)
        hosts.append(Host(Server("a", {}), {"a": marked, "b": "x"}, ["all"], name))
        expected.add_host(name)
        expected.set_variable(name, "a", unmark_plain(marked))
        expected.set_variable(name, "b", unmark_plain("x"))
    add(inventory, *hosts)
    for name, host in expected.hosts.items():
        found = inventory.hosts[name].vars
        assert kind_of(found["a"]) == kind_of(host.vars["a"])
        assert kind_of(found["b"]) == kind_of(host.vars["b"])


@pytest.mark.parametrize(
    ("root_url", "server_id", "created_at", "is_taken"),
    [
        ("https://a", "srv_1", CREATED, False),
        ("https://a", "srv_1", "", False),  # equals any other
        ("https://a", "srv_1", "2026-01-01T00:00:01Z", True),
        ("https://a", "srv_2", CREATED, True),
        ("https://b", "srv_1", CREATED, True),
    ],
)
def test_a_host_of_another_file_is_another_server_if_its_identity_differs(
    root_url, server_id, created_at, is_taken
):
    inventory = InventoryData()
    add(inventory, new_host())
    other = new_host("web-1", server_id, created_at)
    assert bool(obstacle_for(other, inventory, root_url)) == is_taken


def test_a_server_that_never_has_a_creation_time_is_the_same_in_another_file():
    inventory = InventoryData()
    host = new_host(created_at="")
    add(inventory, host)
    assert not obstacle_for(host, inventory)


def test_only_hosts_that_were_no_servers_before_are_merged():
    inventory = InventoryData()
    inventory.add_host("static")
    assert add(inventory, new_host()) == []
    hosts = [new_host("new"), new_host("static"), new_host()]
    assert add(inventory, *hosts) == ["static"]


@pytest.fixture
def inventory():
    """Return an inventory to which another source has added web-1."""
    inventory = InventoryData()
    inventory.add_host("web-1")
    return inventory


def set_variables(inventory, variables):
    for name, value in variables.items():
        inventory.set_variable("web-1", name, value)


def obstacle_in(inventory, usable="203.0.113.1"):
    """Return why a server with this address is not the host web-1, or nothing if it is."""
    host = Host(Server("srv_1", {}), {}, address=usable)
    reason = obstacle_for(host, inventory)
    if not reason:
        return ""
    assert reason.kind == "hosts of other sources have the same name"
    return reason.details


CONNECTION = """
ansible_host ansible_ssh_host ansible_connection ansible_password ansible_ssh_pass
ansible_become_password ansible_winrm_password
"""


@pytest.mark.parametrize("variable", CONNECTION.split())
def test_a_host_with_a_connection_of_its_own_keeps_its_name(inventory, variable):
    inventory.set_variable("web-1", variable, "x")
    assert obstacle_in(inventory).startswith(f"The host web-1 has {variable}")


def test_a_host_without_a_connection_of_its_own_is_merged(inventory):
    names = ("ansible_user", "ansible_become", "password", "ansible_ssh_private_key_file", "hosts")
    set_variables(inventory, dict.fromkeys(names, "x"))
    assert obstacle_in(inventory) == ""


@pytest.fixture
def grouped(inventory):
    """Return an inventory with web-1 in the group z, and in a, which is in the group above."""
    inventory.add_group("above")
    inventory.add_group("a")
    inventory.add_group("z")
    inventory.add_child("above", "a")
    inventory.add_child("a", "web-1")
    inventory.add_child("z", "web-1")
    return inventory


def test_a_host_with_the_password_of_a_group_keeps_its_name(grouped):
    grouped.set_variable("above", "ansible_password", "x")
    assert obstacle_in(grouped).startswith("The host web-1 has ansible_password, ")


def test_the_address_of_the_deepest_group_counts_and_that_of_the_host_first(grouped):
    grouped.set_variable("above", "ansible_host", "192.0.2.9")
    grouped.set_variable("a", "ansible_host", "203.0.113.1")
    grouped.set_variable("z", "ansible_host", "192.0.2.9")
    assert obstacle_in(grouped) == ""
    grouped.set_variable("web-1", "ansible_host", "192.0.2.9")
    assert obstacle_in(grouped) != ""


def test_what_all_hosts_have_belongs_to_none_of_them(inventory):
    inventory.set_variable("all", "ansible_password", "x")
    inventory.reconcile_inventory()  # puts web-1 into all
    assert obstacle_in(inventory) == ""


SAME = yaml.safe_load("""
- {ansible_host: 203.0.113.1}
- {ansible_ssh_host: 203.0.113.1, ansible_winrm_host: 203.0.113.1}
- {ansible_host: 203.0.113.1, ansible_connection: local, ansible_password: x}
""")


@pytest.mark.parametrize("variables", SAME)
def test_a_host_with_the_address_of_a_server_is_that_server(inventory, variables):
    set_variables(inventory, variables)
    assert obstacle_in(inventory) == ""


def test_the_address_can_be_a_private_one(inventory):
    inventory.set_variable("web-1", "ansible_host", "10.0.0.1")
    assert obstacle_in(inventory, "10.0.0.1") == ""


DESCRIBED = yaml.safe_load("""
- - {ansible_host: 192.0.2.9}
  - "The host web-1 has ansible_host 192.0.2.9, and the server has 203.0.113.1: with the same
     address, or without ansible_host, they would be one host."
- - {ansible_host: 203.0.113.1, ansible_password: x, ansible_ssh_host: a.b}
  - "The host web-1 has ansible_host 203.0.113.1 and ansible_password and ansible_ssh_host a.b, and
     the server has 203.0.113.1: with the same address, or without ansible_host and
     ansible_password and ansible_ssh_host, they would be one host."
- - {ansible_connection: local}
  - "The host web-1 has ansible_connection, and the server has 203.0.113.1: with the same address,
     or without ansible_connection, they would be one host."
""")


@pytest.mark.parametrize(("variables", "sentence"), DESCRIBED)
def test_what_is_in_the_way_of_a_server_is_described(inventory, variables, sentence):
    set_variables(inventory, variables)
    assert obstacle_in(inventory) == sentence


@pytest.mark.parametrize(
    "value",
    ["", None, 5, "203.0.113.1 ", "{{x}}", "{{ '203.0.113.1' }}", "-oProxyCommand=id", *DECRYPTED],
)
def test_a_value_that_is_not_a_plain_address_is_neither_equal_nor_shown(inventory, value):
    inventory.set_variable("web-1", "ansible_host", value)
    start = "The host web-1 has ansible_host, and the server has 203.0.113.1: "
    assert obstacle_in(inventory).startswith(start)


def test_a_server_without_a_usable_address_is_no_host_that_has_one(inventory):
    for value in ("", "127.0.0.1", "{{ '' }}", *DECRYPTED):
        inventory.set_variable("web-1", "ansible_host", value)
        end = "and the server has no usable ipv4: without ansible_host, they would be one host."
        assert obstacle_in(inventory, usable="").endswith(end)
