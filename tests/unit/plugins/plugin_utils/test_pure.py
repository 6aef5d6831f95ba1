# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Expressions whose results are remembered, those that Jinja evaluates, and all others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from ansible import constants
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.plugin_utils import _pure
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    HAS_EXPRESSIONS,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import Scratch
from ansible_collections.server_management.cloud.plugins.plugin_utils._pure import (
    Expression,
    View,
    analyse,
)
from support.expressions import WEB, hosts_with, load

PORTABLE = {
    "server_name": ("server_name",),
    "'admin'": (),
    "server_name ~ '.' ~ server_region": ("server_name", "server_region"),
    "server_created_at[:4]": ("server_created_at",),
    "server_name.split('-')[-1].lower()": ("server_name",),
    "'a' if server_region in ['eu-1'] else server_plan": ("server_plan", "server_region"),
    "server_name | default('x') | upper": ("server_name",),
    "server_name is defined and not server_name.startswith('x')": ("server_name",),
}
OF_ANSIBLE = {
    "server_name | regex_replace('a', 'b')": ("server_name",),
    "server_name is match('web')": ("server_name",),
    "server_name | ansible.builtin.hash('sha1')": ("server_name",),
    "server_name['encode']": ("server_name",),
    "server_name[server_region]": ("server_name", "server_region"),
    "server_name.split('-')[5] is defined": ("server_name",),
    "server_name or ''[0] ~ 'x'": ("server_name",),
    "[server_name, server_region] | join": ("server_name", "server_region"),
    "server_extra.team": ("server_extra",),
}


@pytest.mark.parametrize("expression", [*PORTABLE, *OF_ANSIBLE])
def test_jinja_evaluates_portable_expressions_and_ansible_other_pure_ones(expression: str) -> None:
    pure = analyse(load(expression), is_condition=False)
    assert pure is not None
    assert pure.names == {**PORTABLE, **OF_ANSIBLE}[expression]
    assert (pure.compiled is not None) == (expression in PORTABLE)


# test_comparison has expressions whose results change.
OTHERS: list[Any] = [
    *("range(3)", "namespace(a=1).a", "cycler('a', 'b').next()", "self", "{'a': server_name}"),
    *("server_name | nope", "server_name is nope", "server_name is file"),
    *("server_name.upper", "server_name.__class__", "server_name.format(1)"),
    *("server_extra.items", "server_extra.values()", "server_tags.pop()"),
    *("server_name }} {{ server_plan", "server_name %} {% raw", "server_name # x", "'\\\\d'"),
    *("server_name, server_plan", "server_name |", "", 22, None, ["server_name"]),
    {"__ansible_unsafe": "server_name"},
]


@pytest.mark.parametrize("expression", OTHERS, ids=str)
def test_other_expressions_are_left_to_ansible(expression: object) -> None:
    assert analyse(load(expression), is_condition=False) is None


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("server_name + 1", "web"),
        ("server_name.split('-')[5] ~ 'x'", "web"),
        ("server_name.split('-') | join(attribute='__class__')", "web"),
        ("server_name.zfill(1000000000000000)", "web"),
        ("server_name", "{{ 1 }}"),
    ],
)
def test_failing_expressions_and_possible_templates_are_left_to_ansible(
    expression: str, name: str
) -> None:
    (host,) = hosts_with([{"name": name}])
    asked = Expression(lambda source, view: "asked", (), "compose: a", load(expression))
    assert asked.result(View(host)) == "asked"


@pytest.mark.parametrize("expression", ["server_name | upper", "server_name is match('a')"])
def test_a_filter_or_test_replaced_by_a_user_is_left_to_ansible(
    expression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced = SimpleNamespace(get=lambda name: SimpleNamespace(ansible_name=name))
    monkeypatch.setattr(_pure, "filter_loader", replaced)
    monkeypatch.setattr(_pure, "test_loader", replaced)
    assert analyse(load(expression), is_condition=False) is None


def test_with_a_jinja_extension_everything_is_left_to_ansible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(constants, "DEFAULT_JINJA2_EXTENSIONS", ["jinja2.ext.do"], raising=False)
    assert analyse(load("server_name"), is_condition=False) is None


@pytest.mark.parametrize(
    ("expression", "is_condition"),
    [("-1 ~ server_name", False), ("'a' if server_name else 'b'", True)],
)
def test_expressions_that_differ_in_a_template_are_left_to_ansible_before_2_19(
    expression: str, is_condition: bool
) -> None:
    assert (analyse(load(expression), is_condition) is not None) == HAS_EXPRESSIONS


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ("server_name.upper() ~ '.' ~ server_region", 0),
        ("server_region.split('-')", 3),
        ("server_region | hash('sha1')", 3),
        ("server_number + 1", 3),
        ("server_flag", 2),
        ("[server_extra, server_tags]", 3),
        ("server_nope | default('x')", 1),
        ("group_names | length", 1),
        ("lookup | default('x')", 90),
        ("server_name ~ now().year", 90),
    ],
)
def test_ansible_evaluates_each_different_input_once(expression: str, number: int) -> None:
    ask = Mock(return_value="asked")
    asking = Expression(ask, (), "compose: a", load(expression))
    scratch = Scratch(InventoryData())
    for host in hosts_with(WEB):
        asking.result(View(host, scratch))
    assert ask.call_count == number
