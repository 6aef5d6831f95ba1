# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What expressions see of a host and of the groups, and what they would add."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ansible.errors import AnsibleError
from ansible.inventory.group import Group
from ansible.inventory.host import Host as AnsibleHost
from ansible.utils.vars import combine_vars

from ..module_utils._errors import OptionError
from ._ansible import mark
from ._hosts import Host, HostVars, ParentAndChild
from ._names import GROUPS_OF_ANSIBLE


class GroupTree:
    """The groups that each group is in, those of an inventory and those that are added.

    ``added`` has the (parent, child) pairs that are added, in order.
    """

    def __init__(self, groups: Iterable[Group]) -> None:
        self.added: dict[ParentAndChild, None] = {}
        self._parents = {
            group.name: {parent.name for parent in group.parent_groups} for group in groups
        }

    def add(self, parent: str, child: str) -> None:
        """Put a group into another one."""
        self.added[parent, child] = None
        self._parents.setdefault(child, set()).add(parent)

    def with_parents(self, names: Iterable[str]) -> set[str]:
        """Return these groups and all groups that they are in."""
        found = set[str]()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting.extend(self._parents.get(name, ()))
        return found

    def check_added(self) -> None:
        """Raise OptionError if Ansible can't put one of the added groups into its parent."""
        for parent, child in self.added:
            if child in GROUPS_OF_ANSIBLE and parent != "all":
                problem = f"keyed_groups: the group {child} can't be inside another group."
                raise OptionError(problem, "Set prefix.")
            if child in self.with_parents([parent]):
                raise OptionError(f"keyed_groups: the group {child} would be inside itself.")


class UnnamedHost:
    """A host as filters and hostnames see it: ``seen`` are the variables of its fields alone."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.seen: HostVars = mark(host.variables, even_plain=True)

    def all_variables(self) -> HostVars:
        """Return what an expression sees."""
        return self.seen


class ComposedHost(UnnamedHost):
    """A host with a name, and what expressions have added to it so far.

    ``seen`` are the variables that an expression sees, apart from magic ones. ``base`` is the host
    with its name that other sources have added, or a new one, and ``inherited`` is what other
    sources say about it.
    """

    def __init__(self, host: Host, base: AnsibleHost, tree: GroupTree, inherited: HostVars) -> None:
        super().__init__(host)
        self.base = base
        self.tree = tree
        self.variables: HostVars = {}
        self.groups: list[str] = []
        self.seen = combine_vars(inherited, self.seen)

    def all_variables(self) -> HostVars:
        """Return what an expression sees: what Ansible's Host.get_vars() would return."""
        of_others = [group.name for group in self.base.groups]
        groups = self.tree.with_parents([*self.host.groups, *self.groups, *of_others])
        magic = self.base.get_magic_vars()
        magic["group_names"] = sorted(groups - {"all"})
        # The name and the groups can be text from the API.
        return {**self.seen, **mark(magic, even_plain=True)}


class Composition(NamedTuple):
    """What expressions give to hosts with certain names, before it is added to the hosts.

    ``tree`` has the groups of the inventory, and those that keyed_groups put into others, and
    ``groups`` the names of those that are made. ``seen`` are the variables of other sources that
    any host has.
    """

    hosts: list[ComposedHost]
    tree: GroupTree
    groups: set[str]
    seen: frozenset[str]


class Recorder:
    """What Ansible's helper for keyed_groups adds: groups of a host, and parents of groups."""

    def __init__(self) -> None:
        self.groups: list[str] = []
        self.parents: list[ParentAndChild] = []

    def add_group(self, group: str) -> str:
        """Return the name of a group, which is added if a host or another group is in it."""
        if not group:
            raise AnsibleError("the name of the group is empty")
        return str.__str__(group)  # without a mark, which --list would show

    def add_host(self, _host: str, group: str) -> None:
        """Note that the host is in a group."""
        self.groups.append(group)

    def add_child(self, parent: str, child: str) -> None:
        """Note that a group is in another one."""
        self.parents.append((str.__str__(parent), child))
