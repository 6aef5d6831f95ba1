# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The results of expressions, with and without remembered ones, their failures, and hints.

The results of expressions are compared with those of Ansible in test_comparison.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.plugin_utils import _pure
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    HAS_EXPRESSIONS,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import (
    ADDRESSES,
    NO_ADDRESS,
)
from support.expressions import WEB, expressions_with, hosts_of, hosts_with, load

OMITTED = ["server_management_nope | default(omit)"] if HAS_EXPRESSIONS else []


@pytest.fixture(autouse=True, params=[True, False], ids=["with memory", "without memory"])
def _memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pure, "IS_USED", request.param)


def compose(expressions: Any, servers: list[dict[str, Any]]) -> Any:
    return expressions.compose_all(hosts_with(servers), InventoryData())


def failures_of(expressions: Any) -> list[tuple[str, set[str]]]:
    return [(it.label, it.failures) for it in expressions.all if it.failures]


def test_values_of_other_types_and_orders_are_different() -> None:
    values: list[Any] = [
        1, True, 1.0, "1", None, "", 0, False, 0.0, -0.0, [1], [True], {"a": 1}, [], {},
        ["a", 1], {"a": 1, "b": 2}, {"b": 2, "a": 1}, [[1], 2], [1, [2]],
    ]  # fmt: skip
    expressions = expressions_with({"compose": {"a": "server_management_value | to_json"}})
    composed = compose(expressions, [{"name": "x", "value": value} for value in values])
    assert [extra.variables["a"] for extra in composed] == [json.dumps(value) for value in values]


@pytest.mark.promise("data")
@pytest.mark.parametrize(
    "expression",
    ["server_management_name | b64decode", "[{'a': server_management_name | b64decode}]"],
)
def test_decoded_text_of_the_api_is_not_a_template(expression: str) -> None:
    name = base64.b64encode(b"{{ 7*7 }}").decode()
    templar = Templar(DataLoader())
    expressions = expressions_with({"compose": {"decoded": expression}})
    for composed in compose(expressions, [{"name": name}] * 2):
        templar.available_variables = composed.variables
        assert "{{ 7*7 }}" in str(templar.template(load("{{ decoded }}")))


@pytest.mark.promise("data")
def test_text_of_the_api_stays_text() -> None:
    texts = ["{0}", "{'a': 1}", "[1]", "True", "1"]
    expressions = expressions_with(
        {"compose": {"a": "server_management_name", "b": "server_management_name ~ ''"}}
    )
    composed = compose(expressions, [{"name": text} for text in texts])
    assert [extra.variables for extra in composed] == [{"a": text, "b": text} for text in texts]


@pytest.mark.parametrize("value", [22, 2.5, True, False])
def test_a_number_or_boolean_is_its_own_value(value: Any) -> None:
    options = {
        "compose": {"ansible_port": value},
        "groups": {"chosen": value},
        "keyed_groups": [{"key": value, "prefix": "is"}],
        "hostnames": [value, "1 + 1", "[1]"],
    }
    expressions = expressions_with(options)
    (composed,) = compose(expressions, [{"name": "web-1"}])
    assert composed.variables == {"ansible_port": value}
    assert expressions.preferences(composed.host) == [str(value), "2", ""]
    expected = ["is_" + str(value).replace(".", "_")]
    assert composed.groups == (["chosen"] if value else []) + expected
    assert not failures_of(expressions)


@pytest.mark.promise("silent")
def test_failures_are_counted_for_each_expression_with_the_first_reason() -> None:
    options = {
        "compose": {"a": "server_management_nope"},
        "groups": {"b": "server_management_nope == 1"},
        "keyed_groups": [
            *({"key": "server_management_nope"}, {"key": "server_management_nope", "prefix": "x"}),
            *(
                {"key": "1 / 0"},
                {"key": "server_management_name"},
                {"key": "server_management_name is defined"},
            ),
        ],
        "hostnames": [
            "server_management_nope",
            "server_management_nope | default('')",
            *OMITTED,
            "server_management_name",
        ],
    }
    expressions = expressions_with(options)
    servers = [{"name": "x"}, {"name": "y", "nope": "1"}, {"name": "z"}]
    found = [expressions.preferences(host) for host in hosts_with(servers)]
    assert [preferences[-1] for preferences in found] == ["x", "y", "z"]
    compose(expressions, servers)
    some, every = {"srv_0", "srv_2"}, {"srv_0", "srv_1", "srv_2"}
    assert failures_of(expressions) == [
        ("hostnames: server_management_nope", some),
        ("compose: a", some),
        ("groups: b", some),
        ("keyed_groups: server_management_nope", some),
        ("keyed_groups: server_management_nope", some),
        ("keyed_groups: 1 / 0", every),
        ("keyed_groups: server_management_name is defined", every),  # neither text nor a list
    ]
    (expression,) = [it for it in expressions.all if it.label == "compose: a"]
    assert "'server_management_nope' is undefined" in expression.reason


