# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml

from sandbox import Sandbox
from support.modules import WEB, Outcome, refusal, run

DB = {**WEB, "id": "s_4", "name": "db", "region": "us", "x_undocumented": "blue"}
TWIN_2 = {**WEB, "id": "s_2", "name": "twin"}
TWIN_3 = {**WEB, "id": "s_3", "name": "twin"}
ACCOUNT = [DB, TWIN_3, TWIN_2, WEB]
# Entries for all servers except WEB.
OTHERS = yaml.safe_load("[{id: s_2}, {id: s_3}, {id: s_4}]")


@pytest.fixture
def account():
    with Sandbox(servers=ACCOUNT) as running:
        yield running


def compare(account, declared):
    return run("fleet_info", account, servers=declared).result


IN_SYNC = yaml.safe_load("""
{in_sync: true, report: [], missing: [], different: [], unexpected: [], ambiguous: []}
""")


def test_a_matching_account_is_in_sync_after_one_request(account):
    web = {"name": "web\n", "plan": " small", "region": "eu ", "status": "running "}
    outcome = run("fleet_info", account, servers=[web, *OTHERS])
    assert outcome == Outcome(IN_SYNC)
    assert len(account.requests) == 1


# A fleet with a finding of each kind.
NEW = {"name": "new ", "plan": "small"}
LARGE = {"id": "s_1", "plan": "large", "region": "us", "status": "running"}
DIFFERENCES = yaml.safe_load("""
plan: {expected: large, actual: small}
region: {expected: us, actual: eu}
""")
AMBIGUOUS = "twin is the name of 2 servers (s_2, s_3)"
FINDINGS = {
    "in_sync": False,
    "report": [
        "db (s_4) is not declared",
        "new is missing",
        AMBIGUOUS,
        "web (s_1) has the plan small instead of large and the region eu instead of us",
    ],
    "missing": [NEW],
    "different": [{"id": "s_1", "name": "web", "differences": DIFFERENCES}],
    "unexpected": [DB],
    "ambiguous": [{"name": "twin", "ids": ["s_2", "s_3"]}],
}


def test_every_finding_is_in_the_result_and_in_the_report(account):
    result = compare(account, [NEW, LARGE, {"name": "twin"}])
    assert result == FINDINGS


REPORTED = yaml.safe_load("""
- [[{id: s_1}, {id: s_2}, {id: s_3}, {id: s_4}, {id: s_9}], [s_9 is missing]]
- [[{name: web, plan: l}, {id: s_2}, {id: s_3}, {id: s_4}], [web has the plan small instead of l]]
- [&others [{id: s_2}, {id: s_3}, {id: s_4}], [web (s_1) is not declared]]
- [[{id: s_1}, {name: twin}, {id: s_4}], [&ambiguous 'twin is the name of 2 servers (s_2, s_3)']]
- - [{id: s_1}, {name: twin}, {id: s_2, status: 'off'}, {id: s_4}]
  - [&off twin (s_2) has the status running instead of off, *ambiguous]
- [[{id: s_1}, {id: s_2, status: 'off'}, {name: twin}, {id: s_4}], [*off, *ambiguous]]
- - [{name: zoo}, {id: s_1}, {name: abc}]
  - [abc is missing, db (s_4) is not declared, twin (s_2) is not declared, twin (s_3) is not
     declared, zoo is missing]
""")


@pytest.mark.parametrize(("declared", "report"), REPORTED)
def test_findings_of_any_kind_are_reported_in_name_order(account, declared, report):
    result = compare(account, declared)
    assert result["report"] == report
    assert result["in_sync"] is False


def test_names_of_several_servers_are_in_order(account):
    account.servers.append({**WEB, "id": "s_6", "name": "alike"})
    account.servers.append({**WEB, "id": "s_5", "name": "alike "})
    result = compare(account, [{"name": "twin"}, {"name": "alike"}, {"id": "s_1"}, {"id": "s_4"}])
    alike = {"name": "alike", "ids": ["s_5", "s_6"]}
    assert result["ambiguous"] == [alike, {"name": "twin", "ids": ["s_2", "s_3"]}]


