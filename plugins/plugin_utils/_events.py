# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events: the differences between two listings, with harmless text only.

It imports no Ansible: ansible-rulebook may run where none is installed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..module_utils._errors import CloudError
from ..module_utils._models import GROUP_FIELDS, Server
from ..module_utils._text import is_plain, plain
from ._names import assign_names

Event = dict[str, Any]

# The key of the host name in ``changed`` and ``before``, beside the API's fields.
HOSTNAME = "inventory_hostname"

# Characters of a text or a key. ansible-rulebook loses an event with a key of more than 50,000 or
# a text of more than 20,000,000 (the limits of its JSON parser, Jackson).
_MAX_TEXT = 10_000

# The groups of an inventory file with default options.
_GROUPS = frozenset({"all", "ungrouped", "server_management"})
_GROUP_PREFIXES = tuple(GROUP_FIELDS.values())

# Punctuation of our own messages, which is replaced so that they read well as plain text.
_in_parentheses = re.compile(r" \(([^()]*)\)")
_PUNCTUATION = {ord(";"): ",", ord("="): " ", **dict.fromkeys(map(ord, "\"'`[]!"))}
_ends_like_event_id = re.compile(r"\+[0-9a-f]{32}\Z").search


class _DefaultGroups:
    """The names that the groups of an inventory file with default options have or can get."""

    def __contains__(self, name: object) -> bool:
        return name in _GROUPS or (isinstance(name, str) and name.startswith(_GROUP_PREFIXES))


class Listing:
    """The servers of the account by id, and the name that the inventory gives to each of them."""

    def __init__(self, servers: Iterable[Server], hosts: str, is_partial: bool = False) -> None:
        self._hosts = hosts
        self.is_partial = is_partial
        self.servers = {server.id: server for server in servers}
        self.names = assign_names(
            {
                server.id: [server.id if hosts == "id" else server.text("name")]
                for server in self.servers.values()
            },
            _DefaultGroups(),
            lambda _name, _server_id: False,
        ).names

    def completed(self, before: Listing) -> Listing:
        """Return a partial listing with the servers of the last one, which may still exist."""
        if not self.is_partial:
            return self
        return Listing({**before.servers, **self.servers}.values(), self._hosts)

    def in_order(self) -> list[Server]:
        """Return the servers in the order of their host names."""
        return sorted(self.servers.values(), key=lambda server: self.names[server.id])


class History:
    """What the last polls found: the listing, and whether the API is failing.

    With ``initial``, the servers of the first listing appear.
    """

    def __init__(self, initial: bool) -> None:
        self._listing = Listing((), "name") if initial else None
        self._is_failing = False

    def fail(self, error: CloudError) -> Iterator[Event]:
        """Yield an event for the first of several failures in a row."""
        if not self._is_failing:
            self._is_failing = True
            yield _failed(error)

    def update(self, listing: Listing) -> Iterator[Event]:
        """Yield the end of a failure, then the differences from the last listing."""
        if self._is_failing:
            self._is_failing = False
            yield {"server_management": {"event": "recovered"}}
        before, self._listing = self._listing, listing
        if before is not None:
            self._listing = listing.completed(before)
            yield from compare_listings(before, self._listing)


def compare_listings(before: Listing, now: Listing) -> Iterator[Event]:
    """Yield the events of servers that are gone, then of those that changed, then of new ones.

    Each kind is in the order of the host names. Servers that are gone come first, because another
    server may now have their name or address.
    """
    for server in before.in_order():
        if server.id not in now.servers:
            yield _event("gone", server, before)
    new = []
    for server in now.in_order():
        known = before.servers.get(server.id)
        if known is None:
            new.append(server)
        else:
            yield from _changes(before, now, known, server)
    for server in new:
        yield _event("appeared", server, now)


def _changes(before: Listing, now: Listing, known: Server, server: Server) -> Iterator[Event]:
    """Yield an event if fields of a server or its host name changed."""
    missing = object()
    changed = {
        plain_key(field)
        for field in known.fields.keys() | server.fields.keys()
        if not _is_same(known.fields.get(field, missing), server.fields.get(field, missing))
    }
    has_new_name = before.names[server.id] != now.names[server.id]
    if not (changed or has_new_name):
        return
    earlier, replaced = plain_fields(known.fields)
    if has_new_name:
        changed.add(HOSTNAME)
        earlier[HOSTNAME] = before.names[server.id]
    event = _event("changed", server, now)
    content = event["server_management"]
    content.update(before=earlier, changed=sorted(changed))
    if replaced := sorted({*replaced, *content.get("replaced", ())}):
        content["replaced"] = replaced
    yield event


def _is_same(value: Any, other: Any) -> bool:
    """Compare values as JSON does: to Python, true is the same as 1."""
    if value != other or isinstance(value, str):
        return bool(value == other)
    return json.dumps(value, sort_keys=True) == json.dumps(other, sort_keys=True)


def _event(kind: str, server: Server, listing: Listing) -> Event:
    fields, replaced = plain_fields(server.fields)
    content: dict[str, Any] = {"event": kind, "server": fields}
    if replaced:
        content["replaced"] = replaced
    return {"server_management": content, "meta": {"hosts": listing.names[server.id]}}


def _failed(error: CloudError) -> Event:
    content = {"code": error.code, "message": plain_message(str(error)), "status": error.status}
    return {"server_management": {"event": "failed", "error": content}}


def plain_message(text: str) -> str:
    """Return a message as plain text, with commas instead of parentheses and without quotes."""
    return plain(_in_parentheses.sub(r", \1", text).translate(_PUNCTUATION))


def event_id(server_id: str) -> str:
    """Return the id that a server has in events; different ids stay different.

    An id that is not plain becomes its plain characters and a digest: srv#1 becomes
    srv1+ec8bc2df5d..., because srv_1 can be another server.
    """
    # A plain id that looks like the result for another one gets a digest, too.
    if _short_plain(server_id) == server_id and not _ends_like_event_id(server_id):
        return server_id
    digest = hashlib.sha256(server_id.encode()).hexdigest()[:32]
    return f"{''.join(filter(is_plain, server_id[:_MAX_TEXT]))}+{digest}"


def plain_fields(fields: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a server's fields with plain text only, and the names of those that were altered.

    ansible-rulebook passes events to playbooks as trusted variables, so that text which could be a
    template would be rendered on the control node.
    """
    result = {**map_texts(fields, _short_plain, plain_key), "id": event_id(fields["id"])}
    unaltered = {name for name, value in fields.items() if name in result and result[name] == value}
    return result, sorted(result.keys() - unaltered)


def map_texts(value: Any, change: Callable[[str], str], rename: Callable[[str], str]) -> Any:
    """Return a JSON value with its texts changed, and the keys of its objects renamed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [map_texts(item, change, rename) for item in value]
    if isinstance(value, Mapping):
        return {rename(key): map_texts(item, change, rename) for key, item in value.items()}
    return value


def plain_key(key: str) -> str:
    """Return a key as short plain text that is not empty.

    An empty one would end the task of ansible-rulebook that reads events (dpath refuses it).
    """
    return _short_plain(key) or "_"


def _short_plain(text: str) -> str:
    return plain(text[:_MAX_TEXT])
