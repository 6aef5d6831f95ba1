# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts to be: what a server becomes before anything is added to the inventory.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible.inventory.group import to_safe_group_name
from ansible.utils.vars import isidentifier

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import FIELDS, Server
from ansible_collections.server_management.cloud.plugins.module_utils._text import summarise
from ansible_collections.server_management.cloud.plugins.plugin_utils._trust import mark

# Dotted quads that a packet can be sent to: not 0/8, nor 224/4 and above.
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_is_unicast_ipv4 = re.compile(
    rf"(?:22[0-3]|2[01][0-9]|1[0-9][0-9]|[1-9][0-9]?)(?:\.{_OCTET}){{3}}"
).fullmatch


@dataclass
class Host:
    """What will be added to the inventory for a server, under ``name``."""

    server: Server
    variables: dict[str, Any]
    groups: list[str] = field(default_factory=list)
    name: str = ""


class _VariableNames(dict[str, str]):
    """The name of the variable for each field; empty, and noted, where there can be none."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix
        self.refused: list[str] = []

    def __missing__(self, name: str) -> str:
        variable = self._prefix + name
        if variable.startswith("ansible_") or not isidentifier(variable):
            self.refused.append(name)
            variable = ""
        self[name] = variable
        return variable


def safe_group_name(text: str) -> str:
    """Replace what a group name can't have, as Ansible does, and say nothing about it."""
    return str(to_safe_group_name(text, force=True, silent=True))


def hosts_from(servers: Iterable[Server], prefix: str, warn: Callable[[str], None]) -> list[Host]:
    """Turn servers into hosts with variables, and tell of the fields that could not be used."""
    names = _VariableNames(prefix)
    unusable: Counter[str] = Counter()
    unreachable = []
    hosts = []
    for server in servers:
        if missing := server.unusable:
            unusable.update(missing)
        variables = {
            variable: mark(value)
            for key, value in server.fields.items()
            if (variable := names[key])
        }
        address = server.text("ipv4")
        if _is_unicast_ipv4(address):
            variables["ansible_host"] = mark(address)
        else:
            unreachable.append(server.id)
        hosts.append(Host(server, variables))
    if unusable:
        counts = ", ".join(f"{name} ({unusable[name]})" for name in FIELDS if unusable[name])
        warn(f"fields that are missing or not text, with the number of servers: {counts}")
    if unreachable:
        warn(f"no usable IPv4 address, so ansible_host is not set: {summarise(unreachable)}")
    if names.refused:
        warn(f"fields that can't become variables: {summarise(names.refused)}")
    return hosts


def group_hosts(
    hosts: Iterable[Host], everybody: str, fields: Sequence[str], warn: Callable[[str], None]
) -> None:
    """Put each host into the group of all, and into those of its region, plan and status."""
    everybody = safe_group_name(everybody)
    names: dict[tuple[str, str], str] = {}
    for host in hosts:
        host.groups.append(everybody)
        for key in fields:
            value = host.server.text(key)
            if value:
                name = names.get((key, value))
                if name is None:
                    name = names[key, value] = safe_group_name(f"{key}_{value}")
                host.groups.append(name)
    values: dict[str, list[str]] = {}
    for (key, value), name in names.items():
        values.setdefault(name, []).append(f"{key} {value}")
    for name, merged in sorted(values.items()):
        if len(merged) > 1:
            warn(f"several values become the group {name}: {summarise(merged)}")


def check_parents(parents: Iterable[tuple[str, str]], groups: Mapping[str, Any]) -> None:
    """Raise OptionError where a group would end up inside itself.

    ``parents`` has (parent, child) pairs to be added to the ``groups`` of the inventory.
    """
    above: dict[str, set[str]] = {}
    for name, group in groups.items():
        above[name] = {parent.name for parent in group.parent_groups}
    for parent, child in parents:
        pending, seen = [parent], set()
        while pending:
            name = pending.pop()
            if name == child:
                raise OptionError(f"keyed_groups: the group {child} would be inside itself.")
            if name not in seen:
                seen.add(name)
                pending.extend(above.get(name, ()))
        above.setdefault(child, set()).add(parent)
