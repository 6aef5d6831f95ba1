# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import math
import re
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server, merge
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from ansible_collections.server_management.cloud.plugins.plugin_utils._cache import (
    CacheEntry,
    describe_cache,
    explain_setup,
)
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


def _key(connection: Connection) -> str:
    return CacheEntry({}, connection, 0, 0, print, name="").key


def _write(servers: list[Server]) -> Any:
    """Return what is in the cache after a listing was written to it."""
    cache = Cache()
    CacheEntry(cache, CONNECTION, 0, 0, print, name="").write(servers)
    return cache[KEY]


def _read(content: Any, fresh: int = 0) -> tuple[list[Server] | None, list[str]]:
    """Return the servers that are read from an entry, and the warnings."""
    warnings: list[str] = []
    entry = CacheEntry({KEY: content}, CONNECTION, fresh, 0, warnings.append, name="")
    return entry.fresh_servers(), warnings


KEY = _key(CONNECTION)
ENTRY = _write(_servers(make_servers(3)))


def test_the_key_of_an_account_reveals_nothing() -> None:
    key = _key(CONNECTION)
    assert key == _key(replace(CONNECTION))
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


@pytest.mark.parametrize("change", [{"timeout": 1.0}, {"retries": 0}, {"user_agent": "x"}])
def test_the_key_does_not_depend_on_other_options(change: dict[str, Any]) -> None:
    assert _key(replace(CONNECTION, **change)) == _key(CONNECTION)


def test_an_entry_is_fresh_for_as_long_as_its_age_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    servers = _servers(make_servers(3))
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    entry = _write(servers)
    monkeypatch.setattr(time, "time", lambda: now + 90)
    for fresh, expected in ((0, servers), (91, servers), (89, None)):
        assert _read(entry, fresh) == (expected, [])
    assert TOKEN not in json.dumps(entry)


def test_an_entry_from_the_future_is_not_called_expired(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    cache, lines = {KEY: _write(_servers(make_servers(3)))}, list[str]()
    monkeypatch.setattr(time, "time", lambda: now - 4000)
    entry = CacheEntry(cache, CONNECTION, 100, 0, print, lines.append, name="")
    assert entry.fresh_servers() is None
    assert lines == ["cache: not used, its time is 4,000 s in the future; check the clock"]


ELEMENTS = st.fixed_dictionaries(
    {"id": st.text(st.characters(codec="utf-8"), min_size=1)},
    optional={"name": st.text() | JSON, "region": st.text(), "later": JSON},
)


@given(st.lists(ELEMENTS, max_size=4))
def test_any_account_survives_serialisation(elements: list[dict[str, Any]]) -> None:
    servers = _servers(elements)
    entry = json.loads(json.dumps(_write(servers)))
    assert _read(entry) == (servers, [])


def _without(key: str) -> dict[str, Any]:
    return {name: value for name, value in ENTRY.items() if name != key}


def _with(**changes: Any) -> dict[str, Any]:
    return {**ENTRY, **changes}


def _listing(data: Any) -> dict[str, Any]:
    return _with(servers=json.dumps({"data": data, "has_more": False}))


DAMAGED: list[Any] = [
    "text",
    [],
    {},
    _without("format"),
    _without("fetched"),
    _without("servers"),
    _with(format=0),
    _with(format="1"),
    _with(fetched=None),
    _with(fetched="now"),
    _with(fetched=True),
    _with(fetched=math.nan),
    _with(fetched=math.inf),
    _with(fetched=10**400),
    _with(format=10**400),
    _with(servers=None),
    _with(servers=[]),
    _with(servers=""),
    _with(servers=str(ENTRY["servers"])[:-5]),
    _with(servers="[" * 100_000),
    _with(servers='{"data": ["\ud800"], "has_more": false}'),
    _with(servers='{"data": [], "has_more": true}'),
    _with(servers="[]"),
    _listing([None]),
    _listing([{}]),
    _listing([{"id": ""}]),
    _listing([{"id": 1}]),
]


@pytest.mark.parametrize("entry", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_entry_is_refused(entry: Any) -> None:
    servers, (warning,) = _read(entry)
    assert servers is None
    assert warning.startswith("The cache entry is damaged and not used: ")


def test_an_entry_is_validated_like_a_response() -> None:
    element = {"id": "a", "name": 5, "ipv4": ["x"], "later": "\ud800"}
    servers, warnings = _read(_listing([element]))
    assert servers is not None
    (server,) = servers
    assert warnings == []
    assert server.fields == {"id": "a", "later": "\\ud800"}


@given(st.dictionaries(st.sampled_from([*ENTRY, "x"]), JSON | st.just(ENTRY["servers"])))
def test_any_changed_entry_is_read_or_refused(changes: dict[str, Any]) -> None:
    servers, warnings = _read({**ENTRY, **changes})
    assert servers == (None if warnings else _servers(make_servers(3)))


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
        warnings: list[str] = []
        entry = CacheEntry(cache, CONNECTION, 1, 1, warnings.append, name="x at h:1")
        assert entry.fresh_servers() is None
        entry.write(_servers(make_servers(1)))
        assert warnings == [expected]
        # Ansible writes what is left here after the source.
        assert dict(cache) == {}


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (None, "x"),
        ("", "x"),
        ("/var/cache/a b", "x in /var/cache/a b"),
        ("~/.cache/x", "x in ~/.cache/x"),
        ("127.0.0.1:6379:0:s3cret", "x at 127.0.0.1:6379"),
        ("tls://redis.example.com:6379:0:s3cret", "x at tls://redis.example.com:6379"),
        ("mongodb://user:s3cret@h:27017/db", "x at mongodb://h:27017"),
        ("user:s3cret@h", "x at h"),
        ("h1:26379;h2:26379;0:s3cret", "x at h1:26379"),
        ("cache", "x at cache"),
    ],
)
def test_a_cache_is_described_without_its_password(address: str | None, shown: str) -> None:
    assert describe_cache("x", address) == shown


@pytest.mark.parametrize(
    ("address", "reason", "message"),
    [
        (None, "Required config '_uri' for 'x'", "cache_connection: is required by the cache p"),
        (None, "set it to a path: fact_caching_connection", "cache_connection: is required by the"),
        (None, "no such plugin", "cache_plugin: x can't be used: no such plugin."),
        ("/a", "no _uri", "cache_plugin: x in /a can't be used: no _uri."),
    ],
)
def test_a_cache_that_cannot_be_set_up_names_its_option(
    address: str | None, reason: str, message: str
) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}"):
        explain_setup("x", address, ValueError(reason))


def test_a_cache_that_the_system_refuses_is_named_with_the_reason() -> None:
    refused = ValueError("the directory can't be made.")
    refused.__cause__ = PermissionError()
    for error in (ValueError("(/a) does not have necessary permissions (rwx)"), refused):
        message = explain_setup("x", "/a", error)
        assert message == f"The cache x in /a can't be used: {str(error).rstrip('.')}."
