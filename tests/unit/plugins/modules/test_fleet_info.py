# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from typing import Any

import pytest

from sandbox import Fault, Sandbox
from support.modules import WEB, Outcome, run_module

Record = dict[str, Any]

DB = {**WEB, "id": "s_4", "name": "db", "region": "us", "x_undocumented": "blue"}
TWIN_2 = {**WEB, "id": "s_2", "name": "twin"}
TWIN_3 = {**WEB, "id": "s_3", "name": "twin"}
OTHERS = [{"id": "s_2"}, {"id": "s_3"}, {"id": "s_4"}]
ALL = [{"name": "web"}, *OTHERS]


@pytest.fixture
def fleet():
    with Sandbox(servers=[DB, TWIN_3, TWIN_2, WEB]) as running:
        yield running


def run(api, declared, **options):
    """Compare the account with declared servers."""
    given = {"base_url": api.url, "api_token": api.token, "servers": declared, **options}
    return run_module("fleet_info", given)


@pytest.mark.parametrize(
    "web",
    [
        {"id": "s_1"},
        {"name": "web", "plan": "small", "region": "eu", "status": "running"},
        {"name": "web\n", "plan": " small", "region": "eu ", "status": "running "},
    ],
)
def test_a_matching_account_is_in_sync_after_one_request(fleet, web):
    outcome = run(fleet, [web, *OTHERS])
    result = {
        "in_sync": True,
        "report": [],
        "missing": [],
        "different": [],
        "unexpected": [],
        "ambiguous": [],
    }
    assert outcome == Outcome(result, failed=False, warnings=[])
    assert [request.method for request in fleet.requests] == ["GET"]


def test_a_missing_server_is_returned_as_declared(fleet):
    missing = [{"name": "new ", "plan": "small"}, {"id": "s_9"}]
    result = run(fleet, [*ALL, *missing]).result
    assert result["missing"] == missing
    assert result["report"] == ["new is missing", "s_9 is missing"]
    assert result["in_sync"] is False


def test_a_different_server_is_returned_with_the_values(fleet):
    web = {"name": "web", "plan": "large", "region": "us", "status": "running"}
    result = run(fleet, [web, *OTHERS]).result
    plan = {"expected": "large", "actual": "small"}
    region = {"expected": "us", "actual": "eu"}
    assert result["different"] == [
        {"id": "s_1", "name": "web", "differences": {"plan": plan, "region": region}}
    ]
    line = "web has the plan small instead of large and the region eu instead of us"
    assert result["report"] == [line]
    assert result["in_sync"] is False


def test_an_unexpected_server_is_returned_as_server_info_does(fleet):
    result = run(fleet, [{"name": "web"}, {"id": "s_2"}]).result
    assert result["unexpected"] == [DB, TWIN_3]
    assert result["report"] == ["db (s_4) is not declared", "twin (s_3) is not declared"]
    assert result["in_sync"] is False


def test_unexpected_servers_can_be_allowed_and_are_still_listed(fleet):
    outcome = run(fleet, [{"name": "web"}], allow_unexpected=True)
    assert outcome.result["unexpected"] == [DB, TWIN_2, TWIN_3]
    assert outcome.result["report"] == []
    assert outcome.result["in_sync"] is True
    assert outcome.warnings == []


def test_a_comparison_that_cannot_find_anything_warns(fleet):
    (warning,) = run(fleet, [], allow_unexpected=True).warnings
    assert warning.startswith("servers: the list is empty and allow_unexpected is set")


def test_a_name_of_several_servers_is_ambiguous(fleet):
    # A server that is also declared by its id is compared.
    declared = [{"name": "twin", "plan": "l"}, {"id": "s_2", "plan": "l"}, {"name": "web"}]
    result = run(fleet, declared).result
    assert result["ambiguous"] == [{"name": "twin", "ids": ["s_2", "s_3"]}]
    assert result["unexpected"] == [DB]
    assert result["report"] == [
        "db (s_4) is not declared",
        "twin is the name of 2 servers (s_2, s_3)",
        "twin (s_2) has the plan small instead of l",
    ]


def test_ambiguous_names_are_sorted(fleet):
    fleet.servers.append({**WEB, "id": "s_5"})
    ambiguous = run(fleet, [{"name": "web"}, {"name": "twin"}]).result["ambiguous"]
    assert [finding["name"] for finding in ambiguous] == ["twin", "web"]


