# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ansible's inventory: the hosts that are in it already, and adding hosts and groups.

Everything that can fail comes before anything is added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from ansible.inventory.helpers import get_group_vars
from ansible.inventory.host import Host as AnsibleHost
from ansible.utils.vars import combine_vars

from ..module_utils._models import Server
from ..module_utils._text import is_plain
from ._ansible import is_encrypted, tagger, unmark_plain
from ._hosts import Host, HostVars, ParentAndChild
from ._names import TAKEN, Reason

# ansible_ssh_host, ansible_become_password and the like: each connection plugin has its own names.
_is_of_connection = re.compile(r"ansible_(?:connection|(?:\w+_)?(?:host|pass|password))").fullmatch

_is_word = re.compile(r"[\w.:-]{1,253}").fullmatch

_OTHER_SERVER = Reason(
    "servers of other inventory files have the same name",
    "Put a prefix before it with hostnames, or use the files in separate commands (-i).",
)

# For each of Ansible's hosts that any inventory file has added: the root URL of its API, and its
# server. The variables of a host don't show this, because each file can have another prefix.
_added: WeakKeyDictionary[AnsibleHost, tuple[str, Server]] = WeakKeyDictionary()


def obstacle(
    hosts: Mapping[str, AnsibleHost],
    root_url: str,
    addresses: Mapping[str, str],
    name: str,
    server: Server,
) -> Reason | None:
    """Return why a server can't be the host that has a name, and the way out; None if it can.

    It can't if that is another server, or another source's host with an address, a connection
    plugin or a password, which a server must not get or replace. A host whose addresses are all
    that of the server is that server, however it is connected. Any other host of another source
    is merged with the server.

    ``hosts`` are those in the inventory, by their names; ``addresses`` those of the servers of the
    account at ``root_url``, by their ids.
    """
    if name not in hosts:
        return None
    host = hosts[name]
    if host in _added:
        added_url, added = _added[host]
        # Two accounts at one URL can number their servers alike, but not create them at the
        # same time. A time that is not known equals any other.
        times = {added.text("created_at"), server.text("created_at"), ""}
        is_same = added_url == root_url and added.id == server.id and len(times) <= 2
        return None if is_same else _OTHER_SERVER
    variables = variables_of(host, {})
    in_the_way = sorted(filter(_is_of_connection, variables))
    found = set()
    shown = []
    for key in in_the_way:
        text = ""
        if key.endswith("_host"):
            text = _text(variables[key])
            found.add(text)
        shown.append(f"{key} {text}".rstrip())
    usable = addresses[server.id]
    is_same = usable != "" and found == {usable}
    if is_same or not in_the_way:
        return None
    way_out = f"without {' and '.join(in_the_way)}"
    if usable:
        way_out = f"with the same address, or {way_out}"
    return Reason(
        TAKEN,
        f"The host {name} has {' and '.join(shown)}, and the server has "
        f"{usable or 'no usable ipv4'}: {way_out}, they would be one host.",
    )


def variables_of(host: AnsibleHost, of_all: HostVars) -> HostVars:
    """Return what other sources say about a host and its groups, by Ansible's priority.

    ``of_all`` are the variables of the group all, which come first; not every host is in it yet.
    """
    groups = [group for group in host.get_groups() if group.name != "all"]
    of_groups = combine_vars(of_all, get_group_vars(groups))
    variables: HostVars = combine_vars(of_groups, host.vars)
    return variables


def _text(value: Any) -> str:
    """Return a value that is one word of plain text as it is, as an address is.

    Values that Ansible would render or decrypt give an empty text and stay as they are: only
    comparing a vault value would decrypt it.
    """
    if not isinstance(value, str) or is_encrypted(value) or not _is_word(value):
        return ""
    return str.__str__(value)


def add_hosts(
    inventory: Any, hosts: Collection[Host], parents: Iterable[ParentAndChild], root_url: str
) -> list[str]:
    """Add the hosts of an account's servers and their groups, and put groups into their parents.

    ``parents`` are (parent, child) pairs that were checked. Hosts are also added to ``all`` itself:
    plays for it would otherwise address them in the order of its child groups, plan by plan.
    Returns the names of the hosts that only other sources have added before.
    """
    names = set[str]().union(*(host.groups for host in hosts))
    for group in sorted(names):
        inventory.add_group(group)
    for parent, child in parents:
        inventory.add_group(parent)
        inventory.add_child(parent, child)
    # Read only once: from ansible-core 2.19 on, a proxy makes each access slow.
    add_host = inventory.add_host
    groups = inventory.groups
    hosts_of_ansible = inventory.hosts
    variables = _Variables(inventory)
    merged = []
    for host in hosts:
        if host.name in hosts_of_ansible and hosts_of_ansible[host.name] not in _added:
            merged.append(host.name)
        add_host(host.name, "all")
        added = hosts_of_ansible[host.name]
        if added not in _added or host.server.text("created_at"):  # a known time stays known
            _added[added] = (root_url, host.server)
        variables.add(host, added)
        for group in host.groups:
            # Ansible's add_child() would add a group with the name of the host.
            groups[group].add_host(added)
    return merged


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
        self._tag_plain: Callable[[str], str] | None = None  # text that is trusted
        self._tag_other: Callable[[str], str] | None = None  # text that could be a template

    def add(self, host: Host, added: Any) -> None:
        """Set the variables of a host, which Ansible has added.

        For example, Ansible sets the name web-1 of the first host; the tags of this text are then
        those of web-2, the name of the second host, which Ansible does not see.
        """
        if host.name in self._groups:
            # Ansible would set the variables of the group.
            for name, value in host.variables.items():
                added.set_variable(name, unmark_plain(value))
            return
        for name, value in host.variables.items():
            is_text = value.__class__ is str
            tag = None
            if is_text and name in self._accepted:
                tag = self._tag_plain if is_plain(value) else self._tag_other
            if tag:
                added.vars[name] = tag(value)  # Ansible may have made another mapping
                continue
            # Trust text only here: many tagged strings slow down garbage collection (0.5 of 3.7 s
            # at 10,000 hosts).
            self._set_variable(host.name, name, unmark_plain(value))
            self._accepted.add(name)
            if is_text and is_plain(value):
                self._tag_plain = tagger(added.vars[name])
            elif is_text:
                self._tag_other = tagger(added.vars[name])
