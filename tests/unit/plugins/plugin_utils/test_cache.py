# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import math
import time
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    Unauthorized,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    Listing,
    Server,
    merge,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from ansible_collections.server_management.cloud.plugins.plugin_utils._cache import (
    CacheEntry,
    open_entry,
)
from sandbox.account import make_servers

pytestmark = pytest.mark.promise("cache")

TOKEN = "secret-t0ken"
CONNECTION = Connection("https://h/api/v1", TOKEN)


def _servers(elements: Any) -> list[Server]:
    servers: dict[str, Server] = {}
    merge(servers, elements)
    return list(servers.values())


class Cache(dict[str, Any]):
    """A cache of Ansible without a plugin."""

    def update_cache_if_changed(self) -> None:
        """Do nothing."""


class Opened:
    """An entry in a cache, its warnings, and the lines that it shows with -vv."""

    def __init__(
        self, cache: Any, connection: Connection = CONNECTION, fresh: int = 0, grace: int = 0
    ) -> None:
        self.warnings, self.lines = list[str](), list[str]()
        warn, trace = self.warnings.append, self.lines.append
        self.entry = CacheEntry(cache, "x at h:1", connection, fresh, grace, warn, trace)

    def fetched(self, listing: Listing) -> dict[str, Any]:
        """Return the cache after a listing was fetched."""
        assert self.entry.listing(lambda: listing, True) is listing
        return dict(self.entry.cache)

    def listing(self, error: Exception | None = None, use_cache: bool = True) -> Any:
        """Return the listing in the entry; None if one is fetched, which raises an error."""
        error = error or LookupError()
        try:
            return self.entry.listing(Mock(side_effect=error), use_cache)
        except LookupError:
            return None


ODD = {"id": "{{ é", "name": "\ud800", "later": {"": [None, 10**30, -0.5, {"a": True}]}}
SERVERS = _servers([*make_servers(2), ODD])
_CACHED = json.dumps(Opened(Cache()).fetched(Listing(SERVERS, "")))  # as jsonfile does
((KEY, ENTRY),) = json.loads(_CACHED).items()
ENTRY["fetched"] = 1e9


def _key(connection: Connection) -> str:
    return Opened({}, connection).entry.key


def test_the_key_of_an_account_reveals_nothing() -> None:
    assert _key(CONNECTION._replace(timeout=1.0, retries=0, user_agent="x")) == KEY
    assert KEY.startswith("server_management.cloud.servers_")
    assert TOKEN not in KEY
    assert KEY.replace("_", "").replace(".", "").isalnum()


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "https://h2/api/v1"},
        {"api_token": "other"},
        {"pagination": "cursor"},
        {"pagination_parameter": "p"},
        {"allow_partial": True},
        {"verify": False},
        {"verify": "/ca.pem"},
    ],
    ids=str,
)
def test_the_key_depends_on_options_that_may_change_the_listing(change: dict[str, Any]) -> None:
    assert _key(CONNECTION._replace(**change)) != KEY


NO_ENTRY = "cache: no entry for this base_url, token and pagination, or an expired one"


@pytest.mark.parametrize(
    ("cache", "fresh", "age", "use_cache", "line"),
    [
        ({KEY: ENTRY}, 0, 90, True, ""),
        ({KEY: ENTRY}, 91, 90, True, ""),
        ({KEY: ENTRY}, 91, 0, True, ""),
        ({KEY: ENTRY}, 89, 90, True, "cache: not fresh, 90 s old; cache_timeout is 89 s"),
        # From the future.
        ({KEY: ENTRY}, 99, -9e3, True, "cache: not fresh, -9,000 s old; cache_timeout is 99 s"),
        ({KEY: ENTRY}, 91, 90, False, "cache: not read, because this run refreshes it"),
        ({}, 91, 0, True, NO_ENTRY),
    ],
    ids=["no limit", "fresh", "new", "old", "future", "refresh", "none"],
)
def test_an_entry_is_used_if_it_is_fresh_and_otherwise_the_reason_is_shown(
    cache: Any, fresh: int, age: float, use_cache: bool, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: ENTRY["fetched"] + age)
    opened = Opened(cache, fresh=fresh)
    obtained = f"of https://h from the cache, {age} s old"
    used = Listing(SERVERS, obtained, age=age)
    assert opened.listing(use_cache=use_cache) == (None if line else used)
    assert "".join(opened.lines) == line
    assert opened.warnings == []


