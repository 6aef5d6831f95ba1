# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox import Fault, Sandbox
from support.modules import WEB, Outcome, run_module

DB = {**WEB, "id": "s_4", "name": "db", "region": "us", "x_undocumented": "blue"}
SERVERS: list[dict[str, Any]] = [
    DB,
    {**WEB, "id": "s_3", "name": "twin"},
    {**WEB, "id": "s_2", "name": "twin"},
    WEB,
]
BARE = {"id": "s_5", "name": "bare", "plan": None, "region": 7}
NONE: dict[str, list[Any]] = {"missing": [], "different": [], "unexpected": [], "ambiguous": []}


@pytest.fixture
def fleet() -> Iterator[Sandbox]:
    with Sandbox(servers=[dict(server) for server in SERVERS]) as running:
        yield running
        assert {request.method for request in running.requests} <= {"GET"}


def run(api: Sandbox, servers: list[Any], **options: Any) -> Outcome:
    """Compare the sandbox's account with declared servers."""
    given = {"base_url": api.url, "api_token": api.token, **options}
    return run_module("fleet_info", {**given, "servers": servers})


def records(*identifiers: str) -> list[dict[str, Any]]:
    by_id = {server["id"]: server for server in SERVERS}
    return [by_id[identifier] for identifier in identifiers]


def different(server: dict[str, Any], **fields: tuple[str, str | None]) -> dict[str, Any]:
    """Return the finding for a server, from expected and actual values."""
    values = {name: {"expected": pair[0], "actual": pair[1]} for name, pair in fields.items()}
    return {"id": server["id"], "name": server["name"], "differences": values}


ALL = [{"id": server["id"]} for server in SERVERS]


@pytest.mark.parametrize(
    "declared",
    [
        ALL,
        [{"name": "web", "plan": "small", "region": "eu", "status": "running"}, *ALL[:3]],
        [{"name": "web\n", "plan": " small", "region": "eu ", "status": "running "}, *ALL[:3]],
        [{"id": "s_1", "region": "eu"}, {"name": "db"}, *ALL[1:3]],
    ],
)
def test_a_matching_account_is_in_sync_after_one_request(
    fleet: Sandbox, declared: list[Any]
) -> None:
    outcome = run(fleet, declared)
    assert outcome == Outcome({"in_sync": True, "report": [], **NONE}, False, [])
    assert len(fleet.requests) == 1


@pytest.mark.parametrize(
    ("declared", "expected", "report"),
    [
        (
            [*ALL, {"name": "new ", "plan": "small"}, {"id": "s_9"}],
            {"missing": [{"name": "new ", "plan": "small"}, {"id": "s_9"}]},
            ["new is missing", "s_9 is missing"],
        ),
        (
            [
                {"name": "web", "plan": "large", "region": "us", "status": "running"},
                *({"name": "db", "plan": "large"}, *ALL[1:3]),
            ],
            {
                "different": [
                    different(DB, plan=("large", "small")),
                    different(WEB, plan=("large", "small"), region=("us", "eu")),
                ]
            },
            [
                "db has the plan small instead of large",
                "web has the plan small instead of large and the region eu instead of us",
            ],
        ),
        (
            [{"name": "web"}, {"id": "s_2"}],
            {"unexpected": records("s_4", "s_3")},
            ["db (s_4) is not declared", "twin (s_3) is not declared"],
        ),
        (
            # A server of the ambiguous name that is also declared by its id is compared.
            [{"name": "twin", "plan": "l"}, {"id": "s_2", "plan": "l"}, {"name": "web"}, ALL[0]],
            {
                "ambiguous": [{"name": "twin", "ids": ["s_2", "s_3"]}],
                "different": [different(SERVERS[2], plan=("l", "small"))],
            },
            [
                "twin is the name of 2 servers (s_2, s_3)",
                "twin (s_2) has the plan small instead of l",
            ],
        ),
    ],
)
def test_each_finding_is_returned_and_reported(
    fleet: Sandbox, declared: list[Any], expected: dict[str, Any], report: list[str]
) -> None:
    result = {"in_sync": False, "report": report, **NONE, **expected}
    assert run(fleet, declared) == Outcome(result, False, [])


