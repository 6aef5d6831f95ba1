# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest

from sandbox import Sandbox
from support.modules import WEB, Outcome, refusal, run

SERVERS = [
    WEB,
    {**WEB, "id": "s_2", "name": "web ", "status": "stopped", "region": "us", "plan": "large"},
    {**WEB, "id": "s_3", "name": "db", "region": "us", "plan": "large", "x_undocumented": "blue"},
]
NO_SERVERS = Outcome({"servers": []})


@pytest.fixture
def account():
    with Sandbox(servers=SERVERS) as running:
        yield running


def test_one_request_reads_all_servers(account):
    outcome = run("server_info", account)
    assert outcome == Outcome({"servers": SERVERS})
    assert len(account.requests) == 1


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({"id": "s_2\n"}, ["s_2"]),
        ({"name": "web"}, ["s_1", "s_2"]),
        ({"statuses": ["running"]}, ["s_1", "s_3"]),
        ({"name": "web", "regions": ["us"]}, ["s_2"]),
    ],
)
def test_options_narrow_the_listing(account, options, ids):
    result = run("server_info", account, **options).result
    found = [server["id"] for server in result["servers"]]
    assert found == ids


RESERVED = {"__ansible_a": 1, "_ansible_b": {"_ansible_c": 2}}
NOT_RESERVED = {"ansible_a": 3, "_other": 4}


def test_keys_that_ansible_reserves_are_left_out_with_one_warning(account):
    account.servers = [{**WEB, **RESERVED, "in": [[{**RESERVED, **NOT_RESERVED}]]}]
    outcome = run("server_info", account)
    kept = {**WEB, "in": [[NOT_RESERVED]]}
    warning = "Fields whose names Ansible reserves are left out: __ansible_a, _ansible_b."
    assert outcome == Outcome({"servers": [kept]}, warnings=[warning])


@pytest.mark.parametrize(("name", "count"), [("db", 0), ("new", 2)])
def test_only_servers_in_the_result_cause_warnings(account, name, count):
    new = {**WEB, "name": "new", "plan": 5, "_ansible_a": 1}
    account.servers.append(new)
    warnings = run("server_info", account, name=name).warnings
    assert len(warnings) == count


@pytest.mark.parametrize(
    ("options", "warning"),
    [
        ({"regions": ["eu", "ap"]}, "regions: no server has ap; the account has us (2), eu (1)."),
        (
            {"statuses": ["Running"], "name": "web"},
            "statuses: no server has Running; the account has running (2), stopped (1).",
        ),
        (
            {"regions": ["eu"], "plans": ["large"]},
            "plans, regions: no server matches all of these options; the account has "
            "plan: large (2), small (1); region: us (2), eu (1).",
        ),
    ],
)
def test_values_that_look_like_mistakes_cause_a_warning(account, options, warning):
    outcome = run("server_info", account, **options)
    assert outcome.warnings == [warning]


@pytest.mark.parametrize(
    "options",
    [
        {"statuses": ["gone"]},
        {"regions": ["ap"], "name": "web"},
        {"regions": ["ap"], "id": "s_1"},
    ],
)
def test_a_loop_that_waits_for_a_server_causes_no_warning(account, options):
    outcome = run("server_info", account, **options)
    assert outcome == NO_SERVERS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statuses": []}, "statuses: the list is empty. Leave the option out to keep all."),
        ({"plans": ["x", " "]}, "plans: has an empty value. Leave it out."),
    ],
)
def test_an_empty_list_or_value_is_an_error(account, options, message):
    shown = refusal("server_info", account, **options)
    assert shown == message
