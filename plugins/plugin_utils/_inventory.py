# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adding to Ansible's inventory; everything that can fail comes before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..module_utils._text import is_plain
from ._ansible import tagger, trust_plain
from ._existing_hosts import ExistingHosts
from ._hosts import Host


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
                added.set_variable(name, trust_plain(value))
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
            self._set_variable(host.name, name, trust_plain(value))
            accepted.add(name)
            if is_text:
                taggers[not is_plain(value)] = tagger(added.vars[name])
