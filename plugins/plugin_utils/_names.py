# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Host names: one for each server, usable, unique and independent of the order of the answer.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import socket
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server

_LONGEST = 253
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


@dataclass
class Naming:
    """The host name of each server, by its id, and those names that call for a word.

    ``shared``: several servers have the name; ``replaced``: characters were replaced;
    ``unusable``: no preference could name a host.
    """

    names: dict[str, str] = field(default_factory=dict)
    shared: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)


def name_servers(
    servers: Collection[Server],
    preferences: Callable[[Server], list[str]],
    reserved: Collection[str],
    is_taken: Callable[[str, Server], bool],
) -> Naming:
    """Give each server the first of its preferences that is usable and no other server's.

    ``reserved`` are the names of groups; ``is_taken`` tells that a name belongs to a host of
    another source. A name that several servers prefer at the same rank goes to none of them, so
    that the order of the servers doesn't matter. After all preferences come the first usable one
    with the id, the id alone, and a digest of the id.
    """
    texts = {server.id: preferences(server) for server in servers}
    wishes = {
        identifier: [_host_name(text, reserved) for text in preferred]
        for identifier, preferred in texts.items()
    }
    naming = Naming()
    used: set[str] = set()
    waiting = list(servers)
    rank = 0
    while waiting:
        wanted = [
            (server, _wish(server.id, wishes[server.id], rank, reserved)) for server in waiting
        ]
        claims = Counter(name for server, name in wanted)
        waiting = []
        for server, name in wanted:
            if name and claims[name] == 1 and name not in used and not is_taken(name, server):
                naming.names[server.id] = name
            else:
                waiting.append(server)
        used.update(claims)
        rank += 1
    for identifier, name in naming.names.items():
        if name not in texts[identifier]:
            _note(naming, name, wishes[identifier])
    return naming


def safe_host_name(text: str) -> str:
    """Replace each run of characters that a host name can't have by an underscore."""
    return _unsafe_run.sub("_", text)


def is_usable(name: str, reserved: Collection[str]) -> bool:
    """Tell whether a text that ``safe_host_name`` gave can name a host."""
    return (
        0 < len(name) <= _LONGEST
        and name[0] not in "-."
        and name not in reserved
        and not _is_localhost(name)
    )


def _host_name(text: str, reserved: Collection[str]) -> str:
    """Return the host name that a text makes, or an empty text."""
    name = safe_host_name(text)
    return name if is_usable(name, reserved) and not _is_ipv6_loopback(text) else ""


def _wish(identifier: str, wishes: list[str], rank: int, reserved: Collection[str]) -> str:
    """Return what a server would be named at a rank; an empty text where there is nothing."""
    if rank < len(wishes):
        return wishes[rank]
    step = rank - len(wishes)
    if step == 0:
        first = next(filter(None, wishes), "")
        name = f"{first}_{identifier}" if first else ""
    elif step == 1:
        name = identifier
    else:
        # Each further step has a digest of its own: names could be made to take the first one.
        text = identifier + "#" * (step - 2)
        name = f"server_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return _host_name(name, reserved)


def _note(naming: Naming, name: str, wishes: list[str]) -> None:
    if name in wishes:
        naming.replaced.append(name)
    elif any(wishes):
        naming.shared.append(name)
    else:
        naming.unusable.append(name)


def _is_ipv6_loopback(text: str) -> bool:
    try:
        address = ipaddress.IPv6Address(text.strip("[] "))
    except ValueError:
        return False
    return (address.ipv4_mapped or address).is_loopback


def _is_localhost(name: str) -> bool:
    lowered = name.lower().rstrip(".")
    if lowered in _LOCALHOSTS or lowered.endswith(".localhost"):
        return True
    if not name[0].isdigit():
        return False
    try:
        packed = socket.inet_aton(lowered)  # as ssh would: 127.1 and 0x7f000001 are this machine
    except OSError:
        return False
    return packed[0] == 127 or packed == bytes(4)
