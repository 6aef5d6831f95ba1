# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later


import pytest

from sandbox import Sandbox
from support.modules import WEB, Outcome, run_module

SERVERS = [
    WEB,
    {**WEB, "id": "s_2", "name": "web ", "status": "stopped", "region": "us", "plan": "large"},
    {**WEB, "id": "s_3", "name": "db", "region": "us", "plan": "large", "x_undocumented": "blue"},
]


@pytest.fixture
def account():
    with Sandbox(servers=SERVERS) as running:
        yield running


def run(account, *, check_mode=False, **options):
    given = {"base_url": account.url, "api_token": account.token, **options}
    return run_module("server_info", given, check_mode=check_mode)


@pytest.mark.parametrize("check_mode", [False, True])
def test_one_request_reads_all_servers(account, check_mode):
    outcome = run(account, check_mode=check_mode)
    assert outcome == Outcome({"servers": SERVERS}, failed=False, warnings=[])
    assert [request.method for request in account.requests] == ["GET"]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({"id": "s_2"}, ["s_2"]),
        ({"id": " s_2"}, ["s_2"]),
        ({"name": "web\n"}, ["s_1", "s_2"]),
        ({"statuses": ["running"]}, ["s_1", "s_3"]),
        ({"name": "web", "regions": ["us"]}, ["s_2"]),
        ({"id": "s_1", "statuses": ["stopped"]}, []),
    ],
)
def test_options_narrow_the_listing(account, options, ids):
    servers = run(account, **options).result["servers"]
    assert [server["id"] for server in servers] == ids


def test_keys_that_ansible_reserves_are_left_out_with_one_warning(account):
    fields = {"__ansible_a": 1, "_ansible_b": {"_ansible_c": 2}, "ansible_a": 3, "_other": 4}
    kept = {"ansible_a": 3, "_other": 4}
    account.servers = [{**WEB, **fields, "in": [[fields]]}]
    outcome = run(account)
    assert outcome.result["servers"] == [{**WEB, **kept, "in": [[kept]]}]
    assert outcome.warnings == [
        "Fields whose names Ansible reserves are left out: __ansible_a, _ansible_b."
    ]


def test_only_servers_in_the_result_cause_warnings(account):
    account.servers.append({**WEB, "id": "s_4", "name": "new", "plan": 5, "_ansible_a": 1})
    assert run(account, name="web").warnings == []
    assert len(run(account, name="new").warnings) == 2


@pytest.mark.parametrize(
    ("options", "warnings"),
    [
        (
            {"regions": ["ap"]},
            ["regions: no server has ap; the account has us (2), eu (1)."],
        ),
        (
            {"statuses": ["Running"], "name": "web"},
            ["statuses: no server has Running; the account has running (2), stopped (1)."],
        ),
        # A playbook may wait in a loop for such a server.
        ({"statuses": ["gone"]}, []),
        ({"regions": ["ap"], "name": "web"}, []),
        ({"regions": ["ap"], "id": "s_1"}, []),
    ],
)
def test_values_that_look_like_mistakes_cause_a_warning(account, options, warnings):
    assert run(account, **options) == Outcome({"servers": []}, failed=False, warnings=warnings)


def test_a_region_that_no_server_has_causes_a_warning_beside_one_that_servers_have(account):
    outcome = run(account, regions=["eu", "ap"])
    assert len(outcome.result["servers"]) == 1
    assert outcome.warnings == ["regions: no server has ap; the account has us (2), eu (1)."]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statuses": []}, "statuses: the list is empty."),
        ({"regions": []}, "regions: the list is empty."),
        ({"plans": ["x", ""]}, "plans: has an empty value."),
    ],
)
def test_an_empty_list_or_value_is_an_error(account, options, message):
    outcome = run(account, **options)
    assert outcome.failed
    assert outcome.result["msg"].startswith(message)
