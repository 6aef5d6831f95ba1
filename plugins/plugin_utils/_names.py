# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Host names: one for each server, usable, unique, and independent of the response's order.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import socket
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._text import summarise

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
    "replaced": (
        "server name has characters that a host name can't have, which become _",
        "server names have characters that a host name can't have, which become _",
    ),
    "unusable": (
        "server has no name that can be used, and is named by its id",
        "servers have no name that can be used, and are named by their ids",
    ),
}


@dataclass
class Naming:
    """The host name of each server, by its id, and the host names that are not as preferred.

    ``shared``: several servers have the preferred name; ``taken``: a host of another source has it;
    ``replaced``: characters were replaced; ``unusable``: no preferred name is usable.
    """

    names: dict[str, str] = field(default_factory=dict)
    shared: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)


def assign_names(
    preferences: Mapping[str, list[str]],
    reserved: Container[str],
    is_taken: Callable[[str, str], bool],
) -> Naming:
    """Give each server the first of its preferences that is usable and that no other server has.

    ``preferences`` has those of each server by its id. ``reserved`` are names that groups have or
    may get; ``is_taken`` returns whether a name is taken for the server with an id. A name that
    several servers prefer at the same rank goes to none of them, so that the order of the servers
    doesn't matter. After all preferences come the first usable one with the id, the id alone, and a
    digest of the id.
    """
    candidates = {
        identifier: [_host_name(text, reserved) for text in preferred]
        for identifier, preferred in preferences.items()
    }
    naming = Naming()
    used: set[str] = set()
    unnamed = list(preferences)
    rank = 0
    while unnamed:
        proposed = [
            (identifier, _candidate(identifier, candidates[identifier], rank, reserved))
            for identifier in unnamed
        ]
        uses = Counter(name for _identifier, name in proposed)
        unnamed = []
        for identifier, name in proposed:
            if name and uses[name] == 1 and name not in used and not is_taken(name, identifier):
                naming.names[identifier] = name
            else:
                unnamed.append(identifier)
        used.update(uses)
        rank += 1
    for identifier, preferred in preferences.items():
        if naming.names[identifier] not in preferred:
            _note(naming, identifier, filter(None, candidates[identifier]), is_taken)
    return naming


def report_names(naming: Naming, strict: bool, warn: Callable[[str], None]) -> None:
    """Warn of host names that are not as preferred; raise OptionError if ``strict``."""
    for kind, (one, several) in _REPORTS.items():
        if names := getattr(naming, kind):
            problem = f"{len(names)} {one if len(names) == 1 else several}: {summarise(names)}."
            if strict:
                raise OptionError(f"hostnames: {problem}")
            warn(problem)


def safe_host_name(text: str) -> str:
    """Replace each run of characters that a host name can't have by an underscore."""
    return _unsafe_run.sub("_", text)


def is_usable(name: str, reserved: Container[str]) -> bool:
    """Return whether a text that ``safe_host_name`` returned can name a host."""
    return (
        0 < len(name) <= _LONGEST
        and name[0] not in "-."
        and name not in reserved
        and not is_localhost(name)
    )


def _host_name(text: str, reserved: Container[str]) -> str:
    """Return a text as a host name, or an empty text if it can't be one."""
    name = safe_host_name(text)
    return name if is_usable(name, reserved) and not _is_ipv6_loopback(text) else ""


def _candidate(identifier: str, candidates: list[str], rank: int, reserved: Container[str]) -> str:
    """Return the name to try for a server at a rank; an empty text if there is none.

    ``candidates`` are its preferences as host names; an empty text is one that is not usable.
    """
    if rank < len(candidates):
        return candidates[rank]
    step = rank - len(candidates)
    if step == 0:
        first = next(filter(None, candidates), "")
        name = f"{first}_{identifier}" if first else ""
    elif step == 1:
        name = identifier
    else:
        # Each further step has another digest, in case a server is named like an earlier one.
        text = identifier + "#" * (step - 2)
        name = f"server_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    return _host_name(name, reserved)


def _note(
    naming: Naming,
    identifier: str,
    usable: Iterable[str],
    is_taken: Callable[[str, str], bool],
) -> None:
    """Note why a server has another name than its preferences, given those that are usable."""
    name, usable = naming.names[identifier], list(usable)
    if name in usable:
        naming.replaced.append(name)
    elif any(is_taken(candidate, identifier) for candidate in usable):
        naming.taken.append(name)
    elif usable:
        naming.shared.append(name)
    else:
        naming.unusable.append(name)


def is_localhost(name: str) -> bool:
    """Return whether Ansible, ssh or a resolver takes a name for this machine."""
    lowered = name.lower().rstrip(".")
    if lowered in _LOCALHOSTS or lowered.endswith(".localhost"):
        return True
    if not name[0].isdigit():
        return False
    try:
        packed = socket.inet_aton(lowered)  # as ssh does: 127.1 and 0x7f000001 are this machine
    except OSError:
        return False
    return packed[0] == 127 or packed == bytes(4)


def _is_ipv6_loopback(text: str) -> bool:
    try:
        address = ipaddress.IPv6Address(text.strip("[] "))
    except ValueError:
        return False
    return (address.ipv4_mapped or address).is_loopback
