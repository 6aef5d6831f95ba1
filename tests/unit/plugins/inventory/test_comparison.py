# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Expressions give what Ansible's own helpers give for the same hosts.

"Ours" are the expressions with their memory. "Theirs" are the methods of Constructable, called for
each host as Ansible's plugin ``constructed`` calls them; where the collection intends another
result, a comment says so. Text that can't be a template is plain in ours. Not compared: numbers and
booleans as expressions, and a composed ansible_host.

The environment variable FUZZ_CASES sets the number of random inventory files. One that fails is
printed, and can become a row of the table in comparison.yml.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.inventory.helpers import get_group_vars
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.template import Templar

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.module_utils._text import is_plain
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import mark
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import (
    Expressions,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import (
    hosts_from,
    variable_names,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._inventory import (
    ExistingHosts,
    add_groups,
    add_hosts,
)
from sandbox.account import SERVER
from support.expressions import is_trusted, load

FILES = yaml.safe_load(Path(__file__).with_name("comparison.yml").read_text(encoding="utf-8"))
# Each field has values that a memory of results must not confuse, and values that are the same.
FIELDS: list[dict[str, Any]] = yaml.safe_load(r"""
- {value: 1, note: web-1, parts: [a, 1], text: '{0}'}
- {value: 1, note: web-1, parts: [a, 1], text: A-B}
- {value: true, note: web-1, parts: [a, true]}
- {value: 1.0, note: 'True', parts: {a: x, team: ''}}
- {value: '1', note: '[1]', parts: {team: '', a: x}, region: eu-2, plan: '42'}
- {value: '', note: '{{ server_management_plan }}', parts: [], plan: '{% raw %}'}
- {value: null, note: "{'a': 1}", parts: ['', null, b], region: eu-2}
- {note: "#jinja2: x\nwéb", region: ''}
""")
SERVERS = [Server(f"srv_{number}", {**SERVER, **fields}) for number, fields in enumerate(FIELDS)]
# What another source says about the first host. Nothing is remembered for this host.
OF_HOST = {
    "other_text": "x",
    "other_template": "{{ server_management_region }}!",
    "server_management_plan": "other",
}
# What it says about the groups of this host.
OF_GROUPS: dict[str, dict[str, Any]] = yaml.safe_load("""
all: {of_all: x, of_parent: all, other_text: of all}
above: {of_parent: '{{ server_management_region }}', priority: above}
static: {tier: front, priority: static, ansible_group_priority: 10}
weak: {priority: weak}
""")


def inventory_of_another_source():
    """Return an inventory with the first host, and groups around the group of all servers."""
    inventory = InventoryData()
    inventory.current_source = "/other/hosts.yml"
    for group in ("world", "whole", "server_management", "above", "static", "weak"):
        inventory.add_group(group)
    inventory.add_child("world", "whole")
    inventory.add_child("whole", "server_management")
    inventory.add_child("above", "static")
    inventory.add_child("above", "weak")
    inventory.add_host("app-0.example", "static")
    inventory.add_host("app-0.example", "weak")
    for group, variables in OF_GROUPS.items():
        for name, value in load(variables).items():
            inventory.set_variable(group, name, value)
    for name, value in load(OF_HOST).items():
        inventory.set_variable("app-0.example", name, value)
    inventory.reconcile_inventory()
    inventory.current_source = "/ours/server_management.yml"
    return inventory


def hosts_of_servers():
    names = variable_names(SERVERS, "server_management_", print)
    hosts = hosts_from(SERVERS, names, True)
    for number, host in enumerate(hosts):
        host.name = f"app-{number}.example"
        host.groups = ["server_management"]
    return hosts


def read_ours(file, extra_vars):
    """Return what the inventory contains, or None if the source fails, and what is reported."""
    inventory = inventory_of_another_source()
    hosts = hosts_of_servers()
    expressions = Expressions(file.get, Templar(DataLoader()), extra_vars)
    reported = []
    try:
        expressions.compose_all(hosts, inventory)
        expressions.apply()
        expressions.report(len(hosts), reported.append)
    except OptionError as error:
        return None, str(error)
    add_groups(inventory, hosts, "server_management", expressions.tree.added)
    add_hosts(inventory, hosts, ExistingHosts(inventory, "", hosts, []))
    return contents_of(inventory), "".join(reported)


class Helpers(BaseInventoryPlugin, Constructable):
    """Ansible's helpers for an inventory file."""

    def __init__(self, file, extra_vars):
        super().__init__()
        self.get_option = file.get
        self.inventory = inventory_of_another_source()
        self.templar = Templar(DataLoader())
        self._vars = extra_vars

    def variables_of(self, name):
        """Return the variables of a host, whose name and groups can be text of the API."""
        host = self.inventory.hosts[name]
        of_groups = get_group_vars(host.get_groups())
        return {**of_groups, **host.get_vars(), **mark(host.get_magic_vars(), even_plain=True)}


def read_theirs(file, extra_vars):
    """Return what the inventory contains, or None if the source fails."""
    helpers = Helpers(file, extra_vars)
    inventory = helpers.inventory
    for host in hosts_of_servers():
        inventory.add_host(host.name, "server_management")
        for variable, value in mark(host.variables, even_plain=True).items():
            inventory.set_variable(host.name, variable, value)
    strict = file.get("strict", False)
    try:
        for name in inventory.hosts:
            variables = helpers.variables_of(name)
            helpers._set_composite_vars(file.get("compose"), variables, name, strict)
            variables = helpers.variables_of(name)
            if file.get("use_extra_vars"):  # extra vars reach groups, too
                variables.update(extra_vars)
            groups = file.get("groups")
            helpers._add_host_to_composed_groups(groups, variables, name, strict, False)
            for entry in file.get("keyed_groups", ()):
                variables = helpers.variables_of(name)  # with the groups of the entry before it
                try:
                    helpers._add_host_to_keyed_groups([entry], variables, name, strict, False)
                except AnsibleParserError:  # a key with a wrong type does not end the source
                    if strict:
                        raise
    except Exception:  # noqa: BLE001  # as in Ansible's plugin
        return None
    return contents_of(inventory)


def contents_of(inventory):
    """Return the variables of each host, and the parents and hosts of each group."""
    inventory.reconcile_inventory()
    contents = {name: described(host.vars) for name, host in inventory.hosts.items()}
    for name, group in inventory.groups.items():
        parents = {parent.name for parent in group.parent_groups}
        contents[f"group {name}"] = [parents, sorted(host.name for host in group.get_hosts())]
    return contents


def described(value):
    """Return a value as it can be compared; for text, with what a playbook would do with it."""
    if isinstance(value, Mapping):
        return {str(key): described(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    if not isinstance(value, str):
        return repr(value)  # 1, 1.0 and True are different
    is_template = is_trusted(value) and not is_plain(value)
    # Before ansible-core 2.19, other text can become a number or a list.
    stays_text = "NativeJinja" in type(value).__name__
    return [str.__str__(value), is_template, stays_text]


def compare(file):
    """Raise AssertionError if the contents of the inventories differ."""
    loaded = load({"hostvars_prefix": "server_management_", **file})
    extra_vars = loaded.get("extra_vars", {})
    theirs = read_theirs(loaded, extra_vars)
    ours, reported = read_ours(loaded, extra_vars)
    # A group without a name or inside itself ends their source without strict, too.
    if theirs is None and not file.get("strict"):
        assert "keyed_groups: " in reported, file
    else:
        assert ours == theirs, file


@pytest.mark.parametrize("is_set", [True, False])
@pytest.mark.parametrize("name", FILES)
def test_a_file_gives_what_ansible_gives(name, is_set):
    file = FILES[name]
    option = "use_extra_vars" if "extra_vars" in file else "strict"
    compare({**file, option: is_set})


def cells(text):
    """Return the parts of a text, which are separated by two spaces or a new line."""
    return re.split("  |\n", text.strip())


# Parts of random expressions; {a}, {b} and {c} are other expressions.
ATOMS = cells("""
server_management_name  server_management_region  server_management_note  server_management_value
server_management_parts  server_management_nope  server_management_plan  inventory_hostname
inventory_hostname_short  group_names  ansible_host  other_text  other_template  extra  composed
omit  'x'  ''  1  true  none  []  '{1}'  'a b'  {'a': server_management_value}  range(3)
inventory_dir
""")
FILTERS = cells(r"""
upper  lower  length  first  last  join('-')  replace('-', '_')  default('x')  default(omit)
default('', true)  string  int  float  bool  list  sort  trim  unique  split('-')
regex_replace('^(a)', '[\1]')  regex_search('[0-9]+')  to_json  from_json  from_yaml  hash('sha1')
b64encode  b64decode  ternary('a', 'b')  combine({'b': 1})  dict2items  flatten  map('upper')  nope
ansible.builtin.upper  title  abs  max  select('match', 'w')  type_debug  mandatory
""")
TESTS = cells("""
defined  undefined  string  none  number  mapping  sequence  boolean  truthy  match('web')
search('1')  eq(1)  in(['eu-1', 1])  contains('a')  gt(1)  nope  version('1.0', '>')  subset(['a'])
even  callable  sameas(none)
""")
METHODS = cells("""
upper()  split('-')  split('-')[-1]  split('-')[5]  startswith('eu')  zfill(9)  partition('-')[2]
removeprefix('eu')  encode()  pop()  upper  __class__  team  get('a', 'x')  append(1)  format(1)
items()  join(['a', 'b'])
""")
SHAPES = cells("""
{a} | {filter}  ({a}) | {filter}  ({a}) is {test}  {a} is not {test}  ({a}).{method}  {a}[0]
{a}['team']  {a}[1:]  {a} ~ {b}  {a} + {b}  {a} == {b}  {a} < {b}  {a} in {b}  {a} and {b}
{a} or {b}  not {a}  -{a}  {a} if {b} else {c}  ({a} if {b})  [{a}, {b}]  {a} | default({b})
{a} }}}} {{{{ {b}  {a} #
""")
# Of an entry of keyed_groups.
OPTIONS: list[dict[str, Any]] = yaml.safe_load("""
- {}
- {prefix: p}
- {prefix: p, separator: '-', trailing_separator: false}
- {separator: '', default_value: none}
- {default_value: none, parent_group: above}
- {parent_group: '{{ server_management_region }}'}
- {prefix: '', separator: '', parent_group: '{{ extra }}'}
""")
EXTRA_VARS: list[dict[str, Any]] = yaml.safe_load("""
- {}
- {extra: x, server_management_region: '{{ server_management_value }}'}
- {extra: '{{ server_management_name }}', composed: '{{ server_management_note }}'}
- {server_management_value: 1}
""")


def random_expression(random, levels=3):
    if levels == 0 or random.random() < 0.3:
        return random.choice(ATOMS)
    shape = random.choice(SHAPES)
    parts = {name: random_expression(random, levels - 1) for name in "abc"}
    parts["filter"] = random.choice(FILTERS)
    parts["test"] = random.choice(TESTS)
    parts["method"] = random.choice(METHODS)
    return shape.format(**parts)


@pytest.mark.parametrize("seed", range(int(os.environ.get("FUZZ_CASES", "60"))))
def test_random_files_give_what_ansible_gives(seed):
    random = Random(seed)
    composed, second, group, twin, key, other = (random_expression(random) for _part in range(6))
    file: dict[str, Any] = {"extra_vars": random.choice(EXTRA_VARS)}
    file["compose"] = {"composed": composed, "second": second}
    file["groups"] = {"a-b": group, "a_b": twin}
    file["keyed_groups"] = [{"key": key, **random.choice(OPTIONS)}]
    file["keyed_groups"].append({"key": other, **random.choice(OPTIONS)})
    file["strict"] = random.random() < 0.2
    file["use_extra_vars"] = random.random() < 0.5
    file["leading_separator"] = random.random() < 0.5
    compare(file)
