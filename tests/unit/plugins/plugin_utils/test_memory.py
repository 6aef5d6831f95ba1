# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which results are remembered; test_comparison shows that they are those of Ansible."""

from unittest.mock import Mock

import pytest

from ansible_collections.server_management.cloud.plugins.plugin_utils._memory import (
    ABSENT,
    Memory,
    variables_in,
)
from support.expressions import load


@pytest.mark.parametrize(
    "expression",
    [
        "region.split('-')[0] ~ '.' ~ plan",
        "region | default('x') | upper",
        "'a' if region in ['eu-1'] else plan",
        "region is defined and not plan is match('x')",
    ],
)
def test_an_expression_of_allowed_parts_depends_on_its_variables(expression):
    found = variables_in(load(expression))
    assert found is not None
    assert {"region"} <= found <= {"region", "plan"}


@pytest.mark.parametrize(
    "expression",
    [
        "range(3)",
        "namespace(a=1).a",
        "region | random",
        "region | nope",
        "region is nope",
        "region is file",
        "region.format(1)",
        "{'a': region}",
        "region }} {{ plan",
        "region # x",
        "region, plan",
        "region |",
        "",
        22,
        None,
        ["region"],
        "'{{ region }}'",
        r"'\\d'",
        "[" * 400 + "region" + "]" * 400,
    ],
    ids=lambda expression: str(expression)[:20],
)
def test_other_expressions_are_left_to_ansible(expression):
    assert variables_in(load(expression)) is None


class MarkedText(str):
    """Text that Ansible treats differently, such as unsafe text."""


def times_asked(memory, values):
    """Return how often Ansible is asked for hosts whose variables have these values."""
    ask = Mock(return_value="x")
    for value in values:
        memory.result(Mock(return_value=value), ask)
    return ask.call_count


def test_ansible_is_asked_once_for_each_text():
    memory = Memory(load("region ~ plan"), ())
    assert times_asked(memory, ["eu-1", "eu-2", "eu-1", "eu-2"]) == 2


def test_an_absent_variable_is_not_an_empty_one():
    memory = Memory(load("region | default('x')"), ())
    assert times_asked(memory, [ABSENT, "", ABSENT, ""]) == 2


def test_text_of_another_class_is_different():
    memory = Memory(load("region"), ())
    assert times_asked(memory, ["True", MarkedText("True"), "True", MarkedText("True")]) == 2


@pytest.mark.parametrize("value", [1, True, None, ["a"], {"a": "b"}, "{{ 1 }}", "[1]"])
def test_ansible_is_asked_for_each_host_with_another_value(value):
    memory = Memory(load("region"), ())
    assert times_asked(memory, [value, value]) == 2


@pytest.mark.parametrize("name", ["now", "group_names", "inventory_hostname", "lookup"])
def test_variables_and_functions_of_ansible_are_asked_for_each_host(name):
    memory = Memory(load(f"region ~ {name}"), ())
    assert times_asked(memory, ["a", "a"]) == 2


def test_extra_variables_are_asked_for_each_host():
    memory = Memory(load("region"), {"region"})
    assert times_asked(memory, ["a", "a"]) == 2
