# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a cache is configured, what is part of its key, and what happens if it can't be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    HAS_EXPRESSIONS,
)
from sandbox import Fault

from .conftest import KNOWN, THREE, Cases, Source, cached, check_refused, hosts, members, prefixed

pytestmark = pytest.mark.promise("cache")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_can_be_set_up_for_all_sources(source: Source, cases: Cases, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    source.runner.environment.update(
        ANSIBLE_INVENTORY_CACHE="true",
        ANSIBLE_INVENTORY_CACHE_PLUGIN="ansible.builtin.jsonfile",
        ANSIBLE_INVENTORY_CACHE_CONNECTION=str(folder),
        ANSIBLE_INVENTORY_CACHE_TIMEOUT="60",
        ANSIBLE_INVENTORY_CACHE_PLUGIN_PREFIX="fleet_",
    )
    cases.share("environment", source.sandbox)
    # The file takes precedence.
    cases.share("off", source.sandbox, cache=False)
    cases.share("prefix", source.sandbox, cache_prefix="own_")
    for requests in (3, 4):  # the second command only for the source without a cache
        listing = cases.list()
        for case in cases.paths:
            assert members(listing, case) == prefixed(case)
        assert len(source.sandbox.requests) == requests
    fleet, own = names(folder)
    assert fleet.startswith("fleet_")
    assert own.startswith("own_")
    assert "server_management.cloud.servers_" in fleet


def test_only_options_that_change_the_listing_are_part_of_the_key(
    source: Source, cases: Cases, tmp_path: Path
) -> None:
    choices: dict[str, dict[str, Any]] = {
        "first": {},
        "regions": {"regions": ["eu-1", "eu-2"]},
        "minimum": {"min_servers": 3},
        "timeout": {"timeout": 9},
        "partial": {"allow_partial": True},
        "cursor": {"pagination": "cursor"},
    }
    for case, options in choices.items():
        cases.share(case, source.sandbox, **cached(tmp_path / "cache"), **options)
    # A partial listing is not cached.
    more = cases.serve(servers=KNOWN)
    more.fail(Fault(has_more=True), times=2)
    for case in ("more_1", "more_2"):
        cases.share(case, more, **cached(tmp_path / "more"), allow_partial=True)
    result = cases.run()
    for case in cases.paths:
        assert members(result.json(), case) == prefixed(case)
        text = f"{case}.server_management.yml: The API has more servers than the 3"
        assert result.says(text) == case.startswith("more"), case
    assert len(source.sandbox.requests) == len(names(tmp_path / "cache")) == 3
    assert len(more.requests) == 2
    assert names(tmp_path / "more") == []


# Cache plugins that fail when a listing is read or written, or that keep nothing.
PLUGINS = """
DOCUMENTATION = '''
name: {name}
short_description: x
description: x
options:
  _uri: {{type: str, required: true, ini: [{{key: fact_caching_connection, section: defaults}}]}}
  _timeout: {{type: int, default: 60, ini: [{{key: fact_caching_timeout, section: defaults}}]}}
  _prefix: {{type: str, default: "", ini: [{{key: fact_caching_prefix, section: defaults}}]}}
'''
from ansible.plugins.cache import BaseCacheModule

class ConnectionFailed(Exception):
    pass

class CacheModule(BaseCacheModule):
    _persistent = {persistent}

    def contains(self, key):
        {contains}

    def set(self, key, value):
        raise ConnectionFailed("Error 111 connecting to 127.0.0.1:6379. Connection refused.")

    def get(self, key):
        raise KeyError(key)

    delete = flush = copy = get

    def keys(self):
        return []
"""


def test_a_cache_that_is_down_is_named_and_not_needed(source: Source, tmp_path: Path) -> None:
    down = 'raise ConnectionFailed("Error 111 connecting to 127.0.0.1:6379. Connection refused.")'
    for name, contains in (("down", down), ("full", "return False")):
        text = PLUGINS.format(name=name, contains=contains, persistent=True)
        (tmp_path / f"{name}.py").write_text(text)
    source.runner.environment["ANSIBLE_CACHE_PLUGINS"] = str(tmp_path)
    source.runner.environment["ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"] = "true"
    reason = "Error 111 connecting to 127.0.0.1:6379. Connection refused."
    where = {"down": "127.0.0.1:6379:0:s3cret-password", "full": "/"}
    for name, problem in (
        ("down", "at 127.0.0.1:6379 can't be read"),
        ("full", "in / can't be wr"),
    ):
        options = {"cache_plugin": name, "cache_connection": where[name]}
        result = source.run(cache=True, **options).ok()
        assert hosts(result.json()) == ["db-1", "web-1", "web-2"]
        assert result.says(f"test.server_management.yml: The cache {name} {problem}")
        assert result.says(reason)
        assert result.stderr.count("WARNING") == 1
        assert "s3cret" not in result.output
    # A file can't be created in the first one, nor a folder in the others.
    (tmp_path / "a_file").write_text("")
    for folder, problem in {
        Path("/proc"): "written",
        Path("/proc/cache"): "used",
        tmp_path / "a_file": "used",
        tmp_path / "a_file" / "cache": "used",
    }.items():
        result = source.run(**cached(folder), stale_cache_timeout=60).ok()
        assert hosts(result.json()) == ["db-1", "web-1", "web-2"]
        assert result.says(f"The cache ansible.builtin.jsonfile in {folder} can't be {problem}")
        assert result.stderr.count("WARNING") == 1


def test_a_cache_that_keeps_nothing_is_reported(source: Source, tmp_path: Path) -> None:
    text = PLUGINS.format(name="volatile", contains="return False", persistent=False)
    (tmp_path / "volatile.py").write_text(text.replace("raise ConnectionFailed", "print"))
    source.runner.environment["ANSIBLE_CACHE_PLUGINS"] = str(tmp_path)
    for plugin in (None, "volatile"):
        result = source.run(cache=True, cache_plugin=plugin, cache_connection=str(tmp_path)).ok()
        assert hosts(json.loads(result.stdout[result.stdout.index("{") :])) == THREE
        name = plugin or "memory"
        text = f"cache: the cache plugin {name} keeps nothing between two commands, so the cache"
        # Before ansible-core 2.19, Ansible ignores what the plugin says.
        assert result.says(text) == (plugin is None or HAS_EXPRESSIONS)


def test_min_servers_also_checks_a_cached_listing(cases: Cases, tmp_path: Path) -> None:
    options = cached(tmp_path / "cache")
    api = cases.add("first", **options)
    cases.add("hit", api, **options, min_servers=2)
    texts = {"hit": "min_servers: 2 or more expected, but the account has 1."}
    # An option of the cache that is wrong adds no host.
    plugin = cases.add("plugin", **{**options, "cache_plugin": "no.such.plugin"})
    check_refused(cases.run(), {**texts, "plugin": "no.such.plugin"})
    assert plugin.requests == []
    assert len(api.requests) == 1
    # A listing that is too short is not cached.
    api.servers.clear()
    cases.add("miss", api, **options, min_servers=1, cache_prefix="x")
    texts["miss"] = "min_servers: 1 or more expected, but the account has 0."
    check_refused(cases.run(), texts)
    assert len(api.requests) == 2
    assert len(names(tmp_path / "cache")) == 1
