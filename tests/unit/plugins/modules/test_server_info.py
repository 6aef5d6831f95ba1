# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from sandbox import Sandbox
from support.modules import WEB, Outcome, run_module

SERVERS = [
    {**WEB, "id": "s_1", "name": "web", "region": "eu", "plan": "small"},
    {**WEB, "id": "s_2", "name": "web ", "status": "stopped", "region": "us", "plan": "large"},
    {**WEB, "id": "s_3", "name": "db", "region": "us", "plan": "large", "x_undocumented": "blue"},
]


def run(sandbox: Sandbox, *, check_mode: bool = False, **options: Any) -> Outcome:
    given = {"base_url": sandbox.url, "api_token": sandbox.token, **options}
    return run_module("server_info", given, check_mode=check_mode)


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({}, ["s_1", "s_2", "s_3"]),
        ({"id": "s_2"}, ["s_2"]),
        ({"id": " s_2"}, ["s_2"]),
        ({"name": "web\n"}, ["s_1", "s_2"]),
        ({"statuses": ["running"]}, ["s_1", "s_3"]),
        ({"regions": ["us", "eu"]}, ["s_1", "s_2", "s_3"]),
        ({"name": "web", "regions": ["us"]}, ["s_2"]),
        ({"id": "s_1", "statuses": ["stopped"]}, []),
    ],
)
def test_options_narrow_the_listing(wanted: dict[str, Any], ids: list[str]) -> None:
    with Sandbox(servers=SERVERS) as sandbox:
        found = run(sandbox, **wanted).result["servers"]
    assert found == [server for server in SERVERS if server["id"] in ids]


@pytest.mark.parametrize("check_mode", [False, True])
def test_one_request_reads_all_servers(sandbox: Sandbox, check_mode: bool) -> None:
    outcome = run(sandbox, check_mode=check_mode)
    assert outcome == Outcome({"servers": sandbox.servers}, False, [])
    assert [request.method for request in sandbox.requests] == ["GET"]


def test_keys_that_ansible_reserves_are_left_out_with_one_warning() -> None:
    fields = {"__ansible_a": 1, "_ansible_b": {"_ansible_c": 2}, "ansible_a": 3, "_other": 4}
    with Sandbox(servers=[{**WEB, **fields, "in": [[fields]]}]) as sandbox:
        outcome = run(sandbox)
    kept = {"ansible_a": 3, "_other": 4}
    assert outcome.result["servers"] == [{**WEB, **kept, "in": [[kept]]}]
    assert outcome.warnings == [
        "Fields whose names Ansible reserves are left out: __ansible_a, _ansible_b."
    ]


def test_only_servers_in_the_result_cause_warnings() -> None:
    servers = [WEB, {**WEB, "id": "s_2", "name": "new", "plan": 5, "_ansible_a": 1}]
    with Sandbox(servers=servers) as sandbox:
        assert run(sandbox, name="web").warnings == run(sandbox, id="s_1").warnings == []
        assert len(run(sandbox, name="new").warnings) == len(run(sandbox).warnings) == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"regions": ["eu"]}, ["regions: no server has eu; the account has "]),
        ({"regions": ["eu-2"], "plans": ["large"]}, ["plans, regions: no server matches all"]),
        ({"regions": ["eu"], "plans": ["tiny"]}, ["plans: no server", "regions: no server"]),
        ({"statuses": ["gone"]}, []),
        ({"regions": ["eu"], "name": "web-1"}, []),
    ],
)
def test_regions_and_plans_that_match_nothing_cause_a_warning(
    sandbox: Sandbox, options: dict[str, Any], expected: list[str]
) -> None:
    outcome = run(sandbox, **options)
    assert outcome.result == {"servers": []}
    assert len(outcome.warnings) == len(expected)
    for warning, text in zip(outcome.warnings, expected, strict=True):
        assert warning.startswith(text)


@pytest.mark.parametrize("option", ["statuses", "regions", "plans"])
def test_an_empty_list_or_value_is_an_error(sandbox: Sandbox, option: str) -> None:
    for value, words in (([], "the list is empty"), (["x", ""], "has an empty value.")):
        given: dict[str, Any] = {option: value}
        outcome = run(sandbox, **given)
        assert outcome.failed
        assert outcome.result["msg"].startswith(f"{option}: {words}")
