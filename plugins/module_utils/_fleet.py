# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the servers of an account with a declared fleet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ._changes import MAX_IDS, ServerIndex, differences, quote, quote_label
from ._errors import OptionError
from ._models import Server
from ._text import summarise

_FIELDS = ("plan", "region", "status")
KEYS = ("name", "id", *_FIELDS)


def check_entries(entries: Sequence[Mapping[Any, Any]]) -> None:
    """Raise OptionError at the first entry that is wrong, or that repeats an earlier name or id."""
    first: dict[tuple[str, str], int] = {}
    for position, entry in enumerate(entries, start=1):
        where = f"servers: {_describe(entry, position)}"
        for key, value in entry.items():
            _check_value(where, key, value)
        if "name" in entry and "id" in entry:
            raise OptionError(f"{where} has both name and id.", "Set exactly one of them.")
        if "name" not in entry and "id" not in entry:
            raise OptionError(f"{where} has neither name nor id.", "Set exactly one of them.")
        key = "name" if "name" in entry else "id"
        earlier = first.setdefault((key, entry[key].strip()), position)
        if earlier != position:
            raise OptionError(
                f"{where} declares the same {key} as entry {earlier}.", "Remove one of them."
            )


def _check_value(where: str, key: object, value: object) -> None:
    if key not in KEYS:
        raise OptionError(
            f"{where} has the unknown key {quote(str(key))}.",
            f"The keys of an entry are {', '.join(KEYS)}.",
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
        comparison.add(entry, position)
    return comparison.result(allow_unexpected)


class _Comparison:
    """The findings about one account, collected entry by entry."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self._servers = servers
        self._index = ServerIndex(servers)
        # The entry that declares each server, and its position, by the id of the server.
        self._entries: dict[str, tuple[Mapping[str, str], int]] = {}
        self._ambiguous_ids: set[str] = set()
        self._missing: list[Mapping[str, str]] = []
        self._different: list[dict[str, Any]] = []
        self._ambiguous: list[dict[str, Any]] = []
        self._findings: list[tuple[str, str, str]] = []  # the keys to sort by, and a line of text

    def add(self, entry: Mapping[str, str], position: int) -> None:
        """Compare one entry; raise OptionError if an earlier entry declares the same server."""
        declared = {key: value.strip() for key, value in entry.items()}
        found = self._index.find(declared)
        wanted = declared.get("name") or declared["id"]
        if not found:
            self._missing.append(entry)
            self._findings.append((wanted, "", f"{quote(wanted)} is missing"))
        elif len(found) > 1:
            ids = sorted(server.id for server in found)
            self._ambiguous_ids.update(ids)
            self._ambiguous.append({"name": wanted, "ids": ids})
            line = f"{quote(wanted)} is the name of {len(ids)} servers ({summarise(ids, MAX_IDS)})"
            self._findings.append((wanted, "", line))
        else:
            self._add_server(found[0], declared, position)

    def _add_server(self, server: Server, declared: Mapping[str, str], position: int) -> None:
        earlier = self._entries.setdefault(server.id, (declared, position))
        if earlier[1] != position:
            raise OptionError(
                f"servers: {_describe(declared, position)} declares the same server as "
                f"{_describe(*earlier)}.",
                "Remove one of them.",
            )
        fields = differences(server, declared, _FIELDS)
        if not fields:
            return
        name = server.fields.get("name")
        self._different.append({"id": server.id, "name": name, "differences": fields})
        label = quote_label(declared)
        if "id" in declared:
            label = _label(server)
        self._findings.append((*_order(server), f"{label} has {_list_differences(fields)}"))

    def result(self, allow_unexpected: bool) -> dict[str, Any]:
        """Return the result of the module, with all findings."""
        declared = self._entries.keys() | self._ambiguous_ids
        others = [server for server in self._servers if server.id not in declared]
        unexpected = sorted(others, key=_order)
        findings = list(self._findings)
        if not allow_unexpected:
            findings += [(*_order(s), f"{_label(s)} is not declared") for s in unexpected]
        self._different.sort(key=lambda found: (found["name"] or found["id"], found["id"]))
        self._ambiguous.sort(key=lambda found: found["name"])
        return {
            "in_sync": not findings,
            "report": [line for _name, _id, line in sorted(findings)],
            "missing": self._missing,
            "different": self._different,
            "unexpected": [dict(server.fields) for server in unexpected],
            "ambiguous": self._ambiguous,
        }


def _order(server: Server) -> tuple[str, str]:
    return server.text("name") or server.id, server.id


def _label(server: Server) -> str:
    name = server.text("name")
    if not name:
        return quote(server.id)
    return f"{quote(name)} ({quote(server.id)})"


def _list_differences(fields: Mapping[str, Mapping[str, Any]]) -> str:
    """List the fields that differ, as a part of a sentence."""
    parts = []
    for field, values in fields.items():
        actual = values["actual"]
        expected = quote(values["expected"])
        if actual:
            parts.append(f"the {field} {quote(actual)} instead of {expected}")
        else:
            parts.append(f"no {field} (expected {expected})")
    *first, last = parts
    if not first:
        return last
    return f"{', '.join(first)} and {last}"


def _describe(entry: Mapping[Any, Any], position: int) -> str:
    """Return the position of an entry, with its name or id, for a message."""
    wanted = entry.get("name") or entry.get("id")
    if not isinstance(wanted, str):
        return f"entry {position}"
    return f"entry {position} ({quote(wanted.strip())})"
