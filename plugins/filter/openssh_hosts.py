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
    as the same user and with the same keys. The playbook C(server_management.cloud.ssh_config)
    writes these blocks to a file.
  - C(HostName), C(User), C(Port) and C(IdentityFile) are the values of C(ansible_host),
    C(ansible_user), C(ansible_port) and C(ansible_private_key_file), or of the same variables with
    C(ansible_ssh_), which take precedence.
  - From C(ansible_ssh_args), C(ansible_ssh_common_args) and C(ansible_ssh_extra_args), the filter
    copies C(-i), C(-J) and all options after C(-o) as they are, because OpenSSH reads them like
    lines of its configuration. It ignores flags such as C(-C), and C(BatchMode),
    C(StrictHostKeyChecking) and the C(Control) options, which are for connections without a user.
  - A host is left out if it has no address or another argument, if an option sets the address, the
    user or the port, if an address, a user, a port or a key has characters that OpenSSH could
    misread, if a jump host begins with a hyphen, if a path is relative or in the directory of the
    collection's playbooks, if a variable inside a value is undefined, if the arguments contain a
    template, or if C(ansible_connection) is not C(ssh).
  - A host is also left out if its jump hosts may lead back to it by the names in the configuration,
    because C(ssh) would then start processes without end.
author:
  - The server_management.cloud contributors (!UNKNOWN)
notes:
  - The configuration can contain secrets, such as a password in a C(ProxyCommand). Set C(no_log)
    for tasks that use it, and C(diff) to V(false) for those that write it.
  - Settings of C(ansible.cfg) and of the environment, and options such as C(-u), are not read.
  - A host is also left out if one of these values uses C(hostvars), because Ansible defines it only
    in plays, and not in the variables of other hosts.
positional: hostvars, prefix, errors
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
  errors:
    description:
      - What C(ssh -G) has printed about the text that the filter returns without this option. The
        hosts whose lines it names are left out.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Show the configuration of the stopped servers
  ansible.builtin.debug:
    msg: "{{ (groups['status_stopped'] | server_management.cloud.openssh_hosts(hostvars)).text }}"

- name: Write the configuration of the web servers, as prod-web-01 and so on
  ansible.builtin.copy:
    content: "{{ servers.text }}"
    dest: ~/.ssh/config.d/web_servers.conf
    mode: "0600"
  diff: false
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
      sample: [db-01 (-p in ansible_ssh_common_args)]
