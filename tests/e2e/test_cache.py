# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cache: one entry for each account, its options, and when a stale entry is used."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sandbox import Fault

from .conftest import (
    KNOWN,
    THREE,
    Cases,
    Source,
    cached,
    check_refused,
    hosts,
    members,
    prefixed,
    rewrite,
)

pytestmark = pytest.mark.promise("cache")


def entry_in(folder: Path) -> Path:
    (entry,) = folder.iterdir()
    return entry


def age(folder: Path, seconds: float) -> None:
    """Make the entry in a folder older than it is."""
    rewrite(entry_in(folder), lambda content: {**content, "fetched": content["fetched"] - seconds})


@pytest.mark.promise("whole")
def test_commands_at_once_share_it_and_a_hit_imports_no_http(
    source: Source, tmp_path: Path
) -> None:
    path = source.file(**cached(tmp_path / "cache"))
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(source.runner.inventory, "-i", path, "--list") for run in range(2)]
        first, second = (run.result().ok() for run in runs)
    assert first.stderr == second.stderr == ""
    assert hosts(first.json()) == THREE
    asked = len(source.sandbox.requests)
    assert 1 <= asked <= 2
    program = Path(source.runner.environment["PATH"].split(":")[0], "ansible-inventory")
    hit = source.runner.run("python", "-X", "importtime", program, "-i", path, "--list").ok()
    assert first.json() == second.json() == hit.json()
    assert len(source.sandbox.requests) == asked
    assert "plugins.plugin_utils._cache" in hit.stderr
    assert "requests" not in hit.stderr


# Another command creates the directory between Ansible's check and its own attempt.
REFRESH = """
- hosts: all
  gather_facts: false
  connection: local
  tasks:
    - ansible.builtin.meta: refresh_inventory
- hosts: all
  gather_facts: false
  connection: local
  tasks:
    - ansible.builtin.debug: msg=second
"""


def test_a_playbook_and_a_flush_rewrite_it(source: Source, tmp_path: Path) -> None:
    path = source.file(**cached(tmp_path / "cache"))
    playbook = tmp_path / "refresh.yml"
    playbook.write_text(REFRESH)
    assert len(hosts(source.runner.inventory("-i", path, "--list").json())) == 3
    source.sandbox.servers.pop()
    played = source.runner.playbook("-i", path, playbook).ok()
    assert played.stdout.count("second") == 2
    assert len(source.sandbox.requests) == 2
    source.sandbox.servers.pop()
    assert "hosts (1)" in source.flush(path).ok().stdout
    assert len(hosts(source.runner.inventory("-i", path, "--list").json())) == 1
    assert len(source.sandbox.requests) == 3


def test_another_token_or_url_is_another_account(
    source: Source, cases: Cases, tmp_path: Path
) -> None:
    options = cached(tmp_path / "cache")
    cases.add("first", source.sandbox, **options)
    cases.add("denied", source.sandbox, **options, api_token="another")
    server = {**source.sandbox.servers[0], "id": "srv_other"}
    other = cases.serve(servers=[server], token=source.sandbox.token)
    cases.add("other", other, **options)
    for requests in (2, 3):  # only the rejected one asks again
        result = cases.run()
        check_refused(result, {"denied": "rejected the token"})
        assert members(result.json(), "first") == THREE
        assert members(result.json(), "other") == ["web-1_srv_other"]
        assert (len(source.sandbox.requests), len(other.requests)) == (requests, 1)
    assert len(list((tmp_path / "cache").iterdir())) == 2


# The content of the file.
FAULTS = {
    "reset": (Fault.reset(), True),
    "throttled": (Fault(status=429), True),
    "failing": (Fault(status=503), True),
    "token": (Fault(status=401), False),
    "scope": (Fault(status=403), False),
    "malformed": (Fault(body="<html>"), False),
    "damaged": (Fault(status=503), False),
}


def test_a_stale_entry_is_used_while_the_api_is_down(cases: Cases, tmp_path: Path) -> None:
    apis = {
        case: cases.add(case, **cached(tmp_path / case), cache_timeout=60, stale_cache_timeout=600)
        for case in ("works", *FAULTS)
    }
    cases.list()
    for case in apis:
        age(tmp_path / case, 100)
    entry = entry_in(tmp_path / "damaged")
    entry.write_text(entry.read_text().replace("has_more", "has_less"))
    for case, (fault, _is_used) in FAULTS.items():
        apis[case].fail(fault, times=None)
    result = cases.run()
    used = [case for case, (_fault, is_used) in FAULTS.items() if is_used]
    assert hosts(result.json()) == sorted(f"{case}-1" for case in ("works", *used))
    for case in apis:
        text = f"{case}.server_management.yml: Using a stale listing, 1"
        assert result.says(text) == (case in used), case
    assert len(apis["works"].requests) == 2
    check_refused(result, {"damaged": ("is damaged and not used", "HTTP 503")})
    for case in used:
        age(tmp_path / case, 600)
    assert hosts(cases.run().json()) == ["works-1"]


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
        assert members(result.json(), case) == prefixed(case), case
        text = f"{case}.server_management.yml: The API has more servers than the 3"
        assert result.says(text) == case.startswith("more"), case
    assert len(source.sandbox.requests) == len(names(tmp_path / "cache")) == 3
    assert len(more.requests) == 2
    assert names(tmp_path / "more") == []


# Cache plugins that fail when a listing is read or written, or that keep nothing.
DOWN = """
DOCUMENTATION = '''
name: down
short_description: x
description: x
options:
  _uri: {type: str, required: true, ini: [{key: fact_caching_connection, section: defaults}]}
'''
from ansible.plugins.cache import BaseCacheModule

class CacheModule(BaseCacheModule):
    _persistent = True

    def contains(self, key):
        raise OSError("Error 111 connecting to 127.0.0.1:6379. Connection refused.")

    def keys(self):
        return []

    set = get = delete = flush = copy = contains
"""


def test_a_cache_that_does_not_work_is_named_and_not_needed(source: Source, tmp_path: Path) -> None:
    (tmp_path / "down.py").write_text(DOWN)
    source.runner.environment["ANSIBLE_CACHE_PLUGINS"] = str(tmp_path)
    source.runner.environment["ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"] = "true"
    (tmp_path / "a_file").write_text("")
    down = {"cache_plugin": "down", "cache_connection": "127.0.0.1:6379:0:s3cret-password"}
    choices: dict[str, dict[str, Any]] = {
        "The cache down can't be read": {"cache": True, **down},
        # A file can't be created in this one, nor a folder in the other one.
        "The cache ansible.builtin.jsonfile can't be written": cached(Path("/proc")),
        "The cache ansible.builtin.jsonfile can't be used": cached(tmp_path / "a_file"),
        # This one is lost with the command.
        "cache: the cache plugin memory keeps nothing between two commands": {"cache": True},
    }
    for text, options in choices.items():
        result = source.run(**options).ok()
        assert hosts(json.loads(result.stdout[result.stdout.index("{") :])) == THREE
        assert result.says(text)
        assert result.stderr.count("WARNING") == 1
        assert "s3cret" not in result.output


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