def test_the_report_is_sorted_by_name(fleet: Sandbox) -> None:
    declared = [{"name": "zoo"}, {"id": "s_1", "plan": "l"}, {"name": "twin"}, {"name": "abc"}]
    fleet.servers.reverse()
    assert run(fleet, declared).result["report"] == [
        "abc is missing",
        "db (s_4) is not declared",
        "twin is the name of 2 servers (s_2, s_3)",
        "web (s_1) has the plan small instead of l",
        "zoo is missing",
    ]


def test_unexpected_servers_can_be_allowed_and_are_still_listed(fleet: Sandbox) -> None:
    outcome = run(fleet, [{"name": "web"}], allow_unexpected=True)
    unexpected = records("s_4", "s_2", "s_3")
    assert outcome.result == {"in_sync": True, "report": [], **NONE, "unexpected": unexpected}
    assert outcome.warnings == []
    (warning,) = run(fleet, [], allow_unexpected=True).warnings
    assert warning.startswith("servers: the list is empty and allow_unexpected is set")


def test_a_field_that_the_api_does_not_give_is_a_difference() -> None:
    declared = [{"id": "s_5", "plan": "small", "region": "eu", "status": "running"}]
    with Sandbox(servers=[BARE, {"id": "s_7"}]) as api:
        outcome = run(api, declared)
    fields = {"plan": ("small", None), "region": ("eu", None), "status": ("running", None)}
    assert outcome.result["different"] == [different(BARE, **fields)]
    assert outcome.result["report"] == [
        "bare (s_5) has no plan (expected small), no region (expected eu) and no status "
        "(expected running)",
        "s_7 is not declared",
    ]
    assert len(outcome.warnings) == 6  # one for each field


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
        # Only the listing shows that it is the same server.
        ([{"name": "web"}, {"id": "s_1"}], "entry 2 (s_1) declares the same server as entry 1 (we"),
    ],
)
def test_an_invalid_entry_is_an_error_before_any_request_if_possible(
    fleet: Sandbox, declared: list[Any], message: str
) -> None:
    outcome = run(fleet, declared)
    assert outcome.failed
    assert outcome.result["msg"].startswith(f"servers: {message}")
    assert outcome.result["error"]["code"] == "invalid_option"
    assert len(fleet.requests) == ("same server" in message)


@pytest.mark.promise("whole")
@pytest.mark.parametrize(
    ("module", "options"),
    [("fleet_info", {"servers": ALL}), ("server", {"name": "gone", "state": "absent"})],
)
def test_modules_that_need_the_whole_account_ignore_allow_partial(
    fleet: Sandbox, module: str, options: dict[str, Any]
) -> None:
    fleet.fail(Fault(has_more=True))
    connection = {"base_url": fleet.url, "api_token": fleet.token, "allow_partial": True}
    outcome = run_module(module, {**connection, **options})
    assert outcome.failed
    assert outcome.result["error"]["code"] == "incomplete_listing"
    for words in ("has more servers", "Set pagination", "ignores allow_partial"):
        assert words in outcome.result["msg"]


def test_hostile_text_is_cleaned_in_the_report_and_kept_in_the_records() -> None:
    names = ["a\nb", "\x1b[31mred", "{{ 1 + 1 }}", "web is missing", "x" * 5000, "web "]
    servers = [{**WEB, "id": f"s\t{n}", "name": name} for n, name in enumerate(names)]
    with Sandbox(servers=servers) as api:
        declared = [{"name": "a\nb", "plan": "l\nl"}, {"name": "no\nname"}, {"id": "s\t1"}]
        result = run(api, declared).result
    assert all(line.isprintable() and len(line) < 400 for line in result["report"])
    assert {
        '"a b" has the plan small instead of "l l"',
        '"no name" is missing',
        '"web" ("s 5") is not declared',
        '"web is missing" ("s 3") is not declared',
        '"{{ 1 + 1 }}" ("s 2") is not declared',
    } <= set(result["report"])
    unexpected = {server["id"]: server["name"] for server in result["unexpected"]}
    assert unexpected == {f"s\t{n}": names[n] for n in range(2, 6)}