def test_the_report_is_sorted_by_name(fleet):
    fleet.servers.insert(0, {"id": "x_1"})
    declared = [{"name": "zoo"}, {"id": "s_1", "plan": "l"}, {"name": "twin"}, {"name": "abc"}]
    assert run(fleet, declared).result["report"] == [
        "abc is missing",
        "db (s_4) is not declared",
        "twin is the name of 2 servers (s_2, s_3)",
        "web (s_1) has the plan small instead of l",
        "x_1 is not declared",
        "zoo is missing",
    ]


def test_a_field_that_the_api_does_not_give_is_a_difference(fleet):
    fleet.servers = [{"id": "s_5", "name": "bare", "plan": None, "region": 7}]
    outcome = run(fleet, [{"id": "s_5", "plan": "small", "region": "eu"}])
    (different,) = outcome.result["different"]
    assert different["differences"]["plan"] == {"expected": "small", "actual": None}
    line = "bare (s_5) has no plan (expected small) and no region (expected eu)"
    assert outcome.result["report"] == [line]
    assert len(outcome.warnings) == 5  # one for each field that is missing or no text


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ([{"name": "web"}, {"name": "db"}, {"name": "web "}], "entry 3 (web) declares the same na"),
        ([{"id": "s_1 "}, {"id": "s_1", "plan": "l"}], "entry 2 (s_1) declares the same id as ent"),
        ([{"name": "web", "id": "s_1"}], "entry 1 (web) has both name and id."),
        ([{"name": "web"}, {"plan": "small"}], "entry 2 has neither name nor id."),
        ([{"name": "web", "plna": "small"}], "entry 1 (web) has the unknown key plna."),
        ([{"name": "web", "pl an\n": "small"}], 'entry 1 (web) has the unknown key "pl an".'),
        ([{"name": ""}], "entry 1: name must not be empty."),
        ([{"id": "s_1", "region": None}], "entry 1 (s_1): region must not be empty."),
        ([{"name": "web", "plan": " \n"}], "entry 1 (web): plan must not be empty."),
        ([{"name": "web", "plan": 4}], "entry 1 (web): plan must be text."),
        ([{"name": "web", "status": False}], "entry 1 (web): status must be text."),
    ],
)
def test_an_invalid_entry_is_an_error_before_any_request(fleet, declared, message):
    outcome = run(fleet, declared)
    assert outcome.failed
    assert outcome.result["msg"].startswith(f"servers: {message}")
    assert outcome.result["error"]["code"] == "invalid_option"
    assert fleet.requests == []


def test_a_server_declared_by_its_name_and_its_id_is_an_error(fleet):
    outcome = run(fleet, [{"name": "web"}, {"id": "s_1"}])
    assert outcome.failed
    assert outcome.result["msg"].startswith(
        "servers: entry 2 (s_1) declares the same server as entry 1 (web)."
    )


@pytest.mark.parametrize(
    ("module", "options"),
    [("fleet_info", {"servers": ALL}), ("server", {"name": "gone", "state": "absent"})],
)
def test_modules_that_need_the_whole_account_ignore_allow_partial(fleet, module, options):
    fleet.fail(Fault(has_more=True))
    connection = {"base_url": fleet.url, "api_token": fleet.token, "allow_partial": True}
    outcome = run_module(module, {**connection, **options})
    assert outcome.failed
    assert outcome.result["error"]["code"] == "incomplete_listing"
    message = outcome.result["msg"]
    assert "has more servers" in message
    assert "Set pagination" in message
    assert "ignores allow_partial" in message


def test_hostile_text_is_cleaned_in_the_report_and_kept_in_the_records(fleet):
    red = {**WEB, "id": "s\t1", "name": "\x1b[31mred"}
    missing = {**WEB, "id": "s_2", "name": "web is missing"}
    fleet.servers = [{**WEB, "name": "a\nb"}, red, missing]
    declared = [{"name": "a\nb", "plan": "l\nl"}, {"name": "no\nname"}]
    result = run(fleet, declared).result
    assert result["unexpected"] == [red, missing]
    assert result["report"] == [
        '"[31mred" ("s 1") is not declared',
        '"a b" has the plan small instead of "l l"',
        '"no name" is missing',
        '"web is missing" (s_2) is not declared',
    ]


def test_a_line_of_the_report_is_short(fleet):
    fleet.servers = [{**WEB, "name": "x" * 5000}]
    (line,) = run(fleet, []).result["report"]
    assert len(line) < 400
