# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hints of expressions that fail or have no effect, each of which is followed.

Following a hint makes the result right, or the mistake is still reported.
"""

import re

import pytest
import yaml
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    HAS_EXPRESSIONS,
    trust,
)
from sandbox.account import SERVER
from support.expressions import expressions_with, host_with

FIELDS = "the fields of servers are"
TAGS = f"the API has no tags; {FIELDS}"
BRACES = "expressions have no braces: write server_management_name instead of {{ server_manage"
ADMIN = "no braces: write admin | default('y') instead of {{ admin | default('y') }}"
SEARCH = "compare it, for example with ==, or use the test: is search('…')"
OTHERS = "entries of compose don't see each other: write the expression of port here"
SOME = "only some hosts have this variable: add the filter default"
EXTRA = "it is an extra variable: set use_extra_vars: true"
ADDRESS = "ansible_host is the API's ipv4 already: leave it out"

# The place, the expression, a part of the message, what is not in it, and the result for the first
# host after the hint was followed; None if following it can't be wrong, since it still fails.
MISTAKES = [
    # Another prefix, or another spelling.
    ("compose: a", "region ~ '.x'", "did you mean server_management_region?", FIELDS, "eu-1.x"),
    ("compose: a", "server_region", "did you mean server_management_region?", FIELDS, "eu-1"),
    ("compose: a", "server_management_regoin", "mean server_management_region?", FIELDS, "eu-1"),
    ("compose: a", "regions", "did you mean server_management_region?", FIELDS, "eu-1"),
    ("compose: region", "region", "did you mean server_management_region?", "compose don", "eu-1"),
    ("compose: a", "server_management_created", "mean server_management_created_at?", FIELDS,
     SERVER["created_at"]),
    ("groups: a", "status == 'running'", "did you mean server_management_status?", FIELDS, ["a"]),
    ("keyed_groups: plan", "plan", "did you mean server_management_plan?", FIELDS, ["_small"]),
    ("hostnames: name", "name", "did you mean server_management_name?", FIELDS, ["web-1"]),
    ("compose: ansible_user", "name", "mean server_management_name?", "quotes", "web-1"),
    ("compose: ansible_host", "ipv4", "mean server_management_ipv4?", "leave it", SERVER["ipv4"]),
    # Another variable.
    ("compose: a", "port", OTHERS, "default", "8022"),
    ("compose: a", "port ~ rack", OTHERS, "default", None),
    ("compose: a", "login", EXTRA, "quotes", "bob"),
    ("compose: ansible_user", "login", EXTRA, "quotes", "bob"),
    ("groups: a", "login == 'bob'", EXTRA, "default", ["a"]),
    ("compose: a", "rack ~ ''", SOME, "mean", "r1"),
    ("compose: a", "server_management_backup", SOME, "mean", "daily"),
    ("groups: a", "server_management_backup == 'daily'", SOME, "mean", ["a"]),
    ("keyed_groups: rack", "rack", SOME, "mean", ["_r1"]),
    # Constant text.
    ("compose: ansible_user", "ec2-user", "write \"'ec2-user'\"", FIELDS, "ec2-user"),
    ("compose: ansible_user", "admin", "group_vars are not known here", FIELDS, "admin"),
    ("compose: ansible_connection", "ssh", "write \"'ssh'\"", FIELDS, "ssh"),
    ("compose: ansible_python_interpreter", "/usr/bin/python3", "write \"'/usr/bin/python3'\"",
     FIELDS, "/usr/bin/python3"),
    ("compose: ansible_ssh_private_key_file", "~/.ssh/id", "if text is meant", FIELDS,
     "~/.ssh/id"),
    ("compose: ansible_ssh_common_args", "-o ProxyJump=bastion", "if text is meant", FIELDS,
     "-o ProxyJump=bastion"),
    ("compose: ansible_ssh_common_args", '-o ProxyCommand="ssh -W %h:%p b"', "if text is meant",
     FIELDS, '-o ProxyCommand="ssh -W %h:%p b"'),
    ("compose: ansible_become_user", "root", "write \"'root'\"", FIELDS, "root"),
    ("compose: ansible_network_os", "ios", "write \"'ios'\"", FIELDS, "ios"),
    ("compose: ansible_port", "ssh_port", FIELDS, "quotes", None),
    ("compose: ansible_password", "sekret", FIELDS, "quotes", None),
    ("compose: ansible_user", "tags['ssh_user']", TAGS, "quotes", None),
    ("compose: ansible_user", "labels.user", TAGS, "quotes", None),
    ("compose: ansible_user", "server_management_admin", FIELDS, "quotes", None),
    ("compose: a", "admin", FIELDS, "quotes", None),
    ("keyed_groups: admin", "admin", FIELDS, "quotes", None),
    ("compose: ansible_user", "'admin", "", "quotes", None),
    # An address.
    ("compose: ansible_host", "public_ip_address", ADDRESS, "quotes", "192.0.2.1"),
    ("compose: ansible_host", "private_ip | default(public_ip)", ADDRESS, "quotes", "192.0.2.1"),
    # Lists of other plugins: an item of the text here would be one character.
    ("compose: ansible_host", "ipv4[0]", ADDRESS, "mean", "192.0.2.1"),
    ("compose: a", "ipv4[0]", FIELDS, "mean", None),
    ("compose: a", "ipv4.0", FIELDS, "mean", None),
    ("compose: a", "ipv4 | first", FIELDS, "mean", None),
    ("compose: a", "plans | map('upper') | list", FIELDS, "mean", None),
    ("keyed_groups: regions[-1]", "regions[-1]", FIELDS, "mean", None),
    ("compose: a", "name[0:3]", "did you mean server_management_name?", FIELDS, "web"),
    # Names of hosts.
    ("hostnames: tag:Name", "tag:Name", "the server's name is the default", FIELDS, None),
    ("hostnames: instance_id", "instance_id", FIELDS, "mean", None),
    ("hostnames: rack", "rack", FIELDS, "default", None),
    ("compose: inventory_hostname", "server_management_id", "names of hosts, use hostnames", FIELDS,
     None),
    # Braces.
    ("compose: a", "{{ server_management_name }}", BRACES, FIELDS, "web-1"),
    ("compose: a", "'x-{{ server_management_name }}'", BRACES, FIELDS, "x-web-1"),
    ("compose: a", "{% if x %}1{% endif %}", BRACES, FIELDS, None),
    ("groups: a", "{{ server_management_name }} == 'web-1'", BRACES, FIELDS, ["a"]),
    ("groups: a", "'{{ server_management_name }}' == 'web-1'", "outside quotes", FIELDS, ["a"]),
    ("compose: ansible_user", "{{ admin | default('y') }}", ADMIN, FIELDS, "y"),
    ("compose: a", "{{ region }}", "write region instead of {{ region }}", FIELDS, None),
    ("compose: a", "{{ ansible_host }}-{{ x }}", "write ansible_host instead", FIELDS, None),
    # A template in the value of a variable.
    ("compose: ansible_ssh_common_args", "jump_opts", "'jump' is undefined", "(if", None),
    ("compose: a", "jump_opts ~ ''", "'jump' is undefined", "(the fields", None),
    # Without a hint.
    ("compose: a", "server_management_name.nope()", "", FIELDS, None),
    ("compose: a", "server_management_name |", "", "quotes", None),
]  # fmt: skip
if HAS_EXPRESSIONS:
    MISTAKES += [
        ("groups: a", "inventory_hostname | regex_search('h')", SEARCH, "unknown", ["a"]),
        ("groups: a", "server_management_region", SEARCH, "unknown", None),
    ]
# Variables of other plugins. None is near to a field.
OF_OTHERS = (
    "server_management_tags", "tags", "labels", "server_management_labels", "instance_tags",
    "server_management_private_ip", "server_management_role", "server_management_state",
    "server_management_type", "server_management_image", "server_management_hostname",
    "server_management_ipv6", "server_management_updated_at", "server_management_zone",
    "instance_type", "location", "placement", "vpc_id", "flavor", "private_ipv4", "public_ip",
    "hcloud_location", "label", "proxmox_pool", "os_profile", "powerstate", "resource_group",
    "datacenter",
)  # fmt: skip
for variable in OF_OTHERS:
    asked_for_tags = variable.endswith(("tags", "labels"))  # "label" is a name elsewhere
    expected = TAGS if asked_for_tags else f"({FIELDS}"
    MISTAKES.append(("keyed_groups: k", variable, expected, "did you mean", None))


def result_of(place, expression, **others):
    """Return the result for the first of two hosts, and what is reported.

    Only this host has the field backup, and the variable rack of another source.
    """
    option, _colon, entry = place.partition(": ")
    entries = {
        "compose": {"port": "8000 + 22", entry: expression},
        "groups": {entry: expression},
        "keyed_groups": [{"key": expression}],
        "hostnames": [expression],
    }
    expressions = expressions_with({"login": "bob"}, **{option: entries[option], **others})
    inventory = InventoryData()
    hosts = []
    for number, fields in enumerate(({**SERVER, "backup": "daily"}, SERVER)):
        host = host_with(number, **{**fields, "name": "web-1"})
        hosts.append(host)
        expressions.fields.update({name: f"server_management_{name}" for name in fields})
        if option == "hostnames":
            host.preferences = expressions.preferences(host)
        host.name = f"h{number}"
        inventory.add_host(host.name)
    inventory.set_variable("h0", "rack", "r1")
    inventory.set_variable("h0", "jump_opts", trust("-o {{ jump }} {{ region }}"))
    expressions.compose_all(hosts, inventory)
    expressions.apply()
    reported = []
    expressions.report(2, reported.append)
    host = hosts[0]
    if option == "compose":
        return host.variables.get(entry), "".join(reported)
    return host.preferences if option == "hostnames" else host.groups, "".join(reported)


def followed(expression, message):
    """Return the expression as its hint says to write it."""
    undefined = re.search(r"'(\w+)' is undefined", message)
    name = rf"\b{undefined[1]}\b" if undefined else ""
    if meant := re.search(r"did you mean (\w+)\?", message):
        return re.sub(name, meant[1], expression)
    if SOME in message:
        return re.sub(name, r"(\g<0> | default('none'))", expression)
    if OTHERS in message:
        return re.sub(name, "(8000 + 22)", expression)
    if SEARCH in message:
        return re.sub(r"\| regex_search", "is search", expression)
    if "no braces" in message:
        joined = re.sub(r"'([^']*)\{\{ (\w+) }}'", r"('\1' ~ \2)", expression)
        return re.sub(r"\{\{ (.+?) }}", r"\1", joined)
    if quoted := re.search(r"""write (".*"), with""", message):
        return yaml.safe_load(quoted[1])
    return expression


@pytest.mark.parametrize(("place", "expression", "part", "other", "right"), MISTAKES)
def test_a_hint_is_right_or_absent(place, expression, part, other, right):
    _result, message = result_of(place, expression)
    assert message.startswith(f"{place}: " if "keyed" not in place else "keyed_groups: ")
    assert part in message
    assert other not in message
    if ADDRESS in message:
        place = "compose: without"
        result, message = "192.0.2.1", ""
    else:
        options = {"use_extra_vars": EXTRA in message}
        result, message = result_of(place, followed(expression, message), **options)
    assert message or str(result) == str(right)
    assert right is None or not message


@pytest.mark.parametrize("name", ["server_management_region", "region", "server_region"])
def test_another_prefix_of_the_file_is_the_one_that_is_meant(name):
    expressions = expressions_with(groups={"a": f"{name} == 'x'"}, hostvars_prefix="vm_")
    host = host_with(region="eu-1")
    host.name = "h0"
    host.variables["vm_region"] = host.variables.pop("server_management_region")
    expressions.fields = {"region": "vm_region"}
    expressions.compose_all([host], InventoryData())
    reported = []
    expressions.report(1, reported.append)
    assert reported[0].endswith("(did you mean vm_region?)")


@pytest.mark.parametrize(
    "expression",
    [
        "server_management_name | replace('{{', '') | replace('}}', '')",
        "{'a': {'b': server_management_name}}",
    ],
)
def test_other_braces_are_not_reported(expression):
    _result, message = result_of("compose: a", expression)
    assert message == ""
