# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What expressions add to hosts, and what is shown of those that fail.

The results of expressions are compared with those of Ansible in test_comparison.
"""

import base64
from unittest.mock import Mock

import pytest
from ansible import constants
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.plugin_utils import _expressions
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    HAS_EXPRESSIONS,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import (
    ComposedHost,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import (
    ADDRESSES,
    NO_ADDRESS,
)
from support.expressions import compose, expressions_with, host_with, hosts_with, load, warnings_of

# For each option, an expression that fails, and its name in messages.
FAILING = [
    ({"compose": {"a": "server_management_nope"}}, "compose: a"),
    ({"groups": {"b": "server_management_nope == 1"}}, "groups: b"),
    ({"keyed_groups": [{"key": "server_management_nope"}]}, "keyed_groups: server_management_nope"),
]
# Only later versions know omit in an inventory.
OMITTED = ["server_management_nope | default(omit)"] if HAS_EXPRESSIONS else []


@pytest.mark.parametrize(
    "expression",
    ["server_management_name | b64decode", "[{'a': server_management_name | b64decode}]"],
)
def test_decoded_text_of_the_api_is_not_a_template(expression):
    name = base64.b64encode(b"{{ 7*7 }}").decode()
    (host,) = hosts_with({"name": name})
    compose(expressions_with(compose={"decoded": expression}), [host])
    templar = Templar(DataLoader())
    templar.available_variables = host.variables
    assert "{{ 7*7 }}" in str(templar.template(load("{{ decoded }}")))


@pytest.mark.parametrize("text", ["{0}", "[1]", "True"])
def test_text_of_the_api_stays_text(text):
    (host,) = hosts_with({"name": text})
    options = {"a": "server_management_name", "b": "server_management_name ~ ''"}
    compose(expressions_with(compose=options), [host])
    assert host.variables["a"] == text
    assert host.variables["b"] == text


def test_each_version_keeps_text_of_the_api(monkeypatch):
    keep_text = Mock()
    monkeypatch.setattr(_expressions, "keep_text", keep_text)
    expressions = expressions_with()
    keep_text.assert_called_once_with(expressions.templar)


def test_the_name_of_a_host_and_of_a_group_stay_text():
    (host,) = hosts_with({"name": "x"})
    host.name = "True"
    host.groups = ["False"]
    options = {"a": "inventory_hostname", "b": "group_names | first"}
    compose(expressions_with(compose=options), [host])
    assert host.variables["a"] == "True"
    assert host.variables["b"] == "False"


@pytest.mark.parametrize(
    ("value", "groups"),
    [
        (22, ["chosen", "is_22"]),
        (2.5, ["chosen", "is_2_5"]),
        (True, ["chosen", "is_True"]),
        (False, ["is_False"]),
    ],
)
def test_a_number_or_boolean_is_its_own_value(value, groups):
    (host,) = hosts_with({"name": "web-1"})
    expressions = expressions_with(
        compose={"ansible_port": value},
        groups={"chosen": value},
        keyed_groups=[{"key": value, "prefix": "is"}],
    )
    compose(expressions, [host])
    assert host.variables["ansible_port"] == value
    assert host.groups == groups
    assert warnings_of(expressions) == []


def test_a_number_or_boolean_is_a_host_name_and_a_list_is_not():
    expressions = expressions_with(hostnames=[22, True, "1 + 1", "[1]", *OMITTED])
    names = expressions.preferences(host_with(name="web-1"))
    assert names[:4] == ["22", "True", "2", ""]
    assert names[4:] == [""] * len(OMITTED)


def test_a_composed_mapping_is_merged_if_ansible_is_configured_so(monkeypatch):
    monkeypatch.setattr(constants, "DEFAULT_HASH_BEHAVIOUR", "merge")
    (host,) = hosts_with({"extra": {"team": "a"}})
    compose(expressions_with(compose={"server_management_extra": "{'size': 'b'}"}), [host])
    assert host.variables["server_management_extra"] == {"team": "a", "size": "b"}


@pytest.mark.parametrize(("options", "label"), FAILING)
def test_a_failure_is_one_warning_with_its_number_and_first_reason(options, label):
    expressions = expressions_with(**options)
    compose(expressions, hosts_with({"name": "x"}, {"nope": "1"}, {"name": "z"}))
    (warning,) = warnings_of(expressions, total=3)
    reason = "'server_management_nope' is undefined"
    assert warning.startswith(f"{label}: failed for 2 of 3 hosts, first with: ")
    assert warning.count(reason) == 1


@pytest.mark.parametrize(
    "entry",
    [
        {"key": "server_management_nope"},
        {"key": "server_management_name", "parent_group": "{{ server_management_nope }}"},
    ],
)
def test_the_reason_of_a_failing_entry_is_that_of_its_expression(entry):
    expressions = expressions_with(keyed_groups=[entry])
    compose(expressions, hosts_with({"name": "x"}))
    (warning,) = warnings_of(expressions)
    assert warning.endswith("failed for 1 of 1 host: 'server_management_nope' is undefined")


def test_a_key_that_is_neither_text_nor_a_list_is_a_failure():
    expressions = expressions_with(keyed_groups=[{"key": "server_management_name is defined"}])
    compose(expressions, hosts_with({"name": "x"}))
    (warning,) = warnings_of(expressions)
    assert "failed for 1 of 1 host: Invalid group name format" in warning


@pytest.mark.parametrize(("levels", "number"), [(100, 0), (101, 1)])
def test_a_result_that_is_nested_too_deeply_is_a_failure(levels, number):
    expressions = expressions_with(compose={"a": f"('[' * {levels} ~ ']' * {levels}) | from_json"})
    compose(expressions, hosts_with({"name": "x"}))
    warnings = warnings_of(expressions)
    assert len(warnings) == number
    assert "".join(warnings).endswith("the result is nested deeper than 100 levels" * number)


def test_a_failing_hostname_is_a_warning_if_another_one_is_usable():
    expressions = expressions_with(hostnames=["server_management_nope", "server_management_name"])
    assert expressions.preferences(host_with(name="x")) == ["", "x"]
    (warning,) = warnings_of(expressions)
    assert warning.startswith("hostnames: server_management_nope: failed for 1 of 1 host: ")


@pytest.mark.parametrize("key", ["server_management_region", "none", "[]", *OMITTED])
def test_an_empty_key_is_not_a_failure_without_strict(key):
    (host,) = hosts_with({"region": ""})
    expressions = expressions_with(keyed_groups=[{"key": key}])
    compose(expressions, [host])
    assert host.groups == []
    assert warnings_of(expressions) == []


def test_a_group_without_a_name_is_a_failure():
    (host,) = hosts_with({"name": "x"})
    expressions = expressions_with(keyed_groups=[{"key": "['a', '']", "separator": ""}])
    compose(expressions, [host])
    (warning,) = warnings_of(expressions)
    assert warning.endswith("failed for 1 of 1 host: the name of the group is empty")
    assert host.groups == []


def test_with_strict_an_omitted_variable_is_an_error():
    expressions = expressions_with(
        compose={"a": "server_management_nope | default(omit)"}, strict=True
    )
    compose(expressions, hosts_with({"name": "x"}))
    with pytest.raises(OptionError, match=r"^compose: a: failed for h0\.example: "):
        warnings_of(expressions)


def test_results_and_failures_replace_those_of_an_earlier_attempt():
    entry = {"key": "inventory_hostname", "parent_group": "first", "separator": ""}
    expressions = expressions_with(
        compose={"a": "1 // 0 if inventory_hostname == 'first' else 'x'"}, keyed_groups=[entry]
    )
    (host,) = hosts_with({"name": "x"})
    host.name = "first"
    assert expressions.compose_all([host], InventoryData()) == {"first"}
    host.name = "second"
    assert expressions.compose_all([host], InventoryData()) == {"first", "second"}
    expressions.apply()
    assert host.variables["a"] == "x"
    assert host.groups == ["second"]
    assert list(expressions.tree.added) == [("first", "second")]
    assert warnings_of(expressions) == []


def test_a_group_inside_itself_is_an_error_before_hosts_are_changed():
    entry = {"key": "'a'", "separator": "", "parent_group": "a"}
    expressions = expressions_with(keyed_groups=[entry])
    (host,) = hosts_with({"name": "x"})
    with pytest.raises(OptionError, match=r"^keyed_groups: the group a would be inside itself\.$"):
        compose(expressions, [host])
    assert host.groups == []


def test_with_strict_an_error_names_its_option_and_the_host():
    expressions = expressions_with(strict=True, compose={"a": "server_management_nope"})
    compose(expressions, hosts_with({"name": "x"}))
    with pytest.raises(OptionError) as found:
        warnings_of(expressions)
    message = str(found.value)
    assert message.startswith("compose: a: failed for h0.example: ")
    assert message.count("'server_management_nope' is undefined") == 1


def test_with_strict_a_failing_hostname_is_an_error():
    expressions = expressions_with(hostnames=["server_management_nope"], strict=True)
    expressions.preferences(host_with(name="web"))
    with pytest.raises(OptionError, match=r"^hostnames: server_management_nope: failed for web "):
        warnings_of(expressions)


def test_with_strict_an_omitted_hostname_is_not_an_error():
    expressions = expressions_with(hostnames=[*OMITTED, "server_management_name"], strict=True)
    *omitted, last = expressions.preferences(host_with(name="x"))
    assert not any(omitted)
    assert last == "x"
    assert warnings_of(expressions) == []


def test_a_failing_filter_names_the_server_and_what_is_probably_meant():
    expressions = expressions_with(filters=[{"exclude": "region == 'x'"}])
    host = host_with(name="web", region="eu-1")
    expressions.hosts = [host]
    with pytest.raises(OptionError) as found:
        expressions.is_kept(host)
    message = str(found.value)
    assert message.startswith("filters: exclude: region == 'x': failed for web (srv_0): ")
    assert message.endswith("(did you mean server_management_region?)")
    assert found.value.__cause__ is None


@pytest.mark.parametrize("variable", ADDRESSES)
@pytest.mark.parametrize(
    "value", ["web-1", "10.0.0.1", "2001:db8::1", "[2001:db8::1]", "fe80::1%eth0", NO_ADDRESS]
)
def test_a_composed_address_is_used(variable, value):
    (host,) = hosts_with({"value": value})
    compose(expressions_with(compose={variable: "server_management_value"}), [host])
    assert host.variables[variable] == value
    assert host.replaced == set()


@pytest.mark.parametrize("variable", ADDRESSES)
@pytest.mark.parametrize(
    "value",
    [None, "", 5, ["a"], "-oProxyCommand=id", " 10.0.0.1", "a b", "a\n", "a\x00", "\x9b"],
)
def test_a_result_that_is_no_address_is_replaced(variable, value):
    (host,) = hosts_with({"value": value})
    expressions = expressions_with(
        compose={variable: "server_management_value"},
        groups={"unreachable": f"{variable} == '{NO_ADDRESS}'"},
        strict=True,
    )
    compose(expressions, [host])
    assert host.variables[variable] == NO_ADDRESS
    assert host.groups == ["unreachable"]
    assert host.replaced == {variable}
    assert warnings_of(expressions) == []


def test_an_address_that_the_api_lacks_too_is_reported_only_for_that_reason():
    (host,) = hosts_with({"name": "x"})
    host.variables["ansible_host"] = NO_ADDRESS
    compose(expressions_with(compose={"ansible_host": "''"}), [host])
    assert host.replaced == set()


def test_results_are_remembered_for_text_as_expressions_see_it(monkeypatch):
    monkeypatch.setattr(_expressions, "mark_all", lambda value: ("marked", value))
    composed = ComposedHost(host_with(name="web"))
    assert composed.value_of("server_management_name") == ("marked", "web")


@pytest.mark.parametrize("expression", ["server_management_nope", *OMITTED])
def test_a_failing_or_omitted_address_leaves_that_of_the_api(expression):
    (host,) = hosts_with({"name": "x"})
    compose(expressions_with(compose={"ansible_host": expression}), [host])
    assert host.variables["ansible_host"] == "192.0.2.1"
