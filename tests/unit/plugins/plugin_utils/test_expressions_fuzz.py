# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare random expressions with Ansible's own helpers.

The environment variable FUZZ_CASES sets the number of inventory files, which have about five
expressions each. The cases are the same in each run, unless FUZZ_SEED is set. A failing case is
printed as small as possible. The intended differences are listed in support.constructable.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings

from ansible_collections.server_management.cloud.plugins.plugin_utils._pure import variables_in
from support.constructable import compare, load
from support.expression_cases import CASES, CHANGING_EXPRESSIONS, HOSTS, Case

NUMBER = int(os.environ.get("FUZZ_CASES", "100"))
SEED = os.environ.get("FUZZ_SEED", "")
SERVERS: list[dict[str, Any]] = [
    {"name": "web-1", "region": "eu-1", "plan": "small", "flag": True, "number": 3},
    {"name": "web-1", "region": "eu-1", "plan": "large", "extra": {"team": "x"}},
    {"name": "True", "region": "[1]", "plan": "{{ 1 }}"},
    {"name": "{0}", "region": "['a', 'prod']", "plan": "{(1, 2): 3}"},
]
DEEP = "[" * 400 + "server_name" + "]" * 400
ABOVE = {"key": "server_region", "prefix": "p", "parent_group": "above"}
OVERRIDE = "#jinja2: variable_start_string:'[', variable_end_string:']'\n[server_plan]"
# Differences that the collection once had, each with the options that show it.
KNOWN: dict[str, dict[str, Any]] = {
    "group_names has the groups above those of other sources": {
        "compose": {"composed": "group_names | join('-')"}
    },
    "group_names has the parents that keyed_groups make": {
        "keyed_groups": [ABOVE, {"key": "group_names | join('-')"}]
    },
    "group_names has a parent that an earlier host made": {
        "keyed_groups": [
            {"key": "group_names | join('-')", "prefix": "g"},
            {"key": "'common_group'", "separator": "", "parent_group": "above"},
        ]
    },
    "a variable of another source": {
        "compose": {"composed": "other_text | default('none')"},
        "groups": {"a": "'static' in group_names"},
    },
    "groups don't see each other": {
        "groups": {"first": "server_name == 'web-1'", "second": "'first' in group_names"}
    },
    "bad input of from_yaml": {"compose": {"composed": "('[' ~ server_name) | from_yaml"}},
    "the short name of an address": {"compose": {"composed": "inventory_hostname_short"}},
    "many brackets": {"compose": {"composed": DEEP}, "keyed_groups": [{"key": DEEP}]},
    "groups whose names become equal": {"groups": {"a-b": "server_name != 'x'", "a_b": "false"}},
    "tests on an undefined value": {
        "groups": {
            "a": "server_name.split('-')[5] is not string",
            "b": "server_name.split('-')[5] is not none",
            "c": "server_name.split('-')[5] is not in(['x'])",
        }
    },
    "text that stays text": {
        "compose": {"composed": "server_flag | string", "second": "server_number | to_json"}
    },
    "text that could be a template": {"compose": {"composed": "server_name ~ ()"}},
    "the name and the groups of a host in compose": {
        "compose": {"inventory_hostname": "'x'", "group_names": "'x'"},
        "groups": {"a": "inventory_hostname == 'x'", "b": "group_names == 'x'"},
        "keyed_groups": [{"key": "inventory_hostname"}, {"key": "group_names"}],
    },
    "a date": {"compose": {"composed": "'2026-01-01' | to_datetime('%Y-%m-%d')"}},
    "null and its text": {"compose": {"composed": "None", "second": None}},
    "a parent group with a header": {
        "keyed_groups": [{"key": "server_region", "parent_group": OVERRIDE}]
    },
    "text like a value": {
        "compose": {"composed": "server_name", "second": "server_region.split(',')"},
        "keyed_groups": [{"key": "server_region"}, {"key": "composed ~ ''", "prefix": "p"}],
        "hostnames": ["server_plan"],
        "groups": {"a": "composed == server_name", "b": "server_plan is mapping"},
    },
    "a composed value that JSON cannot hold": {
        "compose": {
            "composed": "'{1}'",
            "second": "'[1j]'",
            "third": "server_name.encode()",
            "a": "'{' ~ server_number ~ '}'",
            "b": "server_nope | default('nan') | float",
            "c": "[server_name.encode()]",
        },
        "groups": {"a": "composed is defined"},
    },
}
DEFAULTS: dict[str, Any] = {
    "compose": {}, "groups": {}, "keyed_groups": [], "hostnames": [], "filters": [],
    "strict": False, "use_extra_vars": False, "leading_separator": True,
}  # fmt: skip


fuzz = settings(
    max_examples=NUMBER,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


@seed(SEED)
@fuzz
@given(CASES)
def test_expressions_give_what_ansible_gives(case: Case) -> None:
    compare(case)


@pytest.mark.parametrize("options", KNOWN.values(), ids=list(KNOWN))
def test_known_differences_stay_away(options: dict[str, Any]) -> None:
    known = {"groups": ["static"], "vars": {"other_text": "x"}}
    others = {"parents": {"common_group": "whole", "whole": "world"}, "hosts": {HOSTS[2]: known}}
    compare(Case({**DEFAULTS, **options}, SERVERS, others, {}))


@seed(SEED)
@fuzz
@given(CHANGING_EXPRESSIONS)
def test_a_result_that_may_change_is_never_remembered(expression: str) -> None:
    assert variables_in(load(expression)) is None
