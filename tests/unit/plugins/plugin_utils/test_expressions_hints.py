# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hints of expressions that fail or have no effect, and names that no host has."""

import pytest
import yaml
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.plugin_utils import _ansible
from sandbox.account import SERVER
from support.expressions import composed

FIELDS = ", ".join(f"server_management_{field}" for field in sorted([*SERVER, "backup"]))
# The hint of a warning, or what distinguishes it from others, and options whose only warning has
# it. A sentence is compared once.
HINTS = r"""
# Another variable.
"(entries of compose don't see each other: write the expression of port here)":
  - compose: {port: 8000 + 22, a: port}
  - compose: {port: 8000 + 22, ansible_host: port}
'(it is an extra variable: set use_extra_vars: true)':
  - compose: {ansible_user: login}
'(only some hosts have this variable: add the filter default)':
  - compose: {a: rack ~ ''}
  - compose: {ansible_host: rack}
  - groups: {a: server_management_backup == 'daily'}
  - hostnames: [server_management_backup]
  - keyed_groups: [key: rack]
  # Nearer to a field, but it exists.
  - compose: {a: regions}
# An address.
"the address is the API's ipv4 already: leave it out)":
  - compose: {ansible_host: public_ip_address}
  - compose: {ansible_ssh_host: name}
  - compose: {ansible_host: private_ip | default(public_ip)}
  - compose: {ansible_host: 'ipv4[0]'}
  - compose: {ansible_host: server_management_ipv4 | no_filter}
  - compose: {ansible_host: server_management_ipv4 |}
(did you mean server_management_ipv4?):
  - compose: {ansible_host: ipv4}
  - compose: {ansible_ssh_host: server_ipv4}
# A field with another prefix, or another spelling.
server_management_region?):
  - compose: {a: region ~ '.x'}
  - compose: {a: server_management_regoin}
  - compose: {a: region.upper()}
  - compose: {region: region}
server_management_created_at?): [compose: {a: server_management_created}]
server_management_status?): [groups: {a: status == 'running'}]
server_management_plan?): [keyed_groups: [key: plan]]
# Not documented, so that it may be a mapping.
server_management_backup?): [compose: {a: backup.time}]
server_management_name?):
  - hostnames: [name]
  - compose: {ansible_user: name}
  - compose: {a: 'name[0:3]'}
(server_management_region is text, and not a list or a mapping):
  - compose: {a: region.slug}
  - compose: {a: "server_management_region['slug'] | upper"}
  - compose: {a: 'server_management_name ~ server_management_region.slug'}
  - keyed_groups: [key: 'region[-1]']
  - compose: {a: server_management_region.nope()}
(server_management_plan is text,:
  - compose: {a: plans | map('upper') | list}
  - compose: {a: plan.get('slug')}
# The prefix of the file is meant.
' vm_region?)':
  - {hostvars_prefix: vm_, groups: {a: server_management_region == 'x'}}
  - {hostvars_prefix: vm_, groups: {a: region == 'x'}}
  - {hostvars_prefix: vm_, groups: {a: server_region == 'x'}}
  - {hostvars_prefix: vm_, groups: {a: vm_regoin == 'x'}}
' the fields of servers are vm_backup, vm_created_at, ':
  - {hostvars_prefix: vm_, compose: {ansible_user: vm_owner}}
# Names of hosts.
'(the API has no tags: use the name, in a new expression)': [hostnames: ['tag:Name']]
': it has no effect; for the names of hosts, use hostnames.':
  - compose: {inventory_hostname: server_management_id}
# Anything else.
? '(use a field, leave it out, or define it in a source that is read before; the fields of servers
  are FIELDS)'
: - compose: {ansible_password: sekret}
  - compose: {a: admin}
  # Only a host that is not of this file has it.
  - compose: {a: of_host ~ ''}
(the fields of servers are FIELDS):
  - hostnames: [instance_id]
  - hostnames: [rack]
# A server's name is not the name of a user.
'(the API has no tags: leave it out, or write text, in quotes inside quotes; the fields ':
  - compose: {ansible_user: "tags['ssh_user']"}
# A part of it could expect a list, which text is not.
"(the API has no tags: use the name, in a new expression such as 'web' in server_management_name; ":
  - groups: {a: "'web' in labels"}
? "(the API has no tags: use the name, in a new expression such as
  server_management_name.split('-')[0]; the fields of servers are FIELDS)"
: - keyed_groups: [key: server_management_tags]
'(the API has no tags: use the name, in a new expression; the fields of servers are FIELDS)':
  - hostnames: [labels.name]
# Braces.
? 'expressions have no braces: write server_management_name instead of {{ server_management_name }},
  outside quotes; ~ joins quoted text to it'
: - compose: {a: '{{ server_management_name }}'}
  - compose: {a: "'x-{{ server_management_name }}'"}
  - groups: {a: "{{ server_management_name }} == 'web-1'"}
  - groups: {a: "'{{ server_management_name }}' == 'web-1'"}
"(expressions have no statements: write 'a' if … else 'b' instead of {% if … %})":
  - compose: {a: '{% if x %}1{% endif %}'}
"expressions have no statements: write 'a' if … else 'b' instead of {% if … %}.":
  - compose: {a: "'{% if x %}1{% endif %}'"}
"(expressions have no statements: write the condition alone instead of {% if … %})":
  - groups: {a: '{% if x %}true{% endif %}'}
"write name instead of {{ name }}, ": [compose: {a: '{{ name'}]
"{{ admin | default('y') }}, ": [compose: {ansible_user: "{{ admin | default('y') }}"}]
'{{ ansible_host }}, ': [compose: {ansible_host: '{{ ansible_host }}-{{ x }}'}]
# Constant text.
? (if text is meant, write "'root'", with quotes inside the quotes; the fields of servers are
  FIELDS)
: - compose: {ansible_become_user: root}
'"''admin''", ':
  - {hostvars_prefix: '', compose: {ansible_user: admin}}
  - {hostvars_prefix: vm_, compose: {ansible_user: admin}}
(if text is meant, write "'-o ProxyCommand=\"ssh -W %h:%p b\"'",:
  - compose: {ansible_ssh_common_args: '-o ProxyCommand="ssh -W %h:%p b"'}
"""
CONDITIONS_SINCE_2_19 = """
(use the test `is search('…')` instead of the filter regex_search):
  - groups: {a: "inventory_hostname | regex_search('h')"}
  - groups: {a: "inventory_hostname | regex_search('x')"}
"(compare it with a text: == '…'; each side of `or` needs its own comparison)":
  - groups: {a: server_management_name ~ 'x'}
  - groups: {a: server_management_name.upper()}
"(for all hosts, write true, or compare it with a text: == '…'; each side of `or` needs ":
  - groups: {a: server_management_region}
  - groups: {a: "'running'"}
  - groups: {a: "'a' or 'b' in server_management_name"}
"(compare it with a number, without quotes: > 0)":
  - groups: {a: server_management_region | length}
  - groups: {a: "('1.5' | float)"}
"(ask for its length: (…) | length > 0)":
  - groups: {a: "server_management_name.split('-')"}
  - groups: {a: "[inventory_hostname | regex_search('h')]"}
  - groups: {a: "{'a': 1}"}
"""
LOOKUPS_BEFORE_2_19 = """
'(before ansible-core 2.19, lookups are not possible here: use group_vars)':
  - compose: {a: "{{ lookup('env', 'HOME') }}"}
  - keyed_groups: [key: "query('env', 'HOME')"]
"{{ lookup('env', 'x') }}, ": [groups: {a: "{{ lookup('env', 'x') }}"}]
"""
HINTS += CONDITIONS_SINCE_2_19 if _ansible.SINCE_2_19 else LOOKUPS_BEFORE_2_19
MISTAKES = yaml.safe_load(HINTS.replace("FIELDS", FIELDS))
# What other sources have. Only one of the two hosts of servers, h0, is among their hosts.
VARIABLES = yaml.safe_load("""
h0: {rack: r1, regions: r1, jump_opts: '-o {{ jump }} {{ region }}'}
not_of_the_api: {of_host: x}
staff: {of_group: x}
all: {of_all: x}
region_eu_1: {of_region: x}
""")


