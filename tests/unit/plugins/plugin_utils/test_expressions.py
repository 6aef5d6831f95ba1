# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What expressions add to hosts, and what is shown of those that fail.

The results of expressions are compared with those of Ansible in test_comparison.
"""

from itertools import chain

import pytest
import yaml
from ansible import constants
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.plugin_utils import _ansible, _composed
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import (
    ADDRESSES,
    NO_ADDRESS,
)
from support.expressions import composed, expressions_with, host_with, load, message_of

# Expressions that are omitted: only later versions know omit in an inventory.
OMITTED = ["nope | default(omit)"] if _ansible.SINCE_2_19 else []


def composed_host(fields, **options):
    """Return the host of a server with these fields, and what the options add to it."""
    (host,), _warnings = composed(fields, **options)
    return host


def rendered(text, **variables):
    templar = Templar(DataLoader())
    templar.available_variables = variables
    return templar.template(load(text))


DECODED = """
server_management_name | b64decode
[{'a': server_management_name | b64decode}]
inventory_hostname | b64decode
group_names | first | b64decode
"""


@pytest.mark.parametrize("expression", DECODED.strip().split("\n"))
def test_decoded_text_of_the_api_is_not_a_template(expression):
    encoded = "e3sgNyo3IH19"  # {{ 7*7 }}
    host = host_with(name=encoded)
    host.name = encoded
    host.groups = [encoded]
    expressions = expressions_with(compose={"decoded": expression})
    expressions.apply(expressions.compose([host], InventoryData()))
    assert "{{ 7*7 }}" in str(rendered("{{ decoded }}", **host.variables))


def test_text_that_a_filter_has_made_stays_text():
    host = composed_host({"value": "True"}, compose={"a": "server_management_value | string"})
    assert rendered("{{ a }}", a=_ansible.unmark_plain(host.variables["a"])) == "True"


ITS_OWN_VALUE = yaml.safe_load("""
- [22, [chosen, is_22]]
- [2.5, [chosen, is_2_5]]
- [false, [is_False]]
""")


@pytest.mark.parametrize(("value", "groups"), ITS_OWN_VALUE)
def test_a_number_or_boolean_is_its_own_value(value, groups):
    entry = {"key": value, "prefix": "is"}
    options = {"compose": {"a": value}, "groups": {"chosen": value}, "keyed_groups": [entry]}
    host = composed_host({}, **options)
    assert host.variables["a"] == value
    assert host.groups == groups


def test_names_of_groups_are_not_marked_as_unsafe():
    template = "{{ server_management_plan }}"
    entry = {"key": "server_management_region", "separator": "", "parent_group": template}
    expressions = expressions_with(keyed_groups=[entry])
    host = host_with(region="eu", plan="small")
    host.name = "web"
    expressions.apply(expressions.compose([host], InventoryData()))
    names = [*host.groups, *chain(*expressions.composition.tree.added)]
    assert names == ["eu", "small", "eu"]
    assert {type(name) for name in names} == {str}


# A list is not a name. If a failure is the reason, there are no preferences.
PREFERENCES = yaml.safe_load("""
- [[22, true, '1 + 1', '[1]'], ['22', 'True', '2', '']]
- [[nope, "'x'"], ['', x]]
- [[nope, "''"], []]
""")


@pytest.mark.parametrize(("hostnames", "names"), PREFERENCES)
def test_texts_numbers_and_booleans_are_preferences(hostnames, names):
    expressions = expressions_with(hostnames=hostnames)
    assert expressions.preferences(host_with()) == names


def test_a_composed_mapping_is_merged_if_ansible_is_configured_so(monkeypatch):
    monkeypatch.setattr(constants, "DEFAULT_HASH_BEHAVIOUR", "merge")
    compose = {"server_management_extra": "{'size': 'b'}"}
    host = composed_host({"extra": {"team": "a"}}, compose=compose)
    assert host.variables["server_management_extra"] == {"team": "a", "size": "b"}


FIVE = yaml.safe_load("[{}, {}, {size: '1'}, {}, {}]")
FAILING = yaml.safe_load("""
- [{hostnames: [server_management_size]}, 'hostnames: server_manage']
- [{compose: {a: server_management_size ~ ''}}, 'compose: a']
- [{groups: {b: server_management_size == 1}}, 'groups: b']
- [{keyed_groups: [key: server_management_size]}, 'keyed_groups: server_manage']
""")


@pytest.mark.parametrize(("options", "label"), FAILING)
def test_a_failure_is_one_warning_with_three_hosts_and_the_first_reason(options, label):
    _hosts, (warning,) = composed(*FIVE, **options)
    assert warning.startswith(label)
    assert ": failed for 4 of 5 hosts (h0, h1, h3 and 1 more): " in warning
    assert warning.count("'server_management_size' is undefined") == 1


ALIKE = yaml.safe_load("""
hostnames: [nope]
compose: {a: nope ~ '', b: other, c: nope if server_management_size else 1}
groups: {d: nope.x == 1}
keyed_groups: [key: nope]
""")


def test_failures_for_the_same_undefined_name_are_one_warning_with_all_their_hosts():
    _hosts, warnings = composed({"size": 0}, {"size": 1}, **ALIKE)
    beginnings = [warning.split(" is undefined")[0] for warning in warnings]
    assert beginnings == [
        "hostnames: nope, compose: a, compose: c and 2 more: failed for 2 of 2 hosts (h0, h1): "
        "'nope'",
        "compose: b: failed for 2 of 2 hosts (h0, h1): 'other'",
    ]


CONSEQUENCES = yaml.safe_load("""
compose: {class: server_management_size.x, '': 1 // 0}
groups: {a: class == 'x', b: class == nope}
keyed_groups: [{key: class}, {key: 1 // 0}]
""")


def test_no_warning_is_about_the_consequences_of_another():
    _hosts, warnings = composed({"size": {"x": "y"}}, {"size": 1}, **CONSEQUENCES)
    assert [warning.split(" (")[0] for warning in warnings] == [
        "compose: class: failed for 1 of 2 hosts",
        "compose:: failed for 2 of 2 hosts",
        # For h0, for which class has not failed.
        "groups: b: failed for 1 of 2 hosts",
        "keyed_groups: 1 // 0: failed for 2 of 2 hosts",
    ]


SHARED = yaml.safe_load("""
hostnames: [nope]
compose: {ansible_host: nope, a: nope, b: nope ~ '', c: other}
""")


def test_a_shared_warning_has_the_hint_of_each_expression_and_the_fields_once():
    _hosts, (shared, other) = composed({"region": "eu", "plan": "x"}, **SHARED)
    fields = "the fields of servers are server_management_plan, server_management_region"
    assert "; for compose: a, compose: b: use a field, " in shared
    assert f"(for hostnames: nope, compose: a, compose: b: {fields}; " in shared
    assert other.endswith(" it in a source that is read before)")


FAILING_ENTRIES = yaml.safe_load("""
- [{key: nope}, "'nope' is undefined"]
- [{key: "'a'", parent_group: '{{ nope }}'}, "'nope' is undefined"]
- [{key: 'true'}, Invalid group name format]
- [{key: "['a', '']", separator: ''}, the name of the group is empty]
- [{key: "'a'", default_value: b, trailing_separator: true}, parameters are mutually exclusive]
""")


@pytest.mark.parametrize(("entry", "reason"), FAILING_ENTRIES)
def test_an_entry_that_fails_adds_no_group_and_gives_the_reason(entry, reason):
    (host,), (warning,) = composed({}, keyed_groups=[entry])
    assert host.groups == []
    label = f"keyed_groups: {entry['key']}"
    assert warning.startswith(f"{label}: failed for 1 of 1 host (h0): {reason}")


@pytest.mark.parametrize("key", ["''", "none", "[]", *OMITTED])
def test_an_empty_key_is_not_a_failure_without_strict(key):
    (host,), warnings = composed({}, keyed_groups=[{"key": key}])
    assert host.groups == []
    assert warnings == []


@pytest.mark.parametrize("expression", ["nope ~ ''", "nope | default(omit)"])
def test_with_strict_an_error_names_its_option_and_the_host(expression):
    with pytest.raises(OptionError, match=r"^compose: a: failed for h0: [^:]*$"):
        composed({}, compose={"a": expression}, strict=True)


def test_with_strict_one_error_has_each_failure_of_the_first_ten_expressions():
    compose = {f"a{number:02}": "nope" for number in range(12)}
    message = message_of(composed, {"name": "x"}, {"name": "y"}, compose=compose, strict=True)
    assert message.count("nope") == 10
    assert message.count(" server_management_name)") == 1
    assert message.endswith(" and 2 more")


def test_with_strict_an_omitted_hostname_is_not_an_error():
    _hosts, warnings = composed({}, hostnames=[*OMITTED, "'x'"], strict=True)
    assert warnings == []


@pytest.mark.parametrize("condition", ["nope", "omit"])
def test_a_filter_that_fails_or_is_omitted_keeps_no_host(condition):
    with pytest.raises(OptionError, match=r"^filters: exclude: .*: failed for srv_0: "):
        composed({}, filters=[{"exclude": condition}])


EXTRA_VARS = yaml.safe_load("""
server_management_region: x
named: '{{ server_management_name }}!'
inventory_hostname: y
a: z
""")
TWO = yaml.safe_load("[{name: n0, region: eu-1}, {name: n1, region: eu-1}]")
WITH_EXTRA_VARS = yaml.safe_load("""
filters: [include: server_management_region == 'x', include: named is undefined, exclude: true]
compose: {a: server_management_region, b: named | default(''), c: inventory_hostname}
groups: {region: server_management_region == 'x', named: named is defined, composed: a == 'z'}
keyed_groups: [{key: server_management_region}, {key: named | default('none')}]
""")


RESULTS = yaml.safe_load("""
- [true, [x, n1!, y], [region, named, composed, _x, _n1_]]
- [false, [eu-1, '', h1], [_eu_1, _none]]
""")


@pytest.mark.parametrize(("uses_extra_vars", "variables", "groups"), RESULTS)
def test_extra_vars_take_precedence_in_each_expression(uses_extra_vars, variables, groups):
    options = {"use_extra_vars": uses_extra_vars, **WITH_EXTRA_VARS}
    # For the second one, the template has another value.
    (_first, host), _warnings = composed(*TWO, extra_vars=EXTRA_VARS, **options)
    assert [host.variables[name] for name in "abc"] == variables
    assert host.groups == groups


SEEING_GROUPS = yaml.safe_load("""
groups: {a: 'true', b: "'a' in group_names"}
keyed_groups:
  - {key: "group_names | join('-')", prefix: g, parent_group: above}
  - {key: "group_names | join('-')", prefix: h}
""")


# As with Ansible's helper, but not with its plugin ``constructed``.
def test_an_entry_of_keyed_groups_sees_the_groups_of_those_before_it():
    host = composed_host({}, **SEEING_GROUPS)
    assert host.groups == ["a", "g_a", "h_a_above_g_a"]


def test_a_composition_that_is_not_applied_has_no_effect():
    entry = {"key": "inventory_hostname", "parent_group": "first", "separator": ""}
    compose = {"a": "1 // 0 if inventory_hostname == 'first' else 'x'"}
    expressions = expressions_with(compose=compose, keyed_groups=[entry], strict=True)
    host = host_with()
    host.name = "first"
    assert expressions.compose([host], InventoryData()).groups == {"first"}
    host.name = "second"
    composition = expressions.compose([host], InventoryData())
    assert composition.groups == {"first", "second"}
    expressions.apply(composition)
    expressions.report(print)  # no failure
    assert host.variables["a"] == "x"
    assert host.groups == ["second"]
    assert list(expressions.composition.tree.added) == [("first", "second")]


BOTH_ADDRESSES = dict.fromkeys(ADDRESSES, "server_management_value")
USED = f"web-1 10.0.0.1 2001:db8::1 [2001:db8::1] fe80::1%eth0 {NO_ADDRESS}"
NO_ADDRESSES = yaml.safe_load(r"""
[null, '', 5, '42', "\u0665", [a], '-oProxyCommand=id', ' 10.0.0.1', 'a b', "a\n", "a\0", "\x9b"]
""")


@pytest.mark.parametrize("value", USED.split())
def test_a_composed_address_is_used(value):
    host = composed_host({"value": value}, compose=BOTH_ADDRESSES)
    assert host.variables == dict.fromkeys([*ADDRESSES, "server_management_value"], value)
    assert host.replaced == set()


@pytest.mark.parametrize("value", NO_ADDRESSES)
def test_a_result_that_is_no_address_is_replaced(value):
    groups = {"unreachable": "ansible_host == ansible_ssh_host == 'no-usable-ipv4.invalid.'"}
    host = composed_host({"value": value}, compose=BOTH_ADDRESSES, groups=groups, strict=True)
    assert host.variables["ansible_host"] == NO_ADDRESS
    assert host.variables["ansible_ssh_host"] == NO_ADDRESS
    # Groups see what has replaced it.
    assert host.groups == ["unreachable"]
    assert host.replaced == set(ADDRESSES)


def test_an_address_that_the_api_lacks_too_is_reported_only_for_that_reason():
    host = host_with()
    host.variables["ansible_host"] = NO_ADDRESS
    expressions = expressions_with(compose=dict.fromkeys(ADDRESSES, "''"))
    expressions.apply(expressions.compose([host], InventoryData()))
    assert host.replaced == {"ansible_ssh_host"}


@pytest.mark.parametrize("expression", ["nope", *OMITTED])
def test_a_failing_or_omitted_address_leaves_that_of_the_api(expression):
    host = composed_host({}, compose={"ansible_host": expression, "other": "'x'"})
    assert host.variables == {"ansible_host": "192.0.2.1", "other": "x"}


@pytest.fixture
def tree():
    """Return the tree of an inventory in which the group b is in a, and a in all."""
    inventory = InventoryData()
    inventory.add_group("a")
    inventory.add_group("b")
    inventory.add_child("all", "a")
    inventory.add_child("a", "b")
    return _composed.GroupTree(inventory.groups.values())


def test_a_group_is_in_all_groups_around_it(tree):
    tree.add("b", "c")
    tree.check_added()
    assert tree.with_parents(["c", "d"]) == {"c", "d", "b", "a", "all"}


IMPOSSIBLE = yaml.safe_load("""
- [[[x, x]], x would be inside itself.]
- [[[b, a]], a would be inside itself.]
- [[[b, c], [all, c], [c, d], [d, a]], c would be inside itself.]
- [[[x, all]], all can't be inside another group. Set prefix.]
- [[[all, ungrouped], [x, ungrouped]], ungrouped can't be inside another group. Set prefix.]
""")


@pytest.mark.parametrize(("pairs", "problem"), IMPOSSIBLE)
def test_a_group_that_ansible_cannot_add_is_an_error(tree, pairs, problem):
    for parent, child in pairs:
        tree.add(parent, child)
    assert message_of(tree.check_added) == f"keyed_groups: the group {problem}"
