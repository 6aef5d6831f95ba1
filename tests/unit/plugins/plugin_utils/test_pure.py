# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Expressions whose results are remembered, and all others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.plugin_utils import _pure
from ansible_collections.server_management.cloud.plugins.plugin_utils._pure import (
    Expression,
    variables_in,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._scratch import (
    ComposedHost,
    ScratchInventory,
)
from support.expressions import WEB, hosts_with, load

# test_comparison has expressions whose results change.
OTHERS: list[Any] = [
    *("range(3)", "namespace(a=1).a", "cycler('a', 'b').next()", "{'a': server_management_name}"),
    *(
        "server_management_name | nope",
        "server_management_name is nope",
        "server_management_name is file",
    ),
    *(
        "server_management_name.format(1)",
        "server_management_extra.values()",
        "server_management_tags.pop()",
    ),
    *(
        "server_management_name }} {{ server_management_plan",
        "server_management_name %} {% raw",
        "server_management_name # x",
    ),
    *(
        "server_management_name, server_management_plan",
        "server_management_name |",
        "",
        22,
        None,
        ["server_management_name"],
    ),
    *(
        "'{{ server_management_name }}'",
        "'\\\\d'",
        "[" * 400 + "server_management_name" + "]" * 400,
    ),
]


@pytest.mark.parametrize("expression", OTHERS, ids=lambda it: str(it)[:20])
def test_other_expressions_are_left_to_ansible(expression: object) -> None:
    assert variables_in(load(expression)) is None


@pytest.mark.parametrize(
    "expression", ["server_management_name | upper", "server_management_name is match('a')"]
)
def test_a_filter_or_test_replaced_by_a_user_is_left_to_ansible(
    expression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced = SimpleNamespace(get=lambda name: SimpleNamespace(ansible_name=name))
    monkeypatch.setattr(_pure, "filter_loader", replaced)
    monkeypatch.setattr(_pure, "test_loader", replaced)
    assert variables_in(load(expression)) is None


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ("server_management_name.upper() ~ '.' ~ server_management_region", 90),
        ("server_management_region.split('-')", 3),
        ("server_management_region[:2] | ansible.builtin.hash('sha1')", 3),
        ("'a' if server_management_region in ['eu-1'] else server_management_number", 3),
        ("server_management_name is defined and not server_management_name is match('x')", 90),
        ("'admin'", 1),
        ("-1 ~ 'x'", 1),
        ("server_management_number + 1", 3),
        ("server_management_flag", 2),
        ("[server_management_extra.team, server_management_tags]", 3),
        ("server_management_nope | default('x')", 1),
        ("group_names | length", 1),
        ("lookup | default('x')", 90),
        ("server_management_name ~ now().year", 90),
    ],
)
def test_ansible_evaluates_each_different_input_once(expression: str, number: int) -> None:
    evaluate = Mock(return_value="x")
    asking = Expression("compose: a", load(expression), evaluate)
    known = ScratchInventory(InventoryData())
    for host in hosts_with(WEB):
        asking.result(ComposedHost(host, known))
    assert evaluate.call_count == number


@pytest.mark.parametrize("value", ["{{ 1 }}", object()])
def test_a_value_that_could_be_a_template_or_change_is_not_remembered(value: object) -> None:
    evaluate = Mock(return_value=value)
    asking = Expression("compose: a", load("server_management_name"), evaluate)
    (host,) = hosts_with([{"name": value if isinstance(value, str) else "web"}])
    for _time in range(2):
        asking.result(ComposedHost(host, ScratchInventory(InventoryData())))
    assert evaluate.call_count == 2


@pytest.mark.parametrize(("variable", "number"), [("a", 1), ("server_management_extra", 2)])
def test_a_composed_variable_is_remembered_if_the_api_has_none_with_its_name(
    variable: str, number: int
) -> None:
    evaluate = Mock(return_value="x")
    asking = Expression("groups: a", load(f"{variable}.team"), evaluate)
    for host in hosts_with([{"extra": {"team": team}} for team in "ab"]):
        composed = ComposedHost(host, ScratchInventory(InventoryData()))
        composed.add({variable: {"a": 1}}, [])
        asking.result(composed)
    # The setting hash_behaviour can merge a composed mapping with one of the API.
    assert evaluate.call_count == number
