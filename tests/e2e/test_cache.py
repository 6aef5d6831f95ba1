# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cache: one entry for each account, when it is rewritten, and when a stale one is used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox import Fault, Sandbox
from support.run import Result, write_inventory

from .conftest import Source, hosts

pytestmark = pytest.mark.promise("cache")


@pytest.fixture
def options(tmp_path: Path) -> dict[str, Any]:
    return {
        "cache": True,
        "cache_plugin": "ansible.builtin.jsonfile",
        "cache_connection": str(tmp_path / "cache"),
    }


def entries(options: dict[str, Any]) -> list[Path]:
    return sorted(Path(options["cache_connection"]).iterdir())


def rewrite(entry: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change what the plugin wrote, which Ansible 2.19 and later wraps in a text."""
    outer = json.loads(entry.read_text())
    if "__payload__" in outer:
        outer["__payload__"] = json.dumps(change(json.loads(outer["__payload__"])))
    else:
        outer = change(outer)
    entry.write_text(json.dumps(outer))


def age(options: dict[str, Any], seconds: float) -> None:
    """Make the entries older than they are."""
    for entry in entries(options):
        rewrite(entry, lambda content: {**content, "fetched": content["fetched"] - seconds})


def test_a_hit_opens_no_connection_and_imports_no_http(
    source: Source, options: dict[str, Any]
) -> None:
    first = source.list(**options)
    program = Path(source.runner.environment["PATH"].split(":")[0], "ansible-inventory")
    path = source.file(**options, statuses=["running"])
    result = source.runner.run("python", "-X", "importtime", program, "-i", path, "--list").ok()
    assert hosts(result.json()) == ["db-1", "web-1"]
    assert len(source.sandbox.requests) == 1
    assert "plugins.plugin_utils._cache" in result.stderr
    assert "requests" not in result.stderr
    assert source.list(**options) == first
    assert len(entries(options)) == 1


def test_it_is_rewritten_on_demand(source: Source, options: dict[str, Any]) -> None:
    source.list(**options)
    source.sandbox.servers.pop()
    assert len(hosts(source.list(**options))) == 3
    flushed = source.flush(source.file(**options)).ok()
    assert "hosts (2)" in flushed.stdout
    assert len(hosts(source.list(**options))) == 2


def test_a_playbook_can_refresh_it(source: Source, options: dict[str, Any], tmp_path: Path) -> None:
    playbook = tmp_path / "refresh.yml"
    playbook.write_text(
        "- hosts: all\n  gather_facts: false\n  connection: local\n"
        "  tasks:\n    - ansible.builtin.meta: refresh_inventory\n"
        "- hosts: all\n  gather_facts: false\n  connection: local\n"
        "  tasks:\n    - ansible.builtin.debug: msg=second\n"
    )
    source.list(**options)
    source.sandbox.servers.pop()
    played = source.runner.playbook("-i", source.file(**options), playbook).ok()
    assert played.stdout.count("second") == 2
    assert len(hosts(source.list(**options))) == 2
    assert len(source.sandbox.requests) == 2


def test_another_token_or_url_is_another_account(
    source: Source, options: dict[str, Any], tmp_path: Path
) -> None:
    source.list(**options)
    source.refused("rejected the token", **options, api_token="another")
    with Sandbox(servers=1) as other:
        listing = Source(source.runner, other, tmp_path).list(**options)
        assert len(hosts(listing)) == 1
    assert len(entries(options)) == 2


BAD_FILES = ["", "{", "[]", '"text"', "null", "{}", "7", '{"__payload__": "{"}']
BAD_ENTRIES: list[Any] = [
    None,
    [],
    "text",
    {"format": 99},
    {"fetched": None},
    {"fetched": "now"},
    {"servers": []},
    {"servers": "not JSON"},
    {"servers": '{"data": [{}], "has_more": false}'},
    {"servers": '{"data": [{"id": 1}], "has_more": false}'},
    {"servers": "[" * 100_000},
]


@pytest.mark.parametrize("number", range(len(BAD_FILES) + len(BAD_ENTRIES)))
def test_a_damaged_entry_is_a_miss_with_a_warning(
    source: Source, options: dict[str, Any], number: int
) -> None:
    source.list(**options)
    (entry,) = entries(options)
    if number < len(BAD_FILES):
        entry.write_text(BAD_FILES[number])
    else:
        damage = BAD_ENTRIES[number - len(BAD_FILES)]
        rewrite(entry, lambda good: {**good, **damage} if isinstance(damage, dict) else damage)
    result = source.run(**options).ok()
    assert len(hosts(result.json())) == 3
    assert len(source.sandbox.requests) == 2
    assert result.says("damaged") or BAD_FILES[number:][:1] == ["{}"] or result.stderr == ""
    assert len(hosts(source.list(**options))) == 3
    assert len(source.sandbox.requests) == 2


def test_an_old_entry_is_fetched_again(source: Source, options: dict[str, Any]) -> None:
    source.list(**options, cache_timeout=60)
    age(options, 61)
    source.sandbox.servers.pop()
    assert len(hosts(source.list(**options, cache_timeout=60))) == 2


@pytest.mark.parametrize(
    ("fault", "is_used"),
    [
        (Fault.reset(), True),
        (Fault(status=429), True),
        (Fault(status=503), True),
        (Fault(status=401), False),
        (Fault(status=403), False),
        (Fault(body="<html>"), False),
    ],
    ids=str,
)
def test_a_stale_entry_is_used_while_the_api_is_down(
    source: Source, options: dict[str, Any], fault: Fault, is_used: bool
) -> None:
    stale = {**options, "cache_timeout": 60, "stale_cache_timeout": 600}
    source.list(**stale)
    age(options, 100)
    source.sandbox.fail(fault, times=None)
    result: Result = source.run(**stale)
    assert len(hosts(result.json())) == (3 if is_used else 0)
    assert result.says("Using a stale listing, 10") == is_used
    age(options, 600)
    assert hosts(source.run(**stale).json()) == []


def test_two_sources_have_separate_entries(
    source: Source, options: dict[str, Any], tmp_path: Path
) -> None:
    with Sandbox(servers=[{**source.sandbox.servers[0], "id": "srv_other"}], token="other") as api:
        first = source.file("a.server_management.yml", **options)
        second = write_inventory(
            tmp_path,
            {"base_url": api.url, "api_token": "other", **options},
            "b.server_management.yml",
        )
        for expected in (1, 1):
            result = source.runner.inventory("-i", first, "-i", second, "--list").ok()
            assert hosts(result.json()) == ["db-1", "web-1", "web-1_srv_other", "web-2"]
            assert len(api.requests) == expected
