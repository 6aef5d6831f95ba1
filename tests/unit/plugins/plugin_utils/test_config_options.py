# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values of options in an inventory file, which are converted and checked."""

import pytest
import yaml
from ansible.plugins.loader import inventory_loader

from ansible_collections.server_management.cloud.plugins.plugin_utils import _config
from support.expressions import message_of

DEFINITIONS = inventory_loader.get("server_management.cloud.servers").option_definitions
DEFAULTS = {option: definition.get("default") for option, definition in DEFINITIONS.items()}


def resolved(written):
    """Return the options for those that a file in the directory /inventory has."""
    return _config.resolve_written(written, DEFINITIONS, "/inventory")


CONVERTED = yaml.safe_load(r"""
- [min_hosts, '3', 3]
- [group_by, [region, plan], [region, plan]]
- [group, "production\n", production]
- [hostvars_prefix, " vm_\r\n", ' vm_']
- [hostnames, [" x\n", 5], [" x\n", 5]]
- [hostnames, "'a, b' | lower", ["'a, b' | lower"]]
- [filters, [include: true, exclude: x], [include: true, exclude: x]]
- [keyed_groups, [{key: x, parent_group: y}], [{key: x, parent_group: y}]]
- [compose, {ansible_host: 5, class: x}, {ansible_host: 5, class: x}]
""")


@pytest.mark.parametrize(("option", "value", "expected"), CONVERTED)
def test_a_valid_value_is_converted(option, value, expected):
    options = resolved({option: value})
    assert options.values[option] == expected
    assert options.is_written(option)


# Each problem, and the values that have it, with what the message begins with.
INVALID = yaml.safe_load("""
'must be a whole number, but is many.': [[min_hosts, many]]
must be a list.: [[group_by, 5]]
YAML reads this value as a number, a boolean, a date or null. Put it in quotes.:
  - [statuses, [5]]
  - [plans, [null]]
  - ['keyed_groups: parent_group', [{key: x, parent_group: 1}]]
? "must be a list. Conditions are Jinja expressions, with == and text in quotes. The API has no
  tags. Write entries such as `- exclude: vm_status != 'running'`, or use an option such as
  statuses."
: [[filters, {'tag:Name': web}]]
'must be a list. Write entries such as `- {key: vm_region, prefix: zone}`.':
  - [keyed_groups, {key: x}]
"must be a mapping. Write entries such as `rack: vm_region ~ '-1'`.": [[compose, x]]
"must be a mapping. Write entries such as `small: vm_plan == 'small'`.": [[groups, [web]]]
"must not be empty. To use the servers' names, leave it out.": [[hostnames, []]]
must be an expression that is not empty. Leave out entries without an expression.:
  - [hostnames, [x, ' ']]
  - ['filters: exclude', [{exclude: ' '}]]
  - ['compose: b', {c: x, b: null, a: ' '}]
  - ['groups: a', {a: ' '}]
? must be an expression, not a list or a mapping. Write one condition; join several with `and` or
  `or`.
: - ['filters: exclude', [{exclude: [x]}]]
  - ['groups: a', {a: [x]}]
? "each entry must have one key, include or exclude. Conditions are Jinja expressions, with == and
  text in quotes. The API has no tags. Write entries such as `- exclude: vm_status != 'running'`, or
  use an option such as statuses."
: - [filters, [null]]
  - [filters, ['status = RUNNING']]
  - [filters, ['tag:Name']]
  - [filters, [{inclde: x}]]
  - [filters, [{exclude: x, include: x}]]
? 'an include that no exclude follows has no effect, because servers that match no condition are
  kept. To leave out all other servers, end the list with `exclude: true`. If all conditions must
  hold, write each as `- exclude: not (…)` instead.'
: [[filters, [{exclude: x}, {include: y}]]]
5 can't be a name.: [[compose, {5: x}]]
'"" can''t be a name.': [[groups, {'': x}]]
names of groups are not templates. Use keyed_groups.:
  - ['groups: "t_{{ x }}"', {a: x, 't_{{ x }}': true}]
? 'each entry must be a mapping with a key. Write entries such as `- {key: vm_region, prefix:
  zone}`.'
: - [keyed_groups, 'x, y']
  - [keyed_groups, [{prefix: x}]]
""")


@pytest.mark.parametrize("problem", INVALID)
def test_an_invalid_value_names_its_option(problem):
    for label, value in INVALID[problem]:
        option = label.partition(":")[0]
        written = {option: value, "hostvars_prefix": "vm_"}
        assert message_of(resolved, written) == f"{label}: {problem}"


# What the message about another value advises.
INSTEAD = yaml.safe_load("""
- [group_by, [region, size], 'but is size. For other groups, use keyed_groups.']
- [hostnames, [{name: x, prefix: y}], "a mapping. Write entries such as `- vm_id ~
    '.example.com'`."]
- - filters
  - "a == 'b'\\n"
  - "Write `- exclude: a == 'b'` to leave out the servers for which it is true, or `- exclude: not
    (a == 'b')` to keep only those."
- [filters, ["'a' in b"], "Write `- exclude: ('a' in b)` to leave out the servers for which it is
    true, or `- exclude: not ('a' in b)` to keep only those."]
- [filters, ["[a] | max"], "Write `- exclude: ([a] | max)` to leave out the servers for which it is
    true, or `- exclude: not ([a] | max)` to keep only those."]
- [compose, {net: {zone: x}}, 'Write a text in quotes: "[vm_region]" or "{''zone'': vm_region}".']
- [groups, {a: {children: [b]}}, 'Use parent_group of keyed_groups, or repeat the condition for each
    group.']
""")


@pytest.mark.parametrize(("option", "value", "advice"), INSTEAD)
def test_a_message_advises_what_to_write_instead(option, value, advice):
    written = {option: value, "hostvars_prefix": "vm_"}
    assert message_of(resolved, written).endswith(f" {advice}")


def test_a_form_has_the_default_prefix_if_there_is_no_other():
    message = message_of(resolved, {"keyed_groups": "x"})
    assert "key: server_management_region" in message


def test_a_cache_that_never_expires_is_accepted_if_the_file_says_so():
    options = {**DEFAULTS, "cache": True, "cache_timeout": 0}
    _config.check_options(options.get, resolved({"cache_timeout": 0}))


UNUSABLE = yaml.safe_load("""
- - {hostvars_prefix: ansible_}
  - "hostvars_prefix: ansible_ does not make usable variable names. Use letters, digits and
     underscores, and do not start with ansible_."
- [{hostvars_prefix: a-}, "hostvars_prefix: a- "]
- [{stale_cache_timeout: 5}, 'stale_cache_timeout: requires cache: true.']
- [{group: ''}, 'group: must not be empty.']
- [{statuses: []}, 'statuses: ']
- [{plans: [' ']}, 'plans: ']
- - {cache: true, cache_timeout: 0, stale_cache_timeout: 9}
  - 'cache_timeout: with 0, an entry of the cache never expires, so that stale_cache_timeout has no
     effect. Set cache_timeout to 1 to ask the API at each run, or leave stale_cache_timeout out.'
- - {cache: true, cache_timeout: 0}
  - 'cache_timeout: is 0 in ansible.cfg (there also as fact_caching_timeout) or in the environment,
     so that an entry of the cache never expires. Write cache_timeout in this file: 1 asks the API
     at each run, 0 never expires.'
""")


@pytest.mark.parametrize(("written", "start"), UNUSABLE, ids=str)
def test_an_unusable_option_is_named(written, start):
    options = {**DEFAULTS, **written}
    assert message_of(_config.check_options, options.get, resolved({})).startswith(start)
