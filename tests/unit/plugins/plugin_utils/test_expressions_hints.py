# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is shown of an expression that fails, or that has braces, as what is probably meant."""

from datetime import date

import pytest

from support.expressions import compose, expressions_with, hosts_with, warnings_of

QUOTES = """(text needs quotes inside the quotes: "'admin'")"""
BRACES = (
    "(expressions have no braces: "
    "write server_management_name instead of {{ server_management_name }})"
)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"compose": {"a": "region ~ '.x'"}}, "(did you mean server_management_region?)"),
        ({"compose": {"a": "server_region"}}, "(did you mean server_management_region?)"),
        (
            {"compose": {"a": "server_management_regoin"}},
            "(did you mean server_management_region?)",
        ),
        ({"groups": {"a": "backup"}}, "(did you mean server_management_backup?)"),
        (
            {"groups": {"a": "server_management_backup"}},
            "(only some servers have this field: add the filter default)",
        ),
        ({"compose": {"a": "admin"}}, QUOTES),
        ({"compose": {"a": "admin ~ 'x'"}}, "'admin' is undefined"),
        ({"compose": {"a": "hostvars"}}, "'hostvars' is undefined"),
        ({"keyed_groups": [{"key": "admin"}]}, "'admin' is undefined"),
        ({"compose": {"a": "{{ server_management_name }}"}}, BRACES),
        ({"groups": {"a": "{{ server_management_name }} == 'x'"}}, BRACES),
        ({"keyed_groups": [{"key": "x{{ server_management_name }}"}]}, BRACES),
        ({"compose": {"a": "1 / 0"}}, "zero"),
    ],
)
def test_a_failure_says_what_is_probably_meant(options, hint):
    expressions = expressions_with(**options)
    expressions.hosts = hosts_with({"region": "eu-1"}, {"backup": True})
    compose(expressions, expressions.hosts)
    (warning,) = warnings_of(expressions)
    assert warning.endswith(hint)


def test_a_list_as_an_expression_is_one_failure():
    # Up to 2.18, Ansible evaluates the list as text, in which datetime is a name.
    expressions = expressions_with(compose={"a": "x"})
    (expression,) = expressions.all
    expression.source = expression.content = [date(2026, 1, 1)]
    compose(expressions, hosts_with({"name": "x"}))
    (warning,) = warnings_of(expressions)
    assert warning.startswith("compose: a: failed for 1 of 1 host: ")


def test_braces_in_text_are_reported_although_nothing_fails():
    expressions = expressions_with(compose={"a": "\"ssh {{ server_management_name }}\" ~ 'x'"})
    compose(expressions, hosts_with({"name": "x"}))
    (warning,) = warnings_of(expressions)
    assert "expressions have no braces" in warning


@pytest.mark.parametrize(
    "expression",
    [
        "server_management_name | replace('{{', '') | replace('}}', '')",
        "{'a': {'b': server_management_name}}",
    ],
)
def test_other_braces_are_not_reported(expression):
    expressions = expressions_with(compose={"a": expression})
    compose(expressions, hosts_with({"name": "x"}))
    assert warnings_of(expressions) == []
