# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare what an inventory file gives with what Ansible's own plugin gives for the same hosts.

Ours is a file of the inventory plugin for an account in the sandbox. Theirs is a static inventory
with the hosts and variables of that account, and a file for ansible.builtin.constructed with the
same options. Both have a further source with groups and a host, and the inventories must be the
same.

The intended differences are the methods of Reference, and that text that can't be a template is
plain in ours. Not compared: numbers and booleans as expressions, a composed
ansible_host, and names of hosts that are also names of groups.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ansible.errors import AnsibleParserError
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import inventory_loader
from ansible.utils.display import Display
from ansible.utils.vars import combine_vars, load_extra_vars

from ansible_collections.server_management.cloud.plugins.module_utils._text import is_plain
from ansible_collections.server_management.cloud.plugins.plugin_utils import _ansible, _memory
from sandbox import Sandbox
from sandbox.account import SERVER

# Each field has values that a memory of results must not confuse, and values that are the same.
FIELDS: list[dict[str, Any]] = [
    {"value": 1, "note": "web-1", "parts": ["a", 1], "region": "eu-1"},
    {"value": 1, "note": "web-1", "parts": ["a", 1], "region": "eu-1"},
    {"value": True, "note": "web-1", "parts": ["a", True], "region": "eu-1"},
    {"value": 1.0, "note": "True", "parts": {"a": "x", "team": ""}, "region": "eu-1"},
    {"value": "1", "note": "[1]", "parts": {"team": "", "a": "x"}, "region": "eu-2", "plan": "42"},
    {
        "value": "",
        "note": "{{ server_management_plan }}",
        "parts": [],
        "region": "eu-2",
        "plan": "{% raw %}",
    },
    {"value": None, "note": "{'a': 1}", "parts": ["", None, "b"], "region": "eu-2"},
    {"note": "#jinja2: x\nwéb", "region": ""},
]
SERVERS = [
    {**SERVER, "id": f"srv_{n}", "name": f"app-{n}.example", "ipv4": f"192.0.2.{n}", **fields}
    for n, fields in enumerate(FIELDS, 1)
]
# Another source has the first server's host, and groups around the group of all servers. Nothing is
# remembered for this host.
_OF_HOST = {
    "other_text": "x",
    "other_template": "{{ server_management_region }}!",
    "server_management_plan": "other",
}
_WORLD: dict[str, Any] = {"children": {"whole": {"children": {"server_management": {}}}}}
_GROUPS = {"world": _WORLD, "static": {"hosts": {"app-1.example": _OF_HOST}}}
OTHERS = {"all": {"children": _GROUPS}}

Constructed: Any = inventory_loader.get("ansible.builtin.constructed", class_only=True)


class Reference(Constructed):
    """Ansible's plugin: each method here is a difference that the collection intends."""

    plugin_type = "inventory"  # Ansible would derive it from the name of the class

    def get_all_host_vars(self, host: Any, *args: Any) -> dict[str, Any]:
        """Before ansible-core 2.19, let text from the API stay text, also a name and groups."""
        _ansible.keep_text(self.templar)
        known = super().get_all_host_vars(host, *args)
        magic = ("inventory_hostname", "inventory_hostname_short", "group_names")
        return {**known, **_ansible.mark_all({name: known[name] for name in magic})}

    def _add_host_to_composed_groups(self, groups: Any, known: Any, *args: Any, **kw: Any) -> None:
        """Let extra vars reach groups."""
        extra_vars = self._vars if self.get_option("use_extra_vars") else {}
        super()._add_host_to_composed_groups(groups, combine_vars(known, extra_vars), *args, **kw)

    def _add_host_to_keyed_groups(self, keys: Any, _known: Any, host: str, **kw: Any) -> None:
        """Let each entry see the groups before it, as in plugins that add hosts themselves.

        Without strict, a key with a wrong type adds no group, and does not end the source. An entry
        that excludes itself does.
        """
        for entry in keys:
            known = self.get_all_host_vars(self.inventory.hosts[host], self.loader, [])
            try:
                super()._add_host_to_keyed_groups([entry], known, host, **kw)
            except AnsibleParserError as error:
                if kw["strict"] or "mutually exclusive" in str(error):
                    raise


