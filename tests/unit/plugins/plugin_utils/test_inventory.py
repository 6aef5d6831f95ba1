# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import importlib

import pytest
import yaml
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils import _ansible, _inventory
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from support.expressions import is_trusted

DECRYPTED = []
if _ansible.SINCE_2_19:
    tags = importlib.import_module("ansible._internal._datatag._tags")
    DECRYPTED = [tags.VaultedValue(ciphertext="x").tag("203.0.113.1")]

CREATED = "2026-01-01T00:00:00Z"


def new_host(name="web-1", server_id="srv_1", created_at=CREATED):
    return Host(Server(server_id, {"created_at": created_at}), {}, ["zone"], name)


def add(inventory, *hosts):
    return _inventory.add_hosts(inventory, hosts, [], "https://a")


def obstacle_in(inventory, host, usable="203.0.113.1", root_url="https://a"):
    """Return why the server of a host, with this address, can't be web-1, or None if it can."""
    addresses = {host.server.id: usable}
    return _inventory.obstacle(inventory.hosts, root_url, addresses, "web-1", host.server)


@pytest.fixture
def inventory():
    """Return an inventory to which another source has added web-1."""
    inventory = InventoryData()
    inventory.add_host("web-1")
    return inventory


def test_hosts_are_in_the_order_in_which_they_are_added_in_all_too(inventory):
    # Two files; one server is in both.
    for names in ("dbc", "ace"):
        add(inventory, *map(new_host, names))
        inventory.reconcile_inventory()
    groups = inventory.groups
    assert str(groups["zone"].get_hosts()) == "[d, b, c, a, e]"
    assert str(groups["all"].get_hosts()) == "[d, b, c, a, e, web-1]"
    assert str(groups["ungrouped"].get_hosts()) == "[web-1]"


def test_a_group_with_the_name_of_a_host_stays_as_it_is(inventory):
    inventory.add_group("web-1")
    host = new_host()
    host.variables["template"] = _ansible.mark("{{ 1 }}")
    add(inventory, host)
    variables = inventory.hosts["web-1"].vars
    assert variables["template"] == "{{ 1 }}"
    assert not is_trusted(variables["template"])
    assert "template" not in inventory.groups["web-1"].vars
    assert str(inventory.groups["zone"].get_hosts()) == "[web-1]"


def kind_of(value):
    return value, type(value), is_trusted(value)


VALUES = yaml.safe_load("[a, '{{ 1 }}', 5, b, '[x]', ['{{ 1 }}', c], null, d, '{% x']")


def test_variables_are_those_that_ansible_would_set(inventory):
    expected = InventoryData()
    hosts = []
    for number, value in enumerate(VALUES):
        host = new_host(f"host-{number}")
        host.variables.update(a=_ansible.mark(value), b="x")
        hosts.append(host)
        expected.add_host(host.name)
        for name, marked in host.variables.items():
            expected.set_variable(host.name, name, _ansible.unmark_plain(marked))
    add(inventory, *hosts)
    for host in hosts:
        variables = inventory.hosts[host.name].vars
        for name, value in expected.hosts[host.name].vars.items():
            assert kind_of(variables[name]) == kind_of(value)


# The creation time of a server in the first file, then the URL of the API, the id and the time in
# the second one, and whether that is another server. An unknown time equals any other.
IDENTITIES = yaml.safe_load("""
- ['2026-01-01T00:00:00Z', 'https://a', srv_1, '2026-01-01T00:00:00Z', false]
- ['2026-01-01T00:00:00Z', 'https://a', srv_1, '', false]
- ['', 'https://a', srv_1, '', false]
- ['2026-01-01T00:00:00Z', 'https://a', srv_1, '2026-01-01T00:00:01Z', true]
- ['2026-01-01T00:00:00Z', 'https://a', srv_2, '2026-01-01T00:00:00Z', true]
- ['2026-01-01T00:00:00Z', 'https://b', srv_1, '2026-01-01T00:00:00Z', true]
""")


