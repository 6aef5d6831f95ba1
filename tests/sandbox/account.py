# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Generate an account, the same for the same number of servers, or take that of the documents."""

from __future__ import annotations

import hashlib
import ipaddress
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import chain, islice

REGIONS = ("eu-central", "us-east", "ap-south")
PLANS = ("small", "medium", "large", "xlarge")
ROLES = ("web", "db", "web", "app", "cache", "web", "worker")

# The documentation of the API shows only `running`; the others are marked as invented.
STATUSES = (
    ("running",) * 5 + ("made-up-stopped",) + ("running",) * 4 + ("made-up-starting", "running")
)

# Reserved for documentation (RFC 5737) and for benchmarks (RFC 2544): no real host has them.
DOCUMENTATION_NETWORKS = ("203.0.113.0/24", "198.51.100.0/24", "192.0.2.0/24", "198.18.0.0/15")
FIRST_CREATED = datetime(2024, 1, 1, tzinfo=timezone.utc)
TWO_YEARS = 2 * 365 * 24 * 3600

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

# The account that README.md and the guides show: id, name, plan, region, last part of the address,
# created_at. All servers are running.
EXAMPLE = (
    ("srv_4f2a91c07d", "web-01", "small", "eu-1", 10, "2026-01-15T09:30:00Z"),
    ("srv_8c1d20e94b", "web-02", "medium", "eu-1", 11, "2026-01-15T09:31:00Z"),
    ("srv_b7035fa612", "db-01", "large", "eu-2", 20, "2025-11-02T14:05:00Z"),
)
EXAMPLE_NETWORKS = {"documentation": "192.0.2", "loopback": "127.0.2"}


def make_servers(count: int, addresses: str = "documentation") -> list[dict[str, str]]:
    """Return `count` servers in the documented form; a larger count only appends servers."""
    if count < 0:
        raise ValueError("servers: expected 0 or more")
    numbers: Counter[str] = Counter()
    ipv4s = [str(address) for address in islice(addresses_of(addresses), count)]
    if len(ipv4s) < count:
        raise ValueError(f"servers: expected at most {len(ipv4s)} with {addresses} addresses")
    return [_server(index, ipv4, numbers) for index, ipv4 in enumerate(ipv4s)]


def example_servers(addresses: str = "loopback") -> list[dict[str, str]]:
    """Return the account of the documents, which show it with documentation addresses."""
    return [
        {
            **SERVER,
            "id": identifier,
            "name": name,
            "plan": plan,
            "region": region,
            "ipv4": f"{EXAMPLE_NETWORKS[addresses]}.{last}",
            "created_at": created_at,
        }
        for identifier, name, plan, region, last, created_at in EXAMPLE
    ]


def addresses_of(kind: str) -> Iterator[ipaddress.IPv4Address]:
    """Yield unique addresses; the first loopback address is that of the sandbox itself."""
    if kind == "loopback":
        return islice(ipaddress.IPv4Network("127.0.0.0/8").hosts(), 1, None)
    if kind == "documentation":
        return chain.from_iterable(
            ipaddress.IPv4Network(network).hosts() for network in DOCUMENTATION_NETWORKS
        )
    raise ValueError(f"addresses: expected documentation or loopback, not {kind!r}")


def _server(index: int, ipv4: str, numbers: Counter[str]) -> dict[str, str]:
    """Return the server at `index`, named after its role and the role's next number."""
    role = ROLES[index % len(ROLES)]
    numbers[role] += 1
    created = FIRST_CREATED + timedelta(seconds=index * 54_321 % TWO_YEARS)
    return {
        **SERVER,
        "id": "srv_" + hashlib.sha256(b"%d" % index).hexdigest()[:14],
        "name": f"{role}-{numbers[role]:02}",
        "status": STATUSES[index % len(STATUSES)],
        "plan": PLANS[index // len(REGIONS) % len(PLANS)],
        "region": REGIONS[index % len(REGIONS)],
        "ipv4": ipv4,
        "created_at": created.isoformat().removesuffix("+00:00") + "Z",
    }
