# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A server of the account, checked once, for host variables and module results alike.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
    OptionError,
)

# The fields that the API documents for a server; all are text.
FIELDS = ("id", "name", "status", "plan", "region", "ipv4", "created_at")
_TEXT_FIELDS = frozenset(FIELDS)

# Far beyond any sensible resource, and well within what Ansible's own recursion stands.
_MAX_DEPTH = 32


@dataclass(frozen=True)
class Server:
    """One server: ``fields`` has the documented fields that were usable, and any added later."""

    id: str
    fields: Mapping[str, Any]

    def text(self, field: str) -> str:
        """Return a documented field, or an empty text where the API gave none."""
        text: str = self.fields.get(field, "")
        return text

    @property
    def unusable(self) -> list[str]:
        """List the documented fields that were missing or not text."""
        if self.fields.keys() >= _TEXT_FIELDS:
            return []
        return [field for field in FIELDS if field not in self.fields]


def server_from_api(element: Any, position: int) -> Server:
    """Check one element of a listing; ``position`` (from 0) is for the message alone.

    A field that is missing or of the wrong type costs that field. Raises MalformedResponse where
    there is no server to speak of: no object, or no non-empty text ``id``.
    """
    if not isinstance(element, dict):
        raise MalformedResponse(f"Element {position} of data is not an object.", _REPORT)
    identifier = element.get("id")
    # Spelling out what is no text would make two ids one.
    if not isinstance(identifier, str) or not identifier or _valid_text(identifier) != identifier:
        raise MalformedResponse(f"Element {position} of data has no text id.", _REPORT)
    if not _is_ascii(element):
        element = {
            _valid_text(key): _valid(value)
            for key, value in element.items()
            if isinstance(value, str) or key not in _TEXT_FIELDS
        }
    return Server(identifier, element)


def merge(servers: dict[str, Server], elements: Iterable[Any]) -> None:
    """Check the elements of one answer and add them to ``servers``, each id once.

    Where two elements of one id differ, the choice depends on what they say and not on where
    they stand, so that the same answer in another order gives the same servers.
    """
    for position, element in enumerate(elements):
        server = server_from_api(element, position)
        known = servers.setdefault(server.id, server)
        if known is not server:
            servers[server.id] = max(known, server, key=_canonical)


def select(servers: Iterable[Server], wanted: Mapping[str, list[str] | None]) -> list[Server]:
    """Keep the servers whose fields have one of the wanted values.

    ``wanted`` maps a field to the values to keep, or to None for any. An empty list raises
    OptionError: it is more often a template gone wrong than a wish for no server at all.
    """
    choices: dict[str, frozenset[str]] = {}
    for field, values in wanted.items():
        if values is None:
            continue
        if not values:
            option = {"status": "statuses"}.get(field, f"{field}s")
            raise OptionError(f"{option}: the list is empty.", "Leave it out to keep all.")
        choices[field] = frozenset(values)
    return [
        server
        for server in servers
        if all(server.text(field) in values for field, values in choices.items())
    ]


_REPORT = "The API does not document such an answer: check base_url, then ask the provider."


def _is_ascii(element: dict[str, Any]) -> bool:
    """Tell whether all is ASCII text, as it is for most servers, so that nothing needs a look."""
    try:
        return "".join(element.values()).isascii() and "".join(element).isascii()
    except TypeError:
        return False


def _canonical(server: Server) -> str:
    return json.dumps(server.fields, sort_keys=True)


def _valid(value: Any, depth: int = 0) -> Any:
    """Return a JSON value whose every text can be encoded."""
    if isinstance(value, str):
        return _valid_text(value)
    if isinstance(value, (dict, list)):
        if depth >= _MAX_DEPTH:
            raise MalformedResponse(f"A field is nested deeper than {_MAX_DEPTH} levels.", _REPORT)
        if isinstance(value, list):
            return [_valid(item, depth + 1) for item in value]
        return {_valid_text(key): _valid(item, depth + 1) for key, item in value.items()}
    return value


def _valid_text(text: str) -> str:
    """Spell out lone surrogates, which JSON can carry and neither a file nor a terminal can."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
