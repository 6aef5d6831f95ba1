# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cache entry of an account: a validated listing, and how long it may be used.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, MutableMapping
from typing import Any

from ansible.errors import AnsibleError

from ansible_collections.server_management.cloud.plugins.module_utils._envelope import parse_listing
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    MalformedResponse,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server, merge
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from ansible_collections.server_management.cloud.plugins.module_utils._text import one_line

_FORMAT = 1
# Exceptions raised by reading a damaged entry, in the cache plugin or in Ansible's decoder.
_ENTRY_ERRORS = (AnsibleError, AttributeError, LookupError, OSError, TypeError, ValueError)


class CacheEntry:
    """The listing of one account in a cache.

    It may be used for ``fresh`` seconds (0: without a limit), and for ``grace`` more seconds while
    the API is down.
    """

    def __init__(
        self,
        cache: MutableMapping[str, Any],
        connection: Connection,
        fresh: int,
        grace: int,
        warn: Callable[[str], None],
        trace: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._cache = cache
        self.key = _key(connection)
        self._fresh = fresh
        self._grace = grace
        self._warn = warn
        self._trace = trace
        self.age = 0.0  # seconds, of the entry that was read last

    def fresh_servers(self) -> list[Server] | None:
        """Return the servers of the entry if it is fresh, and None otherwise."""
        servers, age = self._read()
        if servers is None:
            self._trace(
                "cache: no entry for this base_url, token and pagination, or an expired one"
            )
        elif _is_within(age, self._fresh):
            return servers
        else:
            self._trace(f"cache: expired, {age:,.0f} s old; cache_timeout is {self._fresh:,} s")
        return None

    def stale_servers(self, error: CloudError) -> list[Server] | None:
        """Return the servers to use after an error of the API, with a warning; None if too old."""
        if not (self._grace and error.api_down):
            return None
        servers, age = self._read()
        if servers is None or not _is_within(age, self._fresh and self._fresh + self._grace):
            self._trace("cache: no entry that is young enough for stale_cache_timeout")
            return None
        self._warn(f"Using a stale listing, {age:.0f} s old. {error.message}")
        return servers

    def write(self, servers: Iterable[Server]) -> None:
        """Replace the entry by a listing that was fetched now.

        The servers are one text, because Ansible makes a deep copy of each cache entry.
        """
        listing = {"data": [server.fields for server in servers], "has_more": False}
        text = json.dumps(listing, separators=(",", ":"))
        self._cache[self.key] = {"format": _FORMAT, "fetched": time.time(), "servers": text}

    def _read(self) -> tuple[list[Server] | None, float]:
        """Return the servers of the entry, if it can be used, and their age in seconds."""
        try:
            entry = self._cache.get(self.key)
            if entry is not None:
                servers, self.age = _parse(entry)
                return servers, self.age
        except _ENTRY_ERRORS as error:
            reason = one_line(str(error)).rstrip(".")
            self._warn(f"The cache entry is damaged and not used: {reason}.")
        return None, 0.0


def _is_within(age: float, longest: int) -> bool:
    """Return whether an entry is young enough; ``longest`` is in seconds, and 0 is no limit.

    A negative age means that the entry was written with another clock, or by somebody else.
    """
    return not longest or 0 <= age <= longest


def _key(connection: Connection) -> str:
    """Return the key of an account's entry, a digest of everything that can change the listing.

    The token is part of this digest, so that no digest of the token alone is on disk.
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


def _parse(entry: Any) -> tuple[list[Server], float]:
    """Return the servers of an entry, validated like a response, and their age in seconds.

    Raises ValueError if the entry is damaged or has another format.
    """
    if not isinstance(entry, dict) or entry.get("format") != _FORMAT:
        raise ValueError("it is not in the format of this version")
    fetched, text = entry.get("fetched"), entry.get("servers")
    if not isinstance(fetched, float) or not math.isfinite(fetched) or not isinstance(text, str):
        raise ValueError("its time or its servers are missing")
    servers: dict[str, Server] = {}
    try:
        data, has_more, _values = parse_listing(text.encode())
        merge(servers, data)
    except MalformedResponse as error:
        raise ValueError(error.message) from None
    if has_more:
        raise ValueError("its listing is not complete")
    return list(servers.values()), time.time() - fetched
