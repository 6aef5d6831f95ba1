# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Change the account while it is served: servers appear, change and disappear on a schedule."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .account import SERVER

KINDS = ("appear", "change", "disappear")


@dataclass(frozen=True)
class Change:
    """One change of the account, `at` seconds after the sandbox is created.

    `server` is the name of the server; `fields` are its new values.
    """

    kind: str
    server: str
    at: float = 0.0
    fields: Mapping[str, Any] = field(default_factory=dict)

    def apply(self, servers: list[Any]) -> None:
        """Change the account in place; a server that it does not have is left out."""
        if self.kind == "appear":
            count = len(servers)
            new = {"id": f"srv_new_{count}", "ipv4": f"192.0.2.{count % 254 + 1}"}
            servers.append({**SERVER, **new, "name": self.server, **self.fields})
            return
        for index, server in enumerate(servers):
            if server["name"] == self.server:
                if self.kind == "disappear":
                    del servers[index]
                else:
                    servers[index] = {**server, **self.fields}
                return


class Schedule:
    """The pending changes, in order."""

    def __init__(self, changes: Iterable[Change]) -> None:
        self._pending = sorted(changes, key=lambda change: change.at)
        self._start = time.monotonic()
        self._lock = threading.Lock()

    def apply(self, servers: list[Any]) -> None:
        """Apply the changes that are due, in place."""
        with self._lock:
            while self._pending:
                if time.monotonic() - self._start < self._pending[0].at:
                    return
                self._pending.pop(0).apply(servers)