@pytest.mark.promise("silent")
@pytest.mark.parametrize("key", ["server_management_region", "none", "[]", *OMITTED])
def test_an_empty_key_is_not_a_failure_without_strict(key: str) -> None:
    expressions = expressions_with({"keyed_groups": [{"key": key}]})
    (composed,) = compose(expressions, [{"name": "x", "region": ""}])
    assert not composed.groups
    assert not failures_of(expressions)


def test_composing_twice_gives_the_same_result() -> None:
    entry = {"key": "server_management_region", "prefix": "dc", "parent_group": "datacenters"}
    expressions = expressions_with(
        {"keyed_groups": [entry], "groups": {"a": "server_management_nope"}}
    )
    first = [composed.groups for composed in compose(expressions, WEB[:2])]
    found = dict(expressions.parents), failures_of(expressions)
    assert list(expressions.parents) == [("datacenters", "dc_eu_0"), ("datacenters", "dc_eu_1")]
    assert [composed.groups for composed in compose(expressions, WEB[:2])] == first
    assert (expressions.parents, failures_of(expressions)) == found


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({"compose": {"a": "server_management_nope"}}, "compose: a"),
        ({"groups": {"b": "server_management_nope"}}, "groups: b"),
        (
            {"keyed_groups": [{"key": "server_management_nope"}]},
            "keyed_groups: server_management_nope",
        ),
    ],
)
def test_with_strict_an_error_names_its_option_and_the_host(
    options: dict[str, Any], label: str
) -> None:
    with pytest.raises(OptionError) as found:
        compose(expressions_with({**options, "strict": True}), [{"name": "x"}])
    assert str(found.value).startswith(f"{label}: failed for h0.example: ")
    assert str(found.value).count("'server_management_nope' is undefined") == 1
    assert found.value.__cause__ is None


def test_with_strict_a_failing_hostname_is_an_error_and_an_omitted_one_is_not() -> None:
    (host,) = hosts_with([{"name": "x"}])
    omitting = expressions_with({"hostnames": [*OMITTED, "server_management_name"], "strict": True})
    assert omitting.preferences(host) == [""] * len(OMITTED) + ["x"]
    with pytest.raises(
        OptionError, match=r"^hostnames: server_management_nope: failed for h0.example: "
    ):
        expressions_with({"hostnames": ["server_management_nope"], "strict": True}).preferences(
            host
        )


def test_a_failing_filter_names_the_server_and_what_is_probably_meant() -> None:
    expressions = expressions_with({"filters": [{"exclude": "region == 'x'"}]})
    (host,) = hosts_of([{"name": "x", "region": "eu-1"}], ("",))
    with pytest.raises(OptionError) as found:
        expressions.is_kept(host)
    assert str(found.value).startswith("filters: exclude: region == 'x': failed for srv_0: ")
    assert str(found.value).endswith("(did you mean server_management_region?)")


