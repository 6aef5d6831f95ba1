# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare what an inventory file gives with what Ansible's own plugin gives for the same hosts.

Ours is a file of the inventory plugin for an account in the sandbox. Theirs is a static inventory
with the hosts and variables of that account, and a file for ansible.builtin.constructed with the
same options. Both have a further source with groups and a host, and the listings must be the same.

The intended differences are the methods of inventory_plugins/reference.py, and that text that can't
be a template is plain in ours. Not compared: numbers and booleans as expressions, a composed
ansible_host, and names of hosts that are also names of groups.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from difflib import unified_diff
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ansible import constants, context
from ansible.errors import AnsibleError
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import inventory_loader
from ansible.utils.display import Display
from ansible.utils.vars import load_extra_vars

from ansible_collections.server_management.cloud.plugins.module_utils._text import is_plain
from ansible_collections.server_management.cloud.plugins.plugin_utils import _ansible, _pure
from sandbox import Sandbox
from sandbox.account import SERVER

# Each field has values that a memory of results must not confuse, and values that are the same.
FIELDS: list[dict[str, Any]] = [
    {"value": 1, "note": "web-1", "tags": ["a", 1], "region": "eu-1"},
    {"value": 1, "note": "web-1", "tags": ["a", 1], "region": "eu-1"},
    {"value": True, "note": "web-1", "tags": ["a", True], "region": "eu-1"},
    {"value": 1.0, "note": "True", "tags": {"a": "x", "team": ""}, "region": "eu-1"},
    {"value": "1", "note": "[1]", "tags": {"team": "", "a": "x"}, "region": "eu-2", "plan": "42"},
    {"value": "", "note": "{{ server_plan }}", "tags": [], "region": "eu-2", "plan": "{% raw %}"},
    {"value": None, "note": "{'a': 1}", "tags": ["", None, "b"], "region": "eu-2"},
    {"note": "#jinja2: x\nwéb", "region": ""},
]
SERVERS = [
    {**SERVER, "id": f"srv_{n}", "name": f"app-{n}.example", "ipv4": f"192.0.2.{n}", **fields}
    for n, fields in enumerate(FIELDS, 1)
]
# Another source has the first server's host, and groups around the group of all servers. Nothing is
# remembered for this host.
_OF_HOST = {"other_text": "x", "other_template": "{{ server_region }}!", "server_plan": "other"}
_WORLD: dict[str, Any] = {"children": {"whole": {"children": {"server_management": {}}}}}
OTHERS = {"world": _WORLD, "static": {"hosts": {"app-1.example": _OF_HOST}}}

inventory_loader.add_directory(str(Path(__file__).parent / "inventory_plugins"))


class Comparison:
    """The sources of both sides, in a folder; a file is given as its options and extra_vars."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.folder = folder
        self.warnings: list[str] = []  # of the sources that were read last
        self._connection = {"base_url": sandbox.url, "api_token": sandbox.token, "retries": 0}
        hosts = {}
        for server in SERVERS:
            fields = {f"server_{name}": value for name, value in server.items()}
            hosts[server["name"]] = _unsafe({**fields, "ansible_host": server["ipv4"]})
        self._write("1_others.yml", OTHERS)
        self._write("2_static.yml", {"server_management": {"hosts": hosts}})

    def compare(self, file: Mapping[str, Any]) -> None:
        """Raise AssertionError if the sides differ, with or without the memory of results."""
        theirs = self.theirs(file)
        for is_used in (True, False):
            with patch.object(_pure, "IS_USED", is_used):
                ours = self.ours(file)
            # Some results, such as an empty name of a group, end their source even without strict.
            is_reported = any("keyed_groups: " in warning for warning in self.warnings)
            if theirs is None and is_reported and not file.get("strict"):
                continue
            expected, found = (
                json.dumps(side, indent=1, default=str).splitlines() for side in (theirs, ours)
            )
            memory = "with memory" if is_used else "without memory"
            difference = unified_diff(expected, found, "Ansible", memory, n=6, lineterm="")
            assert found == expected, "\n".join([*difference, *self.warnings])

    def theirs(self, file: Mapping[str, Any]) -> Any:
        """Return the listing of Ansible's plugin, or None if it fails."""
        return self._read(["1_others.yml", "2_static.yml", "3_theirs.yml"], "reference", file)

    def ours(self, file: Mapping[str, Any]) -> Any:
        """Return the listing of the collection's plugin, or None if it fails."""
        file = {**self._connection, "group_by": [], **file}
        names = ["1_others.yml", "2_ours.server_management.yml"]
        return self._read(names, "server_management.cloud.servers", file)

    def _write(self, name: str, content: object) -> None:
        (self.folder / name).write_text(json.dumps(content), encoding="utf-8")

    def _read(self, names: list[str], plugin: str, file: Mapping[str, Any]) -> Any:
        """Return what Ansible reads from these sources, of which the last one is written first."""
        options = {key: value for key, value in file.items() if key != "extra_vars"}
        self._write(names[-1], {"plugin": plugin, **options})
        self.warnings = warnings = []
        arguments = {"extra_vars": (_ansible.trust(json.dumps(file.get("extra_vars", {}))),)}
        with ExitStack() as stack:
            for target, name, value in (
                (context, "CLIARGS", arguments),
                (load_extra_vars, "extra_vars", None),  # those that were read before
                (constants, "INVENTORY_ENABLED", ["auto", "yaml"]),
                (constants, "INVENTORY_ANY_UNPARSED_IS_FAILED", True),
                (Display, "warning", lambda _self, text, *_, **__: warnings.append(text)),
            ):
                stack.enter_context(patch.object(target, name, value, create=True))
            try:
                paths = [str(self.folder / name) for name in names]
                return _listing(InventoryManager(DataLoader(), paths))
            except AnsibleError:
                return None


def _unsafe(value: Any) -> Any:
    """Return a value with all its text marked as data."""
    if isinstance(value, dict):
        return {key: _unsafe(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_unsafe(item) for item in value]
    return {"__ansible_unsafe": value} if isinstance(value, str) else value


def _listing(inventory: Any) -> dict[str, Any]:
    """Return the hosts of an inventory, and its groups with their parents."""
    hosts = {}
    for name, host in sorted(inventory.hosts.items()):
        variables = {key: host.vars[key] for key in sorted(host.vars) if key != "inventory_file"}
        groups = sorted(str(group.name) for group in host.get_groups())
        hosts[str(name)] = {"variables": _described(variables), "groups": groups}
    parents = {}
    for name, group in sorted(inventory.groups.items()):
        parents[str(name)] = sorted(str(parent.name) for parent in group.parent_groups)
    return {"hosts": hosts, "parents of groups": parents}


def _described(value: Any) -> Any:
    """Return a value for JSON, with what a playbook would do with its texts."""
    if isinstance(value, Mapping):
        return {str(key): _described(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_described(item) for item in value]
    if not isinstance(value, str):
        return value
    text = str.__str__(value)
    is_template = not is_plain(text) and _ansible.is_trusted(value)
    # Before ansible-core 2.19, other text can become a number or a list.
    stays_text = "NativeJinja" in type(value).__name__
    return (
        f"{text!r}{' (a template)' if is_template else ''}{' (stays text)' if stays_text else ''}"
    )
