# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups: the names that they have or could get, and the groups of a server's fields."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import chain

from ansible.inventory.group import to_safe_group_name

from ..module_utils._errors import OptionError
from ..module_utils._models import GROUP_FIELDS
from ..module_utils._options import GetOption
from ..module_utils._text import Show, as_word, summarise
from ._hosts import Host
from ._names import GROUPS_OF_ANSIBLE, PREFIXES_OF_FIELDS, is_localhost

_MADE = "of keyed_groups: give it a prefix"


@lru_cache(maxsize=1024)
def safe_group_name(text: str) -> str:
    """Replace the characters that a group name can't have, as Ansible does, without a warning."""
    return str(to_safe_group_name(text, force=True, silent=True))


class ReservedNames:
    """The names of groups that exist or that could be created, for NameRules.

    ``common_group`` is the group of all hosts. ``groups`` and ``prefixes`` have the words that say
    whose group it is.
    """

    def __init__(self, get_option: GetOption, existing: Iterable[str]) -> None:
        self.common_group = safe_group_name(get_option("group"))
        self.groups = {**dict.fromkeys(existing, "of another source"), **GROUPS_OF_ANSIBLE}
        self.prefixes = dict(PREFIXES_OF_FIELDS)
        # The groups that are in the inventory file itself, each with its option.
        self._written = [("group", get_option("group"))]
        for name in get_option("groups") or {}:
            self._written.append(("groups", str(name)))
        for entry in get_option("keyed_groups") or []:
            prefix = entry.get("prefix", "")
            separator = entry.get("separator", "_")
            if prefix == "" and get_option("leading_separator") is False:
                separator = ""
            start = safe_group_name(f"{prefix}{separator}")
            default = entry.get("default_value")
            if start:
                self.prefixes[start] = "of keyed_groups"
            elif default:
                self.groups[safe_group_name(str(default))] = _MADE
            parent = str(entry.get("parent_group") or "")
            if parent and "{" not in parent:
                self._written.append(("keyed_groups", parent))
        for option, name in self._written:
            self.groups[safe_group_name(name)] = f"of the option {option}"

    def add(self, names: Iterable[str]) -> None:
        """Add the names of groups that were created from values."""
        for name in names:
            self.groups.setdefault(name, _MADE)

    def check_written(self, other_hosts: Collection[str], warn: Show) -> None:
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


def group_hosts(hosts: Iterable[Host], common_group: str, fields: Collection[str]) -> None:
    """Put each host into the group of all hosts, and into those of the values of these fields."""
    for host in hosts:
        host.groups.append(common_group)
        for field in fields:
            for value in host.server.values(field):
                host.groups.append(safe_group_name(f"{GROUP_FIELDS[field]}{value}"))


def leave_out_groups(
    hosts: Collection[Host],
    parents: Iterable[tuple[str, str]],
    other_hosts: Collection[str],
    complain: Show,
) -> list[tuple[str, str]]:
    """Leave out groups that must not be added, and complain; return the other parents.

    A pattern with the name of another source's host would address the group's hosts instead of that
    host, and the host would get the variables of the group.
    """
    pairs = list(parents)
    made = set(chain.from_iterable(pairs))
    for host in hosts:
        made.update(host.groups)
    left_out = {name for name in made if name in other_hosts or is_localhost(name)}
    if not left_out:
        return pairs
    complain(
        "Groups can't be added, because a host of another source or this machine has the same "
        f"name: {summarise(left_out)}."
    )
    for host in hosts:
        host.groups = [group for group in host.groups if group not in left_out]
    return [pair for pair in pairs if not left_out.intersection(pair)]