def warnings_about(options):
    """Return the warnings of these options for two servers, of which one has the field backup."""
    inventory = InventoryData()
    inventory.add_group("staff")
    inventory.add_group("region_eu_1")
    inventory.add_host("h0")
    inventory.add_host("not_of_the_api", "staff")
    for entity, variables in VARIABLES.items():
        for name, value in variables.items():
            inventory.set_variable(entity, name, _ansible.trust(value))
    servers = ({**SERVER, "backup": "daily"}, SERVER)
    extra_vars = {"login": "bob"}
    _hosts, warnings = composed(*servers, inventory=inventory, extra_vars=extra_vars, **options)
    return warnings


def warning_about(options):
    (warning,) = warnings_about(options)
    return warning


@pytest.mark.parametrize(("hint", "mistakes"), MISTAKES.items())
def test_mistakes_with_the_same_cause_have_its_hint(hint, mistakes):
    warnings = [warning_about(options) for options in mistakes]
    assert [warning for warning in warnings if hint not in warning] == []


# Variables, and what users write without quotes.
TEXTS = yaml.safe_load("""
ec2-user: ansible_user
sudo: ansible_become_method
powershell: ansible_shell_type
ansible.netcommon.network_cli: ansible_connection
ios: ansible_network_os
/usr/bin/python3: ansible_python_interpreter
~/.ssh/id: ansible_ssh_private_key_file
-o ProxyJump=bastion: ansible_ssh_common_args
""")


