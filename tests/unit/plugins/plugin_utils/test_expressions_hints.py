# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is shown of an expression that fails, or that has braces, as what is probably meant."""

import pytest

from support.expressions import composed

REGION = "(did you mean server_management_region?)"
BRACES = (
    "expressions have no braces: "
    "write server_management_name instead of {{ server_management_name }}"
)


@pytest.mark.parametrize(
    ("options", "end"),
    [
        ({"compose": {"a": "region ~ '.x'"}}, REGION),
        ({"compose": {"a": "server_region"}}, REGION),
        ({"compose": {"a": "server_management_regoin"}}, REGION),
        ({"groups": {"a": "backup"}}, "(did you mean server_management_backup?)"),
        (
            {"groups": {"a": "server_management_backup"}},
            "(only some servers have this field: add the filter default)",
        ),
        ({"compose": {"a": "admin"}}, """(text needs quotes inside the quotes: "'admin'")"""),
        ({"compose": {"a": "admin ~ 'x'"}}, "'admin' is undefined"),
        ({"compose": {"a": "hostvars"}}, "'hostvars' is undefined"),
        ({"keyed_groups": [{"key": "admin"}]}, "'admin' is undefined"),
        ({"compose": {"a": "{{ server_management_name }}"}}, f"({BRACES})"),
        ({"groups": {"a": "{{ server_management_name }} == 'x'"}}, f"({BRACES})"),
        ({"keyed_groups": [{"key": "x{{ server_management_name }}"}]}, f"({BRACES})"),
    ],
)
def test_a_failure_says_what_is_probably_meant(options, end):
    first = {"region": "eu-1"}
    second = {"backup": True}
    _hosts, warnings = composed(first, second, **options)
    (warning,) = warnings
    assert warning.endswith(end)


def test_braces_in_text_are_reported_although_nothing_fails():
    compose = {"a": "'{{ server_management_name }}' ~ 'x'"}
    _hosts, warnings = composed({}, compose=compose)
    assert warnings == [f"compose: a: {BRACES}."]


@pytest.mark.parametrize(
    "expression",
    [
        "server_management_name | replace('{{', '') | replace('}}', '')",
        "{'a': {'b': server_management_name}}",
    ],
)
def test_other_braces_are_not_reported(expression):
    compose = {"a": expression}
    _hosts, warnings = composed({"name": "x"}, compose=compose)
    assert warnings == []
