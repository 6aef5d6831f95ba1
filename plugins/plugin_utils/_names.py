# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Host names: one for each server, usable, unique, and independent of the response's order."""

from __future__ import annotations

import hashlib
import ipaddress
import re
import socket
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field

from ..module_utils._errors import OptionError
from ..module_utils._text import brief, summarise

_LONGEST = 253
_DIGESTS = 8  # attempts with a digest of the id, each with one more character
_LOCALHOSTS = frozenset(
    {
        "localhost",
        "localhost.localdomain",
        "localhost4",
        "localhost4.localdomain4",
        "localhost6",
        "localhost6.localdomain6",
        "ip6-localhost",
        "ip6-loopback",
    }
)
_unsafe_run = re.compile(r"[^A-Za-z0-9._-]+")

# Ansible reads the file host_vars/db1.yml for the hosts db1 and db1.yml.
_VARIABLE_FILES = (".yml", ".yaml", ".json")
_is_like_digest = re.compile("server_[0-9a-f]{16,}").fullmatch

# The warnings about each list of Naming, for one name and for several names.
_REPORTS = {
    "shared": (
        "server shares its name with another one, so its id is added",
        "servers share a name, so their ids are added",
    ),
    "taken": (
        "server has the name of a host of another source, so its id is added",
        "servers have names of hosts of other sources, so their ids are added",
    ),
    "owned": (
        "server has a name that another one gets by its id, so its own id is added",
        "servers have names that other ones get by their ids, so their own ids are added",
    ),
    "later": (
        "server has a later name of hostnames, because its first one belongs to another host",
        "servers have later names of hostnames, because their first ones belong to other hosts",
    ),
    "replaced": (
        "server name has characters that a host name can't have, or the extension of a file of "
        "variables, which become _",
        "server names have characters that a host name can't have, or the extension of a file of "
        "variables, which become _",
    ),
    "unusable": (
        "server has no name that can be used, and is named by its id",
        "servers have no name that can be used, and are named by their ids",
    ),
}


@dataclass
class Naming:
    """The host name of each server, by its id, and hosts without their preferred name, by reason.

    ``shared``: several servers have it; ``taken``: a host of another source has it; ``owned``: it
    is another server's id, or that server's name with its id; ``later``: it is lost for one of
    these reasons, and another preference is used; ``replaced``: characters were replaced;
    ``unusable``: no preferred name is usable.
    """

    names: dict[str, str] = field(default_factory=dict)
    shared: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    owned: list[str] = field(default_factory=list)
    later: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)


def assign_names(
    preferences: Mapping[str, list[str]],
    reserved: Container[str],
    is_taken: Callable[[str, str], bool],
    variable_files: Collection[str] = (),
) -> Naming:
    """Give each server the first of its preferences that is usable and that no other server has.

    ``preferences`` has those of each server by its id. ``reserved`` are names that groups have or
    may get; ``is_taken`` returns whether a name is taken for the server with an id;
    ``variable_files`` are further extensions of the files in which Ansible looks for variables.

    A name that several servers prefer at the same rank goes to none of them, so that the order of
    the servers doesn't matter. After all preferences come the first usable one with the id, the id
    alone, and a digest of the id. These belong to the server: no other one gets them. For example,
    srv_1 and srv_2 are named "web", and srv_3 is named "web_srv_1": the hosts are web_srv_1,
    web_srv_2 and web_srv_1_srv_3.
    """
    rules = _Rules(reserved, (*_VARIABLE_FILES, *variable_files))
    wanted = {
        server_id: [rules.host_name(text) for text in preferred]
        for server_id, preferred in preferences.items()
    }
    owners = _owners(wanted, rules)
    naming = Naming(_choose(wanted, owners, rules, is_taken))
    for server_id, preferred in preferences.items():
        usable = [name for name in wanted[server_id] if name]
        if naming.names[server_id] not in preferred or [naming.names[server_id]] != usable[:1]:
            _note(naming, server_id, usable, owners, is_taken)
    return naming


def _choose(
    wanted: Mapping[str, list[str]],
    owners: Mapping[str, str],
    rules: _Rules,
    is_taken: Callable[[str, str], bool],
) -> dict[str, str]:
    """Return the name of each server: its first candidate that no other one proposes.

    At each rank, all servers without a name propose a candidate. A name that was proposed before is
    not given any more.
    """
    names: dict[str, str] = {}
    used: set[str] = set()
    unnamed = list(wanted)
    rank = 0
    while unnamed:
        proposed = []
        for server_id in unnamed:
            name = _candidate(server_id, wanted[server_id], rank, rules)
            is_own = owners.get(name, server_id) == server_id
            proposed.append((server_id, name if is_own else ""))
        uses = Counter(name for _server_id, name in proposed)
        unnamed = []
        for server_id, name in proposed:
            is_free = name and uses[name] == 1 and name not in used
            if is_free and not is_taken(name, server_id):
                names[server_id] = name
            else:
                unnamed.append(server_id)
        used.update(uses)
        rank += 1
    return names


