# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The number of evaluations by Ansible, the counted failures, and errors in inventory files.

The results of expressions are compared with those of Ansible in test_expressions_fuzz.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.inventory import Constructable
from ansible.template import Templar
from jinja2 import Environment

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    HAS_EXPRESSIONS,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._evaluator import (
    syntax_error,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import (
    OPTIONS,
    Expressions,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._groups import (
    safe_group_name,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from support.constructable import hosts_of, load

OMITTED = ["server_nope | default(omit)"] if HAS_EXPRESSIONS else []
WEB: list[dict[str, Any]] = [
    {
        "name": f"web-{number}",
        "region": f"eu-{number % 3}",
        "tags": [f"t{number % 3}", number % 3],
        "extra": {"team": f"t{number % 3}"},
        "number": number % 3,
        "flag": number % 2 == 0,
    }
    for number in range(90)
]


def expressions_with(options: dict[str, Any], extra_vars: dict[str, Any] | None = None) -> Any:
    defaults: dict[str, Any] = dict.fromkeys(OPTIONS)
    return Expressions({**defaults, **load(options)}, Templar(DataLoader()), extra_vars or {})


def hosts(servers: list[dict[str, Any]]) -> list[Host]:
    return hosts_of(servers, tuple(f"h{number}.example" for number in range(len(servers))))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"compose": {"a": "server_name"}}, 0),
        ({"compose": {"a": "server_name ~ '.' ~ server_region"}}, 0),
        ({"compose": {"a": "server_region | hash('sha1')"}}, 3),
        ({"compose": {"a": "server_nope"}}, 90),
        ({"compose": {"a": "server_name ~ now().year"}}, 90),
        ({"keyed_groups": [{"key": "server_region"}]}, 0),
        ({"keyed_groups": [{"key": "server_region.split('-')"}]}, 3),
        ({"keyed_groups": [{"key": "server_name[:2]", "parent_group": "above"}]}, 0),
        ({"keyed_groups": [{"key": "server_name", "parent_group": "{{ server_name }}"}]}, 90),
        ({"compose": {"a": "server_name[:2]"}, "keyed_groups": [{"key": "a"}]}, 0),
        ({"compose": {"a": "server_nope"}, "keyed_groups": [{"key": "a | default('')"}]}, 91),
        ({"compose": {"a": "server_nope | default('x')"}}, 1),
        ({"compose": {"a": "server_tags"}}, 3),
        ({"compose": {"a": "server_extra.team | default('none')"}}, 3),
        ({"compose": {"a": "server_number + 1", "b": "server_flag | ternary(1, 2)"}}, 3 + 2),
        ({"compose": {"a": "group_names | length"}, "groups": {"b": "'x' in group_names"}}, 1),
        ({"groups": {"a": "server_flag"}, "keyed_groups": [{"key": "group_names"}]}, 2),
        ({"keyed_groups": [{"key": "server_extra"}, {"key": "server_tags"}]}, 6),
        ({"compose": {"a": "lookup | default('x')"}}, 90),
    ],
)
def test_ansible_evaluates_each_different_input_once(
    options: dict[str, Any], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated = []
    compose = Constructable._compose

    def counting(self: Any, template: Any, variables: Any, *args: Any, **kwargs: Any) -> Any:
        evaluated.append(template)
        return compose(self, template, variables, *args, **kwargs)

    monkeypatch.setattr(Constructable, "_compose", counting)
    expressions_with(options).compose_all(hosts(WEB), InventoryData())
    assert len(evaluated) == expected


def test_values_of_other_types_and_orders_are_different() -> None:
    values: list[Any] = [
        1, True, 1.0, "1", None, "", 0, False, 0.0, -0.0, [1], [True], {"a": 1}, [], {},
        ["a", 1], {"a": 1, "b": 2}, {"b": 2, "a": 1}, [[1], 2], [1, [2]],
    ]  # fmt: skip
    servers = [{"name": "x", "value": value} for value in values]
    options = {"compose": {"a": "server_value | to_json", "b": "server_value"}}
    composed = expressions_with(options).compose_all(hosts(servers), InventoryData())
    assert [extra.variables["a"] for extra in composed] == [json.dumps(value) for value in values]


def test_results_that_change_are_computed_for_each_host() -> None:
    expressions = expressions_with({"compose": {"a": "1000000 | random ~ server_name[:1]"}})
    composed = expressions.compose_all(hosts(WEB[:5]), InventoryData())
    assert not expressions.failures
    assert len({extra.variables["a"] for extra in composed}) == 5


def test_expressions_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    compile_expression = Environment.compile_expression

    def counting(self: Any, source: str, *args: Any, **kwargs: Any) -> Any:
        compiled.append(source)
        return compile_expression(self, source, *args, **kwargs)

    monkeypatch.setattr(Environment, "compile_expression", counting)
    options = {"compose": {"a": "now().year"}, "groups": {"b": "now().year > 1"}}
    expressions_with(options).compose_all(hosts(WEB), InventoryData())
    # Earlier versions, in which Jinja computes constants when it compiles, compile each time.
    assert compiled == (["now().year", "now().year > 1"] if HAS_EXPRESSIONS else [])


@pytest.mark.promise("data")
@pytest.mark.parametrize("is_fast", [True, False])
@pytest.mark.parametrize(
    "expression", ["server_name | b64decode", "[{'a': server_name | b64decode}]"]
)
def test_decoded_text_of_the_api_is_not_a_template(expression: str, is_fast: bool) -> None:
    name = base64.b64encode(b"{{ 7*7 }}").decode()
    options = {**dict.fromkeys(OPTIONS), **load({"compose": {"decoded": expression}})}
    templar = Templar(DataLoader())
    expressions = Expressions(options, templar, {}, is_fast)
    for composed in expressions.compose_all(hosts([{"name": name}] * 2), InventoryData()):
        templar.available_variables = composed.variables
        assert "{{ 7*7 }}" in str(templar.template(load("{{ decoded }}")))


@pytest.mark.parametrize("value", [22, 2.5, True, False])
def test_a_number_or_boolean_is_its_own_value(value: Any) -> None:
    options = {
        "compose": {"ansible_port": value},
        "groups": {"chosen": value},
        "keyed_groups": [{"key": value, "prefix": "is"}],
    }
    expressions = expressions_with(options)
    (composed,) = expressions.compose_all(hosts([{"name": "web-1"}]), InventoryData())
    assert composed.variables == {"ansible_port": value}
    expected = ["is_" + str(value).replace(".", "_")]
    assert composed.groups == (["chosen"] if value else []) + expected
    assert not expressions.failures


@pytest.mark.promise("silent")
def test_a_failure_is_counted_with_its_first_reason() -> None:
    options = {"compose": {"a": "server_nope"}, "groups": {"b": "server_nope == 1"}}
    expressions = expressions_with(options)
    expressions.compose_all(hosts([{"name": "x"}, {"name": "y", "nope": "1"}]), InventoryData())
    assert list(expressions.failures) == ["compose: a", "groups: b"]
    for count, reason in expressions.failures.values():
        assert count == 1
        assert "'server_nope' is undefined" in reason


@pytest.mark.promise("silent")
def test_entries_with_the_same_key_are_counted_separately() -> None:
    entries = [{"key": "server_nope"}, {"key": "server_nope", "prefix": "x"}, {"key": "1 / 0"}]
    expressions = expressions_with({"keyed_groups": entries})
    expressions.compose_all(hosts(WEB[:3]), InventoryData())
    assert {label: count for label, (count, reason) in expressions.failures.items()} == {
        "keyed_groups: server_nope (entry 1)": 3,
        "keyed_groups: server_nope (entry 2)": 3,
        "keyed_groups: 1 / 0": 3,
    }


@pytest.mark.promise("silent")
@pytest.mark.parametrize("key", ["server_region", "none", "[]", *OMITTED])
def test_an_empty_key_is_not_a_failure_without_strict(key: str) -> None:
    expressions = expressions_with({"keyed_groups": [{"key": key}]})
    (composed,) = expressions.compose_all(hosts([{"name": "x", "region": ""}]), InventoryData())
    assert not composed.groups
    assert not expressions.failures


def test_composing_twice_gives_the_same_result() -> None:
    entry = {"key": "server_region", "prefix": "dc", "parent_group": "datacenters"}
    expressions = expressions_with({"keyed_groups": [entry], "groups": {"a": "server_nope"}})
    first = expressions.compose_all(hosts(WEB[:2]), InventoryData())
    found = dict(expressions.parents), dict(expressions.failures)
    assert list(expressions.parents) == [("datacenters", "dc_eu_0"), ("datacenters", "dc_eu_1")]
    assert expressions.compose_all(hosts(WEB[:2]), InventoryData()) == first
    assert (expressions.parents, expressions.failures) == found


def test_a_failing_filter_names_the_server() -> None:
    expressions = expressions_with({"filters": [{"exclude": "server_nope == 'x'"}]})
    (host,) = hosts([{"name": "x"}])
    with pytest.raises(
        OptionError, match="filters: exclude: server_nope == 'x': failed for the"
    ) as found:
        expressions.is_kept(host)
    assert "srv_0" in str(found.value)


@pytest.mark.parametrize("condition", ["server_name ==", "server_name is", "(server_name"])
def test_a_syntax_error_in_a_filter_names_no_server(condition: str) -> None:
    expressions = expressions_with({"filters": [{"include": condition}]})
    (host,) = hosts([{"name": "x"}])
    with pytest.raises(OptionError) as found:
        expressions.is_kept(host)
    assert f"filters: include: {condition}: syntax error: " in str(found.value)
    assert "srv_0" not in str(found.value)


def test_a_cycle_of_causes_is_no_syntax_error() -> None:
    first, second = RuntimeError(), RuntimeError()
    first.__context__, second.__context__ = second, first
    assert syntax_error(first) is None


def test_with_strict_an_error_is_printed_once() -> None:
    expressions = expressions_with({"keyed_groups": [{"key": "server_nope"}], "strict": True})
    with pytest.raises(OptionError, match=r"^keyed_groups: server_nope: Could not") as found:
        expressions.compose_all(hosts([{"name": "x"}]), InventoryData())
    assert found.value.__cause__ is None
    assert str(found.value).count("Could not generate group") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compose": {"a": "server_nope"}}, "compose: a: Could not set a for host h0.example: "),
        ({"groups": {"b": "server_nope"}}, "groups: b: Could not add host h0.example to group b: "),
    ],
)
def test_with_strict_an_error_names_its_option(options: dict[str, Any], message: str) -> None:
    expressions = expressions_with({**options, "strict": True})
    with pytest.raises(OptionError) as found:
        expressions.compose_all(hosts([{"name": "x"}]), InventoryData())
    assert str(found.value).startswith(message)