@pytest.mark.parametrize(
    ("error", "limits", "age", "is_used"),
    [
        (Unreachable("Down."), {"fresh": 100, "grace": 50}, 120, True),
        (Unreachable("Down."), {"fresh": 100, "grace": 50}, 160, False),
        (Unreachable("Down."), {}, 120, False),
        (Unreachable("Down."), {"grace": 50}, 120, True),
        (Unauthorized("No."), {"fresh": 100, "grace": 50}, 120, False),
    ],
    ids=str,
)
def test_a_stale_entry_is_used_only_while_the_api_is_down(
    error: Exception, limits: Any, age: int, is_used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: ENTRY["fetched"] + age)
    opened = Opened({KEY: ENTRY}, **limits)
    with nullcontext() if is_used else pytest.raises(type(error), match=str(error)):
        assert opened.listing(error, use_cache=False).servers == SERVERS
    assert opened.warnings == ["Using a stale listing, 120 s old. Down."] * is_used


@pytest.mark.parametrize("is_partial", [True, False])
def test_a_partial_listing_is_not_written(is_partial: bool) -> None:
    found = Opened(Cache()).fetched(Listing(SERVERS, "", is_partial))
    assert (KEY in found) is not is_partial
    assert TOKEN not in str(found)


def _with(**changes: Any) -> dict[str, Any]:
    changed = {**ENTRY, **changes}
    return {name: value for name, value in changed.items() if value is not ...}


DAMAGED: dict[str, Any] = {
    "not a mapping": [],
    "no format": _with(format=...),
    "no time": _with(fetched=...),
    "another format": _with(format=0),
    "null as time": _with(fetched=None),
    "true as time": _with(fetched=True),
    "infinite time": _with(fetched=math.inf),
    "null as servers": _with(servers=None),
    "truncated": _with(servers=str(ENTRY["servers"])[:-5]),
    "deep": _with(servers="[" * 100_000),
    "half a character": _with(servers='{"data": ["\ud800"], "has_more": false}'),
    "more servers": _with(servers='{"data": [], "has_more": true}'),
    "a number as id": _with(servers='{"data": [{"id": 1}], "has_more": false}'),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_entry_is_refused(name: str) -> None:
    opened = Opened({KEY: DAMAGED[name]}, grace=50)
    with pytest.raises(Unreachable):
        opened.listing(Unreachable("Down."))
    (warning,) = set(opened.warnings)
    assert warning.startswith("The cache entry is damaged and not used: ")
    is_missing = name.endswith((" time", "null as servers"))
    assert warning.endswith("its time or its servers are missing.") == is_missing


@pytest.mark.parametrize(
    ("method", "error", "expected"),
    [
        (
            "get",
            RuntimeError("Error 111 connecting to\n127.0.0.1:1."),
            "The cache x at h:1 can't be read: Error 111 connecting to 127.0.0.1:1.",
        ),
        (
            "update_cache_if_changed",
            OSError(28, "No space left on device"),
            "The cache x at h:1 can't be written: no space left on device.",
        ),
    ],
)
def test_a_cache_that_fails_is_named_once_and_not_used_again(
    method: str, error: Exception, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cache, method, Mock(side_effect=error))
    opened = Opened(Cache())
    # Ansible writes what is left here after the source.
    assert opened.fetched(Listing(SERVERS, "")) == {}
    assert opened.warnings == [expected]


def _open(error: Exception | None, **options: Any) -> tuple[CacheEntry | None, list[str]]:
    """Return the entry of an inventory plugin whose cache plugin may fail to load."""
    warnings: list[str] = []
    load = Mock(side_effect=error)
    get, put = options.get, options.__setitem__
    source = SimpleNamespace(get_option=get, set_option=put, load_cache_plugin=load, cache=options)
    return open_entry(source, CONNECTION, warnings.append, print), warnings


@pytest.mark.parametrize(("fresh", "grace", "kept"), [(100, 50, 150), (0, 50, 0)])
def test_a_cache_keeps_its_entries_until_they_are_stale_but_not_in_memory(
    fresh: int, grace: int, kept: int
) -> None:
    options = {"cache_timeout": fresh, "stale_cache_timeout": grace}
    entry, (warning,) = _open(None, cache_plugin="ansible.builtin.memory", **options)
    assert entry is not None
    assert (entry.fresh, entry.grace, entry.cache["cache_timeout"]) == (fresh, grace, kept)
    assert warning.startswith("cache: the cache plugin ansible.builtin.memory keeps nothing")


def test_a_cache_plugin_that_cannot_be_used_is_named_with_its_options() -> None:
    advice = "Check cache_plugin and cache_connection."
    expected = [f"The cache x can't be used: no such plugin. {advice}"]
    assert _open(ValueError("no such\nplugin."), cache_plugin="x") == (None, expected)
