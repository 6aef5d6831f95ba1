# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils._models import DECLARED_FIELDS
from sandbox import Sandbox
from support.modules import WEB, Outcome, refusal, run

ACCOUNT = yaml.safe_load("""
- {id: s_4, name: db, region: us, x_undocumented: blue}
- {id: s_3, name: twin}
- {id: s_2, name: twin}
- {id: s_1, name: web}
""")
DB, TWIN_3, TWIN_2, _WEB = [{**WEB, **fields} for fields in ACCOUNT]


@pytest.fixture
def account():
    with Sandbox(servers=[DB, TWIN_3, TWIN_2, WEB]) as running:
        yield running


def compare(account, declared):
    """Return the result for a fleet that is declared as YAML."""
    return run("fleet_info", account, servers=yaml.safe_load(declared)).result


OTHERS = [
    {field: server[field] for field in ("id", *DECLARED_FIELDS)} for server in (TWIN_2, TWIN_3, DB)
]
IN_SYNC = yaml.safe_load("""
{in_sync: true, report: [], missing: [], different: [], unexpected: [], ambiguous: []}
""")


def test_a_matching_account_is_in_sync_after_one_request(account):
    web = {"name": "web\n", "plan": " small", "region": "eu ", "status": "running "}
    account.servers[-1] = {**WEB, "plan": "small "}
    outcome = run("fleet_info", account, servers=[web, *OTHERS])
    assert outcome == Outcome(IN_SYNC)
    assert len(account.requests) == 1


FLEET = """
- {name: 'new ', plan: small}
- {id: s_1, plan: large, region: us, status: running}
- {name: twin}
"""
FINDINGS = yaml.safe_load("""
in_sync: false
report:
  - db (s_4) is not declared
  - new is missing
  - twin is the name of 2 servers (s_2, s_3)
  - web (s_1) has the plan small instead of large and the region eu instead of us
missing: [{name: 'new ', plan: small}]
different:
  - id: s_1
    name: web
    differences:
      plan: {expected: large, actual: small}
      region: {expected: us, actual: eu}
ambiguous: [{name: twin, ids: [s_2, s_3]}]
""")


def test_every_finding_is_in_the_result_and_in_the_report(account):
    result = compare(account, FLEET)
    assert result == {**FINDINGS, "unexpected": [DB]}


REPORTED = yaml.safe_load("""
"[{id: s_1}, {id: s_2}, {id: s_3}, {id: s_4}, {id: s_9}]": [s_9 is missing]
"[{name: web, plan: l}, {id: s_2}, {id: s_3}, {id: s_4}]":
  - web has the plan small instead of l
"[{id: s_2}, {id: s_3}, {id: s_4}]": [web (s_1) is not declared]
"[{id: s_1}, {name: twin}, {id: s_2, status: 'off'}, {id: s_4}]": &twins
  - twin (s_2) has the status running instead of off
  - twin is the name of 2 servers (s_2, s_3)
"[{id: s_1}, {id: s_2, status: 'off'}, {name: twin}, {id: s_4}]": *twins
"[{name: zoo}, {id: s_1}, {name: abc}]":
  - abc is missing
  - db (s_4) is not declared
  - twin (s_2) is not declared
  - twin (s_3) is not declared
  - zoo is missing
# A server and a missing one can have the same name and id.
"[{id: new}, {name: new}, {id: s_1}, {id: s_2}, {id: s_3}, {id: s_4}]":
  - new is missing
  - new is missing
""")


@pytest.mark.parametrize("declared", REPORTED)
def test_findings_of_any_kind_are_reported_in_name_order(account, declared):
    result = compare(account, declared)
    assert result["report"] == REPORTED[declared]
    assert result["in_sync"] is False


ALIKE = yaml.safe_load("[{id: s_6, name: alike}, {id: s_5, name: 'alike '}]")


def test_different_servers_and_names_of_several_are_in_order(account):
    account.servers.extend(ALIKE)
    declared = "[{id: s_1, plan: other}, {id: s_4, plan: other}, {name: twin}, {name: alike}]"
    result = compare(account, declared)
    assert [server["name"] for server in result["different"]] == ["db", "web"]
    twin, alike = result["ambiguous"]
    assert alike == {"name": "alike", "ids": ["s_5", "s_6"]}
    assert twin["name"] == "twin"


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


NOT_GIVEN = yaml.safe_load("""
- id: s_1
  name: null
  differences:
    plan: {expected: small, actual: null}
    region: {expected: eu, actual: null}
""")


def test_a_field_that_the_api_does_not_give_is_a_difference(account):
    account.servers = [{"id": "s_1", "region": 7}]
    result = compare(account, "[{id: s_1, plan: small, region: eu}]")
    assert result["different"] == NOT_GIVEN
    line = 's_1 has the plan "" instead of small and the region "" instead of eu'
    assert result["report"] == [line]


REFUSED = yaml.safe_load("""
"[{name: web, id: s_1}]": 'mutually exclusive: name|id found in servers'
"[{name: web}, {plan: small}]": 'one of the following is required: name, id'
"[{id: s_1, pl an: small}]": servers.pl an
""")


@pytest.mark.parametrize("declared", REFUSED)
def test_ansible_refuses_an_invalid_entry_before_any_request(account, declared):
    result = compare(account, declared)
    assert REFUSED[declared] in result["msg"]
    assert "error" not in result
    assert account.requests == []


@pytest.mark.parametrize("entry", [{"id": "s_1", "plan": " \n"}, {"name": None}])
def test_an_empty_value_is_an_error_before_any_request(account, entry):
    declared = [{"name": "web"}, entry]
    message = refusal("fleet_info", account, servers=declared)
    assert message == "servers: entry 2 has an empty value. Set a value or remove the key."


# The message is compared once.
TWICE = yaml.safe_load("""
"[{name: web}, {name: db}, {name: 'web '}]": entry 3 (web)
"[{name: web}, {id: s_1}]": entry 2 (s_1)
"[{name: new}, {name: new}]": entry 2 (new)
"[{name: web}, {name: twin}, {name: twin}]":
  entry 3 (twin) declares the same server as entry 2. Remove one of them.
""")


@pytest.mark.parametrize("declared", TWICE)
def test_a_server_that_is_declared_twice_is_an_error(account, declared):
    result = compare(account, declared)
    assert result["msg"].startswith(f"servers: {TWICE[declared]}")


HOSTILE = yaml.safe_load(r"""
- {id: s_1, name: "a\nb", plan: small}
- {id: "s\t2", name: "\e[31mred"}
- {id: s_3, name: web is missing}
""")
CLEAN = yaml.safe_load(r"""
- '"\u001b[31mred" ("s\t2") is not declared'
- '"a\nb" has the plan small instead of "l\nl"'
- '"no\nname" is missing'
- '"web is missing" (s_3) is not declared'
""")


def test_hostile_text_is_cleaned_in_the_report_and_kept_in_the_records(account):
    account.servers = HOSTILE
    result = compare(account, r'[{name: "a\nb", plan: "l\nl"}, {name: "no\nname"}]')
    assert result["unexpected"] == HOSTILE[1:]
    assert result["report"] == CLEAN
