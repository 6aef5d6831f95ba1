# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import math
import re
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    OptionError,
    Unauthorized,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server, merge
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from ansible_collections.server_management.cloud.plugins.plugin_utils._cache import (
    CacheEntry,
    open_entry,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Listing
from sandbox.account import make_servers

pytestmark = pytest.mark.promise("cache")

TOKEN = "secret-t0ken"
CONNECTION = Connection("https://h/api/v1", TOKEN)
NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def _servers(elements: Any) -> list[Server]:
    servers: dict[str, Server] = {}
    merge(servers, elements)
    return list(servers.values())


class Cache(dict[str, Any]):
    """A cache of Ansible without a plugin."""

    def update_cache_if_changed(self) -> None:
        """Do nothing."""


class Fetched(Exception):
    """A listing was fetched."""


def _fetch() -> Listing:
    raise Fetched


def _entry(
    cache: Any, connection: Connection = CONNECTION, fresh: int = 0, name: str = ""
) -> tuple[CacheEntry, list[str], list[str]]:
    """Return an entry, its warnings, and the lines that it shows with -vv."""
    warnings, lines = list[str](), list[str]()
    entry = CacheEntry(cache, name, connection, fresh, 0, warnings.append, lines.append)
    return entry, warnings, lines


def _key(connection: Connection) -> str:
    return _entry({}, connection)[0].key


def _write(servers: list[Server]) -> Any:
    """Return what is in the cache after a listing was written to it."""
    cache = Cache()
    _entry(cache)[0].write(servers)
    return cache[KEY]


def _read(content: Any, fresh: int = 0) -> tuple[list[Server] | None, list[str]]:
    """Return the servers that are read from an entry, and the warnings."""
    entry, warnings, _lines = _entry({KEY: content}, fresh=fresh)
    try:
        return entry.listing(_fetch, True).servers, warnings
    except Fetched:
        return None, warnings


KEY = _key(CONNECTION)
ENTRY = _write(_servers(make_servers(3)))


def test_the_key_of_an_account_reveals_nothing() -> None:
    key = _key(CONNECTION)
    assert key == _key(replace(CONNECTION, timeout=1.0, retries=0, user_agent="x"))
    assert key.startswith("server_management.cloud.servers_")
    assert TOKEN not in key
    assert key.replace("_", "").replace(".", "").isalnum()


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
    assert _key(replace(CONNECTION, **change)) != _key(CONNECTION)


def test_an_entry_is_fresh_for_as_long_as_its_age_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = _servers(make_servers(3))
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    entry = _write(servers)
    monkeypatch.setattr(time, "time", lambda: now + 90)
    for fresh, expected in ((0, servers), (91, servers), (89, None)):
        assert _read(entry, fresh) == (expected, [])
    # An entry from the future is not used either.
    monkeypatch.setattr(time, "time", lambda: now - 4000)
    assert _read(entry, 100) == (None, [])


@pytest.mark.parametrize(
    ("error", "grace", "age", "is_used"),
    [
        (Unreachable("Down."), 50, 120, True),
        (Unreachable("Down."), 50, 160, False),
        (Unreachable("Down."), 0, 120, False),
        (Unauthorized("No."), 50, 120, False),
    ],
    ids=str,
)
def test_a_stale_entry_is_used_only_while_the_api_is_down(
    error: CloudError, grace: int, age: int, is_used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry, warnings, _lines = _entry(Cache(), fresh=100)
    entry.grace = grace
    entry.write(_servers(make_servers(3)))
    now = time.time() + age
    monkeypatch.setattr(time, "time", lambda: now)

    def fail() -> Listing:
        raise error

    if is_used:
        assert len(entry.listing(fail, True).servers) == 3
        assert warnings == ["Using a stale listing, 120 s old. Down."]
    else:
        with pytest.raises(CloudError, match=str(error)):
            entry.listing(fail, True)


ELEMENTS = st.fixed_dictionaries(
    {"id": st.text(st.characters(codec="utf-8"), min_size=1)},
    optional={"name": st.text() | JSON, "region": st.text(), "later": JSON},
)


@given(st.lists(ELEMENTS, max_size=4))
def test_any_account_survives_serialisation(elements: list[dict[str, Any]]) -> None:
    servers = _servers(elements)
    content = json.dumps(_write(servers))
    assert TOKEN not in content
    assert _read(json.loads(content)) == (servers, [])


def _without(key: str) -> dict[str, Any]:
    return {name: value for name, value in ENTRY.items() if name != key}


def _with(**changes: Any) -> dict[str, Any]:
    return {**ENTRY, **changes}


def _listing(data: Any) -> dict[str, Any]:
    return _with(servers=json.dumps({"data": data, "has_more": False}))


DAMAGED: list[Any] = [
    [],
    _without("format"),
    _without("fetched"),
    _with(format=0),
    _with(fetched=None),
    _with(fetched=True),
    _with(fetched=math.inf),
    _with(servers=None),
    _with(servers=str(ENTRY["servers"])[:-5]),
    _with(servers="[" * 100_000),
    _with(servers='{"data": ["\ud800"], "has_more": false}'),
    _with(servers='{"data": [], "has_more": true}'),
    _listing([{"id": 1}]),
]


@pytest.mark.parametrize("entry", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_entry_is_refused(entry: Any) -> None:
    servers, (warning,) = _read(entry)
    assert servers is None
    assert warning.startswith("The cache entry is damaged and not used: ")


class Broken(Cache):
    """A cache whose plugin fails."""

    def get(self, key: str, default: Any = None) -> Any:
        """Fail as a client of a network cache does."""
        raise RuntimeError("Error 111 connecting to\n127.0.0.1:1.")


class Full(Cache):
    """A cache whose plugin can't write."""

    def update_cache_if_changed(self) -> None:
        """Fail as a full disk does."""
        raise OSError(28, "No space left on device")


def test_a_cache_that_fails_is_named_once_and_not_used_again() -> None:
    for cache, expected in (
        (Broken(), "The cache x at h:1 can't be read: Error 111 connecting to 127.0.0.1:1."),
        (Full(), "The cache x at h:1 can't be written: [Errno 28] No space left on device."),
    ):
        entry, warnings, _lines = _entry(cache, name="x at h:1")
        listing = Listing(_servers(make_servers(1)), "")
        assert entry.listing(lambda found=listing: found, True) is listing  # type: ignore[misc]
        assert warnings == [expected]
        # Ansible writes what is left here after the source.
        assert dict(cache) == {}


class Source:
    """An inventory plugin whose cache plugin can't be loaded."""

    def __init__(self, error: Exception, cause: Exception | None = None) -> None:
        self._error, self._cause = error, cause

    def get_option(self, name: str) -> Any:
        """Return an option of the cache."""
        return {"cache_plugin": "x", "cache_connection": "/a"}.get(name, 0)

    def load_cache_plugin(self) -> None:
        """Fail as Ansible does."""
        raise self._error from self._cause


def test_a_cache_plugin_that_does_not_work_names_its_options() -> None:
    message = (
        "cache_plugin: x can't be used: no such plugin. Check cache_plugin and cache_connection."
    )
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        open_entry(Source(ValueError("no such plugin")), CONNECTION, print, print)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ValueError("(/a) does not have necessary permissions (rwx)"), None),
        (ValueError("the directory can't be made."), PermissionError()),
    ],
)
def test_a_cache_that_the_system_refuses_is_named_with_the_reason(
    error: Exception, cause: Exception | None
) -> None:
    warnings: list[str] = []
    assert open_entry(Source(error, cause), CONNECTION, warnings.append, print) is None
    assert warnings == [f"The cache x can't be used: {str(error).rstrip('.')}."]


@pytest.mark.parametrize(
    ("fresh", "grace", "kept"), [(60, 600, 660), (60, 0, 60), (0, 600, 0)], ids=str
)
def test_the_cache_plugin_keeps_an_entry_while_it_can_be_used(
    fresh: int, grace: int, kept: int
) -> None:
    options = {"cache_plugin": "x", "cache_timeout": fresh, "stale_cache_timeout": grace}
    source = SimpleNamespace(get_option=options.get, set_option=options.__setitem__)
    with pytest.raises(OptionError):  # it can't load a cache plugin
        open_entry(source, CONNECTION, print, print)
    assert options["cache_timeout"] == kept
