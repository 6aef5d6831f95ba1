# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts: what each server becomes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container
from dataclasses import dataclass, field
from typing import Any

from ..module_utils._models import Server, describe_unusable
from ..module_utils._text import summarise
from ._ansible import is_identifier, mark, setting
from ._names import Naming, assign_names

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


@dataclass
class Host:
    """The host that will be added to the inventory for a server, under ``name``.

    ``preferences`` are the names that it should have, the best one first; unusable ones are empty.
    """

    server: Server
    variables: dict[str, Any]
    groups: list[str] = field(default_factory=list)
    name: str = ""
    preferences: list[str] = field(default_factory=list)


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
            or not is_identifier(variable)
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
        hosts.append(Host(server, mark(variables), preferences=[server.text("name")]))
    if unusable := describe_unusable(servers):
        warn(unusable)
    if unreachable:
        warn(
            f"No usable IPv4 address for {summarise(unreachable)}, so ansible_host is {NO_ADDRESS}"
        )
    if names.refused:
        warn(f"Fields that can't become variables: {summarise(names.refused)}.")
    return hosts


def name_hosts(
    hosts: list[Host], reserved: Container[str], is_taken: Callable[[str, str], bool]
) -> Naming:
    """Name the hosts with ``assign_names``, and sort them by name."""
    preferences = {host.server.id: host.preferences for host in hosts}
    naming = assign_names(
        preferences, reserved, is_taken, setting("YAML_FILENAME_EXTENSIONS") or ()
    )
    for host in hosts:
        host.name = naming.names[host.server.id]
    hosts.sort(key=lambda host: host.name)
    return naming
