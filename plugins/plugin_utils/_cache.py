# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cache entry: a checked listing, for the account it came from and nobody else.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterable
from typing import Any

from ansible_collections.server_management.cloud.plugins.module_utils._connection import Connection
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server, merge
from ansible_collections.server_management.cloud.plugins.module_utils._response import parse_listing

_FORMAT = 1


def entry_key(connection: Connection) -> str:
    """Name the entry of an account: whatever could change the listing is part of it.

    The token goes into one digest with all the rest, so that no digest of it alone is on disk.
    """
    parts = (
        _FORMAT,
        connection.base_url,
        connection.api_token,
        connection.pagination,
        connection.pagination_parameter,
        connection.allow_partial,
        str(connection.verify),
    )
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return f"server_management.cloud.servers_{digest[:32]}"


def write_entry(servers: Iterable[Server]) -> dict[str, Any]:
    """Make the entry for a listing that was fetched now.

    The servers are one text: Ansible makes a deep copy of what goes into a cache.
    """
    listing = {"data": [server.fields for server in servers], "has_more": False}
    text = json.dumps(listing, separators=(",", ":"))
    return {"format": _FORMAT, "fetched": time.time(), "servers": text}


def read_entry(entry: Any) -> tuple[list[Server], float]:
    """Return the servers of an entry, checked as an answer of the API is, and their age in seconds.

    Raises ValueError where the entry is damaged or was not written by this format.
    """
    if not isinstance(entry, dict) or entry.get("format") != _FORMAT:
        raise ValueError("it is not in the format of this version")
    fetched, text = entry.get("fetched"), entry.get("servers")
    if not isinstance(fetched, float) or not math.isfinite(fetched) or not isinstance(text, str):
        raise ValueError("it lacks its time or its servers")
    servers: dict[str, Server] = {}
    try:
        data, has_more, _values = parse_listing(text.encode())
        merge(servers, data)
    except MalformedResponse as error:
        raise ValueError(error.message) from None
    if has_more:
        raise ValueError("its listing is not whole")
    return list(servers.values()), time.time() - fetched
