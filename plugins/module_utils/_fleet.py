# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the servers of an account with a declared fleet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ._errors import OptionError
from ._models import DECLARED_FIELDS, Record, Server
from ._text import as_word, summarise

# What is declared for one server, by field.
Entry = Mapping[str, str]


def declared_servers(entries: Iterable[Mapping[str, str | None]]) -> list[dict[str, str]]:
    """Return the keys that each entry sets; raise OptionError at an empty value.

    Ansible accepts null as the only name or id of an entry.
    """
    servers = []
    for position, entry in enumerate(entries, start=1):
        server = {key: value for key, value in entry.items() if value is not None}
        if {"name", "id"}.isdisjoint(server) or not all(map(str.strip, server.values())):
            raise OptionError(
                f"servers: entry {position} has an empty value.", "Set a value or remove the key."
            )
        servers.append(server)
    return servers


def compare(entries: Iterable[Entry], servers: Iterable[Server], allow_unexpected: bool) -> Record:
    """Return the findings, as the module ``fleet_info`` does.

    Raises OptionError if two entries declare the same server.
    """
    servers = sorted(servers, key=lambda server: (_name(server), server.id))
    result: Record = {"missing": [], "different": [], "unexpected": [], "ambiguous": []}
    lines = []  # of the report, each after the name by which it is sorted
    declared: dict[str, Entry] = {}  # by the id of a server
    for entry, name, ids in _resolve(entries, servers):
        if not ids:
            result["missing"].append(entry)
            lines.append((name, f"{as_word(name)} is missing"))
        elif len(ids) == 1:
            declared[ids[0]] = entry
        else:
            result["ambiguous"].append({"name": name, "ids": ids})
            shown = f"{len(ids)} servers ({summarise(ids)})"
            lines.append((name, f"{as_word(name)} is the name of {shown}"))
            # Each of them is expected; another entry may declare more, by its id.
            for identifier in ids:
                declared.setdefault(identifier, {})
    for server in servers:
        if server.id in declared:
            differences, line = _compare_server(server, declared[server.id])
            if differences:
                record = {"id": server.id, "name": server.fields.get("name")}
                result["different"].append({**record, "differences": differences})
                lines.append((_name(server), line))
        else:
            result["unexpected"].append(server.fields)
            if not allow_unexpected:
                lines.append((_name(server), f"{server.label} is not declared"))
    result["report"] = [line for _key, line in sorted(lines)]
    result["in_sync"] = not lines
    return result


def _resolve(
    entries: Iterable[Entry], servers: Iterable[Server]
) -> Iterator[tuple[Entry, str, list[str]]]:
    """Yield each entry with its name or id, and the ids of its servers: several with that name.

    Raises OptionError if two entries declare the same server.
    """
    ids_by: dict[tuple[str, ...], list[str]] = {}  # by a field and its value
    for server in servers:
        for key in ("id", "name"):
            ids_by.setdefault((key, server.text(key).strip()), []).append(server.id)
    positions: dict[tuple[str, ...], int] = {}  # of entries, by their servers
    for position, entry in enumerate(entries, start=1):
        key = "name" if "name" in entry else "id"
        name = entry[key].strip()
        declared = (key, name)
        ids = sorted(ids_by.get(declared, []))
        found = tuple(ids) or declared
        first = positions.setdefault(found, position)
        if first != position:
            raise OptionError(
                f"servers: entry {position} ({as_word(name)}) declares the same server as entry "
                f"{first}.",
                "Remove one of them.",
            )
        yield entry, name, ids


def _compare_server(server: Server, entry: Entry) -> tuple[Record, str]:
    """Return the values of each field that differs, and the line, which names it as the entry."""
    differences = {}
    parts = []
    for field in DECLARED_FIELDS:
        expected = entry.get(field, "").strip()
        actual = server.text(field)
        if expected and actual.strip() != expected:
            differences[field] = {"expected": expected, "actual": server.fields.get(field)}
            parts.append(f"the {field} {as_word(actual)} instead of {as_word(expected)}")
    label = as_word(entry["name"].strip()) if "name" in entry else server.label
    return differences, f"{label} has {' and '.join(parts)}"


def _name(server: Server) -> str:
    return server.text("name") or server.id
