# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ansible's inventory: which names are taken in it, which groups fit into it, and adding to it.

Only the functions that add something change the inventory; everything that can fail comes before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

from ..module_utils._models import Server
from ..module_utils._text import Show, is_plain, summarise
from ._ansible import tagger, trust_plain
from ._hosts import Host
from ._names import is_localhost

# ansible_ssh_host, ansible_become_password and the like: each connection plugin has its own names.
_is_of_connection = re.compile(r"ansible_(?:connection|(?:\w+_)?(?:host|pass|password))").fullmatch
# What makes a server different from all others: its root URL, its id, and the time of its creation
# (empty if it is not known), because two accounts at one URL can number their servers alike.
Identity = tuple[str, str, str]

# For each inventory: the server of each host, from all inventory files. The variables of a host
# don't show this, because each file can have another prefix.
_known_servers: WeakKeyDictionary[Any, dict[str, Identity]] = WeakKeyDictionary()


def _identity(root_url: str, server: Server) -> Identity:
    return root_url, server.id, server.text("created_at")


def _is_same(one: Identity, other: Identity) -> bool:
    """Return whether two identities are of one server; an unknown time equals any other."""
    if one[:2] != other[:2]:
        return False
    times = {one[2], other[2]}
    return len(times) == 1 or "" in times


def taken_names(inventory: Any, root_url: str) -> Callable[[str, Server], bool]:
    """Return a function that returns whether a name is taken for a server.

    It is if a server of another file has it, or another source's host with an address, a connection
    plugin or a password, which a server must not get or replace. Any other host of another source
    is merged with the server.
    """
    known = _servers_in(inventory)
    others = inventory.hosts

    def is_taken(name: str, server: Server) -> bool:
        if name in known:
            identity = _identity(root_url, server)
            return not _is_same(known[name], identity)
        if name in others:
            return _has_connection(others[name])
        return False

    return is_taken


def _servers_in(inventory: Any) -> dict[str, Identity]:
    # From ansible-core 2.19 on, each source gets its own proxy, which may be collected at any time.
    return _known_servers.setdefault(getattr(inventory, "__wrapped__", inventory), {})


def _has_connection(host: Any) -> bool:
    """Return whether a host has an address, a connection plugin or a password.

    The variables of the group all are not those of the host: every server has them, too.
    """
    names = set(host.vars)
    for group in host.get_groups():
        if group.name != "all":
            names.update(group.vars)
    return any(_is_of_connection(name) for name in names)


def leave_out_groups(
    hosts: Collection[Host],
    parents: Iterable[tuple[str, str]],
    other_hosts: Collection[str],
    warn: Show,
) -> list[tuple[str, str]]:
    """Leave out groups that must not be added, with a warning; return the other parents.

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
    warn(
        "Groups left out, because a host of another source or this machine has the same name: "
        f"{summarise(left_out)}."
    )
    for host in hosts:
        host.groups = [group for group in host.groups if group not in left_out]
    return [pair for pair in pairs if not left_out.intersection(pair)]


def add_groups(inventory: Any, hosts: Iterable[Host], common_group: str) -> None:
    """Add the group of all hosts, and the groups of each host."""
    groups = {common_group}
    for host in hosts:
        groups.update(host.groups)
    for group in sorted(groups):
        inventory.add_group(group)


def add_hosts(inventory: Any, hosts: Iterable[Host], root_url: str) -> None:
    """Add hosts to their groups, which the inventory already has.

    They are also added to ``all`` itself: plays for it would otherwise address them in the order of
    its child groups, plan by plan.
    """
    known = _servers_in(inventory)
    # Read only once: from ansible-core 2.19 on, a proxy makes each access slow.
    add_host = inventory.add_host
    add_child = inventory.add_child
    added = inventory.hosts
    variables = _Variables(inventory)
    for host in hosts:
        add_host(host.name, "all")
        known[host.name] = _identity(root_url, host.server)
        variables.add(host, added[host.name])
        for group in host.groups:
            add_child(group, host.name)


class _Variables:
    """Sets the variables of hosts as Ansible does, but most of them without Ansible.

    Ansible checks the name of each variable that is set, and tags its value. Here this is done once
    for text: further variables with that name, and further texts, get what Ansible has made of the
    first one.
    """

    def __init__(self, inventory: Any) -> None:
        self._set_variable = inventory.set_variable
        self._accepted: set[str] = set()
        # For text that could be a template (True), and for other text, which is trusted.
        self._taggers: dict[bool, Callable[[str], str] | None] = {}

    def add(self, host: Host, added: Any) -> None:
        """Set the variables of a host, which Ansible has added."""
        accepted = self._accepted
        taggers = self._taggers
        for name, value in host.variables.items():
            is_text = value.__class__ is str
            if is_text and name in accepted and (tag := taggers.get(not is_plain(value))):
                added.vars[name] = tag(value)  # Ansible may have made another mapping
                continue
            # Trust text only here: many tagged strings slow down garbage collection (0.5 of 3.7 s
            # at 10,000 hosts).
            self._set_variable(host.name, name, trust_plain(value))
            accepted.add(name)
            if is_text:
                taggers[not is_plain(value)] = tagger(added.vars[name])


def add_parents(inventory: Any, parents: Iterable[tuple[str, str]]) -> None:
    """Put groups into others, given as (parent, child) pairs that were checked."""
    for parent, child in parents:
        inventory.add_group(parent)
        inventory.add_child(parent, child)
