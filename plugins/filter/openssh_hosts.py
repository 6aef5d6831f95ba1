# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: openssh_hosts
short_description: Turns hosts of the inventory into configuration for OpenSSH
version_added: 1.0.0
description:
  - Returns a C(Host) block for each host, so that C(ssh) connects to the same machine as Ansible,
    as the same user and with the same key. The playbook C(server_management.cloud.ssh_config)
    writes these blocks to a file.
  - C(HostName), C(User), C(Port) and C(IdentityFile) are the values of C(ansible_host),
    C(ansible_user), C(ansible_port) and C(ansible_private_key_file), or of the same variables with
    C(ansible_ssh_), which take precedence. C(HostKeyAlias) is what
    O(server_management.cloud.servers#inventory:host_key_alias) sets.
  - A host is left out if it has no address, if its name with the prefix is the address of another
    host, if OpenSSH could misread a value, if a path is relative or in the directory of the
    collection's playbooks, if a variable inside a value is undefined, if C(ansible_connection) is
    not C(ssh), or if C(ansible_ssh_args), C(ansible_ssh_common_args) or C(ansible_ssh_extra_args)
    has other options (see O(without_arguments)).
author:
  - The server_management.cloud contributors (!UNKNOWN)
notes:
  - Settings of C(ansible.cfg) and of the environment, options such as C(-u), and
    C(ansible_ssh_executable) are not read.
  - A host is also left out if one of these values uses C(hostvars), because Ansible defines it only
    in plays, and not in the variables of other hosts.
positional: hostvars, prefix, without_arguments
options:
  _input:
    description: The names of the hosts.
    type: list
    elements: str
    required: true
  hostvars:
    description: The variables of all hosts, which Ansible has as C(hostvars).
    type: dict
    required: true
  prefix:
    description: Text before each name in the configuration.
    type: str
    default: ""
  without_arguments:
    description:
      - Ignore the options in the ssh arguments of hosts instead of leaving these hosts out.
      - Without its jump host, a private address can be that of another machine. Write such options
        into your own configuration, because OpenSSH combines all blocks for a host.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Show the configuration of all hosts
  ansible.builtin.debug:
    msg: "{{ (groups['all'] | server_management.cloud.openssh_hosts(hostvars)).text }}"

- name: Write the configuration of the web servers, as prod-web-01 and so on
  ansible.builtin.copy:
    content: "{{ servers.text }}"
    dest: ~/.ssh/config.d/web_servers.conf
    mode: "0600"
  vars:
    servers: "{{ groups['web'] | server_management.cloud.openssh_hosts(hostvars, prefix='prod-') }}"
"""

RETURN = r"""
_value:
  description: The configuration of the hosts that can have one, and the others.
  type: dict
  contains:
    text:
      description: The C(Host) blocks, in the order of the names.
      type: str
      sample: "Host web-01\n  HostName 192.0.2.10\n  User admin\n"
    hosts:
      description: The names in the blocks, with their prefix.
      type: list
      elements: str
      sample: [web-01]
    left_out:
      description: The hosts that were left out, each with the reasons in parentheses.
      type: list
      elements: str
      sample: [db-01 (options in ansible_ssh_common_args)]
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ..module_utils._text import plain

# The variables of a host, by their names.
_HostVars = Mapping[str, Any]

# For each line, what its value may be, since it can be text of the API: nothing that is an option,
# a pattern, a token such as %h or another line for OpenSSH, or a template for Ansible. Then the
# variables.
_LINES = {
    "HostName {}": (r"[A-Za-z0-9:][A-Za-z0-9._:-]*", "ansible_host", "ansible_ssh_host"),
    "User {}": (r"[A-Za-z0-9_][A-Za-z0-9._@+-]*", "ansible_user", "ansible_ssh_user"),
    # At most 65535. With a larger number, OpenSSH would refuse the whole file.
    "Port {}": (
        r"[1-9][0-9]{,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]",
        "ansible_port",
        "ansible_ssh_port",
    ),
    'IdentityFile "{}"': (
        r"[/~][\w ./@+=,:-]*",
        "ansible_private_key_file",
        "ansible_ssh_private_key_file",
    ),
}
_is_name = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*").fullmatch
_has_template = re.compile(r"\{[{%#]").search
_CONNECTIONS = ("", "smart", "ssh", "ansible.builtin.ssh", "ansible.legacy.ssh")
_ARGUMENTS = ("ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args")
# What the inventory plugin sets with host_key_alias.
_is_alias = re.compile(r"-o HostKeyAlias=([a-z0-9._+-]+)").fullmatch
# What playbook_dir is if the collection's playbook runs.
_PLAYBOOKS = f"{Path(__file__).parents[2]}/playbooks/"


def openssh_hosts(
    names: Iterable[str],
    hostvars: Mapping[str, _HostVars],
    prefix: str | None = "",
    without_arguments: bool | str = False,
) -> dict[str, Any]:
    """Return the blocks as text, the names in them, and the hosts that were left out."""
    ignores_arguments = boolean(without_arguments)
    known = {name: hostvars[name] for name in hostvars}
    # Ansible connects to these by ssh, which would use a block with the same name.
    addresses = {_address(variables) or name for name, variables in known.items()}
    blocks = {}
    left_out = []
    for name in sorted(names):
        alias = f"{prefix or ''}{name}"
        try:
            blocks[alias] = _block(alias, known.get(name, {}), addresses, ignores_arguments)
        except ValueError as reason:
            left_out.append(f"{plain(name)} ({reason})")
    return {"text": "\n".join(blocks.values()), "hosts": list(blocks), "left_out": left_out}


def _block(
    alias: str, variables: _HostVars, addresses: Container[str], ignores_arguments: bool
) -> str:
    """Return the lines for a host; raise ValueError with the reason to leave it out.

    A reason names variables, but no values, which can be secret.
    """
    if not _is_name(alias):
        raise ValueError("invalid name")
    if _read(variables, "ansible_connection")[1] not in _CONNECTIONS:
        raise ValueError("ansible_connection is not ssh")
    address = _address(variables)
    if not address:
        raise ValueError("no ansible_host")
    if alias in addresses and alias != address:
        raise ValueError("the name is another host's address")
    lines = [f"Host {alias}"]
    for line, (allowed, *names) in _LINES.items():
        variable, value = _read(variables, *names)
        if value:
            _check(variable, value, allowed)
            lines.append("  " + line.format(value))
    for name in _ARGUMENTS:
        text = _read(variables, name)[1].strip()
        key = _is_alias(text)
        if key:
            lines.append(f"  HostKeyAlias {key[1]}")
        elif text and not ignores_arguments:
            raise ValueError(f"options in {name}")
    return "\n".join([*lines, ""])


def _address(variables: _HostVars) -> str:
    return _read(variables, "ansible_host", "ansible_ssh_host")[1]


def _check(variable: str, value: str, allowed: str) -> None:
    """Raise ValueError unless OpenSSH reads the value as it is."""
    if _has_template(value):
        if "hostvars" in value:
            raise ValueError(f"hostvars in {variable}: Ansible defines it only in plays")
        raise ValueError(f"undefined variable or error in {variable}")
    if variable.endswith("_file"):
        is_absolute = value.startswith(("/", "~/"))
        if not is_absolute or value.startswith(_PLAYBOOKS):
            raise ValueError(f"relative path in {variable}: use inventory_dir")
    if not re.fullmatch(allowed, value):
        raise ValueError(f"invalid {variable}")


def _read(variables: _HostVars, *names: str) -> tuple[str, str]:
    """Return the variable that counts, and its text; a template if it can't be rendered.

    The last one that is set counts, even if it is empty, as for Ansible.
    """
    found = ("", "")
    for name in names:
        if name not in variables:
            continue
        try:
            value = variables[name]
            if value is not None:
                found = (name, str(value))
        # A template can raise anything. Since ansible-core 2.19, one with an undefined variable
        # raises when its result is used; before, it stays a template.
        except Exception as error:  # noqa: BLE001
            found = (name, f"{{{{ {error} }}}}")
    return found


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filter by its name."""
        return {"openssh_hosts": openssh_hosts}