@pytest.mark.promise("silent")
def test_failing_hostnames_are_counted_and_empty_ones_are_not() -> None:
    names = ["server_nmae", "server_nope | default('')", *OMITTED, "server_name"]
    expressions = expressions_with({"hostnames": names})
    found = [expressions.preferences(host) for host in hosts(WEB[:2])]
    assert [preferences[-1] for preferences in found] == ["web-0", "web-1"]
    expressions.compose_all(hosts(WEB[:2]), InventoryData())
    ((label, (count, reason)),) = expressions.failures.items()
    assert (label, count) == ("hostnames: server_nmae", 2)
    assert "'server_nmae' is undefined" in reason
    expressions = expressions_with({"hostnames": names, "strict": True})
    with pytest.raises(
        OptionError, match=r"^hostnames: server_nmae: failed for the server srv_0: "
    ):
        expressions.preferences(hosts(WEB)[0])


@pytest.mark.parametrize("is_fast", [True, False])
@pytest.mark.parametrize(
    "name", ["{0}", "[1j]", "[...]", "{(1, 2): 3}", "['a', 'prod']", "True", "[1]", "{}"]
)
def test_text_of_the_api_stays_text(name: str, is_fast: bool) -> None:
    options: dict[str, Any] = {
        **dict.fromkeys(OPTIONS),
        **load(
            {
                "compose": {"a": "server_name", "b": "server_name ~ ''", "c": "server_name[:99]"},
                "hostnames": ["server_name", "server_name | replace('~', '')"],
                "keyed_groups": [{"key": "server_name", "prefix": "n"}, {"key": "a"}],
            }
        ),
    }
    expressions = Expressions(options, Templar(DataLoader()), {}, is_fast)
    (host,) = hosts([{"name": name}])
    assert expressions.preferences(host) == [name, name]
    (composed,) = expressions.compose_all([host], InventoryData())
    assert composed.variables == dict.fromkeys("abc", name)
    assert all(isinstance(value, str) for value in composed.variables.values())
    safe = safe_group_name(name)
    assert composed.groups == [f"n_{safe}", f"_{safe}"]
    assert not expressions.failures


def test_the_name_of_a_host_and_of_a_group_stay_text() -> None:
    options = {"compose": {"a": "inventory_hostname", "b": "group_names | first"}}
    (host,) = hosts_of([{"name": "x"}], ("True",))
    host.groups[:] = ["False"]
    (composed,) = expressions_with(options).compose_all([host], InventoryData())
    assert composed.variables == {"a": "True", "b": "False"}


@pytest.mark.parametrize(
    "expression",
    ["server_name.upper", "server_name.encode()", "[server_name.encode()]", "{none: 1, 1.5: 'x'}"]
    if HAS_EXPRESSIONS
    else ["'{1}'", "'{(1, 2): 3}'", "'[1j]'", "'[{1}]'", "'{...}'"],
)
def test_a_result_that_json_cannot_hold_is_a_failure(expression: str) -> None:
    expressions = expressions_with({"compose": {"a": expression, "b": "server_name"}})
    (composed,) = expressions.compose_all(hosts([{"name": "x"}]), InventoryData())
    if expression.startswith("{none"):
        assert composed.variables["a"] == {None: 1, 1.5: "x"}
    else:
        assert composed.variables == {"b": "x"}
        assert list(expressions.failures) == ["compose: a"]
