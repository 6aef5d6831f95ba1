# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts: what each server becomes, and the options of SSH for it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..module_utils._models import FIELDS, Server, describe_unusable, summarise_servers
from ..module_utils._text import Show, summarise
from ._ansible import RESERVED_VARIABLES, is_identifier, mark, trust

# Unicast addresses as dotted quads: neither 0.0.0.0/8 nor 224.0.0.0 and above.
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_is_unicast_ipv4 = re.compile(
    rf"(?:22[0-3]|2[01][0-9]|1[0-9][0-9]|[1-9][0-9]?)(?:\.{_OCTET}){{3}}"
).fullmatch
# It never resolves (RFC 6761); the final dot keeps search domains away. Without ansible_host,
# Ansible would connect to whatever the server's name resolves to.
NO_ADDRESS = "no-usable-ipv4.invalid."
# The variables by which Ansible finds a host.
ADDRESSES = ("ansible_host", "ansible_ssh_host")
# Neither white space nor control characters, and nothing that ssh reads as an option, or as a whole
# address: for ssh, 1 is 0.0.0.1.
_is_address = re.compile(r"(?!-|\d+$)[^\s\x00-\x1f\x7f-\x9f]+").fullmatch

# One for each program that Ansible runs. `ansible_ssh_common_args`, which all three read, is left
# to users: that is where they configure a jump host.
_SSH_VARIABLES = ("ansible_ssh_extra_args", "ansible_sftp_extra_args", "ansible_scp_extra_args")

# The variables of a host, by their names.
HostVars = dict[str, Any]
# The names of a group, and of another one that is put into it.
ParentAndChild = tuple[str, str]


@dataclass(eq=False)
class Host:
    """The host that will be added to the inventory for a server, under ``name``.

    ``address`` is the API's, or empty if that is not usable. ``replaced`` are the variables that
    ``compose`` has set to something that is not an address.
    """

    server: Server
    variables: HostVars
    groups: list[str] = field(default_factory=list)
    name: str = ""
    address: str = ""
    replaced: set[str] = field(default_factory=set)

    @property
    def label(self) -> str:
        """The name of the host, or its server if it has no name yet, or only the id."""
        return self.server.label if self.name in ("", self.server.id) else self.name


def variable_names(servers: Iterable[Server], prefix: str, show: Show) -> dict[str, str]:
    """Return the variable of each field that can become one; ``show`` the others, if any."""
    fields = set[str]().union(*(server.fields for server in servers))
    names = {}
    for field_name in fields:
        variable = f"{prefix}{field_name}"
        # In JSON, Ansible gives keys such as __ansible_vault a meaning.
        is_of_ansible = variable.lstrip("_").startswith("ansible_")
        if is_of_ansible or variable in RESERVED_VARIABLES or not is_identifier(variable):
            continue
        names[field_name] = variable
    left_out = fields.difference(names)
    if left_out:
        show(f"Fields that can't become variables: {summarise(left_out)}.")
    return names


def hosts_from(
    servers: Iterable[Server], fields: Mapping[str, str], has_loopback: bool
) -> list[Host]:
    """Turn servers into hosts with variables; ``fields`` is what variable_names() returns.

    ``has_loopback``: the API is on this machine, so that its servers can be, too.
    """
    hosts = []
    for server in servers:
        given = server.fields.items()
        variables = {fields[key]: mark(value) for key, value in given if key in fields}
        address = server.text("ipv4")
        is_usable = has_loopback or not address.startswith("127.")
        if not (is_usable and _is_unicast_ipv4(address)):
            address = ""
        variables["ansible_host"] = address or NO_ADDRESS
        hosts.append(Host(server, variables, address=address))
    return hosts


def replace_addresses(host: Host, variables: HostVars) -> set[str]:
    """Replace composed variables that can't be an address; return those to report."""
    replaced = set()
    for name in ADDRESSES:
        value = variables.get(name, NO_ADDRESS)
        if isinstance(value, str) and _is_address(value):
            continue
        variables[name] = NO_ADDRESS
        # Without an address of the API, ansible_host is reported for that reason.
        if host.variables.get(name) != NO_ADDRESS:
            replaced.add(name)
    return replaced


def warn_of_faults(hosts: Collection[Host], warn: Show) -> None:
    """Warn of fields that the servers of hosts lack, and of addresses."""
    servers = [host.server for host in hosts]
    # A missing ipv4 is reported below, with the other addresses that can't be used.
    fields = [name for name in FIELDS if name != "ipv4"]
    for message in describe_unusable(servers, fields):
        warn(message)
    reached: dict[str, list[Server]] = {}  # by the address of the API, if Ansible uses that
    for host in hosts:
        address = host.address or NO_ADDRESS
        if host.variables["ansible_host"] == address:
            reached.setdefault(address, []).append(host.server)
    without = reached.pop(NO_ADDRESS, [])
    if without:
        shown = summarise_servers(without)
        warn(f"No usable IPv4 address for {shown}, so ansible_host is {NO_ADDRESS}")
    for name in ADDRESSES:
        servers = [host.server for host in hosts if name in host.replaced]
        if servers:
            shown = summarise_servers(servers)
            warn(f"compose: {name}: not an address for {shown}, so it is {NO_ADDRESS}")
    sharing: list[Server] = []
    for servers in reached.values():
        if len(servers) > 1:
            sharing += servers
    if sharing:
        addresses = summarise(server.text("ipv4") for server in sharing)
        warn(
            f"IPv4 addresses are shared by {summarise_servers(sharing)}, with {addresses}. A task "
            "for one of them can change another one. Leave servers out with statuses or filters, "
            "or set ansible_host with compose."
        )


def set_host_key_aliases(hosts: Iterable[Host], root_url: str) -> None:
    """Make OpenSSH look up the key of each server by its id, unless ``compose`` has set how.

    A connection that is kept for later tasks checks no key. Ansible names it by address, port and
    user, which a server behind another jump host can have as well; here, it belongs to one server
    of the API at ``root_url``. Nothing in these variables can be a template, a separate argument or
    a token that ssh expands, but for the port and the user.
    """
    for host in hosts:
        server = host.server
        option = trust(f"-o HostKeyAlias={host_key_alias(server.id)}")
        for name in _SSH_VARIABLES:
            host.variables.setdefault(name, option)
        # Accounts at one URL can number their servers alike.
        addresses = [str(host.variables.get(name)) for name in ADDRESSES]
        identity = json.dumps([root_url, server.id, server.text("created_at"), *addresses])
        digest = hashlib.sha256(identity.encode()).hexdigest()
        # As short as Ansible's: ssh adds 17 characters, and the path of a socket has at most 107.
        path = trust(f"%(directory)s/{digest[:10]}-%%p-%%r")
        host.variables.setdefault("ansible_control_path", path)


def host_key_alias(server_id: str) -> str:
    """Return a name for known_hosts that no other id has, also if case is ignored."""
    remainder = re.sub(r"[^a-z0-9._-]+", "", server_id)
    if remainder == server_id:
        return server_id
    digest = hashlib.sha256(server_id.encode()).hexdigest()[:32]
    # No id that is used as it is has a plus sign.
    return f"{remainder}+{digest}"
