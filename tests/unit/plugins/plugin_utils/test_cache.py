# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import json
import math
import time
from typing import Any
from unittest.mock import Mock

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
    RateLimited,
    ServerFailed,
    Unauthorized,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import Listing, Server
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from ansible_collections.server_management.cloud.plugins.plugin_utils import _cache
from ansible_collections.server_management.cloud.plugins.plugin_utils._cache import (
    CacheEntry,
    open_entry,
)

TOKEN = "secret-t0ken"
CONNECTION = Connection("https://h/api/v1", TOKEN)
NOW = 1e9  # the time of all tests, in seconds
LATER = {"": [None, 10**30, -0.5, {"a": True}]}
SERVERS = [
    Server("srv_1", {"id": "srv_1", "name": "web-1"}),
    Server("{{ é", {"id": "{{ é", "later": LATER}),
]
FETCHED = Listing(SERVERS, "from https://h")


@pytest.fixture(autouse=True)
def _now(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: NOW)


class Cache(dict[str, Any]):
    """What Ansible calls a cache, without a cache plugin behind it."""

    def update_cache_if_changed(self):
        """Do nothing."""


class Account:
    """The entry of one account in a cache, with the warnings and the lines that it shows."""

    def __init__(self, cache, connection=CONNECTION, fresh=0, grace=0):
        self.warnings = []
        self.lines = []
        self.entry = CacheEntry(
            cache, "x at h:1", connection, fresh, grace, self.warnings.append, self.lines.append
        )

    def listing(self, *, use_cache=True):
        """Return the listing of the entry, or FETCHED."""
        return self.entry.listing(lambda: FETCHED, use_cache)

    def listing_while(self, error, *, use_cache=False):
        """Return the listing of the entry while the API can't be read."""
        return self.entry.listing(Mock(side_effect=error), use_cache)


def entry(age=0, **changes):
    """Return an entry of the account as a cache plugin such as jsonfile returns it."""
    servers = json.dumps({"data": [server.fields for server in SERVERS], "has_more": False})
    return {"format": 1, "fetched": NOW - age, "servers": servers, **changes}


KEY = Account({}).entry.key


def test_the_key_of_an_account_reveals_nothing():
    other = CONNECTION._replace(timeout=1.0, retries=0, user_agent="x")
    assert Account({}, other).entry.key == KEY
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
def test_the_key_depends_on_options_that_may_change_the_listing(change):
    other = CONNECTION._replace(**change)
    assert Account({}, other).entry.key != KEY


def test_another_version_of_the_format_has_another_key(monkeypatch):
    monkeypatch.setattr(_cache, "_FORMAT", 2)
    assert Account({}).entry.key != KEY


def test_a_listing_that_was_kept_is_found():
    cache = Cache()
    Account(cache).entry.keep(FETCHED)
    assert TOKEN not in str(cache)
    stored = json.loads(json.dumps(cache))  # as jsonfile does
    found = Account(stored).listing()
    assert found.servers == SERVERS
    assert found.obtained == "of https://h from the cache, 0 s old"


@pytest.mark.parametrize(
    "listing", [FETCHED._replace(is_partial=True), FETCHED._replace(age=9.0)], ids=["part", "old"]
)
def test_only_a_complete_listing_that_was_fetched_is_kept(listing):
    cache = Cache()
    Account(cache).entry.keep(listing)
    assert cache == {}


@pytest.mark.parametrize(("fresh", "age"), [(0, 90), (91, 90), (91, 0)])
def test_an_entry_is_used_while_it_is_fresh(fresh, age):
    account = Account({KEY: entry(age)}, fresh=fresh)
    obtained = f"of https://h from the cache, {age} s old"
    assert account.listing() == Listing(SERVERS, obtained, age=age)
    assert account.warnings == []
    assert account.lines == []


NO_ENTRY = "cache: no entry for this base_url, token and pagination, or an expired one"
REFRESHED = "cache: not read, because this run refreshes it"
NOT_FRESH = "cache: not fresh, {} s old; cache_timeout is 89 s"


@pytest.mark.parametrize(
    ("key", "age", "use_cache", "line"),
    [
        (KEY, 90, True, NOT_FRESH.format("90")),
        (KEY, -9000, True, NOT_FRESH.format("-9,000")),  # from the future
        (KEY, 0, False, REFRESHED),
        ("another", 0, True, NO_ENTRY),
    ],
)
def test_the_reason_for_not_using_an_entry_is_shown(key, age, use_cache, line):
    account = Account({key: entry(age)}, fresh=89)
    assert account.listing(use_cache=use_cache) is FETCHED
    assert account.lines == [line]
    assert account.warnings == []


@pytest.mark.parametrize(
    "error", [Unreachable("Down."), RateLimited("Down."), ServerFailed("Down.")]
)
def test_a_stale_entry_is_used_while_the_api_is_down(error):
    account = Account({KEY: entry(age=120)}, fresh=100, grace=50)
    assert account.listing_while(error).servers == SERVERS
    assert account.warnings == ["Using a stale listing, 120 s old. Down."]


