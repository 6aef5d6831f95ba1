# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ansible's inventory: which names are taken in it, which groups fit into it, and adding to it.

Only ``add_hosts`` and ``add_parents`` change the inventory; everything that can fail comes before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from ..module_utils._errors import OptionError
from ..module_utils._text import is_plain, summarise
from ._ansible import tagger, trust_plain
from ._groups import GROUPS_OF_ANSIBLE, MAX_VALUE, GroupNames
from ._hosts import Host
from ._names import is_localhost, packed_address

# ansible_ssh_host, ansible_become_password and the like: each connection plugin has its own names.
_is_of_connection = re.compile(
    r"ansible_connection|ansible_(?:\w+_)?(?:host|pass|password)"
).fullmatch
# For each inventory: the base URL and the id of the server of each host, from all inventory files.
# The variables of a host don't show this, because each file can have another prefix.
_known_servers: WeakKeyDictionary[Any, dict[str, tuple[str, str]]] = WeakKeyDictionary()


def taken_names(
    inventory: Any, base_url: str, addresses: Mapping[str, str]
) -> Callable[[str, str], bool]:
    """Return a function that returns whether a name is taken for the server with an id.

    It is if another server has it, also one at another base URL, or another source's host with an
    address, a connection plugin or a password, which a server must not get or replace. Any other
    host of another source is merged with the server. ``addresses`` are those of the servers, by
    their ids: a host whose name is an address can only be the server with this address.
    """
    known, hosts = _servers_in(inventory), inventory.hosts

    def is_taken(name: str, server_id: str) -> bool:
        if name in known:
            return known[name] != (base_url, server_id)
        if name not in hosts:
            return False
        is_other = bool(packed_address(name)) and name != addresses.get(server_id)
        return is_other or _has_connection(hosts[name])

    return is_taken


def _servers_in(inventory: Any) -> dict[str, tuple[str, str]]:
    # From ansible-core 2.19 on, each source gets its own proxy, which may be collected at any time.
    return _known_servers.setdefault(getattr(inventory, "__wrapped__", inventory), {})


def _has_connection(host: Any) -> bool:
    """Return whether a host has an address, a connection plugin or a password.

    The variables of the group all are not those of the host: every server has them, too.
    """
    groups = [group.vars for group in host.get_groups() if group.name != "all"]
    return any(_is_of_connection(name) for found in (host.vars, *groups) for name in found)


def leave_out_groups(
    hosts: Collection[Host],
    parents: Iterable[tuple[str, str]],
    other_hosts: Collection[str],
    group_names: GroupNames,
    warn: Callable[[str], None],
) -> list[tuple[str, str]]:
    """Leave out groups that must not be added, with a warning; return the other parents.

    A pattern with the name of another source's host would address the group's hosts instead of that
    host, and the host would get the variables of the group. AWX refuses the inventory if the name
    of a group is longer than 512 characters.
    """
    made = {group for host in hosts for group in host.groups}
    pairs = list(parents)
    made.update(name for pair in pairs for name in pair)
    clashing = {name for name in made if name in other_hosts or is_localhost(name)}
    long = {name for name in made - clashing if group_names.is_too_long(name)}
    left_out = clashing | long
    if not left_out:
        return pairs
    for host in hosts:
        host.groups = [group for group in host.groups if group not in left_out]
    if clashing:
        warn(
            "Groups left out, because a host of another source or this machine has the same name: "
            f"{summarise(clashing)}."
        )
    if long:
        warn(
            f"Groups left out, because their values are longer than {MAX_VALUE} characters: "
            f"{summarise(long)}."
        )
    return [pair for pair in pairs if not left_out.intersection(pair)]


def check_parents(parents: Iterable[tuple[str, str]], groups: Mapping[str, Any]) -> None:
    """Raise OptionError if Ansible can't put a group into another one.

    ``parents`` has (parent, child) pairs to be added to the ``groups`` of the inventory.
    """
    above: dict[str, set[str]] = {}
    for name, group in groups.items():
        above[name] = {parent.name for parent in group.parent_groups}
    for parent, child in parents:
        if child in GROUPS_OF_ANSIBLE:
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


def add_hosts(inventory: Any, hosts: list[Host], common_group: str, base_url: str) -> None:
    """Add hosts with their groups, and remove them from ``hosts``; nothing here can fail.

    Ansible checks the name of each variable that is set, and tags its value. For text, this is done
    once: further variables with that name, and further texts, get what Ansible made of the first.
    """
    # Read only once: from ansible-core 2.19 on, a proxy makes each access slow.
    add_host, add_child, added_hosts = inventory.add_host, inventory.add_child, inventory.hosts
    set_variable = inventory.set_variable
    for group in sorted({common_group, *(group for host in hosts for group in host.groups)}):
        inventory.add_group(group)
    known = _servers_in(inventory)
    accepted: set[str] = set()
    # For text that can't be a template (True), which is trusted, and for other text.
    taggers: dict[bool, Callable[[str], str] | None] = {}
    hosts.reverse()
    while hosts:  # each is released once it is added, so that memory never holds all of them twice
        host = hosts.pop()
        name = host.name
        add_host(name)
        known[name] = base_url, host.server.id
        added = added_hosts[name]
        for variable, value in host.variables.items():
            is_text = value.__class__ is str
            if is_text and variable in accepted and (tag := taggers.get(bool(is_plain(value)))):
                added.vars[variable] = tag(value)
                continue
            # Trust text only here: many tagged strings slow down garbage collection (0.5 of 3.7 s
            # at 10,000 hosts).
            set_variable(name, variable, trust_plain(value))
            accepted.add(variable)
            if is_text:
                taggers[bool(is_plain(value))] = tagger(added.vars[variable])
        for group in host.groups:
            add_child(group, name)


def add_parents(inventory: Any, parents: Iterable[tuple[str, str]]) -> None:
    """Put groups into others, given as (parent, child) pairs that were checked."""
    for parent, child in parents:
        inventory.add_group(parent)
        inventory.add_child(parent, child)
