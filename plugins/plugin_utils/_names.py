# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Host names: one for each server, usable, unique, and independent of the response's order."""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from ..module_utils._errors import OptionError
from ..module_utils._models import Server, summarise_servers
from ..module_utils._text import brief, count_of

_LOCALHOSTS = {
    "localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6",
    "localhost6.localdomain6", "ip6-localhost", "ip6-loopback",
}  # fmt: skip
_unsafe_run = re.compile(r"[^A-Za-z0-9._-]+")

# Ansible reads the file host_vars/db1.yml for the hosts db1 and db1.yml.
_VARIABLE_FILES = (".yml", ".yaml", ".json")


@dataclass
class Naming:
    """The host name of each server by its id, and the servers without their first name.

    The first name is the first preference that is not empty. ``not_unique``: another server of the
    account wants or has it; ``taken``: another host has it; ``changed``: characters were replaced,
    the host can't have it, or all preferences are empty. A server that has no preferences at all is
    in none of the lists.
    """

    names: dict[str, str] = field(default_factory=dict)
    not_unique: list[Server] = field(default_factory=list)
    taken: list[Server] = field(default_factory=list)
    changed: list[Server] = field(default_factory=list)

    def problems(self) -> Iterator[str]:
        """Yield one message for each reason why servers do not have their first name."""
        for reason, servers in (
            ("other servers have the same name", self.not_unique),
            ("hosts of other sources have the same name", self.taken),
            ("a host can't have such a name", self.changed),
        ):
            if servers:
                verb = "is" if len(servers) == 1 else "are"
                yield (
                    f"{count_of(len(servers), 'server')} {verb} not named as preferred, because "
                    f"{reason}: {summarise_servers(servers)}."
                )


def assign_names(
    preferences: Collection[tuple[Server, list[str]]],
    is_reserved: Callable[[str], bool],
    is_taken: Callable[[str, Server], bool],
    variable_files: Iterable[str] = (),
) -> Naming:
    """Give each server the first of its candidates that is usable and that no other server has.

    ``preferences`` has each server with the names that it should have, the best one first.
    ``is_reserved`` returns whether a group has or may get a name; ``is_taken`` whether a name is
    taken for a server; ``variable_files`` are further extensions of the files in which Ansible
    looks for variables.

    In each round, all servers without a name propose their next candidate. A name that several
    servers propose goes to none of them, and a name that was proposed before is not given any more,
    so that the order of the servers does not matter. For example, srv_1 and srv_2 are named "web",
    and srv_3 is named "web_srv_1": the hosts are srv_1, web_srv_2 and web_srv_1. Raises OptionError
    if a server has no candidate left.
    """
    rules = _Rules(is_reserved, (*_VARIABLE_FILES, *variable_files))
    naming = Naming()
    unnamed = [(server, _candidates(server, texts, rules)) for server, texts in preferences]
    used: set[str] = set()
    while unnamed:
        proposals = [(_next(server, names), server, names) for server, names in unnamed]
        uses = Counter(name for name, _server, _names in proposals)
        unnamed = []
        for name, server, names in proposals:
            is_free = name and uses[name] == 1 and name not in used
            if is_free and not is_taken(name, server):
                naming.names[server.id] = name
            else:
                unnamed.append((server, names))
        used.update(uses)
    for server, texts in preferences:
        first = _first(texts)
        if texts and naming.names[server.id] != first:
            _note(naming, server, rules.host_name(first, server), is_taken)
    return naming


def _first(preferences: Iterable[str]) -> str:
    """Return the first preference that is not empty; an empty text if there is none."""
    return next(filter(None, preferences), "")


def _candidates(server: Server, preferences: list[str], rules: _Rules) -> Iterator[str]:
    """Yield the names to try for a server; an empty text is one that its host can't have.

    For example, those of the server srv_1 with the preferences "", "all" and "www" are "", "",
    "www", "all_srv_1" and "srv_1".
    """
    for text in preferences:
        yield rules.host_name(text, server)
    if first := _first(preferences):
        yield rules.host_name(f"{rules.safe(first)}_{server.id}", server)
    yield rules.host_name(server.id, server)


def _next(server: Server, names: Iterator[str]) -> str:
    name = next(names, None)
    if name is None:
        raise OptionError(
            f"hostnames: no name is left for the server {brief(server.id)}: no host can have its "
            "names and its id, or other hosts or groups have them.",
            "Set hostnames to other expressions, or prefix in keyed_groups.",
        )
    return name


def _note(
    naming: Naming, server: Server, first: str, is_taken: Callable[[str, Server], bool]
) -> None:
    """Note why a server does not have its first name, which is empty if its host can't have it."""
    if naming.names[server.id] == first or not first:
        naming.changed.append(server)
    elif is_taken(first, server):
        naming.taken.append(server)
    else:
        naming.not_unique.append(server)


class _Rules:
    """Rules for host names, which depend on the names of groups and the extensions of files."""

    def __init__(self, is_reserved: Callable[[str], bool], variable_files: Iterable[str]) -> None:
        self._is_reserved = is_reserved
        # Ansible adds a dot to an extension without one.
        extensions = [name.lstrip(".").lower() for name in variable_files if name]
        self._extensions = tuple(f".{extension}" for extension in extensions)

    def safe(self, text: str) -> str:
        """Replace each run of characters that a host name can't have by an underscore.

        So is the last dot of a text that ends like the name of a file with variables.
        """
        name = _unsafe_run.sub("_", text)
        if name.lower().endswith(self._extensions):
            start, _dot, end = name.rpartition(".")
            name = f"{start}_{end}"
        return name

    def host_name(self, text: str, server: Server) -> str:
        """Return a text as the name of a server's host, or an empty text if it can't be one."""
        name = self.safe(text)
        is_usable = (
            0 < len(name) <= 253  # the longest name in DNS
            and name[0] not in "-."
            and not self._is_reserved(name)
            and not is_localhost(name)
            and not _is_address_of_another(name, server)
        )
        return name if is_usable else ""


def _is_address_of_another(name: str, server: Server) -> bool:
    """Return whether a name is a dotted quad that no field of the server but its name has.

    A pattern with this address would address the server instead of the machine that has it.
    """
    if name.count(".") != 3 or not _packed_address(name):
        return False
    others = [value for field, value in server.fields.items() if field != "name"]
    return name not in others


def is_localhost(name: str) -> bool:
    """Return whether Ansible, ssh or a resolver takes a name for this machine."""
    lowered = name.lower().rstrip(".")
    if lowered in _LOCALHOSTS or lowered.endswith(".localhost"):
        return True
    packed = _packed_address(lowered)
    return packed[:1] == b"\x7f" or packed == bytes(4)


def _packed_address(name: str) -> bytes:
    """Return the four bytes of a name that ssh takes for an IPv4 address, or nothing.

    For example, 127.1 and 0x7f000001 are addresses of this machine.
    """
    if not name[:1].isdigit():
        return b""
    try:
        return socket.inet_aton(name)
    except OSError:
        return b""
