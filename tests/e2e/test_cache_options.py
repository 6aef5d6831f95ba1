# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a cache is configured, what is part of its key, and what happens if it can't be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandbox import Fault

from .conftest import KNOWN, Cases, Source, cached, check_refused, members, prefixed

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
        "page": {"pagination": "page"},
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


def test_min_servers_also_checks_a_cached_listing(cases: Cases, tmp_path: Path) -> None:
    options = cached(tmp_path / "cache")
    api = cases.add("first", **options)
    cases.add("hit", api, **options, min_servers=2)
    texts = {"hit": "min_servers: 2 or more expected, but the account has 1."}
    # A cache that can't be used adds no host.
    (tmp_path / "a_file").write_text("")
    unusable = cached(tmp_path / "a_file")
    file = cases.add("a_file", **unusable)
    plugin = cases.add("plugin", **{**unusable, "cache_plugin": "no.such.plugin"})
    check_refused(cases.run(), {**texts, "a_file": "a_file", "plugin": "no.such.plugin"})
    assert file.requests == plugin.requests == []
    assert len(api.requests) == 1
    # A listing that is too short is not cached.
    api.servers.clear()
    cases.add("miss", api, **options, min_servers=1, cache_prefix="x")
    texts["miss"] = "min_servers: 1 or more expected, but the account has 0."
    check_refused(cases.run(), texts)
    assert len(api.requests) == 2
    assert len(names(tmp_path / "cache")) == 1
