# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    mark,
    trust_plain,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._inventory import (
    ExistingHosts,
    add_groups,
    add_hosts,
)
from support.expressions import is_trusted


def new_host(name):
    return Host(Server("srv_1", {}), {}, ["zone"], name)


def test_hosts_are_in_the_order_in_which_they_are_added_in_all_too():
    inventory = InventoryData()
    existing = ExistingHosts(inventory, "https://a", [], [])
    # Two files; one server is in both.
    first = [new_host("d"), new_host("b"), new_host("c")]
    second = [new_host("a"), new_host("c"), new_host("e")]
    first[1].groups.append("other")
    for hosts in (first, second):
        add_groups(inventory, hosts, "fleet", [])
        add_hosts(inventory, hosts, existing)
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
    add_groups(inventory, [host], "fleet", [])
    add_hosts(inventory, [host], ExistingHosts(inventory, "https://a", [], []))
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
        expected.set_variable(name, "a", trust_plain(marked))
        expected.set_variable(name, "b", trust_plain("x"))
    add_hosts(inventory, hosts, ExistingHosts(inventory, "https://a", [], []))
    for name, host in expected.hosts.items():
        found = inventory.hosts[name].vars
        assert kind_of(found["a"]) == kind_of(host.vars["a"])
        assert kind_of(found["b"]) == kind_of(host.vars["b"])
