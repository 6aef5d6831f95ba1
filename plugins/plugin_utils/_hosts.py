# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts: what each server becomes, and how it is added to the inventory.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from ansible.utils.vars import isidentifier

from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    Server,
    describe_unusable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._text import summarise
from ansible_collections.server_management.cloud.plugins.plugin_utils._names import (
    Naming,
    assign_names,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._trust import (
    mark,
    trust_plain,
)

# Unicast addresses as dotted quads: neither 0.0.0.0/8 nor 224.0.0.0 and above.
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_is_unicast_ipv4 = re.compile(
    rf"(?:22[0-3]|2[01][0-9]|1[0-9][0-9]|[1-9][0-9]?)(?:\.{_OCTET}){{3}}"
).fullmatch
# It never resolves (RFC 6761); the final dot keeps search domains away. Without ansible_host,
# Ansible would connect to whatever the server's name resolves to.
NO_ADDRESS = "no-usable-ipv4.invalid."

# Names that have a meaning in some version of Ansible: keywords of plays, roles, blocks and tasks,
# magic variables, and globals of templates.
RESERVED_VARIABLES = frozenset(
    {
        "action", "add_group", "add_host", "always", "any_errors_fatal", "args", "async",
        "async_val", "become", "become_exe", "become_flags", "become_method", "become_user",
        "block", "caller", "changed_when", "check_mode", "collections", "connection", "cycler",
        "debugger", "delay", "delegate_facts", "delegate_to", "delegated_vars", "dict", "diff",
        "environment", "fact_path", "failed_when", "finalize", "force_handlers", "gather_facts",
        "gather_subset", "gather_timeout", "group_names", "groups", "handlers", "hosts",
        "hostvars", "ignore_errors", "ignore_unreachable", "inventory_dir", "inventory_file",
        "inventory_hostname", "inventory_hostname_short", "item", "joiner", "kwargs", "lipsum",
        "local_action", "lookup", "loop", "loop_control", "loop_with", "max_fail_percentage",
        "module_defaults", "name", "namespace", "no_log", "notify", "now", "omit", "order",
        "play_hosts", "playbook_dir", "poll", "port", "post_tasks", "pre_tasks", "q", "query",
        "range", "register", "remote_user", "rescue", "retries", "role_name", "role_names",
        "role_path", "role_uuid", "roles", "run_once", "self", "serial", "strategy", "super",
        "tags", "tasks", "throttle", "timeout", "undef", "until", "validate_argspec", "varargs",
        "vars", "vars_files", "vars_prompt", "when", "with_",
    }
)  # fmt: skip

_KEPT_TEXTS = 4096  # how many values are remembered while hosts are added
# For each inventory: the account and the id of the server of each host, from all inventory files.
# The variables of a host don't show this, because each file can have another prefix.
_known_servers: WeakKeyDictionary[Any, dict[str, tuple[str, str]]] = WeakKeyDictionary()


@dataclass
class Host:
    """The host that will be added to the inventory for a server, under ``name``."""

    server: Server
    variables: dict[str, Any]
    groups: list[str] = field(default_factory=list)
    name: str = ""


class _VariableNames(dict[str, str]):
    """The name of the variable for each field; empty if there can't be one (``refused``)."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix
        self.refused: list[str] = []

    def __missing__(self, name: str) -> str:
        variable = self._prefix + name
        if (
            # In JSON, Ansible gives keys such as __ansible_vault a meaning.
            variable.lstrip("_").startswith("ansible_")
            or variable in RESERVED_VARIABLES
            or not isidentifier(variable)
        ):
            self.refused.append(name)
            variable = ""
        self[name] = variable
        return variable


def hosts_from(
    servers: Collection[Server], prefix: str, has_loopback: bool, warn: Callable[[str], None]
) -> list[Host]:
    """Turn servers into hosts with variables, and warn of the fields that can't be used.

    ``has_loopback``: the API is on this machine, so that its servers can be, too.
    """
    names = _VariableNames(prefix)
    unreachable = []
    hosts = []
    for server in servers:
        variables = {
            variable: value for key, value in server.fields.items() if (variable := names[key])
        }
        address = server.text("ipv4")
        if not _is_unicast_ipv4(address) or (address.startswith("127.") and not has_loopback):
            unreachable.append(server.id)
            address = NO_ADDRESS
        variables["ansible_host"] = address
        hosts.append(Host(server, mark(variables)))
    if unusable := describe_unusable(servers):
        warn(unusable)
    if unreachable:
        warn(
            f"No usable IPv4 address for {summarise(unreachable)}, so ansible_host is {NO_ADDRESS}"
        )
    if names.refused:
        warn(f"Fields that can't become variables: {summarise(names.refused)}.")
    return hosts


def name_of_server(host: Host) -> list[str]:
    """Return the default preferences for the name of a host: the name of its server."""
    return [host.server.text("name")]


def name_hosts(
    hosts: list[Host],
    preferences: Callable[[Host], list[str]],
    reserved: Container[str],
    is_taken: Callable[[str, Server], bool],
) -> Naming:
    """Name the hosts with ``assign_names``, and sort them by name."""
    by_id = {host.server.id: host for host in hosts}
    servers = [host.server for host in hosts]
    naming = assign_names(servers, lambda server: preferences(by_id[server.id]), reserved, is_taken)
    for host in hosts:
        host.name = naming.names[host.server.id]
    hosts.sort(key=lambda host: host.name)
    return naming


def taken_names(inventory: Any, account: str) -> Callable[[str, Server], bool]:
    """Return a function that returns whether another host has a name, so that a server can't.

    That host is another account's server, or another source's host with an address, which a server
    must not replace. A host of another source without an address is merged with the server.
    """
    known, hosts = _servers_in(inventory), inventory.hosts

    def is_taken(name: str, server: Server) -> bool:
        if name in known:
            return known[name] != (account, server.id)
        return name in hosts and _has_address(hosts[name])

    return is_taken


def _servers_in(inventory: Any) -> dict[str, tuple[str, str]]:
    # From ansible-core 2.19 on, each source gets its own proxy, which may be collected at any time.
    return _known_servers.setdefault(getattr(inventory, "__wrapped__", inventory), {})


def _has_address(host: Any) -> bool:
    sources = [host.vars, *(group.vars for group in host.get_groups())]
    return any("ansible_host" in found or "ansible_ssh_host" in found for found in sources)


def add_hosts(inventory: Any, hosts: list[Host], common_group: str, account: str) -> None:
    """Add hosts with their groups, and remove them from ``hosts``; nothing here can fail.

    Ansible checks the name of each variable that is set, and records the origin of its value. For
    text that many hosts have, this is done once: the others get the result of the first one.
    """
    # Read only once: from ansible-core 2.19 on, a proxy makes each access slow.
    add_host, add_child, added_hosts = inventory.add_host, inventory.add_child, inventory.hosts
    set_variable = inventory.set_variable
    for group in sorted({common_group, *(group for host in hosts for group in host.groups)}):
        inventory.add_group(group)
    known = _servers_in(inventory)
    kept: dict[tuple[type, str], Any] = {}
    accepted: set[str] = set()
    hosts.reverse()
    while hosts:  # each is released once it is added, so that memory never holds all of them twice
        host = hosts.pop()
        name = host.name
        add_host(name)
        known[name] = account, host.server.id
        added = added_hosts[name]
        if len(kept) > _KEPT_TEXTS:
            kept.clear()
        for variable, value in host.variables.items():
            text = (value.__class__, value) if isinstance(value, str) else None
            if text in kept and variable in accepted:
                added.vars[variable] = kept[text]
                continue
            # Not trusted earlier: the garbage collector would visit the marks of all hosts often.
            set_variable(name, variable, trust_plain(value))
            accepted.add(variable)
            if text is not None:
                kept[text] = added.vars[variable]
        for group in host.groups:
            add_child(group, name)


def add_parents(inventory: Any, parents: Iterable[tuple[str, str]]) -> None:
    """Put groups into others, given as (parent, child) pairs that were checked."""
    for parent, child in parents:
        inventory.add_group(parent)
        inventory.add_child(parent, child)
