# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server, merge
from ansible_collections.server_management.cloud.plugins.plugin_utils._groups import (
    GroupTree,
    ReservedNames,
    group_hosts,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from sandbox.account import SERVER


def _groups(
    *changes: dict[str, Any], by: Iterable[str] = ("region", "plan", "status")
) -> tuple[list[list[str]], list[str]]:
    servers: dict[str, Server] = {}
    for number, change in enumerate(changes):
        element = {**SERVER, "id": f"srv_{number}", **change}
        merge(servers, [{key: value for key, value in element.items() if value is not ...}])
    hosts = [Host(server, {}) for server in servers.values()]
    warnings: list[str] = []
    group_hosts(hosts, "my_servers", list(by), warnings.append)
    return [host.groups for host in hosts], warnings


def test_groups_are_named_after_the_field_and_its_value() -> None:
    change = {"region": "eu-1", "plan": "small", "status": "running"}
    ((_common, *only_plan),), _warnings = _groups(change, by=["plan"])
    assert only_plan == ["plan_small"]
    groups, warnings = _groups(change, {**change, "region": "us 1"})
    assert groups == [
        ["my_servers", "region_eu_1", "plan_small", "status_running"],
        ["my_servers", "region_us_1", "plan_small", "status_running"],
    ]
    assert warnings == []


@pytest.mark.parametrize("value", ["", None, 5, ["a"], ...])
def test_an_unusable_field_makes_no_group(value: Any) -> None:
    (groups,), _warnings = _groups({"region": value, "plan": "s", "status": "running"})
    assert groups == ["my_servers", "plan_s", "status_running"]


@pytest.mark.promise("silent")
def test_values_that_become_the_same_group_cause_a_warning() -> None:
    groups, warnings = _groups(*({"region": region} for region in ("eu-1", "eu_1", "eu-1", "us")))
    assert [host[1] for host in groups] == ["region_eu_1"] * 3 + ["region_us"]
    assert warnings == ["Several values become the group region_eu_1: region eu-1, region eu_1."]


def _names(**options: Any) -> ReservedNames:
    defaults: dict[str, Any] = {"group": "my servers", "group_by": ["region", "plan"]}
    return ReservedNames({**defaults, **options}.get, ["static"])


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    ("options", "reserved", "free"),
    [
        ({}, ["all", "ungrouped", "static", "my_servers"], ["ALL", "Static", "my_server"]),
        ({}, ["region_", "region_x", "status_x"], ["region", "xregion_", "plan"]),
        # Another account's file may make these groups.
        ({"group_by": []}, ["region_x", "plan_x", "status_running"], []),
        ({"groups": {"a b": "x", 5: "x"}}, ["a_b", "_"], ["a"]),
        ({"keyed_groups": [{"key": "x", "prefix": "p"}]}, ["p_", "p_x"], ["p", "px"]),
        ({"keyed_groups": [{"key": "x", "prefix": "a-b", "separator": "."}]}, ["a_b_x"], ["a_bx"]),
        ({"keyed_groups": [{"key": "x", "prefix": "1", "separator": ""}]}, ["_x"], ["1"]),
        ({"keyed_groups": [{"key": "x"}]}, ["_", "_x"], ["x"]),
        ({"keyed_groups": [{"key": "x"}], "leading_separator": False}, [], ["_x", "x"]),
        (
            {"keyed_groups": [{"key": "x", "separator": "", "default_value": "web"}]},
            ["web"],
            ["_x", "website"],
        ),
        ({"keyed_groups": [{"key": "x", "prefix": "p", "parent_group": "up"}]}, ["up"], ["upper"]),
    ],
    ids=str,
)
def test_options_reserve_names(
    options: dict[str, Any], reserved: list[str], free: list[str]
) -> None:
    names = _names(**options)
    assert [name for name in reserved if not names.includes(name)] == []
    assert [name for name in free if names.includes(name)] == []


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"group": "web"}, "group"),
        ({"group": "all"}, "group"),
        ({"group": "ungrouped"}, "group"),
        ({"groups": {"web": True}}, "groups"),
        ({"groups": {"localhost": True}}, "groups"),
        ({"keyed_groups": [{"key": "x", "parent_group": "web"}]}, "keyed_groups"),
    ],
    ids=str,
)
def test_a_literal_group_with_a_name_that_it_cannot_have_is_an_error(
    options: dict[str, Any], option: str
) -> None:
    message = rf"^{option}: \w+ is a .+\. Choose another name for the group\.$"
    with pytest.raises(OptionError, match=message):
        _names(**options).check({"web"}, print)
    _names().check({"web"}, print)


def test_a_written_group_name_that_is_changed_causes_a_warning() -> None:
    warnings: list[str] = []
    entry = {"key": "x", "parent_group": "a.b"}
    names = _names(group="web-fleet", groups={"ok": "x", "a b": "x"}, keyed_groups=[entry])
    names.check({}, warnings.append)
    assert warnings == [
        "group: web-fleet becomes the group web_fleet.",
        "groups: a b becomes the group a_b.",
        "keyed_groups: a.b becomes the group a_b.",
    ]


def nested_groups() -> GroupTree:
    """Return the tree of an inventory in which the group b is in a, and a in all."""
    inventory = InventoryData()
    inventory.add_group("a")
    inventory.add_group("b")
    inventory.add_child("all", "a")
    inventory.add_child("a", "b")
    return GroupTree(inventory.groups.values())


def test_a_group_is_in_all_groups_around_it() -> None:
    tree = nested_groups()
    tree.add("b", "c")
    tree.check()
    assert tree.with_parents(["c", "d"]) == {"c", "d", "b", "a", "all"}


@pytest.mark.promise("atomic")
@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        ([("x", "x")], "x would be inside itself."),
        ([("b", "a")], "a would be inside itself."),
        ([("x", "y"), ("y", "x")], "y would be inside itself."),
        ([("b", "c"), ("all", "c"), ("c", "d"), ("d", "a")], "c would be inside itself."),
        ([("x", "all")], "all can't be inside another group. Set prefix."),
        (
            [("all", "ungrouped"), ("x", "ungrouped")],
            "ungrouped can't be inside another group. Set prefix.",
        ),
    ],
)
def test_a_group_that_ansible_cannot_add_is_an_error(
    pairs: list[tuple[str, str]], problem: str
) -> None:
    tree = nested_groups()
    for parent, child in pairs:
        tree.add(parent, child)
    with pytest.raises(OptionError) as found:
        tree.check()
    assert str(found.value) == f"keyed_groups: the group {problem}"
