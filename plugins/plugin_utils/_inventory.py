# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ansible's inventory: the hosts that are in it already, and adding hosts and groups.

Everything that can fail comes before anything is added.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from ansible.inventory.helpers import get_group_vars
from ansible.inventory.host import Host as AnsibleHost
from ansible.utils.vars import combine_vars

from ..module_utils._models import Server
from ..module_utils._text import as_word, is_plain
from ._ansible import is_encrypted, tagger, unmark_plain
from ._hosts import Host, is_address, is_private
from ._names import TAKEN, Reason

# ansible_ssh_host, ansible_become_password and the like: each connection plugin has its own names.
_is_of_connection = re.compile(r"ansible_(?:connection|(?:\w+_)?(?:host|pass|password))").fullmatch
_is_address_name = re.compile(r"ansible_(?:\w+_)?host").fullmatch

_OTHER_SERVER = Reason(
    "servers of other inventory files have the same name",
    "Put a prefix before it with hostnames, or use the files in separate commands (-i).",
)

# For each of Ansible's hosts that any inventory file has added: the root URL of its API, and its
# server. The variables of a host don't show this, because each file can have another prefix.
_added: WeakKeyDictionary[AnsibleHost, tuple[str, Server]] = WeakKeyDictionary()


class ExistingHosts:
    """The hosts that are in the inventory already.

    ``root_url`` is that of the account; ``hosts`` are those of its servers; ``composed`` are the
    names of the variables that the inventory file composes.
    """

    def __init__(
        self, inventory: Any, root_url: str, hosts: Iterable[Host], composed: Iterable[str]
    ) -> None:
        self._hosts: Mapping[str, AnsibleHost] = inventory.hosts
        self._root_url = root_url
        # The address of each server, by its id, if no other machine can have it.
        self._addresses: dict[str, str] = {}
        if any(map(_is_address_name, composed)):
            return
        uses = Counter(host.address for host in hosts)
        for host in hosts:
            if host.address and uses[host.address] == 1 and not is_private(host.address):
                self._addresses[host.server.id] = host.address

    def remember(self, name: str, server: Server) -> None:
        """Remember the server of a host, which Ansible has added."""
        _added[self._hosts[name]] = (self._root_url, server)

    def merged(self, names: Iterable[str]) -> list[str]:
        """Return those of the names that hosts of other sources have which are not servers yet."""
        hosts = self._hosts
        return [name for name in names if name in hosts and hosts[name] not in _added]

    def obstacle(self, name: str, server: Server) -> Reason | None:
        """Return why a server can't be the host with a name, and the way out; None if it can.

        It can't if that is another server, or another source's host with an address, a connection
        plugin or a password, which a server must not get or replace. A host with the address of the
        server is that server, however it is connected. Any other host of another source is merged
        with the server.
        """
        host = self._hosts.get(name)
        if not host:
            return None
        if host in _added:
            root_url, added = _added[host]
            # Two accounts at one URL can number their servers alike, but not create them at the
            # same time. A time that is not known equals any other.
            times = {added.text("created_at"), server.text("created_at"), ""}
            is_same = root_url == self._root_url and added.id == server.id and len(times) <= 2
            return None if is_same else _OTHER_SERVER
        variables = variables_of(host, {})
        names = sorted(filter(_is_of_connection, variables))
        addresses = {_text(variables[key]) for key in filter(_is_address_name, names)}
        own_address = self._addresses.get(server.id)
        if not names or addresses == {own_address}:
            return None
        shown = [_shown(key, variables[key]) for key in names]
        sentence = f"The host {name} has {' and '.join(shown)}"
        if addresses:
            address = server.text("ipv4")
            sentence += f", and the server has {as_word(address) if address else 'no ipv4'}"
        way_out = f"without {' and '.join(names)}"
        if addresses and own_address:
            way_out = f"with the same address, or {way_out}"
        return Reason(TAKEN, f"{sentence}: {way_out}, they would be one host.")


def variables_of(host: AnsibleHost, of_all: dict[str, Any]) -> dict[str, Any]:
    """Return what other sources say about a host and its groups, by Ansible's priority.

    ``of_all`` are the variables of the group all, which come first; not every host is in it yet.
    """
    groups = [group for group in host.get_groups() if group.name != "all"]
    of_groups = combine_vars(of_all, get_group_vars(groups))
    variables: dict[str, Any] = combine_vars(of_groups, host.vars)
    return variables


def _shown(name: str, value: Any) -> str:
    """Return the name of a variable, with its value if that is an address in plain text."""
    text = _text(value)
    if _is_address_name(name) and is_address(text):
        return f"{name} {as_word(text)}"
    return name


def _text(value: Any) -> str:
    """Return a value that is plain text as it is.

    Values that Ansible would render or decrypt give an empty text and stay as they are: only
    comparing a vault value would decrypt it.
    """
    if not isinstance(value, str) or is_encrypted(value) or not is_plain(value):
        return ""
    return str.__str__(value)


def add_groups(
    inventory: Any, hosts: Iterable[Host], common_group: str, parents: Iterable[tuple[str, str]]
) -> None:
    """Add the group of all hosts and the groups of each host, and put groups into their parents.

    ``parents`` are (parent, child) pairs that were checked.
    """
    groups = {common_group}
    for host in hosts:
        groups.update(host.groups)
    for group in sorted(groups):
        inventory.add_group(group)
    for parent, child in parents:
        inventory.add_group(parent)
        inventory.add_child(parent, child)


def add_hosts(inventory: Any, hosts: Iterable[Host], existing: ExistingHosts) -> None:
    """Add hosts to their groups, which the inventory already has.

    They are also added to ``all`` itself: plays for it would otherwise address them in the order of
    its child groups, plan by plan.
    """
    # Read only once: from ansible-core 2.19 on, a proxy makes each access slow.
    add_host = inventory.add_host
    groups = inventory.groups
    hosts_of_ansible = inventory.hosts
    variables = _Variables(inventory)
    for host in hosts:
        add_host(host.name, "all")
        existing.remember(host.name, host.server)
        added = hosts_of_ansible[host.name]
        variables.add(host, added)
        for group in host.groups:
            # Ansible's add_child() would add a group with the name of the host.
            groups[group].add_host(added)


class _Variables:
    """Sets the variables of hosts as Ansible does, but most of them without Ansible.

    Ansible checks the name of each variable that is set, and tags its value. Here this is done once
    for text: further variables with that name, and further texts, get what Ansible has made of the
    first one.
    """

    def __init__(self, inventory: Any) -> None:
        self._set_variable = inventory.set_variable
        self._groups = inventory.groups
        self._accepted: set[str] = set()
        # For text that could be a template (True), and for other text, which is trusted.
        self._taggers: dict[bool, Callable[[str], str] | None] = {}

    def add(self, host: Host, added: Any) -> None:
        """Set the variables of a host, which Ansible has added."""
        if host.name in self._groups:
            # Ansible would set the variables of the group.
            for name, value in host.variables.items():
                added.set_variable(name, unmark_plain(value))
            return
        accepted = self._accepted
        taggers = self._taggers
        for name, value in host.variables.items():
            is_text = value.__class__ is str
            if is_text and name in accepted and (tag := taggers.get(not is_plain(value))):
                added.vars[name] = tag(value)  # Ansible may have made another mapping
                continue
            # Trust text only here: many tagged strings slow down garbage collection (0.5 of 3.7 s
            # at 10,000 hosts).
            self._set_variable(host.name, name, unmark_plain(value))
            accepted.add(name)
            if is_text:
                taggers[not is_plain(value)] = tagger(added.vars[name])
