# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Responses that the API may give: pages, transient failures and hostile data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandbox import Fault, Sandbox
from support.run import Runner

from .conftest import KNOWN, Source, hosts, members

NO_ADDRESS = "no-usable-ipv4.invalid."
CANARY = "{{ lookup('ansible.builtin.pipe', 'touch CANARY') }}"


@pytest.mark.promise("whole")
@pytest.mark.parametrize("style", ["link", "cursor", "page", "offset"])
def test_paging_gives_the_whole_account(runner: Runner, tmp_path: Path, style: str) -> None:
    for count, pages in ((0, 1), (1, 1), (4, 1), (5, 2), (9, 3)):
        with Sandbox(servers=count, pagination=style, page_size=4) as api:
            listing = Source(runner, api, tmp_path).list(pagination=style)
            assert len(hosts(listing)) == count
            assert len(api.requests) == pages
            assert len({request.connection for request in api.requests}) == 1


def test_paging_with_another_parameter(runner: Runner, tmp_path: Path) -> None:
    options = {"pagination": "cursor", "pagination_parameter": "after"}
    with Sandbox(servers=5, page_size=4, pagination="cursor", pagination_parameter="after") as api:
        assert len(hosts(Source(runner, api, tmp_path).list(**options))) == 5
        assert api.requests[-1].query == {"after": api.servers[3]["id"]}


def test_transient_failures_are_retried(source: Source) -> None:
    source.sandbox.fail(Fault(status=503, retry_after=0), times=1)
    source.sandbox.fail(Fault.reset(), times=1)
    assert len(hosts(source.list(retries=2))) == 3
    assert len(source.sandbox.requests) == 3


@pytest.mark.promise("whole")
def test_a_partial_listing_can_be_allowed(source: Source) -> None:
    source.sandbox.fail(Fault(has_more=True), times=None)
    result = source.run(allow_partial=True).ok()
    assert len(hosts(result.json())) == 3
    assert result.says("more servers than the 3")


def hostile() -> list[dict[str, Any]]:
    changes: list[dict[str, Any]] = [
        {"name": CANARY},
        {"region": CANARY},
        {"tags": [CANARY, {CANARY: CANARY}]},
        {"name": "{% for x in y %}"},
        {"name": "#jinja2: variable_start_string: '['"},
        {"plan": "{# comment"},
        {"name": "localhost"},
        {"name": "127.0.0.1"},
        {"name": "all"},
        {"name": "region_eu_1"},
        {"name": "-i/etc/passwd"},
        {"name": "../../etc/passwd"},
        {"name": "x" * 10_000},
        {"name": None},
        {"name": ["web"]},
        {"region": 7},
        {"ipv4": "203.0.113.1 -oProxyCommand=touch"},
        {"ipv4": "224.0.0.1"},
        {"status": "\u202e\u200b\x1b[31m\n"},
        {"ansible_connection": "local", "bad-key": 1},
    ]
    return [
        {**KNOWN[0], "id": f"srv_x{number}", "name": f"h{number}", **change}
        for number, change in enumerate(changes)
    ]


@pytest.mark.promise("data")
def test_hostile_data_is_data(source: Source, tmp_path: Path) -> None:
    canary = tmp_path / "CANARY"
    source.sandbox.servers += [
        {key: _planted(value, str(canary)) for key, value in server.items()} for server in hostile()
    ]
    options: dict[str, Any] = {
        "cache": True,
        "cache_plugin": "ansible.builtin.jsonfile",
        "cache_connection": str(tmp_path / "cache"),
        "compose": {"copy": "server_region", "joined": "server_name ~ '/' ~ server_region"},
        "keyed_groups": [{"key": "server_region", "prefix": "kr"}],
    }
    path = source.file(**options)
    playbook = tmp_path / "play.yml"
    playbook.write_text(PLAYBOOK)
    for requests in (1, 1):  # from the API, then from the cache
        listing = source.runner.inventory("-i", path, "--list").ok().json()
        assert len(source.sandbox.requests) == requests
        names = hosts(listing)
        assert len(names) == 3 + len(hostile())
        assert {"web-1", "web-2", "db-1"} < set(names)
        assert not {"localhost", "127.0.0.1", "all", "region_eu_1"} & set(names)
        hostvars = listing["_meta"]["hostvars"]
        for name in ("web-1", "web-2", "db-1"):
            assert "__ansible_unsafe" not in str(hostvars[name])
            assert hostvars[name]["ansible_host"]
        (planted,) = [known for known in hostvars.values() if known["server_id"] == "srv_x0"]
        # Before 2.19 and from then on, this is how Ansible prints what it will never render.
        assert list(planted["server_name"]) == ["__ansible_unsafe"]
        assert not [known for known in hostvars.values() if "ansible_connection" in known]
        bad_address = [name for name in names if hostvars[name]["ansible_host"] == NO_ADDRESS]
        assert bad_address == ["h16", "h17"]
        assert members(listing, "region_7") == []
        played = source.runner.playbook("-i", path, playbook).ok()
        assert played.stdout.count("failed=0") == len(names)
        assert not canary.exists()


def _planted(value: Any, canary: str) -> Any:
    if isinstance(value, str):
        return value.replace("CANARY", canary)
    if isinstance(value, list):
        return [_planted(item, canary) for item in value]
    if isinstance(value, dict):
        return {_planted(key, canary): _planted(item, canary) for key, item in value.items()}
    return value


PLAYBOOK = """
- hosts: all
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        var: hostvars[inventory_hostname]
    - ansible.builtin.set_fact:
        kept: "{{ server_tags | default([]) }}"
        text: "{{ server_name | default('') ~ server_region | default('') ~ copy | default('') }}"
    - ansible.builtin.debug:
        msg: "{{ kept }} {{ text }} {{ joined | default('') }} {{ hostvars | to_json | length }}"
    - ansible.builtin.debug:
        msg: "{{ item }}"
      loop: "{{ server_tags | default([]) }}"
"""
