# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import json
import re
import time
from unittest.mock import MagicMock, Mock

import pytest
import yaml
from ansible.errors import AnsibleError

from ansible_collections.server_management.cloud.plugins.module_utils import _errors
from ansible_collections.server_management.cloud.plugins.module_utils._models import Listing, Server
from ansible_collections.server_management.cloud.plugins.plugin_utils import _cache
from support.modules import connection_to

CONNECTION = connection_to("https://h")
NOW = 1e9  # the time of all tests, in seconds
SERVERS = [Server("{{ é", {"id": "{{ é", "later": {"": [None, 10**30, -0.5]}})]
FETCHED = Listing(SERVERS, "from https://h")
fetch = Mock(return_value=FETCHED)  # from an API that works


@pytest.fixture(autouse=True)
def _now(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: NOW)


class Cache(dict[str, object]):
    """What Ansible calls a cache; an exception in it is one of the cache plugin behind it."""

    def get(self, key, default=None):
        found = super().get(key, default)
        if isinstance(found, Exception):
            raise found
        return found

    def update_cache_if_changed(self):
        """Do nothing."""


class Account(_cache.CacheEntry):
    """The entry of the account, with the warnings and the lines of -vv that it shows."""

    def __init__(self, cache, fresh=0, grace=0):
        self.warnings = []
        self.lines = []
        warn = self.warnings.append
        note = self.lines.append
        super().__init__(cache, "x at h:1", CONNECTION, fresh, grace, warn, note)


def entry(age, **changes):
    """Return an entry of this age as a cache plugin such as jsonfile returns it."""
    fields = SERVERS[0].fields
    text = json.dumps({"data": [fields], "has_more": False})
    return {"fetched": NOW - age, "servers": text, **changes}


KEY = Account({}).key


def test_the_key_of_an_account_reveals_nothing():
    assert re.fullmatch("server_management.cloud.servers_[0-9a-f]{32}", KEY)


CHANGES = yaml.safe_load("""
- {base_url: 'https://h2/api/v1'}
- {api_token: other}
- {pagination: last_id}
- {pagination_parameter: p}
- {allow_partial: true}
- {verify: false}
- {verify: /bundle.pem}
""")


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_the_key_depends_on_options_that_may_change_the_listing(change):
    account = Account({})
    account.connection = CONNECTION._replace(**change)
    assert account.key != KEY


def test_another_version_of_the_format_has_another_key(monkeypatch):
    monkeypatch.setattr(_cache, "_FORMAT", 2)
    assert Account({}).key != KEY


def test_a_listing_that_was_kept_is_found():
    cache = Cache()
    Account(cache).store(FETCHED)
    stored = json.loads(json.dumps(cache))  # as jsonfile does
    found = Account(stored).listing(fetch, use_cache=True)
    assert found == Listing(SERVERS, "of https://h from the cache, 0 s old", age=0)


@pytest.mark.parametrize("change", [{"is_partial": True}, {"age": 0.0}, {"age": 9.0}], ids=str)
def test_only_a_complete_listing_that_was_fetched_is_kept(change):
    cache = Cache()
    Account(cache).store(FETCHED._replace(**change))
    assert cache == {}


@pytest.mark.parametrize(("fresh", "age"), yaml.safe_load("[[0, 90], [91, 90], [91, 0]]"))
def test_an_entry_is_used_while_it_is_fresh(fresh, age):
    account = Account({KEY: entry(age)}, fresh)
    assert account.listing(fetch, use_cache=True).age == age
    assert account.lines == []


UNUSED = yaml.safe_load(f"""
- [{KEY}, 90, true, 'not fresh, 90 s old; cache_timeout is 89 s']
- [{KEY}, -9000, true, 'not fresh, -9,000 s old; cache_timeout is 89 s']  # from the future
- [{KEY}, 0, false, 'not read, because this run refreshes it']
- [x, 0, true, 'no entry for this base_url, token and pagination, or an expired one']
""")


@pytest.mark.parametrize(("key", "age", "use_cache", "line"), UNUSED)
def test_the_reason_for_not_using_an_entry_is_shown(key, age, use_cache, line):
    account = Account({key: entry(age)}, fresh=89)
    assert account.listing(fetch, use_cache=use_cache) is FETCHED
    assert account.lines == [f"cache: {line}"]
    assert account.warnings == []


def test_a_stale_entry_is_used_while_the_api_is_down():
    account = Account({KEY: entry(age=120)}, fresh=100, grace=50)
    down = Mock(side_effect=_errors.Unreachable("Down."))
    assert account.listing(down, use_cache=False).servers == SERVERS
    assert account.warnings == ["Using a stale listing, 120 s old. Down."]


