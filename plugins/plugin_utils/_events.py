# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events: the differences between two listings, with harmless text only.

It imports no Ansible: ansible-rulebook may run where none is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..module_utils._errors import CloudError
from ..module_utils._models import Fields, Server
from ..module_utils._text import is_plain, plain
from ._names import NameRules, assign_names

Event = dict[str, Any]

# The key of a server's host name: in its events, and in ``changed`` and ``before``.
HOSTNAME = "inventory_hostname"

# Playbooks run on this host for an event that is about no host. A server that is gone has none: its
# name may be another server's by now.
_NO_HOST = "localhost"

_ABSENT = object()  # instead of a value that a record does not have

# Punctuation of our own messages, which is replaced so that they read well as plain text.
_in_parentheses = re.compile(r" \(([^()]*)\)")
_PUNCTUATION = str.maketrans(";=", ", ", "\"'`[]!")


class Snapshot:
    """The servers of the account by id, and the name that the inventory gives to each of them.

    Hosts of other sources and groups of a file are not known here. ``name_field`` is the field by
    which the inventory names hosts: ``name`` or ``id``.
    """

    def __init__(self, servers: Mapping[str, Server], name_field: str) -> None:
        self.servers = servers
        preferences: dict[str, tuple[str, ...]] = {}
        if name_field == "id":
            preferences = {identifier: (identifier,) for identifier in servers}
        self.names = assign_names(servers.values(), NameRules(), preferences).names

    def with_events(self) -> list[Server]:
        """Return the servers that have events, in the order of their host names.

        An id with other characters can't be in an event: with these replaced, it could be the id of
        another server.
        """
        servers = [server for server in self.servers.values() if is_plain(server.id)]
        return sorted(servers, key=lambda server: self.names[server.id])


class History:
    """What the last polls found: the servers, and whether the API is failing.

    With ``initial``, the servers of the first listing appear.
    """

    def __init__(self, name_field: str, initial: bool) -> None:
        self._name_field = name_field
        self._last = Snapshot({}, name_field) if initial else None
        self._is_failing = False

    def fail(self, error: CloudError) -> list[Event]:
        """Return an event for the first of several failures in a row."""
        if self._is_failing:
            return []
        self._is_failing = True
        content = {**error.as_result(), "message": plain_message(str(error))}
        return [_event(_NO_HOST, event="failed", error=content)]

    def update(self, servers: Iterable[Server], is_partial: bool = False) -> list[Event]:
        """Return the end of a failure, then the differences from the last snapshot.

        Servers that a partial listing does not have may still exist.
        """
        found: dict[str, Server] = {}
        if is_partial and self._last:
            found.update(self._last.servers)
        found.update({server.id: server for server in servers})
        now = Snapshot(found, self._name_field)
        events: list[Event] = []
        if self._is_failing:
            events.append(_event(_NO_HOST, event="recovered"))
        if self._last is not None:
            events += compare_snapshots(self._last, now)
        self._last = now
        self._is_failing = False
        return events


def compare_snapshots(before: Snapshot, now: Snapshot) -> Iterator[Event]:
    """Yield the events of servers that are gone, then of those that changed, then of new ones.

    Each kind is in the order of the host names. Servers that are gone come first, because another
    server may now have their name or address.
    """
    for server in before.with_events():
        if server.id not in now.servers:
            yield _server_event("gone", before.names[server.id], server=server.fields)
    servers = now.with_events()
    for server in servers:
        if server.id in before.servers:
            yield from _changes(before, now, server)
    for server in servers:
        if server.id not in before.servers:
            yield _server_event("appeared", now.names[server.id], server=server.fields)


def _changes(before: Snapshot, now: Snapshot, server: Server) -> Iterator[Event]:
    """Yield an event if fields of a server or its host name changed."""
    old = before.servers[server.id].fields
    new = server.fields
    old_name = before.names[server.id]
    name = now.names[server.id]
    changed = set()
    for field in old.keys() | new.keys():
        if old.get(field, _ABSENT) != new.get(field, _ABSENT):
            changed.add(plain(field))
    if old_name != name:
        changed.add(HOSTNAME)
    if changed:
        event = _server_event("changed", name, server=new, before=old)
        content = event["server_management"]
        content["changed"] = sorted(changed)
        if old_name != name:
            content["before"][HOSTNAME] = old_name
        yield event


def _server_event(kind: str, name: str, **records: Fields) -> Event:
    """Return an event about a server with a host name, with its fields in each of ``records``."""
    content: dict[str, Any] = {"event": kind, HOSTNAME: name}
    replaced = set()
    for key, fields in records.items():
        shown = plain_value(fields)
        content[key] = shown
        for field, value in fields.items():
            if shown.get(field, _ABSENT) != value:
                replaced.add(plain(field))
    if replaced:
        content["replaced"] = sorted(replaced)
    hosts = _NO_HOST if kind == "gone" else name
    return _event(hosts, **content)


def _event(hosts: str, **content: Any) -> Event:
    """Return an event; ansible-rulebook limits its playbooks to ``hosts``."""
    return {"server_management": content, "meta": {"hosts": hosts}}


def plain_message(text: str) -> str:
    """Return a message as plain text, with commas instead of parentheses and without quotes."""
    return plain(_in_parentheses.sub(r", \1", text).translate(_PUNCTUATION))


def plain_value(value: Any) -> Any:
    """Return a JSON value with plain text only, without the fields that have other names.

    ansible-rulebook passes events to playbooks as trusted variables, so that text which could be a
    template would be rendered on the control node. It refuses an empty name.
    """
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return [plain_value(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain_value(item) for key, item in value.items() if key and is_plain(key)}
    return value
