# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups: the names that they have or could get, and the groups of a server's fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Any

from ansible.inventory.group import to_safe_group_name

from ..module_utils._errors import OptionError
from ..module_utils._models import GROUP_FIELDS
from ..module_utils._text import brief, summarise
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

    def __init__(self, get_option: Callable[[str], Any], existing: Iterable[str]) -> None:
        self.common_group = safe_group_name(get_option("group"))
        # The groups that are in the inventory file itself, each with its option.
        self._written = [("group", get_option("group"))]
        # Not only those of group_by: another account's file may make the other groups.
        prefixes = list(GROUP_FIELDS.values())
        names = {*GROUPS_OF_ANSIBLE, *existing}
        for name in get_option("groups") or {}:
            self._written.append(("groups", str(name)))
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
                self._written.append(("keyed_groups", str(parent)))
        self._names = names.union(safe_group_name(name) for _option, name in self._written)
        self._prefixes = tuple(prefixes)

    def add(self, names: Iterable[str]) -> None:
        """Add the names of groups that were created from values."""
        self._names.update(names)

    def includes(self, name: str) -> bool:
        """Return whether a group has or could get a name."""
        return name in self._names or name.startswith(self._prefixes)

    def check(self, other_hosts: Collection[str], warn: Callable[[str], None]) -> None:
        """Raise OptionError if a group in the inventory file can't have its name.

        Warn of names that differ from those in the file.
        """
        advice = "Choose another name for the group."
        if self.common_group in GROUPS_OF_ANSIBLE:
            raise OptionError(f"group: {self.common_group} is a group of Ansible itself.", advice)
        for option, written in self._written:
            name = safe_group_name(written)
            if name != written:
                warn(f"{option}: {brief(written)} becomes the group {brief(name)}.")
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
    merged: dict[str, set[str]] = {}
    for host in hosts:
        host.groups.append(common_group)
        for key in fields:
            if value := host.server.text(key):
                name = safe_group_name(f"{GROUP_FIELDS[key]}{value}")
                host.groups.append(name)
                merged.setdefault(name, set()).add(f"{key} {value}")
    for name, values in sorted(merged.items()):
        if len(values) > 1:
            warn(f"Several values become the group {name}: {summarise(values)}.")


def label_keyed_groups(entries: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the entries of keyed_groups by labels for messages, which are all different."""
    uses = Counter(str(entry["key"]) for entry in entries)
    labelled = {}
    for number, entry in enumerate(entries, 1):
        key = str(entry["key"])
        suffix = f" (entry {number})" if uses[key] > 1 else ""
        labelled[f"keyed_groups: {key}{suffix}"] = entry
    return labelled
