# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Host names: one for each server, usable, unique, and independent of the response's order."""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..module_utils._errors import OptionError
from ..module_utils._models import GROUP_FIELDS, Server
from ..module_utils._text import as_word, count_of, first_of


class Owner(NamedTuple):
    """Whose group has a name: the words after "a group", and what frees the name for a host.

    That is beside other hostnames, which are always a way out.
    """

    words: str
    way_out: str = ""


KEYED_GROUPS = Owner(
    "of keyed_groups",
    ", or change prefix or parent_group in keyed_groups, which renames its groups",
)
# The groups that every inventory has, and the beginnings of those for the fields of servers. Groups
# that group_by leaves out can be made by the file of another account.
GROUPS_OF_ANSIBLE = dict.fromkeys(("all", "ungrouped"), Owner("of Ansible"))
PREFIXES_OF_FIELDS = dict.fromkeys(GROUP_FIELDS.values(), Owner("of group_by"))


# Of a group whose name is written in the inventory file, by the option.
OWNERS_IN_FILE = {
    "group": Owner("of the option group", ", or rename the group"),
    "groups": Owner("of the option groups", ", or rename the group"),
    "keyed_groups": KEYED_GROUPS,
}
# Those of an inventory file with default options, if nothing is known about other sources.
_GROUPS = {**GROUPS_OF_ANSIBLE, "server_management": OWNERS_IN_FILE["group"]}

_is_name_of_loopback = re.compile(
    r"localhost[46]?(?:\.localdomain[46]?)?|ip6-(?:localhost|loopback)|.*\.localhost"
).fullmatch
_unsafe_run = re.compile(r"[^A-Za-z0-9._-]+")

# Ansible reads the file host_vars/db1.yml for the hosts db1 and db1.yml.
VARIABLE_FILES = (".yml", ".yaml", ".json")

_LONGEST = 253  # of a name in DNS
_SHOWN = 3  # servers that a message names


class Reason(NamedTuple):
    """Why a server does not have a name, and what to do.

    ``kind`` follows "because"; ``details`` and ``advice`` are sentences.
    """

    kind: str
    details: str = ""
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.kind}. {self.details}".rstrip()


# A kind of reasons.
TAKEN = "hosts of other sources have the same name"


class NameRules(NamedTuple):
    """Rules for the names of hosts; by default, those of an inventory file with default options.

    ``groups`` has the names of groups, and ``prefixes`` the beginnings of the names that groups
    could get, each with its owner. ``hosts`` are the names of the hosts
    of other sources; these may be names of groups, too, because Ansible resolves a pattern as a
    host first. ``obstacle`` returns why a server can't be the host with a name, if another source
    has added such a host. ``variable_files`` are the ends of files in which Ansible looks for
    variables.
    """

    groups: Mapping[str, Owner] = _GROUPS
    prefixes: Mapping[str, Owner] = PREFIXES_OF_FIELDS
    hosts: Collection[str] = ()
    obstacle: Callable[[str, Server], Reason | None] = lambda _name, _server: None
    variable_files: tuple[str, ...] = VARIABLE_FILES

    def candidates(self, server: Server, preferences: Sequence[str]) -> Iterator[str]:
        """Yield the preferences, the first one with the id, and the id; empty if not usable.

        An empty text takes part in its round, so that all servers propose the same preference.

        For example, those of srv_1 with the preferences "", "all" and "www" are "", "", "www",
        "all_srv_1" and "srv_1".
        """
        texts = list(preferences)
        first = next(filter(None, preferences), "")
        if first:
            texts.append(f"{self._safe(first)}_{server.id}")
        texts.append(server.id)
        for text in texts:
            name = self._safe(text)
            yield "" if self._problem(name, server) else name

    def explain(self, server: Server, first: str, name: str) -> Reason:
        """Return why a server has a name that is not its first one."""
        wanted = self._safe(first)
        reason = self._problem(wanted, server)
        if reason:
            return reason
        if wanted != name:
            return self.obstacle(wanted, server) or Reason("other servers have the same name")
        return Reason(
            "a host name can't have other characters than letters, digits, ., _ and -, or end like "
            "a file with variables"
        )

    def _safe(self, text: str) -> str:
        """Replace each run of characters that a host name can't have by an underscore.

        The last dot of a text that ends like the name of a file with variables becomes one, too.
        """
        name = _unsafe_run.sub("_", text)
        if name.lower().endswith(self.variable_files):
            start, _dot, end = name.rpartition(".")
            name = f"{start}_{end}"
        return name

    def _problem(self, name: str, server: Server) -> Reason | None:
        """Return why a server must not have a name, whatever other hosts there are."""
        if not 0 < len(name) <= _LONGEST or name[0] in "-.":
            return Reason(
                f"a host name has 1 to {_LONGEST} characters, and does not start with a dot or a "
                "hyphen"
            )
        if is_localhost(name):
            return Reason("this machine has such a name or address")
        # A pattern with this address would address the server, and not the machine that has it.
        if name.count(".") == 3 and _packed_address(name):
            fields = {**server.fields, "name": ""}
            if name not in fields.values():
                return Reason("a host name can't be an address that the server does not have")
        if name in self.hosts:
            return None
        start = next(filter(name.startswith, self.prefixes), "")
        if name in self.groups:
            owner = self.groups[name]
            sentence = f"{name} is a group {owner.words}."
        # Groups can't have hyphens and dots in their names, or begin with a digit.
        elif start and name.isidentifier():
            owner = self.prefixes[start]
            sentence = f"Groups {owner.words} start with {start}."
        else:
            return None
        advice = f"Set hostnames to give hosts other names{owner.way_out}."
        return Reason("groups have or could get the same name", sentence, advice)


