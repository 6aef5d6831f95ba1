# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Host names: one for each server, usable, unique, and independent of the response's order."""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..module_utils._errors import OptionError
from ..module_utils._text import brief

_LOCALHOSTS = {
    "localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6",
    "localhost6.localdomain6", "ip6-localhost", "ip6-loopback",
}  # fmt: skip
_unsafe_run = re.compile(r"[^A-Za-z0-9._-]+")

# Ansible reads the file host_vars/db1.yml for the hosts db1 and db1.yml.
_VARIABLE_FILES = (".yml", ".yaml", ".json")


@dataclass
class Naming:
    """The host name of each server by its id, and the ids of servers without their first name.

    The first name is the first preference that is not empty. ``not_unique``: another server of the
    account wants or has it; ``taken``: another host has it; ``changed``: characters were replaced,
    no host can have it, or all preferences are empty.
    """

    names: dict[str, str] = field(default_factory=dict)
    not_unique: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)


def assign_names(
    preferences: Mapping[str, list[str]],
    reserved: Container[str],
    is_taken: Callable[[str, str], bool],
    variable_files: Collection[str] = (),
) -> Naming:
    """Give each server the first of its candidates that is usable and that no other server has.

    ``preferences`` has those of each server by its id. ``reserved`` are names that groups have or
    may get; ``is_taken`` returns whether a name is taken for the server with an id;
    ``variable_files`` are further extensions of the files in which Ansible looks for variables.

    In each round, all servers without a name propose their next candidate. A name that several
    servers propose goes to none of them, and a name that was proposed before is not given any more,
    so that the order of the servers does not matter. For example, srv_1 and srv_2 are named "web",
    and srv_3 is named "web_srv_1": the hosts are srv_1, web_srv_2 and web_srv_1. Raises OptionError
    if a server has no candidate left.
    """
    rules = _Rules(reserved, (*_VARIABLE_FILES, *variable_files))
    naming = Naming()
    unnamed = {
        server_id: _candidates(server_id, preferred, rules)
        for server_id, preferred in preferences.items()
    }
    used: set[str] = set()
    while unnamed:
        proposed = {server_id: _next(server_id, names) for server_id, names in unnamed.items()}
        uses = Counter(proposed.values())
        for server_id, name in proposed.items():
            is_free = name and uses[name] == 1 and name not in used
            if is_free and not is_taken(name, server_id):
                naming.names[server_id] = name
                del unnamed[server_id]
        used.update(uses)
    for server_id, preferred in preferences.items():
        first = next(filter(None, preferred), "")
        if naming.names[server_id] != first:
            _note(naming, server_id, rules.host_name(first), is_taken)
    return naming


def _candidates(server_id: str, preferred: Iterable[str], rules: _Rules) -> Iterator[str]:
    """Yield the names to try for a server; an empty text is one that no host can have.

    For example, those of the server srv_1 with the preferences "", "all" and "www" are "", "",
    "www", "all_srv_1" and "srv_1".
    """
    preferred = list(preferred)
    yield from map(rules.host_name, preferred)
    if first := next(filter(None, preferred), ""):
        yield rules.host_name(f"{rules.safe(first)}_{server_id}")
    yield rules.host_name(server_id)


def _next(server_id: str, names: Iterator[str]) -> str:
    name = next(names, None)
    if name is None:
        raise OptionError(
            f"hostnames: no name is left for the server {brief(server_id)}: no host can have its "
            "names and its id, or other hosts or groups have them.",
            "Set hostnames to other expressions, or prefix in keyed_groups.",
        )
    return name


def _note(naming: Naming, server_id: str, first: str, is_taken: Callable[[str, str], bool]) -> None:
    """Note why a server does not have its first name, which is empty if no host can have it."""
    if naming.names[server_id] == first or not first:
        naming.changed.append(server_id)
    elif is_taken(first, server_id):
        naming.taken.append(server_id)
    else:
        naming.not_unique.append(server_id)


class _Rules:
    """Rules for host names, which depend on the names of groups and the extensions of files."""

    def __init__(self, reserved: Container[str], variable_files: Iterable[str]) -> None:
        self._reserved = reserved
        # Ansible adds a dot to an extension without one.
        self._extensions = tuple(f".{name.lstrip('.')}".lower() for name in variable_files if name)

    def safe(self, text: str) -> str:
        """Replace each run of characters that a host name can't have by an underscore.

        So is the last dot of a text that ends like the name of a file with variables.
        """
        name = _unsafe_run.sub("_", text)
        if name.lower().endswith(self._extensions):
            start, _dot, end = name.rpartition(".")
            name = f"{start}_{end}"
        return name

    def host_name(self, text: str) -> str:
        """Return a text as a host name, or an empty text if it can't be one."""
        name = self.safe(text)
        is_usable = (
            0 < len(name) <= 253  # the longest name in DNS
            and name[0] not in "-."
            and name not in self._reserved
            and not is_localhost(name)
        )
        return name if is_usable else ""


def is_localhost(name: str) -> bool:
    """Return whether Ansible, ssh or a resolver takes a name for this machine."""
    lowered = name.lower().rstrip(".")
    if lowered in _LOCALHOSTS or lowered.endswith(".localhost"):
        return True
    packed = packed_address(lowered)
    return packed[:1] == b"\x7f" or packed == bytes(4)


def packed_address(name: str) -> bytes:
    """Return the four bytes of a name that ssh takes for an IPv4 address, or nothing.

    For example, 127.1 and 0x7f000001 are addresses of this machine.
    """
    if not name[:1].isdigit():
        return b""
    try:
        return socket.inet_aton(name)
    except OSError:
        return b""
