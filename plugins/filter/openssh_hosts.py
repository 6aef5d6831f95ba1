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
    copies C(-i), C(-J) and the options C(HostKeyAlias), C(IdentityFile), C(ProxyJump),
    C(ProxyCommand=none), C(UserKnownHostsFile), and those that select algorithms, such as
    C(HostKeyAlgorithms). It ignores common flags and options that lead to no other machine or user,
    such as C(-C), C(ControlMaster) and C(ForwardAgent).
  - A host is left out if it has another argument or no address, if a value has characters that
    OpenSSH could misread, if a path is relative, or if a variable inside a value is undefined.
author:
  - The server_management.cloud contributors (!UNKNOWN)
notes:
  - Settings of C(ansible.cfg), of the environment and of the command line are not read.
  - A host is also left out if one of these values uses C(hostvars) or C(groups), because Ansible
    defines them only in plays, and not in the variables of other hosts.
positional: hostvars, prefix
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
      sample: [db-01 (ProxyCommand)]
"""

import getopt
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

# The variables of each line. The first one that is set counts, as for Ansible.
_FIELDS = {
    "HostName": ("ansible_ssh_host", "ansible_host"),
    "User": ("ansible_ssh_user", "ansible_user"),
    "Port": ("ansible_ssh_port", "ansible_port"),
    "IdentityFile": ("ansible_ssh_private_key_file", "ansible_private_key_file"),
}
_ARGUMENTS = ("ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args")
_VARIABLES = tuple(chain(*_FIELDS.values(), _ARGUMENTS))

# Without these options and flags, and those of GSSAPI, ssh still reaches the same machine as the
# same user.
_IGNORED = frozenset(
    {
        "addkeystoagent", "batchmode", "challengeresponseauthentication", "checkhostip",
        "compression", "connectionattempts", "connecttimeout", "controlmaster", "controlpath",
        "controlpersist", "forwardagent", "forwardx11", "forwardx11trusted", "hashknownhosts",
        "identitiesonly", "ipqos", "kbdinteractiveauthentication", "loglevel",
        "numberofpasswordprompts", "passwordauthentication", "preferredauthentications",
        "pubkeyauthentication", "rekeylimit", "requesttty", "sendenv", "serveralivecountmax",
        "serveraliveinterval", "stricthostkeychecking", "tcpkeepalive", "updatehostkeys",
        "verifyhostkeydns", "visualhostkey",
    }
)  # fmt: skip
_FLAGS = "46ACKTXYakqtvx"
_COPIED_FLAGS = {"-J": "ProxyJump", "-i": "IdentityFile"}

# What values may be: nothing that OpenSSH could read as an option, a pattern, a token such as %h,
# or another line.
_NAME = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_ALGORITHMS = r"[A-Za-z0-9@.,*+^-]+"
_VALUES = {
    "hostname": r"[A-Za-z0-9:][A-Za-z0-9._:-]*",
    "user": r"[A-Za-z0-9_][A-Za-z0-9._@+-]*",
    "identityfile": r"(/|~/)[\w ./@+=,:-]*",
    "userknownhostsfile": r"(/|~/)[\w./@+=,:-]*",
    "hostkeyalias": r"[A-Za-z0-9._+-]+",
    "proxycommand": r"(?i:none)",
    "casignaturealgorithms": _ALGORITHMS,
    "ciphers": _ALGORITHMS,
    "hostkeyalgorithms": _ALGORITHMS,
    "kexalgorithms": _ALGORITHMS,
    "macs": _ALGORITHMS,
    "pubkeyacceptedalgorithms": _ALGORITHMS,
    "pubkeyacceptedkeytypes": _ALGORITHMS,
}
_COPIED = {*_VALUES, "proxyjump"} - {"hostname", "user"}
_PATHS = ("identityfile", "userknownhostsfile")
# A machine to jump over: user, host and port.
_HOP = rf"([A-Za-z0-9_][A-Za-z0-9._+-]*@)?({_NAME}|\[[0-9A-Fa-f:.]+\])(:(?P<port>.*))?"
# "ProxyJump=jump", "ProxyJump jump" or "ProxyJump = jump". In quotes, a value may have spaces.
_OPTION = r"(?P<keyword>[A-Za-z0-9]+)([ \t]*=[ \t]*|[ \t]+)(?P<quote>\"?)(?P<value>.*)(?P=quote)"


def _is_port(text: str) -> bool:
    return bool(re.fullmatch(r"[0-9]{1,5}", text)) and 1 <= int(text) <= 65535


def _is_hop(text: str) -> bool:
    hop = re.fullmatch(_HOP, text)
    if hop is None:
        return False
    return hop["port"] is None or _is_port(hop["port"])


def _is_valid(keyword: str, value: str) -> bool:
    if keyword == "port":
        return _is_port(value)
    if keyword == "proxyjump":
        return all(_is_hop(hop) for hop in value.split(","))
    return bool(re.fullmatch(_VALUES[keyword], value))


def _show(text: str) -> str:
    """Return a text without characters that have a meaning for Ansible or in a list of reasons."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text)


