# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts: what each server becomes, and the options of SSH for it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Container, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..module_utils._errors import OptionError
from ..module_utils._models import FIELDS, Server, describe_unusable, summarise_servers
from ..module_utils._text import count_of, summarise
from ._ansible import is_identifier, mark, setting, trust
from ._names import Naming, assign_names

# Unicast addresses as dotted quads: neither 0.0.0.0/8 nor 224.0.0.0 and above.
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_is_unicast_ipv4 = re.compile(
    rf"(?:22[0-3]|2[01][0-9]|1[0-9][0-9]|[1-9][0-9]?)(?:\.{_OCTET}){{3}}"
).fullmatch
# It never resolves (RFC 6761); the final dot keeps search domains away. Without ansible_host,
# Ansible would connect to whatever the server's name resolves to.
NO_ADDRESS = "no-usable-ipv4.invalid."

# One for each program that Ansible runs. `ansible_ssh_common_args`, which all three read, is left
# to users: that is where they configure a jump host.
_SSH_VARIABLES = ("ansible_ssh_extra_args", "ansible_sftp_extra_args", "ansible_scp_extra_args")

# Why servers do not have their first name, for each list of Naming.
_REASONS = {
    "not_unique": "other servers have the same name",
    "taken": "hosts of other sources have the same name",
    "changed": "a host can't have such a name",
}

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


class Listing(NamedTuple):
    """The servers of the account, and how they were obtained.

    ``age`` is in seconds, and not 0 only if the listing is from the cache.
    """

    servers: list[Server]
    obtained: str
    is_partial: bool = False
    age: float = 0.0


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


def hosts_from(servers: Collection[Server], prefix: str, has_loopback: bool) -> list[Host]:
    """Turn servers into hosts with variables; fields that Ansible reserves are left out.

    ``has_loopback``: the API is on this machine, so that its servers can be, too.
    """
    keys = _keys(servers)
    names = {key: f"{prefix}{key}" for key in keys if _can_be_variable(f"{prefix}{key}")}
    hosts = []
    for server in servers:
        fields = server.fields.items()
        variables = {names[key]: mark(value) for key, value in fields if key in names}
        address = server.text("ipv4")
        is_usable = _is_unicast_ipv4(address) and (has_loopback or not address.startswith("127."))
        variables["ansible_host"] = address if is_usable else NO_ADDRESS
        hosts.append(Host(server, variables, preferences=[server.text("name")]))
    return hosts


def _keys(servers: Iterable[Server]) -> set[str]:
    return set().union(*(server.fields for server in servers))


def _can_be_variable(name: str) -> bool:
    # In JSON, Ansible gives keys such as __ansible_vault a meaning.
    is_of_ansible = name.lstrip("_").startswith("ansible_") or name in RESERVED_VARIABLES
    return is_identifier(name) and not is_of_ansible


def report_servers(hosts: Collection[Host], prefix: str, warn: Callable[[str], None]) -> None:
    """Warn of fields that the servers of hosts lack or that were left out, and of addresses."""
    servers = [host.server for host in hosts]
    # A missing ipv4 is reported below, with the other addresses that can't be used.
    for message in describe_unusable(servers, [name for name in FIELDS if name != "ipv4"]):
        warn(message)
    if left_out := {key for key in _keys(servers) if not _can_be_variable(f"{prefix}{key}")}:
        owners = [server for server in servers if not left_out.isdisjoint(server.fields)]
        count = count_of(len(owners), "server")
        warn(
            f"Fields that can't become variables: {summarise(left_out)}; of {count}: "
            f"{summarise_servers(owners)}."
        )
    unreachable = [host.server for host in hosts if host.variables["ansible_host"] == NO_ADDRESS]
    if unreachable:
        count = count_of(len(unreachable), "server")
        warn(
            f"No usable IPv4 address for {count}: {summarise_servers(unreachable)}, so "
            f"ansible_host is {NO_ADDRESS}"
        )


def report_names(
    naming: Naming, hosts: Iterable[Host], strict: bool, warn: Callable[[str], None]
) -> None:
    """Warn of servers without their first name, or raise OptionError if ``strict``."""
    servers = {host.server.id: host.server for host in hosts}
    for kind, reason in _REASONS.items():
        if renamed := [servers[server_id] for server_id in getattr(naming, kind)]:
            count, verb = count_of(len(renamed), "server"), "is" if len(renamed) == 1 else "are"
            problem = (
                f"{count} {verb} not named as preferred, because {reason}: "
                f"{summarise_servers(renamed)}."
            )
            if strict:
                raise OptionError(f"hostnames: {problem}")
            warn(problem)


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


def name_and_compose(
    hosts: list[Host],
    expressions: Any,
    reserved: Any,
    is_taken: Callable[[str, str], bool],
    inventory: Any,
) -> Naming:
    """Name the hosts, sort them, and add what the expressions of the file, if any, give to them.

    Not all groups are known before the hosts are composed. If a host turns out to have the name of
    a group, naming and composing are repeated without that name. Other names can make expressions
    return other groups, so the number of attempts is limited.
    """
    for _attempt in range(3):
        naming = name_hosts(hosts, reserved, is_taken)
        if not expressions:
            return naming
        composed = expressions.compose_all(hosts, inventory)
        made = {group for added in composed for group in added.groups}
        made.update(name for pair in expressions.parents for name in pair)
        clashing = made.intersection(host.name for host in hosts)
        if not clashing:
            break
        reserved.add(made)
    else:
        raise OptionError(
            f"keyed_groups: creates groups with the names of hosts: {summarise(clashing)}.",
            "Set prefix.",
        )
    for host, added in zip(hosts, composed, strict=True):
        host.variables.update(added.variables)
        host.groups += added.groups
    return naming


def set_host_key_aliases(hosts: Iterable[Host]) -> None:
    """Make OpenSSH look up the key of each server by its id, unless ``compose`` has set how.

    Nothing in these variables can be a template, a separate argument or a token that ssh expands.
    """
    for host in hosts:
        option = trust(f"-o HostKeyAlias={host_key_alias(host.server.id)}")
        for name in _SSH_VARIABLES:
            host.variables.setdefault(name, option)


def host_key_alias(server_id: str) -> str:
    """Return a name for known_hosts that no other id has, also if case is ignored."""
    remainder = re.sub(r"[^a-z0-9._-]+", "", server_id)
    if remainder == server_id:
        return server_id
    # JSON can have surrogates without a partner, which strict UTF-8 refuses.
    digest = hashlib.sha256(server_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    # No id that is used as it is has a plus sign.
    return f"{remainder}+{digest}"
