# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import re
from types import SimpleNamespace

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils import _groups, _names
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from support.expressions import message_of


def host_of(**fields):
    return Host(Server("srv_1", fields), {})


def test_groups_are_named_after_the_field_and_a_value_that_is_not_empty():
    full = host_of(region="us 1", plan="small", status="running")
    empty = host_of(region="")
    _groups.group_hosts([full, empty], "my_servers", ["region", "plan"])
    assert full.groups == ["my_servers", "region_us_1", "plan_small"]
    assert empty.groups == ["my_servers"]


def names_with(text, warn=print):
    """Return the reserved names of an inventory file with these options, as YAML."""
    inventory = SimpleNamespace(groups=["static"], hosts=["web"])
    defaults = {"group": "my servers", "groups": {}, "keyed_groups": []}
    options = {**defaults, **yaml.safe_load(text)}
    return _groups.reserved_names(options.get, inventory, warn)


def reason_for(options, name):
    """Return why the host of a server does not have this name, or None if it has."""
    rules = _names.NameRules(*names_with(options))
    server = Server("i-1", {"name": name})
    naming = _names.assign_names([server], rules, {})
    return naming.reasons.get("i-1")


# Options, a name, and the sentence about it, by what the advice names.
RESERVED = yaml.safe_load("""
hostnames:
  - ['{}', all, all is a group of Ansible.]
  - ['{}', status_running, Groups of group_by start with status_.]
hostnames rename:
  - ['{}', static, static is a group of another source.]
  - ['{}', my_servers, my_servers is a group of the option group.]
  - ['groups: {a b: x}', a_b, a_b is a group of the option groups.]
  - ['groups: {5: x}', _, _ is a group of the option groups.]
hostnames prefix parent_group renames:
  - ['keyed_groups: [{key: x}]', _x, Groups of keyed_groups start with _.]
  - ['keyed_groups: [{prefix: a-b, separator: .}]', a_b_x, Groups of keyed_groups start with a_b_.]
  - ["keyed_groups: [{prefix: '1', separator: ''}]", _x, Groups of keyed_groups start with _.]
  - ["keyed_groups: [{prefix: web, separator: ''}]", web01, Groups of keyed_groups start with web.]
  - ["keyed_groups: [{separator: '', default_value: web}]", web, web is a group of keyed_groups.]
  - ['keyed_groups: [{prefix: p, parent_group: up}]', up, up is a group of keyed_groups.]
""")


@pytest.mark.parametrize("words", RESERVED)
def test_the_name_of_a_possible_group_is_reserved(words):
    for options, name, details in RESERVED[words]:
        reason = reason_for(options, name)
        assert reason.details == details
        found = re.findall("hostnames|prefix|parent_group|renames?", reason.advice)
        assert found == words.split()


FREE = yaml.safe_load("""
- ['{}', my_server]
- ['{}', region]
- ['{}', xregion_]
# No group can have these names.
- ['{}', plan_b-web]
- ['{}', status_page.example]
- ["keyed_groups: [{key: x, prefix: web, separator: ''}]", web-01]
- ['keyed_groups: [{key: x}]', x]
- ['{keyed_groups: [{key: x}], leading_separator: false}', _x]
- ['{keyed_groups: [{key: x, prefix: role}], leading_separator: false}', role]
- ['keyed_groups: [{key: x, prefix: a-b, separator: .}]', a_bx]
- ["keyed_groups: [{key: x, separator: '', default_value: web}]", website]
- ['keyed_groups: [{key: x, prefix: p, parent_group: up}]', upper]
- ["keyed_groups: [{key: x, prefix: p, parent_group: '{{ x }}'}]", ___x___]
""")


@pytest.mark.parametrize(("options", "name"), FREE)
def test_another_name_is_free(options, name):
    assert reason_for(options, name) is None


IMPOSSIBLE = yaml.safe_load("""
- - 'group: web'
  - 'group: web is a host of another source, not a group. Choose another name for the group.'
- ['group: all', 'group: all is a group of Ansible itself.']
- ['groups: {web: true}', 'groups: web ']
- ['groups: {localhost: x}', 'groups: localhost is a name of this machine, not of a group.']
- ['keyed_groups: [{key: x, parent_group: web}]', 'keyed_groups: web ']
""")


@pytest.mark.parametrize(("options", "start"), IMPOSSIBLE)
def test_a_literal_group_with_a_name_that_it_cannot_have_is_an_error(options, start):
    assert message_of(names_with, options).startswith(start)


CHANGED = """
group: web-fleet
groups: {ok: x, a b: x}
keyed_groups: [{key: x, parent_group: a.b}]
"""


def test_a_written_group_name_that_is_changed_causes_a_warning():
    warnings = []
    names_with(CHANGED, warnings.append)
    assert warnings == [
        "group: web-fleet becomes the group web_fleet.",
        'groups: "a b" becomes the group a_b.',
        "keyed_groups: a.b becomes the group a_b.",
    ]


def test_a_group_with_the_name_of_a_host_or_of_this_machine_is_left_out():
    host = host_of()
    host.groups += ["g", "web", "localhost"]
    parents = [("up", "web"), ("up", "g"), ("db", "g")]
    problems = []
    kept = _groups.leave_out_groups([host], parents, {"web", "db"}, problems.append)
    assert kept == [("up", "g")]
    assert host.groups == ["g"]
    assert problems == [
        "Groups can't be added, because a host of another source or this machine has the same "
        "name: db, localhost, web."
    ]
