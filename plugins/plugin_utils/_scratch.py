# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The scratch inventory: what an expression sees of a host, and what it adds to the host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from ansible.inventory.data import InventoryData
from ansible.inventory.group import Group
from ansible.inventory.host import Host as AnsibleHost
from ansible.utils.vars import combine_vars

from ..module_utils._errors import OptionError
from ._ansible import mark_all
from ._groups import GROUPS_OF_ANSIBLE
from ._hosts import Host


class Added(NamedTuple):
    """What an expression adds: groups of its host, and (parent, child) pairs of groups."""

    groups: list[str]
    parents: list[tuple[str, str]]


class ScratchInventory(InventoryData):
    """A copy of the groups of an inventory, in which expressions are evaluated.

    ``others`` are the hosts of other sources; ``variables`` are those that each host of this source
    has. Ansible's helpers create groups here, but what they put into a group is only noted in
    ``added``.
    """

    def __init__(self, inventory: InventoryData) -> None:
        self.added = Added([], [])
        super().__init__()  # calls add_child
        self.current_source = inventory.current_source
        super().add_host("host")
        self.variables: dict[str, Any] = self.hosts["host"].vars
        self.others: Mapping[str, AnsibleHost] = inventory.hosts
        for group in inventory.groups.values():
            for child in group.child_groups:
                self._group(group.name).add_child_group(self._group(child.name))

    def _group(self, name: str) -> Group:
        if name not in self.groups:
            group = Group("group")
            group.name = name  # Group(name) would report its characters once more
            self.groups[name] = group
        return self.groups[name]

    def add_host(self, host: str, group: str | None = None, port: int | None = None) -> str:
        """Note the group of a host."""
        if group is not None and group not in self.added.groups:
            self.added.groups.append(group)
        return host

    def add_child(self, group: str, child: str) -> bool:
        """Note that a host or another group is in a group."""
        self.added.parents.append((group, child))
        return True

    def put_into(self, parent: str, child: str) -> None:
        """Put a group into another one. Raises OptionError if Ansible can't do that."""
        outer = self._group(parent)
        inner = self._group(child)
        if inner in outer.child_groups:
            return
        if child in GROUPS_OF_ANSIBLE:
            problem = f"keyed_groups: the group {child} can't be inside another group."
            raise OptionError(problem, "Set prefix.")
        if inner is outer or inner in outer.get_ancestors():
            raise OptionError(f"keyed_groups: the group {child} would be inside itself.")
        outer.add_child_group(inner)

    def host_in(self, name: str, groups: Iterable[str]) -> AnsibleHost:
        """Return a host that is in these groups."""
        host = AnsibleHost(name, gen_uuid=False)
        for group in groups:
            host.add_group(self._group(group))
        return host


class ComposedHost:
    """A host, with the variables and groups that expressions have added to it so far."""

    def __init__(self, host: Host, inventory: ScratchInventory) -> None:
        self.host = host
        self.variables: dict[str, Any] = {}
        self.groups: list[str] = []
        self._inventory = inventory
        # What other sources say about the host, if they do.
        self.known: AnsibleHost | None = inventory.others.get(host.name)

    def add(self, variables: Mapping[str, Any], groups: Iterable[str]) -> None:
        """Add variables and groups, which the next expressions see."""
        self.variables.update(variables)
        self.groups += groups
        self.__dict__.pop("all_variables", None)

    @cached_property
    def all_variables(self) -> dict[str, Any]:
        """The variables that Ansible's Host.get_vars() would return for the host.

        A host that has no name yet has only those of the API.
        """
        variables: dict[str, Any] = mark_all(self.host.variables)
        if not self.host.name:
            return variables
        others = self._inventory.variables
        if self.known:
            others = {**others, **self.known.vars}
        variables = combine_vars(combine_vars(others, variables), self.variables)
        # The name and the groups can be text from the API.
        variables.update(mark_all(self.magic_variables()))
        return variables

    def magic_variables(self) -> dict[str, Any]:
        """Return the variables that Ansible makes from the name and the groups of the host."""
        groups = [*self.host.groups, *self.groups]
        if self.known:
            groups += [group.name for group in self.known.groups]
        host = self._inventory.host_in(self.host.name, groups)
        magic: dict[str, Any] = host.get_magic_vars()
        return magic
