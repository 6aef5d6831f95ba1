# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml

from support.fixtures import SERVERS
from support.modules import WEB, Outcome, refusal, run


def test_one_request_reads_all_servers(sandbox):
    outcome = run("server_info", sandbox)
    assert outcome == Outcome({"servers": SERVERS})
    assert len(sandbox.requests) == 1


NARROWED = yaml.safe_load(r"""
- [{id: "srv_2\n"}, [web-2]]
- [{name: web-1}, [web-1]]
- [{name: null, regions: null}, [web-1, web-2, db-1]]
- [{statuses: [running]}, [web-1, db-1]]
- [{name: db-1, regions: [eu-1], plans: [large]}, [db-1]]
""")


@pytest.mark.parametrize(("options", "names"), NARROWED)
def test_options_narrow_the_listing(sandbox, options, names):
    servers = run("server_info", sandbox, **options).result["servers"]
    assert [server["name"] for server in servers] == names


def test_white_space_around_the_name_of_a_server_is_ignored(sandbox):
    sandbox.servers.append({**WEB, "name": " web "})
    outcome = run("server_info", sandbox, name="web")
    (server,) = outcome.result["servers"]
    assert server["name"] == " web "


@pytest.mark.parametrize(("name", "count"), [("db-1", 0), ("new", 1)])
def test_only_servers_in_the_result_cause_warnings(sandbox, name, count):
    sandbox.servers.append({**WEB, "name": "new", "plan": 5})
    outcome = run("server_info", sandbox, name=name)
    assert len(outcome.warnings) == count


def test_values_that_look_like_mistakes_cause_a_warning(sandbox):
    outcome = run("server_info", sandbox, regions=["eu-2"], plans=["large"])
    (warning,) = outcome.warnings
    assert warning.startswith("plans, regions: ")


# A server with this status, name or id may appear later.
LATER = yaml.safe_load("""
- {statuses: [Running]}
- {regions: [ap], name: web-1}
- {regions: [ap], id: '1'}
""")


@pytest.mark.parametrize("options", LATER)
def test_no_match_by_status_name_or_id_causes_no_warning(sandbox, options):
    outcome = run("server_info", sandbox, **options)
    assert outcome == Outcome({"servers": []})


@pytest.mark.parametrize("plans", [[], ["x", " "]])
def test_an_empty_list_or_value_is_an_error(sandbox, plans):
    message = refusal("server_info", sandbox, plans=plans)
    assert message.startswith("plans: ")