TOO_OLD = "cache: no entry that is young enough for stale_cache_timeout"
# The age of the entry, the option, the failure, and what is shown.
NOT_STALE = [
    (160, 50, _errors.Unreachable, [TOO_OLD]),
    (20, 0, _errors.Unreachable, []),
    (20, 50, _errors.MalformedResponse, []),
]


@pytest.mark.parametrize(("age", "grace", "error", "lines"), NOT_STALE)
def test_no_stale_entry_is_used_if_it_is_too_old_or_the_api_responds(age, grace, error, lines):
    account = Account({KEY: entry(age)}, fresh=100, grace=grace)
    with pytest.raises(error):
        account.listing(Mock(side_effect=error("No.")), use_cache=False)
    assert account.warnings == []
    assert account.lines[1:] == lines


ENTRIES = yaml.safe_load(r"""
- []
- text
- {}
- &entry {fetched: 1_000_000_000, servers: null}
- {<<: *entry, fetched: null}
- {<<: *entry, servers: '{"data": [], "has_'}
- {<<: *entry, servers: '{"data": [{"id": 1}], "has_more": false}'}
- {<<: *entry, servers: '{"data": [], "has_more": true}'}
- {<<: *entry, servers: "{\"data\": [{\"id\": \"\ud800\"}], \"has_more\": false}"}
""")
ENTRIES += [entry(0, servers="[" * 100_000)]
# Exceptions of a cache plugin, and of Ansible's decoder for its entries.
ENTRIES += [AnsibleError(), AttributeError(), LookupError(), RecursionError(), TypeError()]


@pytest.mark.parametrize("found", ENTRIES, ids=range(15))
def test_a_damaged_entry_is_replaced_with_a_warning(found):
    cache = Cache({KEY: found})
    account = Account(cache)
    account.store(account.listing(fetch, use_cache=True))
    (warning,) = account.warnings
    assert account.plugin not in warning  # that is for a plugin that fails
    assert cache[KEY] is not found


class Broken(Exception):
    """An exception of a library that nobody knows."""


def test_a_cache_that_cannot_be_read_is_named_and_used_once():
    cache = MagicMock()
    cache.get.side_effect = Broken("Error at\n/a/path: Permission.")
    account = Account(cache, fresh=100, grace=50)
    account.store(account.listing(fetch, use_cache=True))
    with pytest.raises(_errors.Unreachable):
        account.listing(Mock(side_effect=_errors.Unreachable("Down.")), use_cache=True)
    assert len(cache.mock_calls) == 1
    assert account.warnings == ["The cache x at h:1 can't be read: Error at /a/path: Permission."]


@pytest.mark.parametrize(("text", "reason"), [("it is full.", "it is full"), ("", "Broken")])
def test_a_cache_that_cannot_be_written_is_named_and_left_empty(text, reason, monkeypatch):
    cache = Cache()
    monkeypatch.setattr(cache, "update_cache_if_changed", Mock(side_effect=Broken(text)))
    account = Account(cache)
    account.store(FETCHED)
    assert account.warnings == [f"The cache x at h:1 can't be written: {reason}."]
    assert cache == {}  # Ansible would write what is left here after the source


@pytest.fixture
def plugin():
    """Return an inventory plugin with options of a cache."""
    options = {"cache_plugin": "x", "cache_timeout": 100, "stale_cache_timeout": 50}
    return Mock(get_option=options.get, set_option=options.__setitem__)


def test_the_cache_plugin_keeps_entries_until_they_are_stale(plugin):
    kept_for = []
    plugin.load_cache_plugin = lambda: kept_for.append(plugin.get_option("cache_timeout"))
    found = _cache.open_entry(plugin, CONNECTION, pytest.fail, pytest.fail)
    of_plugin = (plugin.cache, "x", CONNECTION, 100, 50, pytest.fail, pytest.fail)
    assert found == _cache.CacheEntry(*of_plugin)
    assert kept_for == [150]


def test_a_cache_in_memory_causes_a_warning(plugin):
    warnings = []
    plugin.set_option("cache_plugin", "ansible.builtin.memory")
    _cache.open_entry(plugin, CONNECTION, warnings.append, pytest.fail)
    assert warnings == [
        "cache: the cache plugin ansible.builtin.memory keeps nothing between two commands, so the "
        "cache has no effect. Set cache_plugin, for example to ansible.builtin.jsonfile, or "
        "cache: false."
    ]


def test_a_cache_plugin_that_cannot_be_used_is_named_with_its_options(plugin):
    warnings = []
    plugin.load_cache_plugin.side_effect = Broken("no such\nplugin.")
    assert _cache.open_entry(plugin, CONNECTION, warnings.append, pytest.fail) is None
    assert warnings == [
        "The cache x can't be used: no such plugin. Check cache_plugin and cache_connection."
    ]
