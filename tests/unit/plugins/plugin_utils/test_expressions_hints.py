# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hints of expressions that fail or have no effect."""

import pytest
import yaml
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    SINCE_2_19,
    trust,
)
from sandbox.account import SERVER
from support.expressions import composed

NAMES = ", ".join(sorted([*SERVER, "backup"]))
FIELDS = f"the fields of servers are {NAMES}, each with server_management_ before it"
OTHERS = "variables of another source are known if it is read before this file"
# Each hint, and options whose only failure has it.
HINTS = r"""
# Another variable.
"entries of compose don't see each other: write the expression of port here":
  - compose: {port: 8000 + 22, a: port}
  - compose: {port: 8000 + 22, ansible_host: port}
'it is an extra variable: set use_extra_vars: true':
  - compose: {ansible_user: login}
  - groups: {a: login == 'bob'}
'only some hosts have this variable: add the filter default':
  - compose: {a: rack ~ ''}
  - compose: {ansible_host: rack}
  - groups: {a: server_management_backup == 'daily'}
  - hostnames: [server_management_backup]
  - keyed_groups: [key: rack]
  # Nearer to a field, but it exists.
  - compose: {a: regions}
# An address.
"the address is the API's ipv4 already: leave it out":
  - compose: {ansible_host: public_ip_address}
  - compose: {ansible_ssh_host: name}
  - compose: {ansible_host: server_name}
  - compose: {ansible_host: private_ip | default(public_ip)}
  - compose: {ansible_host: 'ipv4[0]'}
  - compose: {ansible_host: ipv4.address}
  - compose: {ansible_host: server_management_ipv4 | no_filter}
  - compose: {ansible_host: server_management_ipv4 |}
did you mean server_management_ipv4?:
  - compose: {ansible_host: ipv4}
  - compose: {ansible_ssh_host: server_ipv4}
# A field with another prefix, or another spelling.
did you mean server_management_region?:
  - compose: {a: region ~ '.x'}
  - compose: {a: server_management_regoin}
  - compose: {a: region.upper()}
  - compose: {region: region}
did you mean server_management_created_at?: [compose: {a: server_management_created}]
did you mean server_management_status?: [groups: {a: status == 'running'}]
did you mean server_management_plan?: [keyed_groups: [key: plan]]
did you mean server_management_name?:
  - hostnames: [name]
  - compose: {ansible_user: name}
  - compose: {a: 'name[0:3]'}
server_management_region is text, and not a list or a mapping:
  - compose: {a: region.slug}
  - compose: {a: "server_management_region['slug'] | upper"}
  - compose: {a: 'server_management_name ~ server_management_region.slug'}
  - keyed_groups: [key: 'region[-1]']
server_management_plan is text, and not a list or a mapping:
  - compose: {a: plans | map('upper') | list}
  - compose: {a: plan.get('slug')}
# Names of hosts.
"the API has no tags; the server's name is the default: leave hostnames out":
  - hostnames: ['tag:Name']
  - hostnames: [labels.name]
it has no effect; for the names of hosts, use hostnames:
  - compose: {inventory_hostname: server_management_id}
# Anything else.
FIELDS:
  - hostnames: [instance_id]
  - hostnames: [rack]
FIELDS; OTHERS:
  - compose: {ansible_port: ssh_port}
  - compose: {ansible_password: sekret}
  - compose: {ansible_user: server_management_admin}
  - compose: {a: admin}
  # Not documented, so that it may be a list.
  - compose: {a: backup.time}
"the API has no tags: use the name; FIELDS; OTHERS":
  - compose: {ansible_user: "tags['ssh_user']"}
  - keyed_groups: [key: server_management_tags]
  - keyed_groups: [key: instance_tags]
# Braces.
'NO_BRACES: write server_management_name instead of {{ server_management_name }}, OUTSIDE':
  - compose: {a: '{{ server_management_name }}'}
  - compose: {a: "'x-{{ server_management_name }}'"}
  - groups: {a: "{{ server_management_name }} == 'web-1'"}
  - groups: {a: "'{{ server_management_name }}' == 'web-1'"}
'NO_BRACES: write server_management_id instead of {{ server_management_id }}, OUTSIDE':
  - compose: {a: '{% if x %}1{% endif %}'}
"NO_BRACES: write admin | default('y') instead of {{ admin | default('y') }}, OUTSIDE":
  - compose: {ansible_user: "{{ admin | default('y') }}"}
'NO_BRACES: write ansible_host instead of {{ ansible_host }}, OUTSIDE':
  - compose: {ansible_host: '{{ ansible_host }}-{{ x }}'}
# Constant text; a word can be a name, too.
FIELDS; TEXT "'ec2-user'", QUOTES: [compose: {ansible_user: ec2-user}]
FIELDS; TEXT "'admin'", QUOTES: [compose: {ansible_user: admin}]
FIELDS; TEXT "'ssh'", QUOTES: [compose: {ansible_connection: ssh}]
FIELDS; TEXT "'root'", QUOTES: [compose: {ansible_become_user: root}]
FIELDS; TEXT "'ios'", QUOTES: [compose: {ansible_network_os: ios}]
FIELDS; TEXT "'ansible.netcommon.network_cli'", QUOTES:
  - compose: {ansible_connection: ansible.netcommon.network_cli}
TEXT "'/usr/bin/python3'", QUOTES: [compose: {ansible_python_interpreter: /usr/bin/python3}]
TEXT "'~/.ssh/id'", QUOTES: [compose: {ansible_ssh_private_key_file: ~/.ssh/id}]
TEXT "'-o ProxyJump=bastion'", QUOTES:
  - compose: {ansible_ssh_common_args: -o ProxyJump=bastion}
TEXT "'-o ProxyCommand=\"ssh -W %h:%p b\"'", QUOTES:
  - compose: {ansible_ssh_common_args: '-o ProxyCommand="ssh -W %h:%p b"'}
"""
CONDITIONS_SINCE_2_19 = """
use the test `is search('…')` instead of the filter regex_search:
  - groups: {a: "inventory_hostname | regex_search('h')"}
  - groups: {a: "inventory_hostname | regex_search('x')"}
"compare it with a text: == '…'": [groups: {a: server_management_region}]
"compare it with a number, without quotes: > 0":
  - groups: {a: server_management_region | length}
  - groups: {a: "('1.5' | float)"}
"ask for its length: (…) | length > 0":
  - groups: {a: "server_management_name.split('-')"}
  - groups: {a: "[inventory_hostname | regex_search('h')]"}
  - groups: {a: "{'a': 1}"}
"""
LOOKUPS_BEFORE_2_19 = """
'before ansible-core 2.19, lookups are not possible here: use group_vars':
  - compose: {a: "{{ lookup('env', 'HOME') }}"}
  - keyed_groups: [key: "query('env', 'HOME')"]
"NO_BRACES: write lookup('env', 'x') instead of {{ lookup('env', 'x') }}, OUTSIDE":
  - groups: {a: "{{ lookup('env', 'x') }}"}
"""
HINTS += CONDITIONS_SINCE_2_19 if SINCE_2_19 else LOOKUPS_BEFORE_2_19
WORDS = {
    "FIELDS": FIELDS,
    "OTHERS": OTHERS,
    "NO_BRACES": "expressions have no braces",
    "OUTSIDE": "outside quotes; ~ joins quoted text to it",
    "TEXT": "if text is meant, write",
    "QUOTES": "with quotes inside the quotes",
}
for word, text in WORDS.items():
    HINTS = HINTS.replace(word, text)


