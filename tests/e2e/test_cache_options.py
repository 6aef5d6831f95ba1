# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a cache is configured, what is part of its key, and what happens if it can't be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandbox import Fault

from .conftest import Source, hosts

pytestmark = pytest.mark.promise("cache")

THREE = ["db-1", "web-1", "web-2"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_can_be_set_up_for_all_sources(source: Source, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    source.runner.environment.update(
        ANSIBLE_INVENTORY_CACHE="true",
        ANSIBLE_INVENTORY_CACHE_PLUGIN="ansible.builtin.jsonfile",
        ANSIBLE_INVENTORY_CACHE_CONNECTION=str(folder),
        ANSIBLE_INVENTORY_CACHE_TIMEOUT="60",
        ANSIBLE_INVENTORY_CACHE_PLUGIN_PREFIX="fleet_",
    )
    for served in (1, 1):
        assert hosts(source.list()) == THREE
        assert len(source.sandbox.requests) == served
    (name,) = names(folder)
    assert name.startswith("fleet_")
    assert "server_management.cloud.servers_" in name
    # The file takes precedence.
    assert hosts(source.list(cache=False)) == THREE
    assert len(source.sandbox.requests) == 2
    source.list(cache_prefix="own_")
    assert [name.split("_")[0] for name in names(folder)] == ["fleet", "own"]


def test_a_partial_listing_is_not_cached(source: Source, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "cache": True,
        "cache_plugin": "ansible.builtin.jsonfile",
        "cache_connection": str(tmp_path / "cache"),
        "allow_partial": True,
    }
    source.sandbox.fail(Fault(has_more=True), times=2)
    for _run in range(2):
        partial = source.run(**options).ok()
        assert hosts(partial.json()) == THREE
        assert partial.says("more servers than the 3")
    assert names(tmp_path / "cache") == []
    assert source.list(**options) == source.list(**options)
    assert len(source.sandbox.requests) == 3
    # An option that only selects from the listing is not part of the key.
    for choice in ({"regions": ["eu-1"]}, {"group": "x"}, {"min_servers": 3}, {"timeout": 9}):
        assert source.list(**options, **choice)
        assert len(source.sandbox.requests) == 3
    source.list(**{**options, "allow_partial": False})
    source.list(**options, pagination="page")
    assert len(names(tmp_path / "cache")) == 3


@pytest.mark.parametrize("kind", ["a_file", "no_plugin"])
def test_a_cache_that_cannot_be_used_adds_no_host(
    source: Source, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "a_file").write_text("")
    plugin = {"a_file": "ansible.builtin.jsonfile", "no_plugin": "no.such.plugin"}[kind]
    source.refused(cache=True, cache_plugin=plugin, cache_connection=str(tmp_path / "a_file"))
    assert source.sandbox.requests == []


def test_min_servers_also_checks_a_cached_listing(source: Source, tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "cache": True,
        "cache_plugin": "ansible.builtin.jsonfile",
        "cache_connection": str(tmp_path / "cache"),
    }
    source.list(**options)
    source.refused(
        "min_servers: 4 or more expected, but the account has 3.", **options, min_servers=4
    )
    source.sandbox.servers.clear()
    source.refused("min_servers: 1 or more expected", **options, min_servers=1, cache_prefix="x")
    assert len(names(tmp_path / "cache")) == 1


def test_a_damaged_entry_is_never_used(source: Source, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    options: dict[str, Any] = {
        "cache": True,
        "cache_plugin": "ansible.builtin.jsonfile",
        "cache_connection": str(folder),
        "cache_timeout": 60,
        "stale_cache_timeout": 600,
    }
    source.list(**options)
    (entry,) = folder.iterdir()
    entry.write_text(entry.read_text().replace("has_more", "has_less"))
    source.sandbox.fail(Fault(status=503), times=None)
    source.refused("is damaged and not used", "HTTP 503", **options)