def test_unexpected_servers_can_be_allowed_and_are_still_listed(account):
    allowed = {**IN_SYNC, "unexpected": [DB, TWIN_2, TWIN_3]}
    outcome = run("fleet_info", account, servers=[{"id": "s_1"}], allow_unexpected=True)
    assert outcome == Outcome(allowed)


def test_a_comparison_that_cannot_find_anything_warns(account):
    unexpected = run("fleet_info", account, servers=[])
    assert unexpected.warnings == []
    outcome = run("fleet_info", account, servers=[], allow_unexpected=True)
    warning = "servers: the list is empty and allow_unexpected is set: nothing is compared."
    assert outcome.warnings == [warning]


def test_a_field_that_the_api_does_not_give_is_a_difference(account):
    account.servers = [{**WEB, "name": None, "plan": None, "region": 7}]
    declared = {"id": "s_1", "plan": "small", "region": "eu"}
    result = compare(account, [declared])
    plan = {"expected": "small", "actual": None}
    line = 's_1 has the plan "" instead of small and the region "" instead of eu'
    (different,) = result["different"]
    assert different["name"] is None
    assert different["differences"]["plan"] == plan
    assert result["report"] == [line]


REFUSED = yaml.safe_load("""
- [[{name: web, id: s_1}], 'mutually exclusive: name|id found in servers']
- [[{name: web}, {plan: small}], 'one of the following is required: name, id']
- [[{id: s_1, pl an: small}], servers.pl an]
""")


# Ansible checks what it can.
@pytest.mark.parametrize(("declared", "words"), REFUSED)
def test_ansible_refuses_an_invalid_entry_before_any_request(account, declared, words):
    outcome = run("fleet_info", account, servers=declared)
    assert outcome.failed
    assert words in outcome.result["msg"]
    assert account.requests == []


EMPTY = yaml.safe_load(r"""
- [[{name: web}, {id: s_1, plan: " \n"}], 2]
- [[{name: ''}], 1]
""")


@pytest.mark.parametrize(("declared", "position"), EMPTY)
def test_an_empty_value_is_an_error_before_any_request(account, declared, position):
    message = refusal("fleet_info", account, servers=declared)
    assert message == (
        f"servers: entry {position} has an empty value. Set a value or remove the key."
    )


TWICE = yaml.safe_load("""
- [[{name: web}, {name: db}, {name: 'web '}], [entry 3 (web), entry 1]]
- [[{name: web}, {id: s_1}], [entry 2 (s_1), entry 1]]
- [[{name: new}, {name: new}], [entry 2 (new), entry 1]]
- [[{id: s_9}, {id: s_9}], [entry 2 (s_9), entry 1]]
- [[{name: web}, {name: twin}, {name: twin}], [entry 3 (twin), entry 2]]
""")


@pytest.mark.parametrize(("declared", "entries"), TWICE)
def test_a_server_that_is_declared_twice_is_an_error(account, declared, entries):
    later, earlier = entries
    message = compare(account, declared)["msg"]
    assert message == (
        f"servers: {later} declares the same server as {earlier}. Remove one of them."
    )


def test_a_server_and_a_missing_one_can_have_the_same_name_and_id(account):
    report = compare(account, [{"id": "new"}, {"name": "new"}, *OTHERS, {"id": "s_1"}])["report"]
    assert report == ["new is missing", "new is missing"]


def test_hostile_text_is_cleaned_in_the_report_and_kept_in_the_records(account):
    red = {**WEB, "id": "s\t2", "name": "\x1b[31mred"}
    missing = {**WEB, "id": "s_3", "name": "web is missing"}
    known = {**WEB, "name": "a\nb"}
    account.servers = [known, red, missing]
    web = {"name": "a\nb", "plan": "l\nl"}
    result = compare(account, [web, {"name": "no\nname"}])
    assert result["unexpected"] == [red, missing]
    assert result["report"] == [
        '"[31mred" ("s 2") is not declared',
        '"a b" has the plan small instead of "l l"',
        '"no name" is missing',
        '"web is missing" (s_3) is not declared',
    ]
