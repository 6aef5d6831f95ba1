# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _operations
from sandbox import Sandbox
from support.modules import WEB, Outcome, run_module

NEW = {"name": "new", "plan": "s", "region": "eu"}


@pytest.fixture
def one_server() -> Iterator[Sandbox]:
    with Sandbox(servers=[WEB]) as running:
        yield running


def run(api: Sandbox, *, check_mode: bool = False, **options: Any) -> Outcome:
    """Run the module against the sandbox."""
    given = {"base_url": api.url, "api_token": api.token, **options}
    return run_module("server", given, check_mode=check_mode)


@pytest.mark.parametrize("check_mode", [False, True])
def test_nothing_to_do_is_ok(one_server: Sandbox, check_mode: bool) -> None:
    outcome = run(one_server, name="web", plan="small", region="eu", check_mode=check_mode)
    assert outcome == Outcome({"server": WEB}, False, [])
    assert run(one_server, name="gone", state="absent") == Outcome({}, False, [])


def test_white_space_around_options_is_ignored(one_server: Sandbox) -> None:
    found = run(one_server, name="web \n", plan=" small", region="eu\n")
    assert found == Outcome({"server": WEB}, False, [])
    diff = run(one_server, name="new\n", plan="s ", region="eu", check_mode=True).result["diff"]
    assert diff["after"] == {**dict.fromkeys(WEB, "unknown"), **NEW}


CASES = [
    ("create", "Creating", NEW),
    ("resize", "Resizing", {"name": "web", "plan": "large"}),
    ("reinstall", "Reinstalling", {"id": "s_1", "state": "reinstalled"}),
    ("delete", "Deleting", {"id": "s_1", "state": "absent"}),
]
OPERATIONS = [case for case in CASES if not _operations.operation("server", case[0]).live]


@pytest.mark.promise("honest")
@pytest.mark.parametrize(("operation", "title", "options"), OPERATIONS)
def test_check_mode_predicts_and_warns(
    one_server: Sandbox, operation: str, title: str, options: dict[str, Any]
) -> None:
    outcome = run(one_server, check_mode=True, **options)
    assert {request.method for request in one_server.requests} == {"GET"}
    assert not outcome.failed
    result = outcome.result
    assert (result["changed"], result["operation"]) == (True, operation)
    assert (result["scope"], result["live"]) == ("servers:write", False)
    assert result["diff"]["before"] == ({} if operation == "create" else WEB)
    assert result["diff"]["before"] != result["diff"]["after"]
    assert result["diff"]["before_header"] == result["diff"]["after_header"]
    assert result.get("server") == (None if operation == "create" else WEB)
    (warning,) = outcome.warnings
    assert warning.startswith(f"{title} a server is not yet live: it needs the scope `servers:wri")
    assert warning.endswith("; without check mode, this task fails.")


@pytest.mark.promise("honest")
@pytest.mark.parametrize("check_mode", [False, True])
def test_a_live_operation_without_a_request_is_never_reported_as_done(
    one_server: Sandbox, check_mode: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tuple(row._replace(live=True) for row in _operations.OPERATIONS)
    monkeypatch.setattr(_operations, "OPERATIONS", rows)
    outcome = run(one_server, name="web", plan="large", check_mode=check_mode)
    assert outcome.warnings == []
    assert outcome.failed is not check_mode
    assert outcome.result["changed"] is check_mode