@pytest.mark.parametrize("error", [Unauthorized("No."), MalformedResponse("No.")])
def test_a_stale_entry_is_not_used_if_the_api_responds(error):
    account = Account({KEY: entry(age=120)}, fresh=100, grace=50)
    with pytest.raises(type(error)):
        account.listing_while(error)
    assert account.warnings == []


@pytest.mark.parametrize(("age", "grace"), [(160, 50), (120, 0), (90, 0)])
def test_without_a_stale_entry_that_may_be_used_the_source_fails(age, grace):
    account = Account({KEY: entry(age)}, fresh=100, grace=grace)
    with pytest.raises(Unreachable):
        account.listing_while(Unreachable("Down."))
    assert account.warnings == []


INCOMPLETE = "its time or its servers are missing"


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        ([], "it is not in the format of this version"),
        ({}, "it is not in the format of this version"),
        (entry(format=0), "it is not in the format of this version"),
        ({"format": 1}, INCOMPLETE),
        (entry(fetched=True), INCOMPLETE),
        (entry(fetched=math.inf), INCOMPLETE),
        (entry(servers=None), INCOMPLETE),
        (entry(servers='{"data": [], "has_'), "The response is not JSON"),
        (entry(servers="[" * 100_000), ""),
        (entry(servers='{"data": ["\ud800"], "has_more": false}'), ""),
        (entry(servers='{"data": [], "has_more": true}'), "its listing is not complete"),
        (entry(servers='{"data": [{"id": 1}], "has_more": false}'), "Element 0 of data has no"),
    ],
)
def test_a_damaged_entry_is_named_and_not_used(damaged, reason):
    account = Account({KEY: damaged}, grace=50)
    with pytest.raises(Unreachable):
        account.listing_while(Unreachable("Down."))
    (warning,) = set(account.warnings)
    assert warning.startswith(f"The cache entry is damaged and not used: {reason}")
    assert warning.isprintable()


PATH = "/a/long/path" * 20


def test_a_cache_that_cannot_be_read_is_named_once_and_not_used_again():
    cache = Mock(**{"get.side_effect": RuntimeError(f"Error at\n{PATH}: [Errno 13] Permission.")})
    account = Account(cache, grace=50)
    with pytest.raises(Unreachable):
        account.listing_while(Unreachable("Down."), use_cache=True)
    account.entry.keep(FETCHED)
    reason = f"Error at {PATH}: [Errno 13] Permission"
    assert account.warnings == [f"The cache x at h:1 can't be read: {reason}."]
    assert cache.update_cache_if_changed.call_count == 0


def test_a_cache_that_cannot_be_written_is_named_and_left_empty(monkeypatch):
    error = OSError(28, "No space left on device")
    monkeypatch.setattr(Cache, "update_cache_if_changed", Mock(side_effect=error))
    cache = Cache()
    account = Account(cache)
    account.entry.keep(FETCHED)
    assert account.warnings == [
        "The cache x at h:1 can't be written: [Errno 28] No space left on device."
    ]
    assert cache == {}  # Ansible would write what is left here after the source


class InventoryPlugin:
    """The methods of an inventory plugin with a cache."""

    def __init__(self, **options):
        self.options = options
        self.get_option = options.get
        self.set_option = options.__setitem__
        self.cache = Cache()

    def load_cache_plugin(self):
        """Load a cache plugin that keeps its entries for the time that is set now."""
        self.cache["kept for"] = self.options["cache_timeout"]


def opened(plugin):
    """Return the entry of an inventory plugin, and its warnings."""
    warnings = []
    return open_entry(plugin, CONNECTION, warnings.append, print), warnings


@pytest.mark.parametrize(("fresh", "grace", "kept"), [(100, 50, 150), (100, 0, 100)])
def test_the_cache_plugin_keeps_entries_until_they_are_stale(fresh, grace, kept):
    plugin = InventoryPlugin(
        cache_plugin="jsonfile", cache_timeout=fresh, stale_cache_timeout=grace
    )
    found, warnings = opened(plugin)
    assert found
    assert found.fresh == fresh
    assert found.grace == grace
    assert found.cache == {"kept for": kept}
    assert warnings == []


def test_a_cache_in_memory_causes_a_warning():
    plugin = InventoryPlugin(cache_plugin="ansible.builtin.memory", cache_timeout=1)
    _found, (warning,) = opened(plugin)
    assert warning.startswith("cache: the cache plugin ansible.builtin.memory keeps nothing")


def test_a_cache_plugin_that_cannot_be_used_is_named_with_its_options():
    plugin = InventoryPlugin(cache_plugin="x")
    plugin.load_cache_plugin = Mock(side_effect=ValueError("no such\nplugin."))  # type: ignore[method-assign]
    found, warnings = opened(plugin)
    assert found is None
    assert warnings == [
        "The cache x can't be used: no such plugin. Check cache_plugin and cache_connection."
    ]
