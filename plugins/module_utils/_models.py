# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The servers of an account, with validated fields, and how messages name them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from ._errors import MalformedResponse, TooFewServers
from ._text import as_word, count_of, first_of

# The fields that the API documents for a server, in its order; their values are text.
FIELDS = ("id", "name", "status", "plan", "region", "ipv4", "created_at")
# The fields whose values make groups of hosts, with the prefixes of these groups.
GROUP_FIELDS = {"status": "status_", "plan": "plan_", "region": "region_"}
# The options that keep only the servers with one of their values, with the field of these values.
SELECTING_OPTIONS = {"statuses": "status", "plans": "plan", "regions": "region"}

_ASK_PROVIDER = "The API does not document such a response: check base_url, then ask the provider."


# The fields of a server, documented or not, with values of JSON.
Fields = Mapping[str, Any]


class Server(NamedTuple):
    """One server: ``fields`` has the documented fields that were usable, and all other fields."""

    id: str
    fields: Fields

    def text(self, field: str) -> str:
        """Return a documented field, or an empty text if the API gave none."""
        text: str = self.fields.get(field, "")
        return text

    @property
    def label(self) -> str:
        """The name, if there is one, and the id, for a message."""
        name = self.text("name")
        if not name:
            return as_word(self.id)
        return f"{as_word(name)} ({as_word(self.id)})"


class Listing(NamedTuple):
    """The servers of the account, and how they were read.

    ``how_read`` is for a message; ``age`` is in seconds, or None if the listing is from the API.
    """

    servers: list[Server]
    how_read: str
    is_partial: bool = False
    age: float | None = None


def server_from_api(element: Any, position: int) -> Server:
    """Validate one element of a listing; ``position`` (from 0) is only for the message.

    Documented fields of the wrong type are dropped, and so are fields with text that UTF-8 can't
    encode: JSON can contain halves of characters, but neither a file nor a terminal can. Raises
    MalformedResponse if the element is not an object, or has no ``id`` that is a non-empty text.
    """
    if not isinstance(element, dict):
        raise MalformedResponse(f"Element {position} of data is not an object.", _ASK_PROVIDER)
    fields = {}
    for key, value in element.items():
        has_type = isinstance(value, str) or key not in FIELDS
        if has_type and _can_be_encoded(key) and _can_be_encoded(value):
            fields[key] = value
    if not fields.get("id"):
        raise MalformedResponse(f"Element {position} of data has no text id.", _ASK_PROVIDER)
    return Server(fields["id"], fields)


def merge(servers: dict[str, Server], elements: Iterable[Any]) -> None:
    """Validate the elements of one response and add them to ``servers``, each id once.

    The last of several elements with the same id is kept, because a later page is newer.
    """
    for position, element in enumerate(elements):
        server = server_from_api(element, position)
        servers[server.id] = server


def summarise_servers(servers: Iterable[Server]) -> str:
    """Name the first three servers by name and id, and count the others.

    For example: db-01 (srv_3), web-01 (srv_1), web-02 (srv_2) and 4 more.
    """
    labels = sorted(server.label for server in servers)
    return first_of(labels, 3)


def describe_unusable(servers: Collection[Server], fields: Iterable[str] = FIELDS) -> list[str]:
    """Return one message for each documented field that was missing or not text."""
    messages = []
    for field in fields:
        lacking = [server for server in servers if field not in server.fields]
        if lacking:
            count = count_of(len(lacking), "server")
            messages.append(
                f"The field {field} is missing or not text for {count}: "
                f"{summarise_servers(lacking)}."
            )
    return messages


def check_min_servers(servers: Collection[Server], least: int) -> None:
    """Raise TooFewServers if the account has fewer servers than the option min_servers requires."""
    if len(servers) < least:
        raise TooFewServers(
            f"min_servers: {least} or more expected, but the account has {len(servers)}.",
            "Check whether the token is for the right account.",
        )


def _can_be_encoded(value: Any) -> bool:
    """Return whether UTF-8 can encode all texts of a JSON value."""
    if isinstance(value, str):
        return value.isascii() or value.encode(errors="ignore").decode() == value
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        return all(map(_can_be_encoded, value))
    return True
