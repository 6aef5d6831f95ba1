# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Generate an account or take that of the documents, and change it while it is served."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from ipaddress import IPv4Address
from typing import Any

REGIONS = ("eu-central", "us-east", "ap-south")
PLANS = ("small", "medium", "large", "xlarge")
ROLES = ("web", "db", "web", "app", "cache", "web", "worker")

# The documentation of the API shows only `running`; the others are marked as invented.
STATUSES = (
    ("running",) * 5 + ("made-up-stopped",) + ("running",) * 4 + ("made-up-starting", "running")
)

# Reserved for benchmarks, as are the 130,000 next ones (RFC 2544): no real host has them.
FIRST_ADDRESS = IPv4Address("198.18.0.1")
FIRST_CREATED = datetime(2024, 1, 1, tzinfo=timezone.utc)

# A server with each documented field. All other servers, also those of tests, are made from it.
SERVER = {
    "id": "srv_1",
    "name": "web-1",
    "status": "running",
    "plan": "small",
    "region": "eu-1",
    "ipv4": "192.0.2.1",
    "created_at": "2026-01-01T00:00:00Z",
}

# The account that README.md and the guides show. All servers are running.
EXAMPLE_FIELDS = ("id", "name", "plan", "region", "ipv4", "created_at")
# Fields that it does not need are empty, so that its groups stay as they are shown.
OTHER_FIELDS = {name: type(value)() for name, value in SERVER.items()} | {"status": "running"}
EXAMPLE = """
srv_4f2a91c07d web-01 small  eu-1 {}.10 2026-01-15T09:30:00Z
srv_8c1d20e94b web-02 medium eu-1 {}.11 2026-01-15T09:31:00Z
srv_b7035fa612 db-01  large  eu-2 {}.20 2025-11-02T14:05:00Z
"""
EXAMPLE_NETWORKS = {"documentation": "192.0.2", "loopback": "127.0.2"}


def make_servers(count: int) -> list[dict[str, str]]:
    """Return `count` servers in the documented form; a larger count only appends servers."""
    numbers: Counter[str] = Counter()
    return [_make_server(index, numbers) for index in range(count)]


def example_servers(addresses: str = "loopback") -> list[dict[str, str]]:
    """Return the account of the documents, which show it with documentation addresses."""
    table = EXAMPLE.replace("{}", EXAMPLE_NETWORKS[addresses])
    servers = []
    for line in table.strip().splitlines():
        fields = zip(EXAMPLE_FIELDS, line.split(), strict=True)
        servers.append({**OTHER_FIELDS, **dict(fields)})
    return servers


def _make_server(index: int, numbers: Counter[str]) -> dict[str, str]:
    """Return the server at `index`, named after its role and the role's next number."""
    role = ROLES[index % len(ROLES)]
    numbers[role] += 1
    number = numbers[role]
    server = {**SERVER, "id": f"srv_{index:010x}"}
    server["name"] = f"{role}-{number:02}"
    server["status"] = STATUSES[index % len(STATUSES)]
    server["plan"] = PLANS[index // len(REGIONS) % len(PLANS)]
    server["region"] = REGIONS[index % len(REGIONS)]
    server["ipv4"] = str(FIRST_ADDRESS + index)
    created = FIRST_CREATED + timedelta(minutes=index)
    server["created_at"] = created.strftime("%Y-%m-%dT%H:%M:%SZ")
    return server


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
            server = {**SERVER, "id": f"srv_new_{count}", "name": self.server}
            server["ipv4"] = f"192.0.2.{count % 254 + 1}"
            servers.append({**server, **self.fields})
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
