# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the servers of an account with a declared fleet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._changes import MAX_IDS, ServerIndex, differences, label_of
from ._errors import OptionError
from ._models import Fields, Server
from ._text import in_quotes, summarise

_FIELDS = ("plan", "region", "status")
_KEYS = ("name", "id", *_FIELDS)


def check_entries(entries: Sequence[Mapping[Any, Any]]) -> None:
    """Raise OptionError at the first entry that is wrong, or that repeats an earlier name or id."""
    positions: dict[tuple[str, str], int] = {}
    for position, entry in enumerate(entries, start=1):
        where = f"servers: {_entry_label(entry, position)}"
        for key, value in entry.items():
            _check_value(where, key, value)
        keys = [key for key in ("name", "id") if key in entry]
        if len(keys) == 2:
            raise OptionError(f"{where} has both name and id.", "Set exactly one of them.")
        if not keys:
            raise OptionError(f"{where} has neither name nor id.", "Set exactly one of them.")
        key = keys[0]
        value = entry[key].strip()
        earlier = positions.setdefault((key, value), position)
        if earlier != position:
            raise OptionError(
                f"{where} declares the same {key} as entry {earlier}.", "Remove one of them."
            )


def _check_value(where: str, key: object, value: object) -> None:
    if key not in _KEYS:
        raise OptionError(
            f"{where} has the unknown key {in_quotes(str(key))}.",
            f"The keys of an entry are {', '.join(_KEYS)}.",
        )
    if value is not None and not isinstance(value, str):
        raise OptionError(f"{where}: {key} must be text.", "Quote the value.")
    if not value or not value.strip():
        raise OptionError(f"{where}: {key} must not be empty.", "Set a value or remove the key.")


def compare(
    entries: Sequence[Mapping[str, str]], servers: Sequence[Server], allow_unexpected: bool
) -> dict[str, Any]:
    """Return the findings, as the module ``fleet_info`` does.

    Raises OptionError if two of the checked entries declare the same server.
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
        # The entry that declares a server, with its position, by the id of the server.
        self._entries: dict[str, tuple[Mapping[str, str], int]] = {}
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
        if not found:
            self._missing.append(entry)
            self._lines.append((wanted, "", f"{in_quotes(wanted)} is missing"))
            return
        if len(found) > 1:
            ids = sorted(server.id for server in found)
            shown = summarise(ids, MAX_IDS)
            self._ambiguous_ids.update(ids)
            self._ambiguous.append({"name": wanted, "ids": ids})
            line = f"{in_quotes(wanted)} is the name of {len(ids)} servers ({shown})"
            self._lines.append((wanted, "", line))
            return
        server = found[0]
        earlier = self._entries.get(server.id)
        if earlier:
            raise OptionError(
                f"servers: {_entry_label(declared, position)} declares the same server as "
                f"{_entry_label(*earlier)}.",
                "Remove one of them.",
            )
        self._entries[server.id] = (declared, position)

    def add_server(self, server: Server, allow_unexpected: bool) -> None:
        """Compare a server with the entry that declares it; without one, it is unexpected."""
        if server.id in self._entries:
            declared, _position = self._entries[server.id]
            self._add_differences(server, declared)
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
        expected = in_quotes(values["expected"])
        if actual:
            parts.append(f"the {field} {in_quotes(actual)} instead of {expected}")
        else:
            parts.append(f"no {field} (expected {expected})")
    *first, last = parts
    if not first:
        return last
    return f"{', '.join(first)} and {last}"


def _entry_label(entry: Mapping[Any, Any], position: int) -> str:
    """Return the position of an entry, with its name or id, for a message."""
    wanted = entry.get("name") or entry.get("id")
    if not isinstance(wanted, str):
        return f"entry {position}"
    return f"entry {position} ({in_quotes(wanted.strip())})"
