# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _operations
from sandbox import Sandbox
from support.modules import WEB, Outcome, run_module

Options = dict[str, Any]


@pytest.fixture
def one_server():
    with Sandbox(servers=[WEB]) as running:
        yield running


def run(api, *, check_mode=False, **options):
    given = {"base_url": api.url, "api_token": api.token, **options}
    return run_module("server", given, check_mode=check_mode)


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize(
    ("options", "result"),
    [
        ({"name": "web", "plan": "small", "region": "eu"}, {"server": WEB}),
        ({"name": "web \n", "plan": " small", "region": "eu\n"}, {"server": WEB}),
        ({"name": "gone", "state": "absent"}, {}),
    ],
)
def test_nothing_to_do_is_ok(one_server, options, result, check_mode):
    outcome = run(one_server, **options, check_mode=check_mode)
    assert outcome == Outcome(result, failed=False, warnings=[])


def test_check_mode_predicts_a_change_and_warns_that_it_is_not_yet_live(one_server):
    outcome = run(one_server, check_mode=True, name="web", plan="large")
    change = {
        "before": WEB,
        "after": {**WEB, "plan": "large"},
        "before_header": "web",
        "after_header": "web",
    }
    result = {
        "server": WEB,
        "changed": True,
        "operation": "resize",
        "scope": "servers:write",
        "live": False,
        "diff": change,
    }
    warning = (
        "Resizing a server is not yet live: it needs the scope `servers:write`, and the API has "
        "announced but not released this operation; without check mode, this task fails."
    )
    assert outcome == Outcome(result, failed=False, warnings=[warning])
    assert [request.method for request in one_server.requests] == ["GET"]


def test_check_mode_shows_a_new_server(one_server):
    options = {"name": "new\n", "plan": "s ", "region": "eu"}
    result = run(one_server, check_mode=True, **options).result
    assert "server" not in result
    assert result["diff"]["before"] == {}
    assert result["diff"]["after"]["name"] == "new"
    assert result["diff"]["after"]["plan"] == "s"


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_live_operation_without_a_request_is_never_reported_as_done(
    one_server, check_mode, monkeypatch
):
    rows = tuple(row._replace(live=True) for row in _operations.OPERATIONS)
    monkeypatch.setattr(_operations, "OPERATIONS", rows)
    outcome = run(one_server, name="web", plan="large", check_mode=check_mode)
    assert outcome.warnings == []
    assert outcome.failed is not check_mode
    assert outcome.result["changed"] is check_mode
