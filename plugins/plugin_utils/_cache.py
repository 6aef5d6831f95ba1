# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cache entry of an account: a validated listing, and how long it may be used."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.inventory import Cacheable

from ..module_utils._envelope import parse_listing
from ..module_utils._errors import CloudError, MalformedResponse
from ..module_utils._models import Listing, Server, merge
from ..module_utils._options import Connection
from ..module_utils._text import Show, reason_of

_FORMAT = 1
# Exceptions raised by reading a damaged entry: in the cache plugin, in Ansible's decoder, or here.
_DAMAGED = (AnsibleError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def open_entry(
    inventory_plugin: Cacheable,
    connection: Connection,
    warn: Show,
    trace: Show,
) -> CacheEntry | None:
    """Load the cache plugin of an inventory plugin, and return the entry of the account.

    Warn and return None if the cache plugin can't be used.
    """
    name = inventory_plugin.get_option("cache_plugin")
    fresh = inventory_plugin.get_option("cache_timeout")
    grace = inventory_plugin.get_option("stale_cache_timeout")
    if grace:
        # The cache plugin has to keep entries for longer than they are fresh.
        inventory_plugin.set_option("cache_timeout", fresh + grace)
    try:
        inventory_plugin.load_cache_plugin()
    except Exception as error:  # noqa: BLE001  # a cache plugin may raise anything
        warn(
            f"The cache {name} can't be used: {reason_of(error)}. Check cache_plugin and "
            "cache_connection."
        )
        return None
    if name.rpartition(".")[2] == "memory":
        warn(
            f"cache: the cache plugin {name} keeps nothing between two commands, so the cache "
            "has no effect. Set cache_plugin, for example to ansible.builtin.jsonfile, or "
            "cache: false."
        )
    return CacheEntry(inventory_plugin.cache, name, connection, fresh, grace, warn, trace)


@dataclass
class CacheEntry:
    """The listing of one account in a cache.

    ``plugin`` is its name, for messages. The entry may be used for ``fresh`` seconds (0:
    without a limit), and for ``grace`` more seconds while the API is down. A cache that can't be
    read ``is_down``: it is not used again, because each time may be a wait.
    """

    cache: Any
    plugin: str
    connection: Connection
    fresh: int
    grace: int
    warn: Show
    trace: Show
    is_down: bool = False

    @property
    def key(self) -> str:
        """Return a digest of everything that can change the listing.

        The token is part of it, so that no digest of the token alone is on disk.
        """
        connection = self.connection
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

    def listing(self, fetch: Callable[[], Listing], use_cache: bool) -> Listing:
        """Return the entry if it is fresh; otherwise fetch a listing.

        While the API is down, an older entry is returned, with a warning.
        """
        if use_cache:
            found = self._read()
            if found is None:
                self.trace(
                    "cache: no entry for this base_url, token and pagination, or an expired one"
                )
            elif self._is_within(found, self.fresh):
                return found
            else:
                self.trace(
                    f"cache: not fresh, {found.age:,.0f} s old; cache_timeout is {self.fresh:,} s"
                )
        else:
            self.trace("cache: not read, because this run refreshes it")
        try:
            return fetch()
        except CloudError as error:
            if not self.grace or not error.is_temporary:
                raise
            stale = self._read()
            if stale is None or not self._is_within(stale, self.fresh + self.grace):
                self.trace("cache: no entry that is young enough for stale_cache_timeout")
                raise
            self.warn(f"Using a stale listing, {stale.age:.0f} s old. {error.message}")
            return stale

    def _is_within(self, listing: Listing, seconds: int) -> bool:
        """Return whether a listing is at most ``seconds`` old; if ``fresh`` is 0, it always is.

        A negative age means that the entry was written with another clock, or by somebody else.
        """
        if not self.fresh:
            return True
        return listing.age is not None and 0 <= listing.age <= seconds

    def store(self, listing: Listing) -> None:
        """Replace the entry by a complete listing that was fetched now, and warn if that fails.

        The servers are one text, because Ansible makes a deep copy of each cache entry.
        """
        if listing.is_partial or listing.age is not None or self.is_down:
            return
        content = {"data": [server.fields for server in listing.servers], "has_more": False}
        text = json.dumps(content, separators=(",", ":"))
        try:
            self.cache[self.key] = {"fetched": time.time(), "servers": text}
            self.cache.update_cache_if_changed()
        except Exception as error:  # noqa: BLE001  # a cache plugin may raise anything
            # Otherwise, Ansible tries again after the source, and reports that the source failed.
            self.cache.pop(self.key, None)
            self.warn(f"The cache {self.plugin} can't be written: {reason_of(error)}.")

    def _read(self) -> Listing | None:
        """Return the entry, if it can be used at all."""
        if self.is_down:
            return None
        try:
            entry = self.cache.get(self.key)
            if entry is not None:
                return self._parse(entry)
        except _DAMAGED as error:
            self.warn(f"The cache entry is damaged and not used: {reason_of(error)}.")
        except Exception as error:  # noqa: BLE001  # a cache plugin may raise anything
            self.is_down = True
            self.warn(f"The cache {self.plugin} can't be read: {reason_of(error)}.")
        return None

    def _parse(self, entry: Any) -> Listing:
        """Return the listing in an entry, validated like a response.

        Raises one of the exceptions for a damaged entry.
        """
        age = time.time() - entry["fetched"]
        servers: dict[str, Server] = {}
        try:
            content = parse_listing(entry["servers"].encode())
            merge(servers, content.data)
        except MalformedResponse as error:
            raise ValueError(error.message) from None
        if content.has_more:
            raise ValueError("the listing in it is not complete")
        how_read = f"of {self.connection.root_url} from the cache, {age:,.0f} s old"
        return Listing(list(servers.values()), how_read, age=age)