class Naming(NamedTuple):
    """The host name of each server, and why servers do not have their first name, by their ids.

    The first name is the first preference that is not empty. There is no reason for a server that
    has no preferences at all.
    """

    names: dict[str, str]
    reasons: dict[str, Reason]

    def explain_renamed(self, servers: Iterable[Server]) -> Iterator[str]:
        """Yield one message for each kind of reason why servers do not have their first name."""
        renamed = [server for server in servers if server.id in self.reasons]
        kinds: dict[str, list[Server]] = {}
        for server in sorted(renamed, key=lambda server: server.label):
            kinds.setdefault(self.reasons[server.id].kind, []).append(server)
        for kind, of_kind in kinds.items():
            count = count_of(len(of_kind), "server")
            named = [f"{server.label} is {self.names[server.id]}" for server in of_kind]
            shown = first_of(named, _SHOWN)
            sentences = [f"the preferred name is not used for {count}, because {kind}: {shown}."]
            reasons = [self.reasons[server.id] for server in of_kind[:_SHOWN]]
            sentences += [reason.details for reason in reasons]
            sentences += [reason.advice for reason in reasons]
            # Several servers can have the same details.
            yield " ".join(filter(None, dict.fromkeys(sentences)))


def assign_names(
    servers: Collection[Server], rules: NameRules, preferences: Mapping[str, Sequence[str]]
) -> Naming:
    """Give each server the first of its candidates that is usable and that no other server wants.

    ``preferences`` has the names that a server should have, by its id, the best one first. The
    default is the server's name. In each round, all servers without a name propose their next
    candidate. A name that several servers have proposed, in this round or before, goes to none of
    them, so that the order of the servers does not matter. For example, srv_1 and srv_2 are named
    "web": the hosts are web_srv_1 and web_srv_2. If srv_3 is named "web_srv_1", it is that host,
    and srv_1 is the host srv_1. Raises OptionError if a server has no candidate left.
    """
    wanted: dict[str, Sequence[str]] = {}
    for server in servers:
        # A missing name is reported with the other fields that are missing.
        wanted[server.id] = [server.text("name")] if "name" in server.fields else []
    wanted.update(preferences)
    names: dict[str, str] = {}
    uses: Counter[str] = Counter()  # how many servers have proposed a name
    unnamed = [(server, rules.candidates(server, wanted[server.id])) for server in servers]
    while unnamed:
        proposals = []
        for server, candidates in unnamed:
            name = next(candidates, None)
            if name is None:
                raise _no_name_left(server)
            proposals.append((server, name))
            uses[name] += 1
        for server, name in proposals:
            if name and uses[name] == 1 and not rules.obstacle(name, server):
                names[server.id] = name
        unnamed = [each for each in unnamed if each[0].id not in names]
    reasons = {}
    for server in servers:
        first = next(filter(None, wanted[server.id]), "")
        name = names[server.id]
        if wanted[server.id] and first != name:
            reasons[server.id] = rules.explain(server, first, name)
    return Naming(names, reasons)


def _no_name_left(server: Server) -> OptionError:
    return OptionError(
        f"hostnames: no name is left for the server {as_word(server.id)}: no host can have its "
        "names and its id, or other hosts or groups have them.",
        "Set hostnames to give hosts other names, or change prefix in keyed_groups, which renames "
        "its groups.",
    )


def is_localhost(name: str) -> bool:
    """Return whether Ansible, ssh or a resolver takes a name for this machine."""
    lowered = name.lower().rstrip(".")
    if _is_name_of_loopback(lowered):
        return True
    if not lowered[:1].isdigit():
        return False
    packed = _packed_address(lowered)
    return packed[:1] == b"\x7f" or packed == bytes(4)


def _packed_address(name: str) -> bytes:
    """Return the four bytes of a name that ssh takes for an IPv4 address, or nothing.

    For example, 127.1 and 0x7f000001 are addresses of this machine.
    """
    try:
        return socket.inet_aton(name)
    except OSError:
        return b""