def warning_about(options):
    """Return the only warning of these options for two hosts.

    Only one of them has the field backup, and the variables rack, regions and jump_opts of another
    source.
    """
    inventory = InventoryData()
    inventory.add_host("h0")
    inventory.set_variable("h0", "rack", "r1")
    inventory.set_variable("h0", "regions", "r1")
    inventory.set_variable("h0", "jump_opts", trust("-o {{ jump }} {{ region }}"))
    servers = ({**SERVER, "backup": "daily"}, SERVER)
    extra_vars = {"login": "bob"}
    _hosts, (warning,) = composed(*servers, inventory=inventory, extra_vars=extra_vars, **options)
    return warning


CASES = [(hint, options) for hint, several in yaml.safe_load(HINTS).items() for options in several]


@pytest.mark.parametrize(("hint", "options"), CASES)
def test_a_mistake_has_its_hint(hint, options):
    assert warning_about(options).endswith((f" ({hint})", f": {hint}."))


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
    assert warning_about({"keyed_groups": [{"key": name}]}).endswith(f" ({FIELDS}; {OTHERS})")


# In the last rows, the template in the variable of the other source fails.
WITHOUT_HINT = yaml.safe_load("""
- {a: server_management_name.nope()}
- {a: server_management_name |}
- {ansible_user: "'admin"}
- {ansible_ssh_common_args: jump_opts}
- {a: jump_opts ~ ''}
- {ansible_host: jump_opts ~ ''}
""")


@pytest.mark.parametrize("compose", WITHOUT_HINT, ids=str)
def test_another_mistake_has_no_hint(compose):
    assert not warning_about({"compose": compose}).endswith((")", ")."))


@pytest.mark.parametrize(
    "name", ["server_management_region", "region", "server_region", "vm_regoin"]
)
def test_another_prefix_of_the_file_is_the_one_that_is_meant(name):
    groups = {"a": f"{name} == 'x'"}
    _hosts, (warning,) = composed({"region": "eu-1"}, hostvars_prefix="vm_", groups=groups)
    assert warning.endswith("(did you mean vm_region?)")


@pytest.mark.parametrize(
    ("prefix", "user", "is_text"),
    [("", "admin", True), ("vm_", "admin", True), ("vm_", "vm_owner", False)],
)
def test_the_prefix_decides_what_can_be_constant_text(prefix, user, is_text):
    compose = {"ansible_user": user}
    _hosts, (warning,) = composed({"region": "eu-1"}, hostvars_prefix=prefix, compose=compose)
    assert ("if text is meant, write " in warning) is is_text


def test_without_a_prefix_the_name_is_a_field_that_needs_one():
    _hosts, (warning,) = composed({"region": "x"}, hostvars_prefix="", compose={"a": "name"})
    assert "the fields of servers are region, and name with a hostvars_prefix; " in warning


def test_other_braces_are_not_reported():
    compose = {
        "a": "server_management_name | replace('{{', '') | replace('}}', '')",
        "b": "{'a': {'b': server_management_name}}",
    }
    _hosts, warnings = composed({"name": "web"}, compose=compose)
    assert warnings == []
