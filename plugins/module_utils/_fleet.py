# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the servers of an account with a declared fleet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ._errors import OptionError
from ._models import Server
from ._text import as_word, summarise

# What is declared for one server, by field.
Entry = Mapping[str, str]

_FIELDS = ("plan", "region", "status")
_MAX_IDS = 20  # of servers with the same name, in a message
_KINDS = ("missing", "different", "unexpected", "ambiguous")  # of findings


class _Finding(NamedTuple):
    """A finding: its line in the report, in the order of ``name`` and ``id``, and its record.

    ``kind`` is the key of the result whose list has the record.
    """

    name: str
    id: str
    line: str
    kind: str
    record: Mapping[str, Any]


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
    entries: Iterable[Entry], servers: Sequence[Server], allow_unexpected: bool
) -> dict[str, Any]:
    """Return the findings, as the module ``fleet_info`` does.

    Raises OptionError if two entries declare the same server.
    """
    result: dict[str, Any] = {kind: [] for kind in _KINDS}
    reported = []
    for finding in _find_all(entries, sorted(servers, key=_order)):
        result[finding.kind].append(finding.record)
        if finding.kind != "unexpected" or not allow_unexpected:
            reported.append(finding)
    result["ambiguous"].sort(key=lambda record: record["name"])
    reported.sort(key=lambda finding: finding[:3])
    result["in_sync"] = not reported
    result["report"] = [finding.line for finding in reported]
    return result


def _find_all(entries: Iterable[Entry], servers: Sequence[Server]) -> Iterator[_Finding]:
    """Yield the findings about entries, then those about servers."""
    ids_by: dict[tuple[str, str], list[str]] = {}  # by a field and its value
    for server in servers:
        for key in ("id", "name"):
            ids_by.setdefault((key, server.text(key).strip()), []).append(server.id)
    positions: dict[object, int] = {}  # of entries, by what identifies their servers
    declared: dict[str, Entry] = {}  # by the id of a server
    for position, entry in enumerate(entries, start=1):
        stripped = {key: value.strip() for key, value in entry.items()}
        key = "name" if "name" in entry else "id"
        name = stripped[key]
        label = as_word(name)
        ids = sorted(ids_by.get((key, name), []))
        identity = tuple(ids) or (key, name)
        earlier = positions.setdefault(identity, position)
        if earlier != position:
            raise OptionError(
                f"servers: entry {position} ({label}) declares the same server as entry {earlier}.",
                "Remove one of them.",
            )
        for identifier in ids:
            # An ambiguous name declares nothing about its servers, but that they are expected.
            declared.setdefault(identifier, {})
        if not ids:
            yield _Finding(name, "", f"{label} is missing", "missing", entry)
        elif len(ids) == 1:
            declared[ids[0]] = stripped
        else:
            line = f"{label} is the name of {len(ids)} servers ({summarise(ids, _MAX_IDS)})"
            yield _Finding(name, "", line, "ambiguous", {"name": name, "ids": ids})
    for server in servers:
        yield from _compare_server(server, declared.get(server.id))


def _compare_server(server: Server, entry: Entry | None) -> Iterator[_Finding]:
    """Yield the finding about a server, if any; ``entry`` declares it."""
    order = _order(server)
    if entry is None:
        yield _Finding(*order, f"{server.label} is not declared", "unexpected", server.fields)
        return
    fields = {}
    parts = []
    for field in _FIELDS:
        expected = entry.get(field)
        if not expected or server.text(field).strip() == expected:
            continue
        actual = server.fields.get(field)
        fields[field] = {"expected": expected, "actual": actual}
        part = f"no {field} (expected {as_word(expected)})"
        if actual:
            part = f"the {field} {as_word(actual)} instead of {as_word(expected)}"
        parts.append(part)
    if fields:
        label = server.label
        if "name" in entry:
            label = as_word(entry["name"])
        record = {"id": server.id, "name": server.fields.get("name"), "differences": fields}
        yield _Finding(*order, f"{label} has {_list(parts)}", "different", record)


def _order(server: Server) -> tuple[str, str]:
    return server.text("name") or server.id, server.id


def _list(parts: Sequence[str]) -> str:
    """Return parts of a sentence as one: "a, b and c"."""
    *first, last = parts
    if not first:
        return last
    return f"{', '.join(first)} and {last}"
