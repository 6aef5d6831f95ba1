# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cache entry of an account: a validated listing, and how long it may be used."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ansible.errors import AnsibleError

from ..module_utils._envelope import parse_listing, read_json
from ..module_utils._errors import CloudError, MalformedResponse, OptionError
from ..module_utils._models import Server, merge
from ..module_utils._options import Connection
from ..module_utils._text import excerpt, one_line
from ._ansible import HAS_EXPRESSIONS

_FORMAT = 1
# Exceptions raised by reading a damaged entry, in the cache plugin or in Ansible's decoder.
_ENTRY_ERRORS = (AnsibleError, AttributeError, LookupError, TypeError, ValueError)
# The beginning of an address: without user, password and database.
_address = re.compile(r"((?:[a-z+]+://)?)(?:[^/@]*@)?([^/@:;]+(?::[0-9]+)?)").match


@dataclass
class CacheEntry:
    """The listing of one account in a cache.

    ``name`` is that of the cache, for messages. The entry may be used for ``fresh`` seconds (0:
    without a limit), and for ``grace`` more seconds while the API is down.
    """

    cache: Any
    connection: Connection
    fresh: int
    grace: int
    warn: Callable[[str], None]
    trace: Callable[[str], None] = lambda text: None
    name: str = field(kw_only=True)
    age: float = field(default=0.0, init=False)  # seconds, of the entry that was read last
    _is_down: bool = field(default=False, init=False)

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

    def fresh_servers(self) -> list[Server] | None:
        """Return the servers of the entry if it is fresh, and None otherwise."""
        servers = self._read()
        if servers is None:
            self.trace("cache: no entry for this base_url, token and pagination, or an expired one")
        elif _is_within(self.age, self.fresh):
            return servers
        elif self.age < 0:
            self.trace(
                f"cache: not used, its time is {-self.age:,.0f} s in the future; check the clock"
            )
        else:
            self.trace(f"cache: expired, {self.age:,.0f} s old; cache_timeout is {self.fresh:,} s")
        return None

    def stale_servers(self, error: CloudError) -> list[Server] | None:
        """Return the servers to use after an error of the API, with a warning; None if too old."""
        if not (self.grace and error.api_down):
            return None
        servers = self._read()
        if servers is None or not _is_within(self.age, self.fresh and self.fresh + self.grace):
            self.trace("cache: no entry that is young enough for stale_cache_timeout")
            return None
        self.warn(f"Using a stale listing, {self.age:.0f} s old. {error.message}")
        return servers

    def write(self, servers: Iterable[Server]) -> None:
        """Replace the entry by a listing that was fetched now, and warn if that fails.

        The servers are one text, because Ansible makes a deep copy of each cache entry.
        """
        if self._is_down:
            return
        listing = {"data": [server.fields for server in servers], "has_more": False}
        text = json.dumps(listing, separators=(",", ":"))
        try:
            self.cache[self.key] = {"format": _FORMAT, "fetched": time.time(), "servers": text}
            self.cache.update_cache_if_changed()
        except Exception as error:  # noqa: BLE001  # a cache plugin may raise anything
            # Otherwise, Ansible tries again after the source, and reports that the source failed.
            self.cache.pop(self.key, None)
            self.warn(f"The cache {self.name} can't be written: {_reason(error)}.")

    def _read(self) -> list[Server] | None:
        """Return the servers of the entry, if it can be used, and note their age."""
        if self._is_down:
            return None
        try:
            entry = self.cache.get(self.key)
            if entry is not None:
                servers, self.age = _parse(entry)
                return servers
        except _ENTRY_ERRORS as error:
            self.warn(f"The cache entry is damaged and not used: {_reason(error)}.")
        except Exception as error:  # noqa: BLE001  # a cache plugin may raise anything
            self._is_down = True
            self.warn(f"The cache {self.name} can't be read: {_reason(error)}.")
        return None


def describe_cache(plugin: str, address: str | None) -> str:
    """Name a cache for a message, without the password that an address can have."""
    if not address:
        return plugin
    if "://" not in address and address[0] in "/.~$":
        return f"{plugin} in {one_line(address)}"
    match = _address(address)
    return f"{plugin} at {one_line(match[1] + match[2])}" if match else plugin


def explain_setup(plugin: str, address: str | None, error: Exception) -> str:
    """Return the warning about a cache that can't be set up, because the system does not allow it.

    Raises OptionError if the plugin or one of its options is wrong.
    """
    reason = _reason(error)
    if not address and ("_uri" in reason or "connection" in reason):
        raise OptionError(
            f"cache_connection: is required by the cache plugin {plugin}.",
            "Set it to a directory, or to what the plugin documents.",
        )
    cache = describe_cache(plugin, address)
    # Ansible checks the permissions of a directory itself.
    if isinstance(error.__cause__ or error.__context__, OSError) or "permission" in reason:
        return f"The cache {cache} can't be used: {reason}."
    raise OptionError(f"cache_plugin: {cache} can't be used: {reason}.")


def warn_if_not_persistent(cache: Any, plugin: str, warn: Callable[[str], None]) -> None:
    """Warn of a cache that keeps nothing between two commands."""
    is_persistent = getattr(getattr(cache, "_plugin", None), "_persistent", True)
    # Before ansible-core 2.19, memory does not have this attribute, and Ansible ignores it: pickle,
    # which has it in community.general, keeps its entries there.
    if plugin.rpartition(".")[2] == "memory" or (HAS_EXPRESSIONS and not is_persistent):
        warn(
            f"cache: the cache plugin {plugin} keeps nothing between two commands, so the cache "
            "has no effect. Set cache_plugin, for example to ansible.builtin.jsonfile."
        )


def _reason(error: Exception) -> str:
    return one_line(str(error)).rstrip(".") or type(error).__name__


def _is_within(age: float, longest: int) -> bool:
    """Return whether an entry is young enough; ``longest`` is in seconds, and 0 is no limit.

    A negative age means that the entry was written with another clock, or by somebody else.
    """
    return not longest or 0 <= age <= longest


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
        listing = parse_listing(read_json(text.encode(), excerpt))
        merge(servers, listing.data)
    except MalformedResponse as error:
        raise ValueError(error.message) from None
    if listing.has_more:
        raise ValueError("its listing is not complete")
    return list(servers.values()), time.time() - fetched
