# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ansible's inventory: which names are taken in it, which groups fit into it, and adding to it.

Only the functions that add something change the inventory; everything that can fail comes before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

from ansible.inventory.helpers import sort_groups
from ansible.inventory.host import Host as AnsibleHost

from ..module_utils._models import Server
from ..module_utils._text import Show, as_word, is_plain, summarise
from ._ansible import tagger, trust_plain, was_encrypted
from ._hosts import Host, is_address, is_private
from ._names import is_localhost

# ansible_ssh_host, ansible_become_password and the like: each connection plugin has its own names.
_is_of_connection = re.compile(r"ansible_(?:connection|(?:\w+_)?(?:host|pass|password))").fullmatch
_is_address_name = re.compile(r"ansible_(?:\w+_)?host").fullmatch

# For each of Ansible's hosts that any inventory file has added: the root URL of its API, and its
# server. The variables of a host don't show this, because each file can have another prefix.
_known: WeakKeyDictionary[AnsibleHost, tuple[str, Server]] = WeakKeyDictionary()


class KnownServers:
    """The hosts that are in the inventory already, and whether they are servers of an account.

    ``root_url`` is that of the account; ``hosts`` are those of its servers; ``composed`` are the
    names of the variables that the inventory file composes.
    """

    def __init__(
        self, inventory: Any, root_url: str, hosts: Iterable[Host], composed: Iterable[str]
    ) -> None:
        self._hosts: Mapping[str, AnsibleHost] = inventory.hosts
        self._root_url = root_url
        self._addresses = {host.server.id: host.address for host in hosts}
        self._uses = Counter(self._addresses.values())
        self._composes_address = any(_is_address_name(name) for name in composed)

    def remember(self, name: str, server: Server) -> None:
        """Remember the server of a host, which Ansible has added."""
        _known[self._hosts[name]] = (self._root_url, server)

    def is_taken(self, name: str, server: Server) -> bool:
        """Return whether a name is taken for a server.

        It is if another server has it, or another source's host with an address, a connection
        plugin or a password, which a server must not get or replace. A host with the address of the
        server is that server, however it is connected. Any other host of another source is merged
        with the server.
        """
        host = self._hosts.get(name)
        if not host:
            return False
        if host in _known:
            return self._is_another(host, server)
        return bool(self._variables_in_the_way(host, server))

    def _is_another(self, host: AnsibleHost, server: Server) -> bool:
        """Return whether a known host is another server.

        Two accounts at one URL can number their servers alike, but not create them at the same
        time. A time that is not known equals any other.
        """
        root_url, known = _known[host]
        if root_url != self._root_url or known.id != server.id:
            return True
        times = {known.text("created_at"), server.text("created_at")}
        return len(times) == 2 and "" not in times

    def _variables_in_the_way(self, host: AnsibleHost, server: Server) -> dict[str, Any]:
        """Return the variables because of which a host and a server are not merged."""
        variables = _connection_variables(host)
        addresses = {name for name in variables if _is_address_name(name)}
        if not addresses or self._doubt(server):
            return variables
        address = self._addresses[server.id]
        same = {name for name in addresses if _text(variables[name]) == address}
        if same == addresses:
            return {}
        return {name: value for name, value in variables.items() if name not in same}

    def _doubt(self, server: Server) -> str:
        """Return why a host with the address of a server can be another machine, if it can.

        The reason follows the words "the server has".
        """
        address = self._addresses[server.id]
        if not address:
            return "no usable address"
        if self._composes_address:
            return f"{address}, which compose replaces"
        if is_private(address):
            return f"{address}, which is private"
        if self._uses[address] > 1:
            return f"{address}, which other servers have, too"
        return ""

    def obstacle(self, name: str, server: Server) -> str:
        """Return a sentence that says why a name is taken for a server, and the way out."""
        host = self._hosts[name]
        if host in _known:
            return f"The host {name} is another server, from another inventory file."
        variables = self._variables_in_the_way(host, server)
        shown = [_shown(variable, value) for variable, value in sorted(variables.items())]
        start = f"The host {name} has {' and '.join(shown)}"
        without = f"without {' and '.join(sorted(variables))}, they would be one host."
        addresses = [variable for variable in variables if _is_address_name(variable)]
        if not addresses:
            return f"{start}: {without}"
        doubt = self._doubt(server)
        if doubt:
            return f"{start}, and the server has {doubt}: {without}"
        start = f"{start}, and the server has {self._addresses[server.id]}"
        if len(addresses) == len(variables):
            return f"{start}: the same address or none would make them one host."
        return f"{start}: with the same address, or {without}"


def _shown(name: str, value: Any) -> str:
    """Return the name of a variable, with its value if that is an address in plain text."""
    text = _text(value)
    if _is_address_name(name) and is_address(text):
        return f"{name} {as_word(text)}"
    return name


def _connection_variables(host: AnsibleHost) -> dict[str, Any]:
    """Return a host's own variables for its address, connection plugin and passwords.

    They are those that Ansible would use: the variables of the host, then those of its groups. The
    variables of the group all are not those of the host: every server has them, too.
    """
    groups = [group for group in host.get_groups() if group.name != "all"]
    variables: dict[str, Any] = {}
    for owner in (*sort_groups(groups), host):
        variables.update(owner.vars)
    return {name: value for name, value in variables.items() if _is_of_connection(name)}


def _text(value: Any) -> str:
    """Return a value that is plain text as it is.

    Values that Ansible would render or decrypt give an empty text and stay as they are: only
    comparing a vault value would decrypt it.
    """
    if not isinstance(value, str) or was_encrypted(value) or not is_plain(value):
        return ""
    return str.__str__(value)


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


def add_groups(inventory: Any, hosts: Iterable[Host], common_group: str) -> None:
    """Add the group of all hosts, and the groups of each host."""
    groups = {common_group}
    for host in hosts:
        groups.update(host.groups)
    for group in sorted(groups):
        inventory.add_group(group)


def add_hosts(inventory: Any, hosts: Iterable[Host], known: KnownServers) -> None:
    """Add hosts to their groups, which the inventory already has.

    They are also added to ``all`` itself: plays for it would otherwise address them in the order of
    its child groups, plan by plan.
    """
    # Read only once: from ansible-core 2.19 on, a proxy makes each access slow.
    add_host = inventory.add_host
    add_child = inventory.add_child
    hosts_of_ansible = inventory.hosts
    variables = _Variables(inventory)
    for host in hosts:
        add_host(host.name, "all")
        known.remember(host.name, host.server)
        variables.add(host, hosts_of_ansible[host.name])
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
