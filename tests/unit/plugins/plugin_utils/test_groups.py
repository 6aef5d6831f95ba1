# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._groups import (
    GroupTree,
    ReservedNames,
    group_hosts,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host


def host_of(**fields):
    return Host(Server("srv_1", fields), {})


def test_groups_are_named_after_the_field_and_its_value():
    host = host_of(region="us 1", plan="small", status="running")
    group_hosts([host], "my_servers", ["region", "plan"])
    assert host.groups == ["my_servers", "region_us_1", "plan_small"]


@pytest.mark.parametrize("fields", [{}, {"region": ""}])
def test_a_missing_or_empty_field_makes_no_group(fields):
    host = host_of(**fields)
    group_hosts([host], "my_servers", ["region"])
    assert host.groups == ["my_servers"]


def names_with(text):
    """Return the reserved names of an inventory file with these options, as YAML."""
    options = {"group": "my servers", **yaml.safe_load(text)}
    return ReservedNames(options.get, ["static"])


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("{}", "all"),
        ("{}", "static"),
        ("{}", "my_servers"),
        ("{}", "status_running"),
        ("groups: {a b: x}", "a_b"),
        ("groups: {5: x}", "_"),
        ("keyed_groups: [{key: x}]", "_x"),
        ("keyed_groups: [{key: x, prefix: a-b, separator: .}]", "a_b_x"),
        ("keyed_groups: [{key: x, prefix: '1', separator: ''}]", "_x"),
        ("keyed_groups: [{key: x, separator: '', default_value: web}]", "web"),
        ("keyed_groups: [{key: x, prefix: p, parent_group: up}]", "up"),
    ],
)
def test_the_name_of_a_possible_group_is_reserved(options, name):
    assert names_with(options).includes(name)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("{}", "my_server"),
        ("{}", "region"),
        ("{}", "xregion_"),
        ("keyed_groups: [{key: x}]", "x"),
        ("{keyed_groups: [{key: x}], leading_separator: false}", "_x"),
        ("keyed_groups: [{key: x, prefix: a-b, separator: .}]", "a_bx"),
        ("keyed_groups: [{key: x, separator: '', default_value: web}]", "website"),
        ("keyed_groups: [{key: x, prefix: p, parent_group: up}]", "upper"),
        ("keyed_groups: [{key: x, prefix: p, parent_group: '{{ x }}'}]", "___x___"),
    ],
)
def test_another_name_is_free(options, name):
    assert not names_with(options).includes(name)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("group: web", "group: web is a host of another source, not a group."),
        ("group: all", "group: all is a group of Ansible itself."),
        ("groups: {web: true}", "groups: web is a host of another source, not a group."),
        ("groups: {localhost: x}", "groups: localhost is a name of this machine, not of a group."),
        (
            "keyed_groups: [{key: x, parent_group: web}]",
            "keyed_groups: web is a host of another source, not a group.",
        ),
    ],
)
def test_a_literal_group_with_a_name_that_it_cannot_have_is_an_error(options, problem):
    names = names_with(options)
    with pytest.raises(OptionError) as found:
        names.check({"web"}, print)
    assert str(found.value) == f"{problem} Choose another name for the group."


def test_a_written_group_name_that_is_changed_causes_a_warning():
    names = names_with("""
        group: web-fleet
        groups: {ok: x, a b: x}
        keyed_groups: [{key: x, parent_group: a.b}]
    """)
    warnings = []
    names.check({"web"}, warnings.append)
    assert warnings == [
        "group: web-fleet becomes the group web_fleet.",
        'groups: "a b" becomes the group a_b.',
        "keyed_groups: a.b becomes the group a_b.",
    ]


@pytest.fixture
def tree():
    """Return the tree of an inventory in which the group b is in a, and a in all."""
    inventory = InventoryData()
    inventory.add_group("a")
    inventory.add_group("b")
    inventory.add_child("all", "a")
    inventory.add_child("a", "b")
    return GroupTree(inventory.groups.values())


def test_a_group_is_in_all_groups_around_it(tree):
    tree.add("b", "c")
    tree.check()
    assert tree.with_parents(["c", "d"]) == {"c", "d", "b", "a", "all"}


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        ([("x", "x")], "x would be inside itself."),
        ([("b", "a")], "a would be inside itself."),
        ([("b", "c"), ("all", "c"), ("c", "d"), ("d", "a")], "c would be inside itself."),
        ([("x", "all")], "all can't be inside another group. Set prefix."),
        (
            [("all", "ungrouped"), ("x", "ungrouped")],
            "ungrouped can't be inside another group. Set prefix.",
        ),
    ],
)
def test_a_group_that_ansible_cannot_add_is_an_error(tree, pairs, problem):
    for parent, child in pairs:
        tree.add(parent, child)
    with pytest.raises(OptionError) as found:
        tree.check()
    assert str(found.value) == f"keyed_groups: the group {problem}"
