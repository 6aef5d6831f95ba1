# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cache: one entry for each account, its options, and when a stale entry is used."""

from pathlib import Path

from sandbox import Fault
from support.fixtures import KNOWN_NAMES

from .conftest import cached, hosts, rewrite


def test_a_hit_sends_no_request_and_imports_no_http(source, tmp_path):
    path = source.file(**cached(tmp_path / "cache"))
    first = source.runner.inventory("-i", path, "--list").ok()
    assert first.stderr == ""
    program = Path(source.runner.environment["PATH"].split(":")[0], "ansible-inventory")
    hit = source.runner.run("python", "-X", "importtime", program, "-i", path, "--list").ok()
    assert hosts(hit.json()) == KNOWN_NAMES
    assert first.json() == hit.json()
    assert len(source.sandbox.requests) == 1
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


def test_a_playbook_and_a_flush_rewrite_it(source, tmp_path):
    path = source.file(**cached(tmp_path / "cache"))
    playbook = tmp_path / "refresh.yml"
    playbook.write_text(REFRESH)
    assert hosts(source.list_silently(**cached(tmp_path / "cache"))) == KNOWN_NAMES
    source.sandbox.servers.pop()
    played = source.runner.playbook("-i", path, playbook).ok()
    assert played.stdout.count("second") == 2
    assert len(source.sandbox.requests) == 2
    source.sandbox.servers.pop()
    source.flush(path).ok().shows("hosts (1)")
    assert len(source.sandbox.requests) == 3
    (entry,) = (tmp_path / "cache").iterdir()
    content = entry.read_text()
    assert "srv_1" in content
    assert "srv_2" not in content


def test_it_has_one_entry_for_each_account(source, sources, tmp_path):
    options = cached(tmp_path / "cache")
    api = source.sandbox
    sources.add_with_prefix("first", api, **options)
    sources.add_with_prefix("hit", api, **options, regions=["eu-1", "eu-2"], timeout=9)
    sources.add("denied", api, **options, api_token="another", fails="rejected the token")
    other = sources.serve("other-1", token=api.token)
    sources.add("other", other, **options, hosts=["other-1"])
    sources.check()
    assert len(api.requests) == 2
    assert len(other.requests) == 1
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_it_has_only_whole_listings(sources, tmp_path):
    options = cached(tmp_path / "cache")
    partial = sources.serve("partial-1")
    partial.fail(Fault(has_more=True), times=2)
    text = "The API has more servers than the 1 that was received."
    sources.add("first", partial, **options, hosts=["partial-1"], warns=text, allow_partial=True)
    sources.add("second", partial, **options, hosts=["partial-1"], warns=text, allow_partial=True)
    short = sources.serve("short-1")
    minimum = "min_servers: 2 or more expected, but the account has 1."
    sources.add("short", short, **options, fails=minimum, min_servers=2)
    sources.add("good", short, **options, hosts=["short-1"])
    sources.add("short_hit", short, **options, fails=minimum, min_servers=2)
    sources.check()
    assert len(partial.requests) == 2
    assert len(short.requests) == 2
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_a_stale_entry_is_used_while_the_api_is_down(sources, tmp_path):
    lifetime = {"cache_timeout": 60, "stale_cache_timeout": 600}
    working = sources.add("working", **cached(tmp_path / "working"), **lifetime)
    failing = sources.add("failing", **cached(tmp_path / "failing"), **lifetime)
    denied = sources.add("denied", **cached(tmp_path / "denied"), **lifetime)
    sources.check()
    for case in sources.all:
        (entry,) = (tmp_path / case).iterdir()
        rewrite(entry, lambda content: {**content, "fetched": content["fetched"] - 100})
    failing.fail(Fault(status=503), times=None)
    denied.fail(Fault(status=401), times=None)
    sources.all["failing"].warns = ["Using a stale listing, 1"]
    sources.all["denied"].fails = ["HTTP 401"]
    sources.all["denied"].hosts = []
    sources.check()
    assert len(working.requests) == 2


def test_a_cache_that_never_expires_must_be_written_in_the_file_alone(source, sources, tmp_path):
    settings = tmp_path / "ansible.cfg"
    settings.write_text("[defaults]\nfact_caching_timeout = 0\n")  # for facts
    options = cached(tmp_path / "cache")
    api = source.sandbox
    sources.add_with_prefix("no_cache", api)
    sources.add_with_prefix("written", api, **options, cache_timeout=0)
    inherited = "cache_timeout: is 0 in ansible.cfg or in the environment, so that an entry"
    sources.add("inherited", api, **options, fails=inherited)
    sources.check(env={"ANSIBLE_CONFIG": str(settings)})
    assert len(api.requests) == 2


def test_it_can_be_set_up_for_all_sources(source, sources, tmp_path):
    sources.add_with_prefix("environment", source.sandbox)
    # The file takes precedence.
    sources.add_with_prefix("off", source.sandbox, cache=False, cache_prefix="off_")
    sources.add_with_prefix("prefix", source.sandbox, cache_prefix="own_")
    variables = {
        "ANSIBLE_INVENTORY_CACHE": "true",
        "ANSIBLE_INVENTORY_CACHE_PLUGIN": "ansible.builtin.jsonfile",
        "ANSIBLE_INVENTORY_CACHE_CONNECTION": str(tmp_path / "cache"),
        "ANSIBLE_INVENTORY_CACHE_PLUGIN_PREFIX": "fleet_",
    }
    sources.check(env=variables)
    fleet, own = sorted(path.name for path in (tmp_path / "cache").iterdir())
    assert fleet.startswith("fleet_")
    assert own.startswith("own_")


def test_a_cache_that_does_not_work_is_named_and_not_needed(source, sources, tmp_path):
    api = source.sandbox
    (tmp_path / "a_file").write_text("")
    file = "The cache ansible.builtin.jsonfile can't be used"
    sources.add_with_prefix("file", api, **cached(tmp_path / "a_file"), warns=file)
    # This one is lost with the command.
    memory = "the cache plugin memory keeps nothing between two commands"
    sources.add_with_prefix("memory", api, cache=True, warns=memory)
    sources.check()
