# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The results of expressions, with and without remembered ones, their failures, and hints.

The results of expressions are compared with those of Ansible in test_expressions_fuzz.
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
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import Scratch
from ansible_collections.server_management.cloud.plugins.plugin_utils._groups import (
    safe_group_name,
)
from support import constructable
from support.constructable import WEB, hosts_of, hosts_with, load

OMITTED = ["server_nope | default(omit)"] if HAS_EXPRESSIONS else []


@pytest.fixture(autouse=True, params=[True, False], ids=["with memory", "without memory"])
def _memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pure, "IS_USED", request.param)


def expressions_with(options: dict[str, Any], **more: Any) -> Any:
    return constructable.expressions_with(load(options), templar=Templar(DataLoader()), **more)


def test_values_of_other_types_and_orders_are_different() -> None:
    values: list[Any] = [
        1, True, 1.0, "1", None, "", 0, False, 0.0, -0.0, [1], [True], {"a": 1}, [], {},
        ["a", 1], {"a": 1, "b": 2}, {"b": 2, "a": 1}, [[1], 2], [1, [2]],
    ]  # fmt: skip
    servers = [{"name": "x", "value": value} for value in values]
    options = {"compose": {"a": "server_value | to_json", "b": "server_value"}}
    composed = expressions_with(options).compose_all(hosts_with(servers), InventoryData())
    assert [extra.variables["a"] for extra in composed] == [json.dumps(value) for value in values]


def test_results_that_change_are_computed_for_each_host() -> None:
    expressions = expressions_with({"compose": {"a": "1000000 | random ~ server_name[:1]"}})
    composed = expressions.compose_all(hosts_with(WEB[:5]), InventoryData())
    assert not expressions.failures
    assert len({extra.variables["a"] for extra in composed}) == 5


@pytest.mark.promise("data")
@pytest.mark.parametrize(
    "expression", ["server_name | b64decode", "[{'a': server_name | b64decode}]"]
)
def test_decoded_text_of_the_api_is_not_a_template(expression: str) -> None:
    name = base64.b64encode(b"{{ 7*7 }}").decode()
    templar = Templar(DataLoader())
    expressions = expressions_with({"compose": {"decoded": expression}})
    for composed in expressions.compose_all(hosts_with([{"name": name}] * 2), InventoryData()):
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
    (composed,) = expressions.compose_all(hosts_with([{"name": "web-1"}]), InventoryData())
    assert composed.variables == {"ansible_port": value}
    expected = ["is_" + str(value).replace(".", "_")]
    assert composed.groups == (["chosen"] if value else []) + expected
    assert not expressions.failures


@pytest.mark.promise("silent")
def test_a_failure_is_counted_with_its_first_reason() -> None:
    options = {"compose": {"a": "server_nope"}, "groups": {"b": "server_nope == 1"}}
    expressions = expressions_with(options)
    expressions.compose_all(
        hosts_with([{"name": "x"}, {"name": "y", "nope": "1"}]), InventoryData()
    )
    assert list(expressions.failures) == ["compose: a", "groups: b"]
    for servers, reason in expressions.failures.values():
        assert servers == {"srv_0"}
        assert "'server_nope' is undefined" in reason


@pytest.mark.promise("silent")
def test_entries_with_the_same_key_are_counted_separately() -> None:
    entries = [{"key": "server_nope"}, {"key": "server_nope", "prefix": "x"}, {"key": "1 / 0"}]
    expressions = expressions_with({"keyed_groups": entries})
    expressions.compose_all(hosts_with(WEB[:3]), InventoryData())
    assert {label: len(servers) for label, (servers, _reason) in expressions.failures.items()} == {
        "keyed_groups: server_nope (entry 1)": 3,
        "keyed_groups: server_nope (entry 2)": 3,
        "keyed_groups: 1 / 0": 3,
    }


@pytest.mark.promise("silent")
@pytest.mark.parametrize("key", ["server_region", "none", "[]", *OMITTED])
def test_an_empty_key_is_not_a_failure_without_strict(key: str) -> None:
    expressions = expressions_with({"keyed_groups": [{"key": key}]})
    (composed,) = expressions.compose_all(
        hosts_with([{"name": "x", "region": ""}]), InventoryData()
    )
    assert not composed.groups
    assert not expressions.failures


