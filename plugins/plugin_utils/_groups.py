# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups: the names that they have or could get, and the groups of a server's fields."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

from ansible.inventory.group import Group, to_safe_group_name

from ..module_utils._errors import OptionError
from ..module_utils._models import GROUP_FIELDS
from ..module_utils._options import GetOption
from ..module_utils._text import Show, as_word
from ._hosts import Host
from ._names import is_localhost

GROUPS_OF_ANSIBLE = ("all", "ungrouped")


@lru_cache(maxsize=1024)
def safe_group_name(text: str) -> str:
    """Replace the characters that a group name can't have, as Ansible does, without a warning."""
    return str(to_safe_group_name(text, force=True, silent=True))


class ReservedNames:
    """The names that no host may have: those of groups that exist or that could be created.

    ``common_group`` is the group of all hosts.
    """

    def __init__(self, get_option: GetOption, existing: Iterable[str]) -> None:
        self.common_group = safe_group_name(get_option("group"))
        self._names = {*GROUPS_OF_ANSIBLE, *existing}
        # Not only those of group_by: another account's file may make the other groups.
        self._prefixes = tuple(GROUP_FIELDS.values())
        # The groups that are in the inventory file itself, each with its option.
        self._written = [("group", get_option("group"))]
        for name in get_option("groups") or {}:
            self._written.append(("groups", str(name)))
        for entry in get_option("keyed_groups") or []:
            self._add_entry(entry, get_option("leading_separator"))
        for _option, name in self._written:
            self._names.add(safe_group_name(name))

    def _add_entry(self, entry: Mapping[str, Any], leading_separator: bool) -> None:
        """Add what is known of the groups that an entry of keyed_groups makes."""
        prefix = entry.get("prefix", "")
        separator = entry.get("separator", "_")
        if prefix == "" and leading_separator is False:
            separator = ""
        start = safe_group_name(f"{prefix}{separator}")
        default = entry.get("default_value")
        if start:
            self._prefixes += (start,)
        elif default:
            self._names.add(safe_group_name(str(default)))
        parent = str(entry.get("parent_group") or "")
        if parent and "{" not in parent:
            self._written.append(("keyed_groups", parent))

    def add(self, names: Iterable[str]) -> None:
        """Add the names of groups that were created from values."""
        self._names.update(names)

    def includes(self, name: str) -> bool:
        """Return whether a group has or could get a name."""
        return name in self._names or name.startswith(self._prefixes)

    def check(self, other_hosts: Collection[str], warn: Show) -> None:
        """Raise OptionError if a group in the inventory file can't have its name.

        Warn of names that differ from those in the file.
        """
        advice = "Choose another name for the group."
        if self.common_group in GROUPS_OF_ANSIBLE:
            raise OptionError(f"group: {self.common_group} is a group of Ansible itself.", advice)
        for option, written in self._written:
            name = safe_group_name(written)
            if name != written:
                warn(f"{option}: {as_word(written)} becomes the group {name}.")
            if name in other_hosts:
                raise OptionError(
                    f"{option}: {name} is a host of another source, not a group.", advice
                )
            if is_localhost(name):
                raise OptionError(
                    f"{option}: {name} is a name of this machine, not of a group.", advice
                )


class GroupTree:
    """The groups that each group is in, those of an inventory and those that are added.

    ``added`` has the (parent, child) pairs that are added, in order.
    """

    def __init__(self, groups: Iterable[Group] = ()) -> None:
        self.added: dict[tuple[str, str], None] = {}
        self._parents: dict[str, set[str]] = {}
        for group in groups:
            self._parents[group.name] = {parent.name for parent in group.parent_groups}

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

    def check(self) -> None:
        """Raise OptionError if Ansible can't put one of the added groups into its parent."""
        for parent, child in self.added:
            if child in GROUPS_OF_ANSIBLE and parent != "all":
                problem = f"keyed_groups: the group {child} can't be inside another group."
                raise OptionError(problem, "Set prefix.")
            if child in self.with_parents([parent]):
                raise OptionError(f"keyed_groups: the group {child} would be inside itself.")


def group_hosts(hosts: Iterable[Host], common_group: str, fields: Collection[str]) -> None:
    """Put each host into the group of all hosts, and into those of its region, plan and status."""
    for host in hosts:
        host.groups.append(common_group)
        for key in fields:
            value = host.server.text(key)
            if not value:
                continue
            host.groups.append(safe_group_name(f"{GROUP_FIELDS[key]}{value}"))
