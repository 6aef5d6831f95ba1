# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups: the names that they have or could get, and the groups that must not be added.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from ansible.inventory.group import to_safe_group_name

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._text import summarise
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._names import is_localhost

_OF_ANSIBLE = ("all", "ungrouped")


def safe_group_name(text: str) -> str:
    """Replace the characters that a group name can't have, as Ansible does, without a warning."""
    return str(to_safe_group_name(text, force=True, silent=True))


class GroupNames:
    """The names that no host may have: those of groups that exist or that could be created.

    ``common_group`` is the group of all hosts; ``literal`` has the names of groups that are in the
    inventory file itself, each with its option.
    """

    def __init__(self, get_option: Callable[[str], Any], existing: Iterable[str]) -> None:
        self.common_group = safe_group_name(get_option("group"))
        self.literal = {self.common_group: "group"}
        prefixes = [f"{field}_" for field in get_option("group_by")]
        names = {*_OF_ANSIBLE, *existing}
        for name in get_option("groups") or {}:
            self.literal[safe_group_name(str(name))] = "groups"
        for entry in get_option("keyed_groups") or []:
            prefix, separator = entry.get("prefix", ""), entry.get("separator", "_")
            if prefix == "" and get_option("leading_separator") is False:
                separator = ""
            start = f"{prefix}{separator}"
            if start:
                prefixes.append(safe_group_name(start))
            elif entry.get("default_value"):
                names.add(safe_group_name(str(entry["default_value"])))
            parent = entry.get("parent_group")
            if parent and "{" not in str(parent):
                self.literal[safe_group_name(str(parent))] = "keyed_groups"
        self._names = names.union(self.literal)
        self._prefixes = tuple(prefixes)

    def add(self, names: Iterable[str]) -> None:
        """Add the names of groups that were created from values."""
        self._names.update(names)

    def __contains__(self, name: object) -> bool:
        return name in self._names or (isinstance(name, str) and name.startswith(self._prefixes))

    def check(self, other_hosts: Collection[str]) -> None:
        """Raise OptionError if a group in the inventory file has the name of another host."""
        advice = "Choose another name for the group."
        for name, option in self.literal.items():
            if name in other_hosts:
                raise OptionError(
                    f"{option}: {name} is a host of another source, not a group.", advice
                )
            if is_localhost(name):
                raise OptionError(
                    f"{option}: {name} is a name of this machine, not of a group.", advice
                )


def group_hosts(
    hosts: Iterable[Host], common_group: str, fields: Collection[str], warn: Callable[[str], None]
) -> None:
    """Put each host into the group of all hosts, and into those of its region, plan and status."""
    names: dict[tuple[str, str], str] = {}
    for host in hosts:
        host.groups.append(common_group)
        for key in fields:
            value = host.server.text(key)
            if value:
                name = names.get((key, value))
                if name is None:
                    name = names[key, value] = safe_group_name(f"{key}_{value}")
                host.groups.append(name)
    values: dict[str, list[str]] = {}
    for (key, value), name in names.items():
        values.setdefault(name, []).append(f"{key} {value}")
    for name, merged in sorted(values.items()):
        if len(merged) > 1:
            warn(f"Several values become the group {name}: {summarise(merged)}.")


def leave_out_groups(
    hosts: Collection[Host],
    parents: Iterable[tuple[str, str]],
    other_hosts: Collection[str],
    warn: Callable[[str], None],
) -> list[tuple[str, str]]:
    """Leave out groups that have the name of another source's host; return the other parents.

    A pattern with such a name would address the group's hosts instead of that host, and the host
    would get the variables of the group.
    """
    made = {group for host in hosts for group in host.groups}
    pairs = list(parents)
    made.update(name for pair in pairs for name in pair)
    clashing = {name for name in made if name in other_hosts or is_localhost(name)}
    if not clashing:
        return pairs
    for host in hosts:
        host.groups = [group for group in host.groups if group not in clashing]
    warn(
        "Groups left out, because a host of another source or this machine has the same name: "
        f"{summarise(clashing)}."
    )
    return [pair for pair in pairs if not clashing.intersection(pair)]


def check_parents(parents: Iterable[tuple[str, str]], groups: Mapping[str, Any]) -> None:
    """Raise OptionError if Ansible can't put a group into another one.

    ``parents`` has (parent, child) pairs to be added to the ``groups`` of the inventory.
    """
    above: dict[str, set[str]] = {}
    for name, group in groups.items():
        above[name] = {parent.name for parent in group.parent_groups}
    for parent, child in parents:
        if child in _OF_ANSIBLE:
            raise OptionError(
                f"keyed_groups: the group {child} can't be inside another group.", "Set prefix."
            )
        pending, seen = [parent], set()
        while pending:
            name = pending.pop()
            if name == child:
                raise OptionError(f"keyed_groups: the group {child} would be inside itself.")
            if name not in seen:
                seen.add(name)
                pending.extend(above.get(name, ()))
        above.setdefault(child, set()).add(parent)


def label_keyed_groups(entries: list[Any]) -> dict[str, dict[str, Any]]:
    """Return the entries of keyed_groups by labels for messages, which are all different."""
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("key") is None:
            raise OptionError("keyed_groups: each entry must be a mapping with a key.")
        if entry.get("default_value") is not None and entry.get("trailing_separator") is not None:
            raise OptionError(
                "keyed_groups: default_value and trailing_separator are mutually exclusive."
            )
    uses = Counter(str(entry["key"]) for entry in entries)
    labelled = {}
    for number, entry in enumerate(entries, 1):
        key = str(entry["key"])
        suffix = f" (entry {number})" if uses[key] > 1 else ""
        labelled[f"keyed_groups: {key}{suffix}"] = entry
    return labelled