"""

import getopt
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from ..module_utils._text import plain

# The variables of a host, by their names.
_HostVars = Mapping[str, Any]
# The variables of each line. The last one that is set counts, even if it is empty, as for Ansible.
_FIELDS = {
    "HostName": ("ansible_host", "ansible_ssh_host"),
    "User": ("ansible_user", "ansible_ssh_user"),
    "Port": ("ansible_port", "ansible_ssh_port"),
    "IdentityFile": ("ansible_private_key_file", "ansible_ssh_private_key_file"),
}
_ARGUMENTS = ("ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args")
_VARIABLES = (*chain(*_FIELDS.values()), *_ARGUMENTS, "ansible_connection")
_CONNECTIONS = ("smart", "ssh", "ansible.builtin.ssh", "ansible.legacy.ssh")

# What these values may be, since they can be text of the API: nothing that OpenSSH could read as an
# option, a pattern, a token such as %h, or another line.
_NAME = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_VALUES = {
    "HostName": r"[A-Za-z0-9:][A-Za-z0-9._:-]*",
    "User": r"[A-Za-z0-9_][A-Za-z0-9._@+-]*",
    "Port": r"[1-9][0-9]{0,4}",
    "IdentityFile": r"(/|~/)[\w ./@+=,:-]*",
}

# Flags that lead to no other machine or user, and the options that other flags stand for.
_FLAGS = "46ACKTXYakqtvx"
_OPTIONS = {"-o": "{}", "-J": "ProxyJump {}", "-i": 'IdentityFile "{}"'}
# Options for connections without a user.
_IGNORED = ("batchmode", "controlmaster", "controlpath", "controlpersist", "stricthostkeychecking")
# Options that contradict the variables, or that would begin another block.
_REFUSED = ("hostname", "user", "port", "host", "match", "include")
_PATHS = ("certificatefile", "globalknownhostsfile", "identityfile", "userknownhostsfile")
# What playbook_dir is if the collection's playbook runs.
_PLAYBOOKS = f"{Path(__file__).parents[2]}/playbooks/"

_has_template = re.compile(r"\{[{%#]").search

# An absolute path; OpenSSH expands ~, %d and ${HOME}.
_ABSOLUTE = r"[/~%$]|(?i:none)$"
# The beginning of a jump host, or of its user, that ssh would pass on as an option.
_HYPHEN = r"(?:^|[\s\"',/@\[])-"
# The machine in an argument such as "ssh://admin@jump:22/" or "-Jjump".
_MACHINE = r"(?:-J)?(?:ssh://)?(?:.*@)?\[?([^@:/\[\]]+)\]?(?::[0-9]+)?/?"


class _Block:
    """The lines of a host with these variables, and the reasons to leave it out.

    A reason of ours names variables and keywords, but no values, which can be secret.
    """

    def __init__(self, name: str, alias: str, variables: _HostVars) -> None:
        self.name = name
        self.alias = alias
        self.lines = [f"Host {alias}"]
        self.reasons: list[str] = []
        self._texts: dict[str, str] = {}
        if not re.fullmatch(_NAME, alias):
            self.reasons.append("invalid name")
        for variable in _VARIABLES:
            self._read(variable, variables)
        if self._texts.get("ansible_connection", "ssh") not in _CONNECTIONS:
            self.reasons.append("ansible_connection is not ssh")
        if self.reasons:
            return
        for keyword in ("HostName", "User", "Port"):
            self._add_field(keyword)
        # Then in the order of Ansible's command, in which ssh tries the keys.
        self._add_arguments("ansible_ssh_args")
        self._add_field("IdentityFile")
        self._add_arguments("ansible_ssh_common_args")
        self._add_arguments("ansible_ssh_extra_args")
        self.lines.append("")
        # Splitting the arguments has removed quotes and backslashes, as in {\{. Before ansible-core
        # 2.19, the playbook would render a template in this text, which can be text of the API.
        if any(map(_has_template, self.lines)):
            self.reasons.append("a template in the arguments")
        if any(_PLAYBOOKS in line for line in self.lines):
            self.reasons.append("path in the collection: use inventory_dir, not playbook_dir")

    def _read(self, name: str, variables: _HostVars) -> None:
        """Read the text of a variable, if it is set."""
        if name not in variables:
            return
        try:
            value = variables[name]
            text = str(value)
        # A template can raise anything. Since ansible-core 2.19, one with an undefined variable
        # raises when its result is used; before, it stays a template.
        except Exception:  # noqa: BLE001
            text = "{{"
        if _has_template(text):
            self._refuse("undefined variable or error", name)
        elif value is not None:
            self._texts[name] = text

    def _refuse(self, what: str, place: str) -> None:
        self.reasons.append(f"{what} in {place}")

    def _add_field(self, keyword: str) -> None:
        """Add the line of a keyword from the variable that counts."""
        variable = ""
        for name in _FIELDS[keyword]:
            if name in self._texts:
                variable = name
        value = self._texts.get(variable, "")
        if re.fullmatch(_VALUES[keyword], value):
            shown = f'"{value}"' if keyword == "IdentityFile" else value
            self.lines.append(f"  {keyword} {shown}")
        elif keyword == "IdentityFile" and value and not re.match(_ABSOLUTE, value):
            self._refuse("relative path", variable)
        elif value:
            self.reasons.append(f"invalid {variable}")
        elif keyword == "HostName":
            self.reasons.append("no ansible_host")

    def _add_arguments(self, variable: str) -> None:
        """Add the arguments of ssh in a variable, which Ansible splits in the same way."""
        try:
            words = shlex.split(self._texts.get(variable, ""))
            flags, others = getopt.getopt(words, f"{_FLAGS}J:i:o:")
            for flag, value in flags:
                if flag in _OPTIONS:
                    self._add_option(_OPTIONS[flag].format(value), variable)
            if others:
                self._refuse("an argument that is not an option", variable)
        except ValueError:
            self._refuse("quotes", variable)
        except getopt.GetoptError as error:
            flag = error.opt if len(error.opt) == 1 else "-"  # a word can be a secret
            self._refuse(f"-{plain(flag)}", variable)

    def _add_option(self, text: str, variable: str) -> None:
        """Add an option as it is: OpenSSH reads it like a line of a file."""
        option = re.match(r"([A-Za-z0-9]+)[ =]+(.+)", text)
        if option is None or not text.isprintable():
            self._refuse("an option that is not one line with a value", variable)
            return
        keyword, value = option.groups()
        lower = keyword.lower()
        paths = shlex.split(value) if lower in _PATHS else []
        if lower in _REFUSED:
            self._refuse(keyword, variable)
        elif lower == "proxyjump" and re.search(_HYPHEN, value):
            self._refuse("a jump host that begins with a hyphen", variable)
        elif not all(re.match(_ABSOLUTE, path) for path in paths):
            self._refuse("relative path", keyword)
        elif lower not in _IGNORED:
            self.lines.append(f"  {text}")

    def jump_hosts(self) -> list[str]:
        """Return the machines that ssh reaches with their own blocks, on the way to this host."""
        can_jump = True
        for line in self.lines:
            option = re.match(r"  (?i:proxy(jump|command))[ =]+(.+)", line)
            if option is None:
                continue
            if option[1].lower() == "jump":
                # After it, only a ProxyCommand counts.
                if option[2].strip().lower() == "none":
                    can_jump = False
                if not can_jump:
                    continue
                # To reach "a,b", ssh starts "ssh -J a b": b does not use its own jump host.
                words = re.findall(r"[^\s\"',]+", option[2])[:1]
            elif re.search(r"\bssh[\"')]*\s", option[2]):
                words = re.findall(r"[^\s\"'=,;&|()<>]+", option[2])
            else:
                words = []
            machines = [re.fullmatch(_MACHINE, word) for word in words]
            return [machine[1] for machine in machines if machine]
        return []


def _leads_back(alias: str, blocks: Mapping[str, _Block]) -> bool:
    """Return whether a host is its own jump host, so that ssh would start itself without end."""
    reached = blocks[alias].jump_hosts()
    # The list grows while it is read.
    for name in reached:
        if name in blocks:
            further = blocks[name].jump_hosts()
            reached += [jump_host for jump_host in further if jump_host not in reached]
    return alias in reached


def openssh_hosts(
    names: Iterable[str],
    hostvars: Mapping[str, _HostVars],
    prefix: str = "",
    errors: str = "",
) -> dict[str, Any]:
    """Return the blocks as text, the names in them, and the hosts that were left out."""
    blocks = [_Block(name, f"{prefix}{name}", hostvars[name]) for name in sorted(names)]
    written = {block.alias: block for block in blocks if not block.reasons}
    for alias in [alias for alias in written if _leads_back(alias, written)]:
        written.pop(alias).reasons.append("jump hosts that may lead back to it")
    pairs: list[tuple[str, _Block]] = []  # each line of the text that ssh has read, and its block
    for block in written.values():
        pairs += [(line, block) for line in block.lines]
    for number, error in re.findall(r"line ([0-9]+): (?!Unsupported)(.+)", errors):
        pairs[int(number) - 1][1].reasons.append(f"ssh: {error.strip().replace('{', '_')}")
    return {
        "text": "\n".join(line for line, block in pairs if not block.reasons),
        "hosts": [block.alias for block in blocks if not block.reasons],
        "left_out": [
            f"{plain(block.name)} ({', '.join(block.reasons)})" for block in blocks if block.reasons
        ],
    }


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filter by its name."""
        return {"openssh_hosts": openssh_hosts}
