# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Subjects: the hosts whose expressions are evaluated, with the variables that these can use.

This utility is private to the collection: it may change in any release.

Expressions can use the variables that they would have if the host were already in the inventory.
It is not: hosts are added only after all expressions of all hosts have been evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from ansible.errors import AnsibleError
from ansible.inventory.host import Host as AnsibleHost
from ansible.utils.path import basedir
from ansible.utils.vars import combine_vars

from ansible_collections.server_management.cloud.plugins.module_utils._text import is_plain
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._trust import (
    as_data,
    text_of,
)

_HOST_NAMES = frozenset({"inventory_hostname", "inventory_hostname_short"})


class Surroundings:
    """The inventory before this source, and the parent groups that keyed_groups require."""

    def __init__(self, inventory: Any) -> None:
        source = inventory.current_source
        self.hosts: Mapping[str, Any] = inventory.hosts
        self.source = {"inventory_file": source, "inventory_dir": source and basedir(source)}
        self._parents = {
            name: {parent.name for parent in group.parent_groups}
            for name, group in inventory.groups.items()
        }

    def add_parent(self, parent: str, child: str) -> None:
        """Note that a group will be the parent of another one."""
        self._parents.setdefault(child, set()).add(parent)

    def with_ancestors(self, groups: Iterable[str]) -> set[str]:
        """Return the groups with the parents of each, and their parents."""
        found: set[str] = set()
        pending = list(groups)
        while pending:
            group = pending.pop()
            if group not in found:
                found.add(group)
                pending.extend(self._parents.get(group, ()))
        return found


class Subject:
    """A host whose expressions are evaluated, or a server without a name or surroundings yet."""

    def __init__(self, host: Host, surroundings: Surroundings | None = None) -> None:
        self.host = host
        # The variables and groups that expressions have added so far.
        self.composed: dict[str, Any] = {}
        self.groups: list[str] = []
        self._surroundings = surroundings
        self._known = surroundings.hosts.get(host.name) if surroundings else None

    def variables(self) -> dict[str, Any]:
        """Return the variables that an expression can use, as Ansible's Host.get_vars() would."""
        around = self._surroundings
        if around is None:
            return self._data
        known = self._known.vars if self._known else {}
        variables = combine_vars({**around.source, **known}, self._data)
        variables = combine_vars(variables, self.composed)
        groups = {*self.host.groups, *self.groups}
        if self._known:
            groups.update(group.name for group in self._known.groups)
        group_names = sorted(around.with_ancestors(groups) - {"all"})
        return {**variables, **as_data({**self._magic, "group_names": group_names})}

    def plain_texts(self, names: Iterable[str]) -> tuple[str, ...] | None:
        """Return the values of variables if each is text of ours that can't be a template."""
        if self._known:
            return None
        composed, variables, found = self.composed, self.host.variables, []
        for name in names:
            value: Any = composed[name] if name in composed else variables.get(name)
            if name in _HOST_NAMES and self._surroundings:
                value = self._magic[name]
            text = value if value.__class__ is str else text_of(value)
            if text is None or not is_plain(text):
                return None
            found.append(text)
        return tuple(found)

    @cached_property
    def _data(self) -> dict[str, Any]:
        return as_data(self.host.variables)

    @cached_property
    def _magic(self) -> dict[str, str]:
        magic = AnsibleHost(self.host.name, gen_uuid=False).get_magic_vars()
        return {name: magic[name] for name in _HOST_NAMES}


class Recorder:
    """An inventory for one of Ansible's helpers, which records the groups that it adds."""

    def __init__(self) -> None:
        self.groups: list[str] = []
        self.parents: list[tuple[str, str]] = []

    def add_group(self, group: str) -> str:
        if not group or not isinstance(group, str):
            raise AnsibleError(f"Invalid empty/false group name provided: {group}")
        return group

    def add_host(self, host: str, group: str) -> None:
        self.groups.append(group)

    def add_child(self, group: str, child: str) -> None:
        self.parents.append((group, child))
