# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Groups: the names that they have or could get, and the groups of a server's fields."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Any

from ansible.inventory.group import to_safe_group_name

from ..module_utils._errors import OptionError
from ..module_utils._models import GROUP_FIELDS
from ..module_utils._options import GetOption
from ..module_utils._text import Show, as_word, summarise
from ._hosts import Host, ParentAndChild
from ._names import (
    GROUPS_OF_ANSIBLE,
    KEYED_GROUPS,
    OWNERS_IN_FILE,
    PREFIXES_OF_FIELDS,
    Owner,
    is_localhost,
)

_ANOTHER_SOURCE = Owner("of another source", ", or rename the group there")


@lru_cache(maxsize=1024)
def safe_group_name(text: str) -> str:
    """Replace the characters that a group name can't have, as Ansible does, without a warning."""
    return str(to_safe_group_name(text, force=True, silent=True))


def reserved_names(
    get_option: GetOption, inventory: Any, warn: Show
) -> tuple[dict[str, Owner], dict[str, Owner]]:
    """Return the names that no host can have: those of groups, and the prefixes of others.

    Each has its owner, for NameRules. Warn of groups in the inventory file
    whose names differ from those in the file. Raises OptionError if one can't have its name.
    """
    groups = {**dict.fromkeys(inventory.groups, _ANOTHER_SOURCE), **GROUPS_OF_ANSIBLE}
    prefixes = dict(PREFIXES_OF_FIELDS)
    written = [("group", get_option("group"))]  # with its option
    written += [("groups", str(name)) for name in get_option("groups")]
    for entry in get_option("keyed_groups"):
        prefix = entry.get("prefix", "")
        separator = entry.get("separator", "_")
        if prefix == "" and get_option("leading_separator") is False:
            separator = ""
        start = safe_group_name(f"{prefix}{separator}")
        default = entry.get("default_value")
        if start:
            prefixes[start] = KEYED_GROUPS
        elif default:
            groups[safe_group_name(str(default))] = KEYED_GROUPS
        parent = entry.get("parent_group")
        if parent and "{" not in parent:
            written.append(("keyed_groups", parent))
    for option, text in written:
        name = safe_group_name(text)
        _check_written(option, name, inventory.hosts)
        if name != text:
            warn(f"{option}: {as_word(text)} becomes the group {name}.")
        groups[name] = OWNERS_IN_FILE[option]
    return groups, prefixes


def _check_written(option: str, name: str, other_hosts: Collection[str]) -> None:
    """Raise OptionError if a group of the inventory file can't have its name."""
    if option == "group" and name in GROUPS_OF_ANSIBLE:
        problem = "a group of Ansible itself"
    elif name in other_hosts:
        problem = "a host of another source, not a group"
    elif is_localhost(name):
        problem = "a name of this machine, not of a group"
    else:
        return
    raise OptionError(f"{option}: {name} is {problem}.", "Choose another name for the group.")


def group_hosts(hosts: Iterable[Host], common_group: str, fields: Collection[str]) -> None:
    """Put each host into the group of all hosts, and into those of the values of these fields."""
    for host in hosts:
        host.groups.append(common_group)
        for field in fields:
            for value in host.server.values(field):
                host.groups.append(safe_group_name(f"{GROUP_FIELDS[field]}{value}"))


def leave_out_groups(
    hosts: Collection[Host],
    parents: Collection[ParentAndChild],
    other_hosts: Collection[str],
    complain: Show,
) -> Collection[ParentAndChild]:
    """Leave out groups that must not be added, and complain; return the other parents.

    A pattern with the name of another source's host would address the group's hosts instead of that
    host, and the host would get the variables of the group.
    """
    made = set[str]().union(*parents, *(host.groups for host in hosts))
    left_out = {name for name in made if name in other_hosts or is_localhost(name)}
    if not left_out:
        return parents
    complain(
        "Groups can't be added, because a host of another source or this machine has the same "
        f"name: {summarise(left_out)}."
    )
    for host in hosts:
        host.groups = [group for group in host.groups if group not in left_out]
    return [pair for pair in parents if not left_out.intersection(pair)]