@pytest.mark.parametrize("text", TEXTS)
def test_constant_text_is_shown_with_the_quotes_that_it_needs(text):
    compose = {TEXTS[text]: text}
    assert f""" "'{text}'", """ in warning_about({"compose": compose})


# Variables of other plugins, of which none is near to a field.
OF_OTHERS = """
server_management_private_ip server_management_role server_management_state server_management_type
server_management_hostname server_management_ipv6
server_management_updated_at server_management_zone instance_type location placement vpc_id flavor
private_ipv4 public_ip hcloud_location label proxmox_pool os_profile powerstate resource_group
datacenter stage
"""


@pytest.mark.parametrize("name", OF_OTHERS.split())
def test_a_variable_of_another_plugin_is_not_mistaken_for_a_field(name):
    options = {"keyed_groups": [{"key": name}]}
    assert f" {FIELDS})" in warning_about(options)


# In the last rows, the template in the variable of the other source fails.
WITHOUT_HINT = yaml.safe_load("""
- {a: "server_management_name | replace('tags'"}
- {a: "'tags' | no_filter"}
- {ansible_user: "'admin"}
- {ansible_ssh_common_args: jump_opts}
- {a: jump_opts ~ ''}
- {ansible_host: jump_opts ~ ''}
""")


@pytest.mark.parametrize("compose", WITHOUT_HINT, ids=str)
def test_another_mistake_has_no_hint(compose):
    assert not warning_about({"compose": compose}).endswith((")", ")."))


def test_other_braces_are_not_reported():
    compose = {
        "a": "server_management_name | replace('{{', '') | replace('}}', '')",
        "b": "{'a': {'b': server_management_name}}",
    }
    assert warnings_about({"compose": compose}) == []


# Each expression with the name, and the hint, or what distinguishes it.
UNKNOWN = yaml.safe_load("""
- [{groups: {a: "'k3s' in (server_management_name\\n | list)"}},
   'groups: a (server_management_name | list)']
- - keyed_groups: [key: "server_management_name | default([]) | map('lower') | list"]
  - " | list (server_management_name | default([]) | map) ("
# Variables of other plugins, also with their prefix.
- - compose: {ansible_host: proxmox_ipconfig0.ip | default(ansible_host)}
  - "result: compose: ansible_host (proxmox_ipconfig0) (the address is the API's ipv4 already: "
- - {hostvars_prefix: vm_, compose: {ansible_host: vm_ip | default(ansible_host)}}
  - (vm_ip) (the address is the API's ipv4 already
- - compose: {a: "{'x': nope | default(1)}"}
  - 'compose: a (nope) (use a field, '
- - keyed_groups: [{key: region | default('x'), parent_group: '{{ server_management_plan }}'}]
  - "keyed_groups: region | default('x') (region) (did you mean server_management_region?). "
- - keyed_groups: [key: server_management_labels.role | default('x')]
  - '(server_management_labels) (the API has no tags: use the name, '
# Attributes of text.
- - compose: {ansible_host: server_management_ipv4.address | default(inventory_hostname)}
  - "ansible_host (server_management_ipv4.address) (server_management_ipv4 is text, and not a list
     or a mapping; the address is the API's ipv4 already: leave it out). "
- - filters: [exclude: "server_management_region['slug'] is defined"]
  - "(server_management_region['slug']) (server_management_region is text, "
# Keywords of playbooks.
- - groups: {a: name is defined, b: port | default(environment) | default(true)}
  - "groups: a (name), groups: b (environment), groups: b (port) (for groups: a (name): did you mean
     server_management_name?; for groups: b (environment), groups: b (port): use a field, "
# Magic variables that expressions don't see, and others that filters don't see.
- - compose: {a: hostvars is defined}
  - 'compose: a (hostvars) ('
- - filters: [exclude: inventory_hostname is not defined]
  - 'filters: exclude: inventory_hostname is not defined (inventory_hostname) ('
# Variables of another source, which these don't see.
- - filters: [exclude: rack | default(false)]
  - 'filters: exclude: rack | default(false) (rack) ('
- - hostnames: [rack | default('x')]
  - "hostnames: rack | default('x') (rack) ("
# Entries of compose do not see each other.
- - compose: {a: '1', b: a | default('')}
  - "compose: b (a) (entries of compose don't see each other: "
# A group that only this file fills.
- - compose: {a: of_region | default('')}
  - 'compose: a (of_region) ('
- - {compose: {a: x is defined}, strict: true}
  - 'compose: a (x) ('
- - {compose: {a: vm_x is defined}, hostvars_prefix: ''}
  - 'compose: a (vm_x) ('
# These are not extra vars of another run.
- - {use_extra_vars: true, compose: {ansible_ssh_host: ip | default(login), b: ip | default(1)}}
  - 'result: compose: ansible_ssh_host (ip) (the address '
- - {use_extra_vars: true, groups: {a: tags.x is defined}}
  - 'groups: a (tags) (the API has no tags: '
""")

