# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which results are remembered; test_comparison shows that they are those of Ansible."""

from unittest.mock import Mock

import pytest

from ansible_collections.server_management.cloud.plugins.plugin_utils._expression import Expression
from support.expressions import load


def times_asked(expression, *values, changing=()):
    """Return how often Ansible is asked for hosts whose variables have these values."""
    remembering = Expression("compose", "a", load(expression), changing)
    ask = Mock()
    for value in values:
        remembering.result({"region": value, "plan": value}, ask)
    return ask.call_count


@pytest.mark.parametrize(
    "expression",
    [
        "region.split('-')[0] ~ '.' ~ plan",
        "region | default('x') | upper",
        "'a' if region in ['eu-1'] else plan",
        "region is defined and not plan is match('x')",
    ],
)
def test_ansible_is_asked_once_for_each_text(expression):
    assert times_asked(expression, "eu-1", "eu-2", "eu-1", "eu-2") == 2


OTHERS = [
    "range(3)", "region.format(1)", "region | random", "region | default(lookup('env', 'HOME'))",
    "region is file", "region is nope",
    # These depend on the host or the time.
    "region ~ inventory_hostname", "region ~ group_names", "region ~ now",
    # Ansible may read these in another way.
    "region }} {{ plan", "region # x", "region |", "'{{ region }}'", r"'\\d'",
    "[" * 400 + "region" + "]" * 400,
]  # fmt: skip


@pytest.mark.parametrize("expression", OTHERS, ids=lambda expression: expression[:20])
def test_ansible_is_asked_about_other_expressions_for_each_host(expression):
    assert times_asked(expression, "eu-1", "eu-1") == 2


@pytest.mark.parametrize("value", [1, True, None, ["a"], {"a": "b"}, "{{ 1 }}", "[1]"])
def test_ansible_is_asked_for_each_host_with_another_value(value):
    assert times_asked("region", value, value) == 2


def test_ansible_is_asked_about_extra_variables_for_each_host():
    assert times_asked("region", "a", "a", changing={"region"}) == 2


class MarkedText(str):
    """Text that Ansible treats differently, such as unsafe text."""


def test_similar_values_are_different():
    marked = MarkedText("True")
    assert times_asked("region", "True", marked, "True", marked) == 2


def test_an_empty_text_is_not_an_absent_variable():
    expression = Expression("compose", "a", load("region is defined"))
    ask = Mock(side_effect=[True, False])
    for _time in range(2):
        assert expression.result({"region": ""}, ask) is True
        assert expression.result({}, ask) is False
