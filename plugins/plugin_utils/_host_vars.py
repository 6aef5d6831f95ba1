# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables that the expressions of a host can use, and keys for their values.

Expressions can use the variables that they would have if the host were already in the inventory.
It is not: hosts are added only after all expressions of all hosts have been evaluated.

The values that an expression reads are the key of its remembered result, so that hosts with the
same values share the result. A key keeps what an expression could observe: the types of values
(``1`` is not ``true``), the order of mappings, and that a variable is absent. Values that can't be
a key, such as text that could be a template, make ``HostVars.key`` return None.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property
from typing import Any

from ansible.inventory.host import Host as AnsibleHost
from ansible.utils.path import basedir
from ansible.utils.vars import combine_vars

from ..module_utils._text import is_plain
from ._ansible import as_data, is_data, text_of
from ._hosts import RESERVED_VARIABLES, Host

_HOST_NAMES = frozenset({"inventory_hostname", "inventory_hostname_short"})
_ABSENT = (None,)  # the key of a variable that does not exist
_MOST_REMEMBERED = 1024  # lists of group names


class OtherSources:
    """What other sources say about hosts and groups, and the parents that keyed_groups require."""

    def __init__(self, inventory: Any) -> None:
        source = inventory.current_source
        self.hosts: Mapping[str, Any] = inventory.hosts
        self.variables = {"inventory_file": source, "inventory_dir": source and basedir(source)}
        self._parents = {
            name: {parent.name for parent in group.parent_groups}
            for name, group in inventory.groups.items()
        }
        self._group_names: dict[tuple[str, ...], list[str]] = {}

    def add_parent(self, parent: str, child: str) -> None:
        """Note that a group will be the parent of another one."""
        parents = self._parents.setdefault(child, set())
        if parent not in parents:
            parents.add(parent)
            self._group_names.clear()

    def group_names(self, groups: Iterable[str]) -> list[str]:
        """Return the ``group_names`` of a host in these groups: with all groups above them."""
        direct = tuple(groups)
        names = self._group_names.get(direct)
        if names is None:
            found: set[str] = set()
            pending = list(direct)
            while pending:
                group = pending.pop()
                if group not in found:
                    found.add(group)
                    pending.extend(self._parents.get(group, ()))
            names = sorted(found - {"all"})
            if len(self._group_names) < _MOST_REMEMBERED:
                self._group_names[direct] = names
        return names


class HostVars:
    """The variables of a host; without ``others``, those of a server that has no name yet."""

    def __init__(self, host: Host, others: OtherSources | None = None) -> None:
        self.host = host
        # The variables and groups that expressions have added so far.
        self.composed: dict[str, Any] = {}
        self.groups: list[str] = []
        self._others = others
        self._known = others.hosts.get(host.name) if others else None

    def all(self) -> dict[str, Any]:
        """Return all variables, as Ansible's Host.get_vars() would."""
        others = self._others
        if others is None:
            return self._data
        known = self._known.vars if self._known else {}
        variables = combine_vars({**others.variables, **known}, self._data)
        variables = combine_vars(variables, self.composed)
        magic = {**self._magic, "group_names": list(self._group_names())}
        return {**variables, **as_data(magic)}

    def key(self, names: Iterable[str]) -> tuple[Hashable, ...] | None:
        """Return a key for the values of these variables, or None if they can't have one.

        The key of text from the API that can't be a template is the text itself.
        """
        if self._known:
            return None
        keys = tuple(map(self._key, names))
        return None if None in keys else keys

    def _key(self, name: str) -> Hashable | None:
        if self._others is not None:
            if name in _HOST_NAMES:
                return _key_of(self._magic[name], is_api=True)
            if name == "group_names":
                return _key_of(self._group_names(), is_api=True)
            if name in self.composed:
                return _key_of(self.composed[name], is_api=False)
        variables = self.host.variables
        if name in variables:
            return _key_of(variables[name], is_api=True)
        if name in RESERVED_VARIABLES:  # can be a function of Jinja, or a variable of Ansible
            return None
        return _ABSENT

    def _group_names(self) -> list[str]:
        groups = [*self.host.groups, *self.groups]
        if self._known:
            groups += [group.name for group in self._known.groups]
        return self._others.group_names(groups) if self._others else []

    @cached_property
    def _data(self) -> dict[str, Any]:
        variables: dict[str, Any] = as_data(self.host.variables)
        return variables

    @cached_property
    def _magic(self) -> dict[str, str]:
        magic = AnsibleHost(self.host.name, gen_uuid=False).get_magic_vars()
        return {name: magic[name] for name in _HOST_NAMES}


def _key_of(value: Any, is_api: bool) -> Hashable | None:
    """Return a key for a value, which is from the API if ``is_api``; None if it can't have one."""
    if isinstance(value, str):
        text = value if value.__class__ is str else text_of(value)
        if text is None or not is_plain(text):
            return None
        return text if is_api or is_data(value) else (str, text)
    kind = value.__class__
    if isinstance(value, float):
        return kind, repr(value)  # 0.0 is not -0.0
    if value is None or isinstance(value, int):
        return kind, value
    if isinstance(value, dict):
        value = [part for item in value.items() for part in item]
    elif not isinstance(value, (list, tuple)):
        return None
    keys = tuple(_key_of(item, is_api) for item in value)
    return None if None in keys else (kind, keys)