def test_composing_twice_gives_the_same_result() -> None:
    entry = {"key": "server_region", "prefix": "dc", "parent_group": "datacenters"}
    expressions = expressions_with({"keyed_groups": [entry], "groups": {"a": "server_nope"}})
    first = expressions.compose_all(hosts_with(WEB[:2]), InventoryData())
    found = dict(expressions.parents), dict(expressions.failures)
    assert list(expressions.parents) == [("datacenters", "dc_eu_0"), ("datacenters", "dc_eu_1")]
    assert expressions.compose_all(hosts_with(WEB[:2]), InventoryData()) == first
    assert (expressions.parents, expressions.failures) == found


def test_a_failing_filter_names_the_server() -> None:
    expressions = expressions_with({"filters": [{"exclude": "server_nope == 'x'"}]})
    (host,) = hosts_of([{"name": "x"}], ("",))
    message = "filters: exclude: server_nope == 'x': failed for srv_0: "
    with pytest.raises(OptionError, match=message):
        expressions.is_kept(host)


@pytest.mark.parametrize(
    ("options", "label"),
    [
        ({"compose": {"a": "server_nope"}}, "compose: a"),
        ({"groups": {"b": "server_nope"}}, "groups: b"),
        ({"keyed_groups": [{"key": "server_nope"}]}, "keyed_groups: server_nope"),
    ],
)
def test_with_strict_an_error_names_its_option_and_the_host(
    options: dict[str, Any], label: str
) -> None:
    expressions = expressions_with({**options, "strict": True})
    with pytest.raises(OptionError) as found:
        expressions.compose_all(hosts_with([{"name": "x"}]), InventoryData())
    assert str(found.value).startswith(f"{label}: failed for h0.example: ")
    assert str(found.value).count("'server_nope' is undefined") == 1
    assert found.value.__cause__ is None


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"compose": {"a": "region ~ '.x'"}}, "(did you mean server_region?)"),
        ({"keyed_groups": [{"key": "region"}]}, "(did you mean server_region?)"),
        ({"groups": {"a": "name == 'x'"}}, "(did you mean server_name?)"),
        ({"compose": {"a": "server_nmae"}}, "(did you mean server_name?)"),
        ({"compose": {"a": "admin"}}, """(text needs quotes inside the quotes: "'admin'")"""),
        ({"compose": {"a": "admin ~ 'x'"}}, "'admin' is undefined"),
        ({"compose": {"a": "1 / 0"}}, "zero"),
    ],
)
def test_a_failure_says_what_is_probably_meant(options: dict[str, Any], hint: str) -> None:
    expressions = expressions_with(options)
    expressions.compose_all(hosts_with([{"name": "x", "region": "eu-1"}]), InventoryData())
    ((_servers, reason),) = expressions.failures.values()
    assert reason.endswith(hint)


def test_an_omitted_hostname_is_not_a_failure_with_strict() -> None:
    expressions = expressions_with({"hostnames": [*OMITTED, "server_name"], "strict": True})
    assert expressions.preferences(hosts_with(WEB)[0]) == [""] * len(OMITTED) + ["web-0"]


def test_a_failing_filter_or_hostname_says_what_is_probably_meant() -> None:
    (host,) = hosts_of([{"name": "x", "status": "running"}], ("",))
    with pytest.raises(OptionError, match=r"\(did you mean server_status\?\)"):
        expressions_with({"filters": [{"include": "status == 'running'"}]}).is_kept(host)
    expressions = expressions_with({"hostnames": ["name"]})
    assert expressions.preferences(host) == [""]
    ((_servers, reason),) = expressions.failures.values()
    assert reason.endswith("(did you mean server_name?)")