def _owners(wanted: Mapping[str, list[str]], rules: _Rules) -> dict[str, str]:
    """Return the owner of each name that belongs to a server, whatever the others are named.

    The owner is the server's id, or empty for a name that belongs to several: none of them gets it.
    """
    owners: dict[str, str] = {}
    has_digests = any(_is_like_digest(name) for names in wanted.values() for name in names)
    for server_id, names in wanted.items():
        own = {
            rules.safe(server_id),
            rules.safe(_with_id(server_id, names)),
            _digest(server_id) if has_digests else "",
        }
        for name in own:
            owners[name] = "" if name in owners else server_id
    return owners


def report_names(naming: Naming, strict: bool, warn: Callable[[str], None]) -> None:
    """Warn of hosts without their preferred name, or raise OptionError if ``strict``."""
    for kind, (one, several) in _REPORTS.items():
        if names := getattr(naming, kind):
            problem = f"{len(names)} {one if len(names) == 1 else several}: {summarise(names)}."
            if strict:
                raise OptionError(f"hostnames: {problem}")
            warn(problem)


class _Rules:
    """Rules for host names, which depend on the names of groups and the extensions of files."""

    def __init__(self, reserved: Container[str], variable_files: Iterable[str]) -> None:
        self._reserved = reserved
        # Ansible adds a dot to an extension without one.
        self._extensions = tuple(
            (extension if "." in extension else f".{extension}").lower()
            for extension in variable_files
            if extension
        )

    def safe(self, text: str) -> str:
        """Replace each run of characters that a host name can't have by an underscore.

        So is the last dot of a text that ends like the name of a file with variables.
        """
        name = _unsafe_run.sub("_", text)
        while name.lower().endswith(self._extensions):
            start, _dot, end = name.rpartition(".")
            name = f"{start}_{end}"
        return name

    def host_name(self, text: str) -> str:
        """Return a text as a host name, or an empty text if it can't be one."""
        name = self.safe(text)
        is_usable = (
            0 < len(name) <= _LONGEST
            and name[0] not in "-."
            and name not in self._reserved
            and not is_localhost(name)
        )
        return name if is_usable and not _is_ipv6_loopback(text) else ""


def _candidate(server_id: str, wanted: list[str], rank: int, rules: _Rules) -> str:
    """Return the name to try for a server at a rank; an empty text if there is none.

    ``wanted`` are its preferences as host names; an empty text is one that is not usable. Raises
    OptionError after the last rank. For example, the candidates of the server a/1 with the
    preferences "web", "" and "www" are web, none, www, web_a_1, a_1 and server_<digest>.
    """
    if rank < len(wanted):
        return wanted[rank]
    step = rank - len(wanted)
    if step == 0:
        return rules.host_name(_with_id(server_id, wanted))
    if step == 1:
        return rules.host_name(server_id)
    # A longer one is needed if two accounts have the same unusable id.
    if step - 2 < _DIGESTS:
        return rules.host_name(_digest(server_id, step - 2))
    raise OptionError(
        f"hostnames: no name is left for the server {brief(server_id)}: groups or hosts of other "
        "sources have all of them.",
        "Set another prefix in keyed_groups, or another name for the host of the other source.",
    )


def _with_id(server_id: str, wanted: list[str]) -> str:
    """Return the first usable preference with the id, or an empty text."""
    first = next(filter(None, wanted), "")
    return first and f"{first}_{server_id}"


def _digest(server_id: str, more: int = 0) -> str:
    return f"server_{hashlib.sha256(server_id.encode()).hexdigest()[: 16 + more]}"


def _note(
    naming: Naming,
    server_id: str,
    usable: list[str],
    owners: Mapping[str, str],
    is_taken: Callable[[str, str], bool],
) -> None:
    """Note why a server has another name than its first preference, given those that are usable."""
    name = naming.names[server_id]
    if not usable:
        naming.unusable.append(name)
    elif name == usable[0]:
        naming.replaced.append(name)
    elif name in usable:
        naming.later.append(name)
    elif any(is_taken(candidate, server_id) for candidate in usable):
        naming.taken.append(name)
    elif any(owners.get(candidate, server_id) != server_id for candidate in usable):
        naming.owned.append(name)
    else:
        naming.shared.append(name)


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


def _is_ipv6_loopback(text: str) -> bool:
    if ":" not in text:  # as in most names, for which ipaddress takes 3 µs
        return False
    try:
        address = ipaddress.IPv6Address(text.strip("[] "))
    except ValueError:
        return False
    return (address.ipv4_mapped or address).is_loopback
