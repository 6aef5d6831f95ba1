# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The hosts that are in the inventory already, and which servers they can be."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from ansible.inventory.helpers import sort_groups
from ansible.inventory.host import Host as AnsibleHost

from ..module_utils._models import Server
from ..module_utils._text import as_word, is_plain
from ._ansible import is_encrypted
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
        if any(_is_address_name(name) for name in composed):
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
            return None if self._is_same(*_added[host], server) else _OTHER_SERVER
        variables = _connection_variables(host)
        addresses = {_text(variables[key]) for key in variables if _is_address_name(key)}
        own_address = self._addresses.get(server.id)
        if not variables or addresses == {own_address}:
            return None
        shown = [_shown(variable, value) for variable, value in sorted(variables.items())]
        sentence = f"The host {name} has {' and '.join(shown)}"
        if addresses:
            address = server.text("ipv4")
            sentence += f", and the server has {as_word(address) if address else 'no ipv4'}"
        way_out = f"without {' and '.join(sorted(variables))}"
        if addresses and own_address:
            way_out = f"with the same address, or {way_out}"
        return Reason(TAKEN, f"{sentence}: {way_out}, they would be one host.")

    def _is_same(self, root_url: str, added: Server, server: Server) -> bool:
        """Return whether a server that was added before is this one.

        Two accounts at one URL can number their servers alike, but not create them at the same
        time. A time that is not known equals any other.
        """
        if root_url != self._root_url or added.id != server.id:
            return False
        times = {added.text("created_at"), server.text("created_at")}
        return len(times) == 1 or "" in times


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
    if not isinstance(value, str) or is_encrypted(value) or not is_plain(value):
        return ""
    return str.__str__(value)
