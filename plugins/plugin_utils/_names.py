# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Host names: one for each server, usable, unique, and independent of the response's order."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..module_utils._errors import OptionError
from ..module_utils._models import Server
from ..module_utils._text import as_word, first_of

_LOCALHOSTS = {
    "localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6",
    "localhost6.localdomain6", "ip6-localhost", "ip6-loopback",
}  # fmt: skip
_unsafe_run = re.compile(r"[^A-Za-z0-9._-]+")

# Ansible reads the file host_vars/db1.yml for the hosts db1 and db1.yml.
_VARIABLE_FILES = (".yml", ".yaml", ".json")

_SHOWN = 3  # servers that a message names


# Why a server does not have its first name, to follow "because".
NOT_UNIQUE = "other servers have the same name"
TAKEN = "hosts of other sources have the same name"
CHANGED = "a host can't have such a name"


class Renamed(NamedTuple):
    """A server without its first name: ``first`` is empty if no host can have that name."""

    server: Server
    first: str
    reason: str


@dataclass
class Naming:
    """The host name of each server, and the servers without their first name, both by id.

    The first name is the first preference that is not empty. CHANGED: characters were replaced, no
    host can have the name, or all preferences are empty. A server that has no preferences at all is
    not among those without their first name.
    """

    names: dict[str, str] = field(default_factory=dict)
    renamed: dict[str, Renamed] = field(default_factory=dict)

    def problems(self, obstacle: Callable[[str, Server], str]) -> Iterator[str]:
        """Yield one message for each reason why servers do not have their first name.

        ``obstacle`` returns a sentence about the host that has the first name of a server.
        """
        for reason in (NOT_UNIQUE, TAKEN, CHANGED):
            renamed = [each for each in self.renamed.values() if each.reason == reason]
            if not renamed:
                continue
            renamed.sort(key=lambda each: each.server.label)
            changes = [f"{each.server.label} is {self.names[each.server.id]}" for each in renamed]
            message = f"{_start(len(renamed))}, because {reason}: {first_of(changes, _SHOWN)}."
            if reason == TAKEN:
                sentences = [obstacle(each.first, each.server) for each in renamed[:_SHOWN]]
                message = " ".join([message, *sentences])
            yield message


def _start(number: int) -> str:
    if number == 1:
        return "1 server does not have its preferred name"
    return f"{number:,} servers do not have their preferred names"


def assign_names(
    preferences: Iterable[tuple[Server, list[str]]],
    is_reserved: Callable[[str], bool],
    is_taken: Callable[[str, Server], bool],
    variable_files: Iterable[str] = (),
) -> Naming:
    """Give each server the first of its candidates that is usable and that no other server wants.

    ``preferences`` has each server with the names that it should have, the best one first.
    ``is_reserved`` returns whether a group has or may get a name; ``is_taken`` whether a name is
    taken for a server; ``variable_files`` are further extensions of the files in which Ansible
    looks for variables.

    In each round, all servers without a name propose their next candidate. A name that several
    servers have proposed, in this round or before, goes to none of them, so that the order of the
    servers does not matter. For example, srv_1 and srv_2 are named "web", and srv_3 is named
    "web_srv_1": the hosts are srv_1, web_srv_2 and web_srv_1. Raises OptionError if a server has no
    candidate left.
    """
    rules = _Rules(is_reserved, (*_VARIABLE_FILES, *variable_files))
    naming = Naming()
    wanted: dict[str, list[Server]] = {}  # each name, with the servers that have proposed it
    unnamed = [_Unnamed(server, texts, rules) for server, texts in preferences]
    while unnamed:
        for each in unnamed:
            each.propose()
            wanted.setdefault(each.name, []).append(each.server)
        refused = []
        for each in unnamed:
            refusal = _refusal(each, wanted[each.name], is_taken)
            if refusal:
                refused.append(each)
            else:
                naming.names[each.server.id] = each.name
            if each.text == each.first:
                _note_first(naming, each, refusal)
        unnamed = refused
    return naming


class _Unnamed:
    """A server that has no name yet, and the candidate that it proposes.

    ``first`` is its first preference that is not empty. ``text`` is the candidate, and ``name`` the
    host name that it makes, empty if a host can't have it.
    """

    def __init__(self, server: Server, preferences: list[str], rules: _Rules) -> None:
        self.server = server
        self.first = next(filter(None, preferences), "")
        self.text = ""
        self.name = ""
        self._rules = rules
        self._texts = self._candidates(preferences)

    def _candidates(self, preferences: list[str]) -> Iterator[str]:
        """Yield the preferences, the first one with the id, and the id.

        For example, those of srv_1 with the preferences "", "all" and "www" are "", "all", "www",
        "all_srv_1" and "srv_1".
        """
        yield from preferences
        if self.first:
            yield f"{self._rules.safe(self.first)}_{self.server.id}"
        yield self.server.id

    def propose(self) -> None:
        """Propose the next candidate. Raises OptionError if there is none."""
        text = next(self._texts, None)
        if text is None:
            raise OptionError(
                f"hostnames: no name is left for the server {as_word(self.server.id)}: no host can "
                "have its names and its id, or other hosts or groups have them.",
                "Set hostnames to other expressions, or prefix in keyed_groups.",
            )
        self.text = text
        self.name = self._rules.host_name(text, self.server)


def _refusal(
    unnamed: _Unnamed, wanting: Collection[Server], is_taken: Callable[[str, Server], bool]
) -> str:
    """Return why a server does not get the name that it proposes; an empty text if it does."""
    if not unnamed.name:
        return CHANGED
    if len(wanting) > 1:
        return NOT_UNIQUE
    if is_taken(unnamed.name, unnamed.server):
        return TAKEN
    return ""


def _note_first(naming: Naming, unnamed: _Unnamed, refusal: str) -> None:
    """Note the reason if a server does not get its first name, or not as it is."""
    reason = refusal
    if not refusal and unnamed.name != unnamed.text:
        reason = CHANGED
    if reason:
        # Only the first time: several preferences can be equal.
        renamed = Renamed(unnamed.server, unnamed.name, reason)
        naming.renamed.setdefault(unnamed.server.id, renamed)


class _Rules:
    """Rules for host names, which depend on the names of groups and the extensions of files."""

    def __init__(self, is_reserved: Callable[[str], bool], variable_files: Iterable[str]) -> None:
        self._is_reserved = is_reserved
        # Ansible adds a dot to an extension without one.
        extensions = [name.lstrip(".").lower() for name in variable_files if name]
        self._extensions = tuple(f".{extension}" for extension in extensions)

    def safe(self, text: str) -> str:
        """Replace each run of characters that a host name can't have by an underscore.

        The last dot of a text that ends like the name of a file with variables becomes one, too.
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
