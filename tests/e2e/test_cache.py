# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cache: one entry for each account, its options, and when a stale entry is used."""

import pytest

from sandbox import Fault

from .conftest import cached, rewrite


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def test_a_hit_sends_no_request_and_imports_no_http(source, runner, sandbox, cache):
    listing = source.list_silently(**cached(cache))
    runner.environment["PYTHONPROFILEIMPORTTIME"] = "1"
    hit = source.run(**cached(cache)).ok()
    assert hit.json() == listing
    assert len(sandbox.requests) == 1
    assert "plugins.plugin_utils._cache" in hit.stderr
    assert "requests" not in hit.stderr


REFRESH = """
- hosts: web-1
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


def test_a_playbook_and_a_flush_rewrite_it(source, tmp_path, runner, sandbox, cache):
    path = source.file(**cached(cache))
    runner.inventory("-i", path, "--list").ok()
    playbook = tmp_path / "refresh.yml"
    playbook.write_text(REFRESH)
    sandbox.servers.pop()
    played = runner.playbook("-i", path, playbook).ok()
    assert played.stdout.count("second") == 2
    sandbox.servers.pop()
    source.flush(path).ok().shows("hosts (1)")
    assert len(sandbox.requests) == 3
    (entry,) = cache.iterdir()
    assert "srv_2" not in entry.read_text()


def test_it_has_one_entry_for_each_account(sandbox, sources, cache):
    options = cached(cache)
    sources.add("first", sandbox, **options)
    hit = {**options, "regions": ["eu-2"]}
    sources.add("hit", sandbox, hosts=["web-2"], **hit)
    denied = {**options, "api_token": "another"}
    sources.add("denied", sandbox, fails="HTTP 401", **denied)
    other = sources.serve("other-1", token=sandbox.token)
    sources.add("other", other, **options)
    sources.check()
    assert len(sandbox.requests) == 2
    assert len(other.requests) == 1
    assert len(list(cache.iterdir())) == 2


def test_it_keeps_no_partial_listing_and_none_with_too_few_servers(sources, cache):
    options = cached(cache)
    expecting = {**options, "min_servers": 2}
    api = sources.serve("web-1")
    sources.add("failed", api, fails="min_servers: 2 ", **expecting)
    sources.add("kept", api, **options)
    sources.add("hit", api, fails="min_servers: 2 ", **expecting)
    partial = sources.add("partial", warns="more servers than", allow_partial=True, **options)
    partial.fail(Fault(has_more=True))
    sources.check()
    assert len(api.requests) == 2
    assert len(list(cache.iterdir())) == 1


def make_older(content):
    content["fetched"] -= 100
    return content


def test_a_stale_entry_is_used_while_the_api_is_down(sources, cache):
    options = {**cached(cache), "cache_timeout": 60, "stale_cache_timeout": 600}
    api = sources.add("stale", **{**options, "stale_cache_timeout": 0})
    sources.check()
    (entry,) = cache.iterdir()
    rewrite(entry, make_older)
    api.fail(Fault(status=503))
    sources.add("stale", api, warns="Using a stale listing, 1", **options)
    sources.check()


def test_only_the_file_can_set_up_a_cache_that_never_expires(source, sandbox, sources, cache):
    settings = source.folder / "ansible.cfg"
    settings.write_text("[defaults]\nfact_caching_timeout = 0\n")  # for facts
    sources.add("no_cache", sandbox)
    written = {**cached(cache), "cache_timeout": 0}
    sources.add("written", sandbox, **written)
    sources.add("inherited", sandbox, fails="cache_timeout: ", **cached(cache))
    sources.check(env={"ANSIBLE_CONFIG": str(settings)})


FOR_ALL = {
    "ANSIBLE_INVENTORY_CACHE": "true",
    "ANSIBLE_INVENTORY_CACHE_PLUGIN": "ansible.builtin.jsonfile",
    "ANSIBLE_INVENTORY_CACHE_PLUGIN_PREFIX": "fleet_",
}


def test_it_can_be_set_up_for_all_sources(sandbox, sources, cache):
    sources.add("environment", sandbox)
    # The file takes precedence.
    sources.add("off", sandbox, cache=False, cache_prefix="off_")
    sources.add("prefix", sandbox, cache_prefix="own_")
    sources.check(env={**FOR_ALL, "ANSIBLE_INVENTORY_CACHE_CONNECTION": str(cache)})
    prefixes = {path.name.partition("_")[0] for path in cache.iterdir()}
    assert prefixes == {"fleet", "own"}
