# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names that no host has, in expressions that fail for no host."""

import pytest
import yaml
from ansible.inventory.data import InventoryData

from sandbox.account import SERVER
from support.expressions import composed

UNKNOWN = yaml.safe_load("""
# Variables of other plugins.
- [{compose: {ansible_host: proxmox_ipconfig0.ip | default(ansible_host)}},
   'compose: ansible_host (proxmox_ipconfig0)']
- [{groups: {linux: "'linux' in (proxmox_tags_parsed | default([]))"}},
   'groups: linux (proxmox_tags_parsed)']
- [{compose: {a: "{'x': nope | default(1)}"}}, 'compose: a (nope)']
- [{hostnames: [hostname | default(server_management_name)]},
   'hostnames: hostname | default(server_management_name) (hostname)']
- [{filters: [exclude: b is defined or a is defined]},
   'filters: exclude: b is defined or a is defined (a, b)']
- [{keyed_groups: [{key: region | default('x'), parent_group: '{{ server_management_plan }}'}]},
   "keyed_groups: region | default('x') (region)"]
# Keywords of playbooks.
- [{keyed_groups: [key: tags.role | default('none')]},
   "keyed_groups: tags.role | default('none') (tags)"]
- [{groups: {a: name is defined, b: port | default(environment) | default(true)}},
   'groups: a (name), groups: b (environment, port)']
# Magic variables that expressions don't see, and others that filters don't see.
- [{compose: {a: hostvars is defined}}, 'compose: a (hostvars)']
- [{filters: [exclude: inventory_hostname is not defined]},
   'filters: exclude: inventory_hostname is not defined (inventory_hostname)']
# A variable of another source, which is read too late for these.
- [{filters: [exclude: rack | default(false)]}, 'filters: exclude: rack | default(false) (rack)']
- [{hostnames: [rack | default('x')]}, "hostnames: rack | default('x') (rack)"]
# Entries of compose do not see each other.
- [{compose: {a: '1', b: a | default('')}}, 'compose: b (a)']
# A group that only this file fills.
- [{compose: {a: of_region | default('')}}, 'compose: a (of_region)']
# An extra variable.
- [{compose: {a: login | default('')}}, 'compose: a (login)']
- [{compose: {a: x is defined}, strict: true}, 'compose: a (x)']
- [{compose: {a: vm_x is defined}, hostvars_prefix: ''}, 'compose: a (vm_x)']
""")

KNOWN = yaml.safe_load("""
- compose: {a: server_management_region | default('x'), b: server_management_tags is defined}
- filters: [exclude: server_management_later is defined]
- compose: {a: rack | default(''), b: of_all | default(''), c: of_group | default('')}
- groups: {a: "'x' in group_names", b: inventory_hostname_short is defined}
- keyed_groups: [key: inventory_dir | default(inventory_file)]
- {compose: {a: 1 // 0}, groups: {b: a is defined}, keyed_groups: [key: a | default('x')]}
- hostnames: [ansible_host | default('x')]
- compose: {a: "lookup('env', 'HOME') | default(query('env', 'HOME'))", b: now() is defined}
- compose: {a: "range(3) | map('string') | list | default([])", b: dict(c=1) is defined}
- {compose: {a: nope | default(login)}, use_extra_vars: true}
- compose: {a: "'nope' | default(1)", b: 5, c: true}
# These fail, or have another warning.
- compose: {a: nope}
- groups: {a: "'{{ nope }}' == 'x'"}
""")


def report_of(options):
    """Return the warning about unknown names for two servers, and "" if there is none.

    The other source has hosts of its own, groups with and without hosts, and the group all.
    """
    inventory = InventoryData()
    inventory.add_group("staff")
    inventory.add_group("region_eu_1")
    inventory.add_host("h0")
    inventory.add_host("not_of_the_api", "staff")
    inventory.set_variable("not_of_the_api", "rack", "x")
    inventory.set_variable("staff", "of_group", "x")
    inventory.set_variable("all", "of_all", "x")
    inventory.set_variable("region_eu_1", "of_region", "x")
    extra_vars = {"login": "bob"}
    _hosts, warnings = composed(
        SERVER, SERVER, inventory=inventory, extra_vars=extra_vars, **options
    )
    found = [warning for warning in warnings if warning.startswith("These expressions read")]
    assert len(found) <= 1
    return "".join(found)


@pytest.mark.parametrize(("options", "expected"), UNKNOWN, ids=str)
def test_a_name_that_no_host_has_is_reported_with_its_expression(options, expected):
    assert f"the same result: {expected}. " in report_of(options)


@pytest.mark.parametrize("options", KNOWN, ids=str)
def test_a_name_that_a_host_may_have_is_not_reported(options):
    assert report_of(options) == ""


def test_an_extra_variable_that_is_not_used_has_the_option_as_its_hint():
    options = {"compose": {"a": "login | default('')"}}
    assert " For login, set use_extra_vars: true. " in report_of(options)


def test_without_hosts_only_filters_are_reported():
    filters = [{"exclude": "c is undefined"}]
    warning = report_of({"compose": {"a": "b | default('')"}, "filters": filters})
    assert "filters: exclude: c is undefined (c)." in warning
    assert "compose: a" not in warning


def test_many_expressions_share_one_warning():
    compose = {f"a{number}": f"b{number} | default('')" for number in range(12)}
    assert "compose: a9 (b9) and 2 more. " in report_of({"compose": compose})


def test_the_warning_names_the_ways_out():
    assert report_of({"filters": [{"exclude": "x | default(false)"}]}) == (
        "These expressions read variables that no host has, so that `default` and `is defined` "
        "give all hosts the same result: filters: exclude: x | default(false) (x). Leave the "
        "default or the test out, or, for compose, groups and keyed_groups, give the variable to "
        "hosts in a source that is read before. group_vars are not known here, and filters and "
        "hostnames see only the fields of servers."
    )


def test_without_servers_nothing_is_reported():
    assert composed(filters=[{"exclude": "x is defined"}]) == ([], [])