@pytest.mark.parametrize(
    ("expression", "is_warned"),
    [
        ("'{{ server_ipv4 }}'", HAS_EXPRESSIONS),
        ("\"ssh {{ server_ipv4 }}\" ~ 'x'", HAS_EXPRESSIONS),
        ("server_name | replace('{{', '')", False),
        ("{'a': {'b': server_name}}", False),
        ("server_name", False),
        (22, False),
    ],
)
def test_braces_inside_text_cause_a_warning_if_ansible_does_not_render_them(
    expression: Any, is_warned: bool
) -> None:
    warnings: list[str] = []
    expressions_with({"compose": {"ansible_host": expression}}, warn=warnings.append)
    expected = "compose: ansible_host: Ansible doesn't render braces inside the text of an "
    assert [warning.partition("expression")[0] for warning in warnings] == [expected] * is_warned


@pytest.mark.promise("silent")
def test_failing_hostnames_are_counted_and_empty_ones_are_not() -> None:
    names = ["server_nope", "server_nope | default('')", *OMITTED, "server_name"]
    expressions = expressions_with({"hostnames": names})
    found = [expressions.preferences(host) for host in hosts_with(WEB[:2])]
    assert [preferences[-1] for preferences in found] == ["web-0", "web-1"]
    expressions.compose_all(hosts_with(WEB[:2]), InventoryData())
    ((label, (servers, reason)),) = expressions.failures.items()
    assert (label, len(servers)) == ("hostnames: server_nope", 2)
    assert "'server_nope' is undefined" in reason
    expressions = expressions_with({"hostnames": names, "strict": True})
    with pytest.raises(OptionError, match=r"^hostnames: server_nope: failed for h0.example: "):
        expressions.preferences(hosts_with(WEB)[0])


@pytest.mark.parametrize(
    "name", ["{0}", "[1j]", "[...]", "{(1, 2): 3}", "['a', 'prod']", "True", "[1]", "{}"]
)
def test_text_of_the_api_stays_text(name: str) -> None:
    options: dict[str, Any] = {
        "compose": {"a": "server_name", "b": "server_name ~ ''", "c": "server_name[:99]"},
        "hostnames": ["server_name", "server_name | replace('~', '')"],
        "keyed_groups": [{"key": "server_name", "prefix": "n"}, {"key": "a"}],
    }
    expressions = expressions_with(options)
    (host,) = hosts_with([{"name": name}])
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
    (composed,) = expressions.compose_all(hosts_with([{"name": "x"}]), InventoryData())
    if expression.startswith("{none"):
        assert composed.variables["a"] == {None: 1, 1.5: "x"}
    else:
        assert composed.variables == {"b": "x"}
        assert list(expressions.failures) == ["compose: a"]


@pytest.fixture
def scratch() -> Scratch:
    inventory = InventoryData()
    for parent, child in (("all", "a"), ("a", "b")):
        inventory.add_group(child)
        inventory.add_child(parent, child)
    return Scratch(inventory)


@pytest.mark.parametrize(
    "parents",
    [
        [],
        [("a", "b")],
        [("x", "y"), ("y", "z"), ("x", "z"), ("x", "y")],
        [("b", "c"), ("all", "c")],
    ],
)
def test_a_group_may_have_several_parents(scratch: Scratch, parents: list[tuple[str, str]]) -> None:
    scratch.add_parents(parents)


@pytest.mark.parametrize(
    ("parents", "child"),
    [
        ([("x", "x")], "x"),
        ([("b", "a")], "a"),
        ([("x", "y"), ("y", "x")], "x"),
        ([("b", "c"), ("c", "d"), ("d", "a")], "a"),
    ],
)
def test_a_group_inside_itself_is_refused(
    scratch: Scratch, parents: list[tuple[str, str]], child: str
) -> None:
    with pytest.raises(OptionError, match=f"keyed_groups: the group {child} would be inside"):
        scratch.add_parents(parents)


@pytest.mark.parametrize("child", ["all", "ungrouped"])
def test_all_and_ungrouped_cannot_be_child_groups(scratch: Scratch, child: str) -> None:
    with pytest.raises(OptionError, match=f"the group {child} can't be inside another group"):
        scratch.add_parents([("x", child)])