BRACES = (
    "(expressions have no braces: "
    "write server_management_name instead of {{ server_management_name }})"
)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"compose": {"a": "region ~ '.x'"}}, "(did you mean server_management_region?)"),
        ({"groups": {"a": "name == 'x'"}}, "(did you mean server_management_name?)"),
        ({"keyed_groups": [{"key": "backup"}]}, "(did you mean server_management_backup?)"),
        ({"compose": {"a": "admin"}}, """(text needs quotes inside the quotes: "'admin'")"""),
        ({"keyed_groups": [{"key": "admin"}]}, "'admin' is undefined"),
        ({"groups": {"a": "admin"}}, "'admin' is undefined"),
        ({"compose": {"a": "{{ server_management_name }}"}}, BRACES),
        ({"groups": {"a": "{{ server_management_name }} == 'x'"}}, BRACES),
        ({"keyed_groups": [{"key": "x{{ server_management_name }}"}]}, BRACES),
        ({"compose": {"a": "1 / 0"}}, "zero"),
    ],
)
def test_a_failure_says_what_is_probably_meant(options: dict[str, Any], hint: str) -> None:
    expressions = expressions_with(options)
    servers: list[dict[str, Any]] = [{"name": "x", "region": "eu-1"}, {"name": "y", "backup": True}]
    expressions.hosts = hosts_with(servers)
    compose(expressions, servers)
    (expression,) = expressions.all
    assert expression.failures
    assert expression.reason.endswith(hint)


@pytest.mark.parametrize(
    ("expression", "is_warned"),
    [
        ("'{{ server_management_ipv4 }}'", True),
        ("\"ssh {{ server_management_ipv4 }}\" ~ 'x'", True),
        ("{{ server_management_name }}", True),
        ("server_management_name | replace('{{', '') | replace('}}', '')", False),
        ("{'a': {'b': server_management_name}}", False),
        ("server_management_name", False),
        (22, False),
    ],
)
def test_braces_are_reported_once(expression: Any, is_warned: bool) -> None:
    for options in (
        {"compose": {"a": expression}},
        {"keyed_groups": [{"key": expression}]},
        {"hostnames": [expression]},
    ):
        warnings: list[str] = []
        expressions = expressions_with(options, warn=warnings.append)
        hosts = hosts_with([{"name": "x", "ipv4": "y"}])
        expressions.preferences(hosts[0])
        expressions.compose_all(hosts, InventoryData())
        expressions.report(hosts)
        found = [warning for warning in warnings if "expressions have no braces" in warning]
        assert len(found) == is_warned, warnings


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("variable", ADDRESSES)
def test_a_result_that_is_no_address_is_replaced(variable: str, strict: bool) -> None:
    usable = ["web-1", "10.0.0.1", "2001:db8::1", "[2001:db8::1]", "fe80::1%eth0", NO_ADDRESS]
    unusable = [None, "", 5, ["a"], "-oProxyCommand=id", " 10.0.0.1", "a b", "a\n", "a\x00", "\x9b"]
    options = {
        "compose": {variable: "server_management_value"},
        "groups": {"unreachable": f"{variable} == '{NO_ADDRESS}'"},
        "strict": strict,
    }
    hosts = hosts_with([{"name": "x", "value": value} for value in (*usable, *unusable)])
    found = expressions_with(options).compose_all(hosts, InventoryData())
    addresses = [composed.variables[variable] for composed in found]
    assert addresses == usable + [NO_ADDRESS] * len(unusable)
    groups = [composed.groups for composed in found]
    assert groups[5:] == [["unreachable"]] * (len(unusable) + 1)
    replaced = [host.replaced for host in hosts]
    assert replaced == [set()] * len(usable) + [{variable}] * len(unusable)


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize("expression", ["server_management_nope", *OMITTED])
def test_a_failing_or_omitted_address_leaves_that_of_the_api(expression: str) -> None:
    warnings: list[str] = []
    expressions = expressions_with({"compose": {"ansible_host": expression}}, warn=warnings.append)
    hosts = hosts_with([{"name": "x"}])
    (composed,) = expressions.compose_all(hosts, InventoryData())
    assert composed.variables == {}
    expressions.report(hosts)
    failed = "compose: ansible_host: failed for 1 of 1 host: "
    assert [warning[: len(failed)] for warning in warnings] == [failed] * (
        expression == "server_management_nope"
    )


def test_the_name_of_a_host_and_of_a_group_stay_text() -> None:
    options = {"compose": {"a": "inventory_hostname", "b": "group_names | first"}}
    (host,) = hosts_of([{"name": "x"}], ("True",))
    host.groups[:] = ["False"]
    (composed,) = expressions_with(options).compose_all([host], InventoryData())
    assert composed.variables == {"a": "True", "b": "False"}
