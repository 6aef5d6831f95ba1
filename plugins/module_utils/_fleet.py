# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the servers of an account with a declared fleet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._changes import MAX_IDS, ServerIndex, differences, label_of
from ._errors import OptionError
from ._models import Fields, Server
from ._text import as_word, summarise

_FIELDS = ("plan", "region", "status")


def declared_servers(entries: Iterable[Mapping[str, str | None]]) -> list[dict[str, str]]:
    """Return the keys that each entry sets; raise OptionError at an empty value."""
    servers = []
    for position, entry in enumerate(entries, start=1):
        server = {key: value for key, value in entry.items() if value is not None}
        if not all(value.strip() for value in server.values()):
            raise OptionError(
                f"servers: entry {position} has an empty value.", "Set a value or remove the key."
            )
        servers.append(server)
    return servers


def compare(
    entries: Sequence[Mapping[str, str]], servers: Sequence[Server], allow_unexpected: bool
) -> dict[str, Any]:
    """Return the findings, as the module ``fleet_info`` does.

    Raises OptionError if two entries declare the same server.
    """
    comparison = _Comparison(servers)
    for position, entry in enumerate(entries, start=1):
        comparison.add_entry(entry, position)
    for server in sorted(servers, key=_order):
        comparison.add_server(server, allow_unexpected)
    return comparison.result()


class _Comparison:
    """The findings about one account, collected first by entry and then by server."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self._index = ServerIndex(servers)
        # The entry that declares a server, by the id of the server.
        self._entries: dict[str, Mapping[str, str]] = {}
        # The position of the entry that declares a server, by what identifies the server.
        self._positions: dict[object, int] = {}
        self._ambiguous_ids: set[str] = set()
        self._missing: list[Mapping[str, str]] = []
        self._different: list[dict[str, Any]] = []
        self._unexpected: list[Fields] = []
        self._ambiguous: list[dict[str, Any]] = []
        # Lines of the report, each after the name and the id by which they are sorted.
        self._lines: list[tuple[str, str, str]] = []

    def add_entry(self, entry: Mapping[str, str], position: int) -> None:
        """Find the server of an entry; raise OptionError if an earlier entry declares it, too."""
        declared = {key: value.strip() for key, value in entry.items()}
        wanted = declared.get("name") or declared["id"]
        found = self._index.find(declared)
        identity: object = declared.get("name"), declared.get("id")
        if len(found) == 1:
            identity = found[0].id
        earlier = self._positions.setdefault(identity, position)
        if earlier != position:
            raise OptionError(
                f"servers: entry {position} ({as_word(wanted)}) declares the same server as "
                f"entry {earlier}.",
                "Remove one of them.",
            )
        if not found:
            self._missing.append(entry)
            self._lines.append((wanted, "", f"{as_word(wanted)} is missing"))
            return
        if len(found) > 1:
            ids = sorted(server.id for server in found)
            shown = summarise(ids, MAX_IDS)
            self._ambiguous_ids.update(ids)
            self._ambiguous.append({"name": wanted, "ids": ids})
            line = f"{as_word(wanted)} is the name of {len(ids)} servers ({shown})"
            self._lines.append((wanted, "", line))
            return
        self._entries[found[0].id] = declared

    def add_server(self, server: Server, allow_unexpected: bool) -> None:
        """Compare a server with the entry that declares it; without one, it is unexpected."""
        if server.id in self._entries:
            self._add_differences(server, self._entries[server.id])
        elif server.id not in self._ambiguous_ids:
            self._unexpected.append(server.fields)
            if not allow_unexpected:
                self._add_line(server, f"{server.label} is not declared")

    def _add_differences(self, server: Server, declared: Mapping[str, str]) -> None:
        fields = differences(server, declared, _FIELDS)
        if not fields:
            return
        name = server.fields.get("name")
        self._different.append({"id": server.id, "name": name, "differences": fields})
        label = server.label
        if "name" in declared:
            label = label_of(declared)
        self._add_line(server, f"{label} has {_list_differences(fields)}")

    def _add_line(self, server: Server, line: str) -> None:
        name, identifier = _order(server)
        self._lines.append((name, identifier, line))

    def result(self) -> dict[str, Any]:
        """Return the result of the module, with all findings."""
        self._ambiguous.sort(key=lambda finding: finding["name"])
        self._lines.sort()
        return {
            "in_sync": not self._lines,
            "report": [line for _name, _id, line in self._lines],
            "missing": self._missing,
            "different": self._different,
            "unexpected": self._unexpected,
            "ambiguous": self._ambiguous,
        }


def _order(server: Server) -> tuple[str, str]:
    return server.text("name") or server.id, server.id


def _list_differences(fields: Mapping[str, Mapping[str, Any]]) -> str:
    """List the fields that differ, as a part of a sentence."""
    parts = []
    for field, values in fields.items():
        actual = values["actual"]
        expected = as_word(values["expected"])
        if actual:
            parts.append(f"the {field} {as_word(actual)} instead of {expected}")
        else:
            parts.append(f"no {field} (expected {expected})")
    *first, last = parts
    if not first:
        return last
    return f"{', '.join(first)} and {last}"
