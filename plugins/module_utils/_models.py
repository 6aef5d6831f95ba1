# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The servers of an account, with validated fields, and how messages name them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from ._errors import MalformedResponse, TooFewServers
from ._text import as_word, count_of, first_of


class Field(NamedTuple):
    """What the collection does with a field that the API documents; its values are text.

    ``prefix`` begins the names of the groups of hosts that its values make, ``option`` keeps only
    the servers with some of its values, and ``is_declared``: an entry of a fleet can have it.
    """

    prefix: str = ""
    option: str = ""
    is_declared: bool = False


# In the order of the API's documentation. A server that lacks one of them, or whose value is not
# text, causes a warning.
FIELDS = {
    "id": Field(),
    "name": Field(),
    "status": Field("status_", "statuses", is_declared=True),
    "plan": Field("plan_", "plans", is_declared=True),
    "region": Field("region_", "regions", is_declared=True),
    "ipv4": Field(),
    "created_at": Field(),
}
# The prefix by the field, the field by the option, and the fields of an entry of a fleet.
GROUP_FIELDS = {name: field.prefix for name, field in FIELDS.items() if field.prefix}
SELECTING_OPTIONS = {field.option: name for name, field in FIELDS.items() if field.option}
DECLARED_FIELDS = [name for name, field in FIELDS.items() if field.is_declared]

_ASK_PROVIDER = "The API does not document such a response: check base_url, then ask the provider."

# The fields of a server, documented or not, with values of JSON.
Fields = Mapping[str, Any]
# An object of JSON that a module returns, or a part of it, by the names of the documentation.
Record = dict[str, Any]


class Server(NamedTuple):
    """One server: ``fields`` has the documented fields that were usable, and all other fields."""

    id: str
    fields: Fields

    def text(self, field: str) -> str:
        """Return a documented field, or an empty text if the API gave none."""
        text: str = self.fields.get(field, "")
        return text

    def values(self, field: str) -> list[str]:
        """Return the values of a documented field, which make groups and by which options select.

        Today, each field has one value, or none.
        """
        text = self.text(field)
        return [text] if text else []

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
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        has_type = text is value or key not in FIELDS
        text += key
        if has_type and text.encode(errors="ignore").decode() == text:
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
    """Count servers, and name the first three by name and id.

    For example: 7 servers: db-01 (srv_3), web-01 (srv_1), web-02 (srv_2) and 4 more.
    """
    labels = sorted(server.label for server in servers)
    return f"{count_of(len(labels), 'server')}: {first_of(labels, 3)}"


def describe_unusable(servers: Collection[Server], fields: Iterable[str]) -> list[str]:
    """Return one message for each documented field that was missing or not text."""
    messages = []
    for field in fields:
        lacking = [server for server in servers if field not in server.fields]
        if lacking:
            shown = summarise_servers(lacking)
            messages.append(f"The field {field} is missing or not text for {shown}.")
    return messages


def check_min_servers(servers: Collection[Server], least: int) -> None:
    """Raise TooFewServers if the account has fewer servers than the option min_servers requires."""
    if len(servers) < least:
        raise TooFewServers(
            f"min_servers: {least} or more expected, but the account has {len(servers)}.",
            "Check whether the token is for the right account.",
        )
