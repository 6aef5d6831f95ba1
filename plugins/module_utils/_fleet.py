# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the servers of an account with a declared fleet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._changes import MAX_IDS, ServerIndex, differences, label_of
from ._errors import OptionError
from ._models import Server
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
        if "name" in entry and "id" in entry:
            raise OptionError(f"{where} has both name and id.", "Set exactly one of them.")
        if "name" not in entry and "id" not in entry:
            raise OptionError(f"{where} has neither name nor id.", "Set exactly one of them.")
        key = "name" if "name" in entry else "id"
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
    is_blank = isinstance(value, str) and not value.strip()
    if value is None or is_blank:
        raise OptionError(f"{where}: {key} must not be empty.", "Set a value or remove the key.")
    if not isinstance(value, str):
        raise OptionError(f"{where}: {key} must be text.", "Quote the value.")


def compare(
    entries: Sequence[Mapping[str, str]], servers: Sequence[Server], allow_unexpected: bool
) -> dict[str, Any]:
    """Return the findings, as the module ``fleet_info`` does.

    Raises OptionError if two of the checked entries declare the same server.
    """
    comparison = _Comparison(servers)
    for position, entry in enumerate(entries, start=1):
        comparison.add_entry(entry, position)
    comparison.add_unexpected(servers, allow_unexpected)
    return comparison.result()


class _Comparison:
    """The findings about one account, collected entry by entry."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self._index = ServerIndex(servers)
        self._declared: dict[str, str] = {}  # the label of the entry for each server, by its id
        self._ambiguous_ids: set[str] = set()
        self._missing: list[Mapping[str, str]] = []
        self._different: list[dict[str, Any]] = []
        self._unexpected: list[Mapping[str, Any]] = []
        self._ambiguous: list[dict[str, Any]] = []
        # Lines of the report, each after the name and the id by which they are sorted.
        self._findings: list[tuple[str, str, str]] = []

    def add_entry(self, entry: Mapping[str, str], position: int) -> None:
        """Compare one entry; raise OptionError if an earlier entry declares the same server."""
        declared = {key: value.strip() for key, value in entry.items()}
        wanted = declared.get("name") or declared["id"]
        found = self._index.find(declared)
        if not found:
            self._missing.append(entry)
            self._findings.append((wanted, "", f"{in_quotes(wanted)} is missing"))
        elif len(found) > 1:
            self._add_ambiguous(wanted, found)
        else:
            self._add_server(found[0], declared, position)

    def _add_ambiguous(self, name: str, servers: list[Server]) -> None:
        ids = sorted(server.id for server in servers)
        self._ambiguous_ids.update(ids)
        self._ambiguous.append({"name": name, "ids": ids})
        shown = summarise(ids, MAX_IDS)
        line = f"{in_quotes(name)} is the name of {len(ids)} servers ({shown})"
        self._findings.append((name, "", line))

    def _add_server(self, server: Server, declared: Mapping[str, str], position: int) -> None:
        entry = _entry_label(declared, position)
        earlier = self._declared.setdefault(server.id, entry)
        if earlier != entry:
            raise OptionError(
                f"servers: {entry} declares the same server as {earlier}.", "Remove one of them."
            )
        fields = differences(server, declared, _FIELDS)
        if not fields:
            return
        name = server.fields.get("name")
        self._different.append({"id": server.id, "name": name, "differences": fields})
        label = label_of(declared)
        if "id" in declared:
            label = server.label
        self._findings.append((*_order(server), f"{label} has {_list_differences(fields)}"))

    def add_unexpected(self, servers: Sequence[Server], are_allowed: bool) -> None:
        """Add the servers that no entry declares; those that are allowed are not in the report."""
        for server in sorted(servers, key=_order):
            if server.id in self._declared or server.id in self._ambiguous_ids:
                continue
            self._unexpected.append(server.fields)
            if not are_allowed:
                self._findings.append((*_order(server), f"{server.label} is not declared"))

    def result(self) -> dict[str, Any]:
        """Return the result of the module, with all findings."""
        self._different.sort(key=lambda found: (found["name"] or found["id"], found["id"]))
        self._ambiguous.sort(key=lambda found: found["name"])
        return {
            "in_sync": not self._findings,
            "report": [line for _name, _id, line in sorted(self._findings)],
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