KNOWN = yaml.safe_load("""
- compose: {a: server_management_region | default('x')}
- compose: {a: of_host | default(''), b: of_all | default(''), c: of_group | default('')}
- groups: {a: "'x' in group_names", b: inventory_hostname_short is defined}
- keyed_groups: [key: inventory_dir | default(inventory_file)]
- {compose: {a: 1 // 0}, groups: {b: a is defined}, keyed_groups: [key: a | default('x')]}
- hostnames: [ansible_host | default('x')]
- compose: {a: "lookup('env', 'HOME') | default(query('env', 'HOME'))", b: now() is defined}
- compose: {a: "range(3) | map('string') | list | default([])", b: dict(c=1) is defined}
- {compose: {a: nope | default(login)}, use_extra_vars: true}
- {compose: {ansible_host: login | default(ansible_host)}, use_extra_vars: true}
- compose: {a: "'nope' | default(1)", b: 5, c: true}
# Text has these.
- compose: {a: "server_management_name[0] ~ server_management_name.split('-')[9] | default('')"}
# Not documented, or another value here, so that it may be a mapping.
- compose: {a: server_management_backup.time | default('')}
- compose: {server_management_plan: "{'a': 1}"}
  groups: {a: server_management_plan.a | default(0) == 1}
# These fail, or have another warning.
- compose: {a: nope}
- groups: {a: "'{{ nope }}' == 'x'"}
""")


def report_of(options):
    """Return the warning about unknown names, and "" if there is none."""
    found = ""
    for warning in warnings_about(options):
        # Warnings about single expressions begin with the option.
        if not warning.startswith(tuple(options)):
            assert found == ""
            found = warning
    return found


@pytest.mark.parametrize(("options", "expected"), UNKNOWN, ids=str)
def test_a_name_that_no_host_has_is_reported_with_its_expression(options, expected):
    assert expected in report_of(options)


@pytest.mark.parametrize("options", KNOWN, ids=str)
def test_a_name_that_a_host_may_have_is_not_reported(options):
    assert report_of(options) == ""


def test_without_hosts_only_filters_are_reported():
    filters = [{"exclude": "c is undefined"}]
    warning = report_of({"compose": {"a": "b | default('')"}, "filters": filters})
    assert "filters: exclude: c is undefined (c) " in warning
    assert "compose: a" not in warning


def test_many_expressions_share_one_warning():
    compose = {f"a{number}": "b is defined" for number in range(12)}
    assert "compose: a9 (b) and 2 more (use " in report_of({"compose": compose})


def test_the_warning_names_the_ways_out():
    assert report_of({"compose": {"a": "login | default(false)"}}) == (
        "These expressions read variables that no host has, or fields that no server has, so that "
        "`default` and `is defined` give all hosts the same result: compose: a (login) (it is an "
        "extra variable: set use_extra_vars: true). Leave the default or the test out, or, for "
        "compose, groups and keyed_groups, give the variable to hosts in a source that is read "
        "before. group_vars are not known here, and filters and hostnames see only the fields of "
        "servers."
    )


def test_without_servers_nothing_is_reported():
    assert composed(filters=[{"exclude": "x is defined"}]) == ([], [])
