# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Listings of several pages, and text of the API in expressions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import KNOWN, Cases, Source, cached, members
from .hostile import CANARY, EXECUTE, HEADER, READ, STATEMENT


@pytest.mark.promise("whole")
def test_paging_gives_the_whole_account(cases: Cases) -> None:
    expected = {}
    for style in ("link", "cursor", "page", "offset"):
        for count, pages in ((0, 1), (1, 1), (4, 1), (5, 2), (9, 3)):
            case = f"{style}_{count}"
            names = [f"{style}-{count}-{number}" for number in range(count)]
            api = cases.serve(*names, servers=[], pagination=style, page_size=4)
            cases.add(case, api, pagination=style)
            expected[case] = (api, names, pages)
    parameter: dict[str, Any] = {"pagination": "cursor", "pagination_parameter": "after"}
    api = cases.serve(*map(str, "abcde"), page_size=4, **parameter)
    cases.add("parameter", api, **parameter)
    expected["parameter"] = (api, list("abcde"), 2)
    listing = cases.list()
    for case, (api, names, pages) in expected.items():
        assert members(listing, case) == names, case
        assert len(api.requests) == pages, case
        assert len({request.connection for request in api.requests}) == 1, case
    assert api.requests[-1].query == {"after": "srv_4"}


PLAYBOOK = """
- hosts: web-1
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.set_fact:
        kept: "{{ groups.all | map('extract', hostvars, 'copy') | list }}"
    - ansible.builtin.debug:
        msg: "{{ kept }}"
    - ansible.builtin.debug:
        msg: "{{ hostvars[item].copy }} {{ hostvars[item].joined }} {{ hostvars[item].tags }}"
      loop: "{{ groups.all }}"
"""


@pytest.mark.promise("data")
def test_text_that_an_expression_copies_is_data(source: Source, tmp_path: Path) -> None:
    for number, text in enumerate((EXECUTE, READ, STATEMENT, HEADER, "{# comment")):
        hostile = {"name": f"h{number}", "region": text, "tags": [text, {text: text}]}
        source.sandbox.servers.append({**KNOWN[0], "id": f"srv_x{number}", **hostile})
    path = source.file(
        **cached(tmp_path / "cache"),
        compose={
            "copy": "server_region",
            "joined": "server_name ~ '/' ~ server_region",
            "tags": "server_tags | default([])",
        },
        keyed_groups=[{"key": "server_region", "prefix": "kr"}],
    )
    playbook = tmp_path / "play.yml"
    playbook.write_text(PLAYBOOK)
    for origin in ("network", "cache"):
        played = source.runner.playbook("-i", path, playbook).ok()
        assert len(source.sandbox.requests) == 1, origin
        assert not (source.runner.home / CANARY).exists(), origin
        assert "root:x:0" not in played.output, origin
        for text in (EXECUTE, READ, "{# comment"):
            assert text in played.stdout, origin
