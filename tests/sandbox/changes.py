# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Change the account while it is served: servers appear, change and disappear on a schedule."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .account import SERVER, addresses_of

KINDS = ("appear", "change", "disappear")


@dataclass(frozen=True)
class Change:
    """One change of the account, `at` seconds after the sandbox starts.

    `server` is the name of a new server, or the name or id of the servers to change or remove;
    `fields` are the new values.
    """

    kind: str
    server: str
    at: float = 0.0
    fields: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse an invalid change."""
        if self.kind not in KINDS:
            raise ValueError(f"change: expected one of {', '.join(KINDS)}, not {self.kind!r}")
        if not 0 <= self.at < float("inf"):
            raise ValueError("change: expected at to be 0 or more seconds")
        if not self.server:
            raise ValueError(f"change: {self.kind} needs the name of a server")
        if self.kind == "change" and not self.fields:
            raise ValueError(f"change: {self.server}: nothing is to be changed")
        if self.fields and self.kind == "disappear":
            raise ValueError(f"change: {self.server}: a server that disappears has no new values")

    def apply(self, servers: list[Any], addresses: str) -> list[Any]:
        """Return the account after the change; raise ValueError for an unknown server."""
        if self.kind == "appear":
            return [*servers, self._new_server(servers, addresses)]
        chosen = [server for server in servers if self._matches(server)]
        if not chosen:
            raise ValueError(f"change: no server is named {self.server!r} after {self.at:g} s")
        if self.kind == "disappear":
            return [server for server in servers if not self._matches(server)]
        return [
            {**server, **self.fields} if self._matches(server) else server for server in servers
        ]

    def _matches(self, server: Any) -> bool:
        return isinstance(server, dict) and self.server in (server.get("name"), server.get("id"))

    def _new_server(self, servers: list[Any], addresses: str) -> dict[str, Any]:
        """Return a server with the next free address; the same change gives the same server."""
        used = {server.get("ipv4") for server in servers if isinstance(server, dict)}
        digest = hashlib.sha256(f"{self.server}@{self.at:g}".encode()).hexdigest()
        return {
            **SERVER,
            "id": f"srv_{digest[:14]}",
            "name": self.server,
            "region": "eu-central",
            "ipv4": next(ip for ip in map(str, addresses_of(addresses)) if ip not in used),
            **self.fields,
        }


class Schedule:
    """The pending changes, in order; `clock` returns seconds."""

    def __init__(
        self,
        changes: Iterable[Change],
        addresses: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pending = sorted(changes, key=lambda change: change.at)
        self._addresses = addresses
        self._clock = clock
        self._start: float | None = None
        self._lock = threading.Lock()

    def check(self, servers: list[Any]) -> None:
        """Raise ValueError if a change cannot be applied to this account."""
        for change in self._pending:
            servers = change.apply(servers, self._addresses)

    def start(self) -> None:
        """Start the clock, unless it has been started."""
        if self._start is None:
            self._start = self._clock()

    def apply(self, servers: list[Any]) -> None:
        """Apply the changes that are due, in place."""
        with self._lock:
            while self._start is not None and self._pending:
                if self._clock() - self._start < self._pending[0].at:
                    return
                servers[:] = self._pending.pop(0).apply(servers, self._addresses)