class Comparison:
    """The sources of both sides, in a folder; a file is given as its options and extra_vars."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.folder = folder
        self.warnings = ""  # of the sources that were read last
        self._connection = {"base_url": sandbox.url, "api_token": sandbox.token, "retries": 0}
        hosts = {}
        for server in SERVERS:
            fields = {f"server_management_{name}": value for name, value in server.items()}
            hosts[server["name"]] = _unsafe({**fields, "ansible_host": server["ipv4"]})
        self._write("1_others.yml", OTHERS)
        self._write("2_static.yml", {"server_management": {"hosts": hosts}})

    def compare(self, file: Mapping[str, Any]) -> None:
        """Raise AssertionError if the sides differ, with or without the memory of results."""
        theirs = _lines(self.theirs(file))
        self._compare_ours("with memory", theirs, file)
        with patch.object(_memory, "variables_in", return_value=None):
            self._compare_ours("without memory", theirs, file)

    def _compare_ours(self, case: str, theirs: list[str], file: Mapping[str, Any]) -> None:
        ours = _lines(self.ours(file))
        # Some results, such as an empty name of a group, end their source even without strict.
        if not theirs and not file.get("strict") and "keyed_groups: " in self.warnings:
            return
        difference = list(unified_diff(theirs, ours, "Ansible", case, n=0, lineterm=""))
        assert not difference, "\n".join([*difference, self.warnings])

    def theirs(self, file: Mapping[str, Any]) -> Any:
        """Return the inventory of Ansible's plugin, or None if it fails."""
        names = ["1_others.yml", "2_static.yml", "3_theirs.yml"]
        return self._read(names, Reference(), file)

    def ours(self, file: Mapping[str, Any]) -> Any:
        """Return the inventory of the collection's plugin, or None if it fails."""
        file = {**self._connection, "group_by": [], **file}
        names = ["1_others.yml", "2_ours.server_management.yml"]
        return self._read(names, inventory_loader.get("server_management.cloud.servers"), file)

    def _write(self, name: str, content: object) -> None:
        (self.folder / name).write_text(json.dumps(content), encoding="utf-8")

    def _read(self, names: list[str], plugin: Any, file: Mapping[str, Any]) -> Any:
        """Return what Ansible reads from these sources, of which the last one is written first."""
        options = {"plugin": plugin.ansible_name, **file}
        extra_vars = DataLoader().load(_ansible.trust(json.dumps(options.pop("extra_vars", {}))))
        self._write(names[-1], options)
        inventory = InventoryManager(DataLoader(), parse=False)
        plugins = [inventory_loader.get("ansible.builtin.yaml"), plugin]
        with (
            patch.object(inventory, "_fetch_inventory_plugins", return_value=plugins),
            patch.object(load_extra_vars, "extra_vars", extra_vars, create=True),
            patch.object(Display, "warning") as warning,
        ):
            are_read = [inventory.parse_source(str(self.folder / name)) for name in names]
        self.warnings = "\n".join(str(call.args[0]) for call in warning.call_args_list)
        inventory.reconcile_inventory()
        return inventory if all(are_read) else None


def _unsafe(value: Any) -> Any:
    """Return a value with all its text marked as data."""
    if isinstance(value, dict):
        return {key: _unsafe(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_unsafe(item) for item in value]
    return {"__ansible_unsafe": value} if isinstance(value, str) else value


def _lines(inventory: Any) -> list[str]:
    """Return a line for each variable of a host, and for each group with its parents and hosts."""
    if inventory is None:
        return []
    lines = []
    for name, host in sorted(inventory.hosts.items()):
        for key, value in sorted(host.vars.items()):
            if key != "inventory_file":
                lines.append(f"{name} {key} = {json.dumps(_described(value), default=str)}")
    for name, group in sorted(inventory.groups.items()):
        parents = sorted(group.name for group in group.parent_groups)
        lines.append(f"{name} in {parents}: {sorted(map(str, group.get_hosts()))}")
    return lines


def _described(value: Any) -> Any:
    """Return a value for JSON; for text, with what a playbook would do with it."""
    if isinstance(value, Mapping):
        return {str(key): _described(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_described(item) for item in value]
    if not isinstance(value, str):
        return value
    is_template = _ansible.is_trusted(value) and not is_plain(value)
    # Before ansible-core 2.19, other text can become a number or a list.
    stays_text = "NativeJinja" in type(value).__name__
    return [str.__str__(value), is_template, stays_text]