@pytest.mark.parametrize(("first", "root_url", "server_id", "second", "is_taken"), IDENTITIES)
def test_a_host_of_another_file_is_another_server_if_its_identity_differs(
    inventory, first, root_url, server_id, second, is_taken
):
    add(inventory, new_host(created_at=first))
    other = new_host("web-1", server_id, second)
    assert bool(obstacle_in(inventory, other, root_url=root_url)) == is_taken


def test_a_file_without_times_does_not_hide_that_two_servers_differ(inventory):
    for created_at in ("2026-01-01T00:00:00Z", ""):
        add(inventory, new_host(created_at=created_at))
    other = new_host(created_at="2026-01-01T00:00:01Z")
    assert obstacle_in(inventory, other, root_url="https://a")


def test_only_hosts_that_were_no_servers_before_are_merged(inventory):
    assert add(inventory, new_host("new")) == []
    assert add(inventory, new_host("new"), new_host()) == ["web-1"]


def details_of(inventory, usable="203.0.113.1"):
    """Return why a server with this address is not the host web-1, or nothing if it is."""
    reason = obstacle_in(inventory, new_host(), usable)
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
    assert details_of(inventory).startswith(f"The host web-1 has {variable}")


def test_the_variables_of_groups_count_and_those_of_the_deepest_one_and_the_host_first(inventory):
    # The groups a, which is in above, and z.
    for parent, child in (("above", "a"), ("a", "web-1"), ("z", "web-1")):
        inventory.add_group(parent)
        inventory.add_group("a")
        inventory.add_child(parent, child)
    inventory.set_variable("above", "ansible_host", "192.0.2.9")
    assert details_of(inventory).startswith("The host web-1 has ansible_host 192.0.2.9, ")
    inventory.set_variable("a", "ansible_host", "203.0.113.1")
    inventory.set_variable("z", "ansible_host", "192.0.2.9")
    assert details_of(inventory) == ""
    inventory.set_variable("web-1", "ansible_host", "192.0.2.9")
    assert details_of(inventory) != ""


def test_what_all_hosts_have_belongs_to_none_of_them(inventory):
    inventory.set_variable("all", "ansible_password", "x")
    inventory.reconcile_inventory()  # puts web-1 into all
    assert details_of(inventory) == ""


# No connection, or the address of the server.
HARMLESS = yaml.safe_load("""
- {ansible_user: x, ansible_become: x, password: x, ansible_ssh_private_key_file: x, hosts: x}
- {ansible_host: 203.0.113.1}
- {ansible_ssh_host: 203.0.113.1, ansible_winrm_host: 203.0.113.1}
- {ansible_host: 203.0.113.1, ansible_connection: local, ansible_password: x}
""")


@pytest.mark.parametrize("variables", HARMLESS, ids=str)
def test_other_variables_are_not_in_the_way_of_a_server(inventory, variables):
    inventory.hosts["web-1"].vars.update(variables)
    assert details_of(inventory) == ""


def test_what_is_in_the_way_of_a_server_is_described(inventory):
    inventory.set_variable("web-1", "ansible_host", "203.0.113.1")
    inventory.set_variable("web-1", "ansible_password", "x")
    inventory.set_variable("web-1", "ansible_ssh_host", "a.b")
    assert details_of(inventory) == (
        "The host web-1 has ansible_host 203.0.113.1 and ansible_password and ansible_ssh_host a.b,"
        " and the server has 203.0.113.1: with the same address, or without ansible_host and "
        "ansible_password and ansible_ssh_host, they would be one host."
    )


OTHERS = yaml.safe_load("""
['', null, 5, '203.0.113.1 ', '{{x}}', "{{ '203.0.113.1' }}", -oProxyCommand=id]
""")


@pytest.mark.parametrize("value", [*OTHERS, *DECRYPTED])
def test_a_value_that_is_not_a_plain_address_is_neither_equal_nor_shown(inventory, value):
    inventory.set_variable("web-1", "ansible_host", value)
    assert details_of(inventory).startswith("The host web-1 has ansible_host, ")


@pytest.mark.parametrize("value", ["", "127.0.0.1", "{{ '' }}", *DECRYPTED])
def test_a_server_without_a_usable_address_is_no_host_that_has_one(inventory, value):
    inventory.set_variable("web-1", "ansible_host", value)
    assert ": without ansible_host, " in details_of(inventory, usable="")