class _Block:
    """The lines of a host, and the reasons to leave it out."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.reasons: list[str] = []

    def read(self, variables: Mapping[str, Any]) -> dict[str, str]:
        """Return the texts of the variables that are set to something."""
        texts = {}
        for name in _VARIABLES:
            if name not in variables:
                continue
            try:
                value = variables[name]
                text = str(value) if value else ""
            # A template can raise anything. Since ansible-core 2.19, one with an undefined variable
            # raises when its result is used; before, it stays a template.
            except Exception:  # noqa: BLE001
                text = "{{"
            if "{{" in text or "{%" in text:
                self.reasons.append(f"undefined variable or error in {name}")
            elif text:
                texts[name] = text
        return texts

    def add(self, keyword: str, value: str, place: str) -> None:
        """Add a line; ``place`` is what a reason to leave the host out names."""
        lower = keyword.lower()
        if _is_valid(lower, value):
            shown = f'"{value}"' if lower == "identityfile" else value
            self.lines.append(f"  {keyword} {shown}")
        elif lower in _PATHS and not value.startswith(("/", "~")):
            self.reasons.append(f"relative path in {place}")
        else:
            self.reasons.append(place)

    def add_arguments(self, text: str, name: str) -> None:
        """Add the arguments of ssh in a variable, which Ansible splits in the same way."""
        try:
            options, others = getopt.getopt(shlex.split(text), f"{_FLAGS}J:i:o:")
        except ValueError:
            self.reasons.append(f"quotes in {name}")
            return
        except getopt.GetoptError as error:
            self.reasons.append(f"-{_show(error.opt)} in {name}")
            return
        for flag, value in options:
            if flag in _COPIED_FLAGS:
                self.add(_COPIED_FLAGS[flag], value, flag)
            elif flag == "-o":
                self.add_option(value)
        if others:
            self.reasons.append(f"{_show(others[0])} in {name}")

    def add_option(self, text: str) -> None:
        """Add the option of an argument such as ``ProxyJump=jump``."""
        option = re.fullmatch(_OPTION, text)
        if option is None:
            self.reasons.append(f"-o {_show(text)}")
            return
        keyword = option["keyword"]
        lower = keyword.lower()
        if lower in _COPIED:
            self.add(keyword, option["value"], keyword)
        elif lower not in _IGNORED and not lower.startswith("gssapi"):
            self.reasons.append(keyword)


def _describe(name: str, variables: Mapping[str, Any]) -> _Block:
    """Return the block of a host with this name and these variables."""
    block = _Block()
    if not re.fullmatch(_NAME, name):
        block.reasons.append("the name")
    texts = block.read(variables)
    if block.reasons:
        return block
    for keyword, names in _FIELDS.items():
        chosen = [variable for variable in names if variable in texts]
        if chosen:
            block.add(keyword, texts[chosen[0]], chosen[0])
        elif keyword == "HostName":
            block.reasons.append("ansible_host")
    for variable in _ARGUMENTS:
        block.add_arguments(texts.get(variable, ""), variable)
    return block


def openssh_hosts(
    names: Iterable[str], hostvars: Mapping[str, Mapping[str, Any]], prefix: str = ""
) -> dict[str, Any]:
    """Return the blocks as text, the names in them, and the hosts that were left out."""
    texts = []
    hosts = []
    left_out = []
    for name in sorted(names):
        alias = f"{prefix}{name}"
        block = _describe(alias, hostvars[name])
        if block.reasons:
            left_out.append(f"{_show(name)} ({', '.join(block.reasons)})")
        else:
            hosts.append(alias)
            texts.append("\n".join([f"Host {alias}", *block.lines, ""]))
    return {"text": "\n".join(texts), "hosts": hosts, "left_out": left_out}


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filter by its name."""
        return {"openssh_hosts": openssh_hosts}
