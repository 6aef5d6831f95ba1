# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of operations, and the messages and documents that depend on it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _errors
from ansible_collections.server_management.cloud.plugins.module_utils._operations import (
    OPERATIONS,
    Operation,
    operation,
)
from sandbox import Sandbox
from support.modules import run_module
from support.status_page import PAGE, table


def test_only_the_listing_is_live() -> None:
    live = [(row.modules, row.name) for row in OPERATIONS if row.live]
    assert live == [(("server_info", "fleet_info", "api_info"), "list")]


def test_each_operation_is_in_the_table_once() -> None:
    for row in OPERATIONS:
        assert all(operation(module, row.name) is row for module in row.modules)


@pytest.mark.promise("honest")
def test_an_operation_that_is_not_announced_is_reported_as_such() -> None:
    with pytest.raises(_errors.NotYetLive, match="and the API has not announced this operation; "):
        operation("volume", "delete").refuse()
    assert [row.title for row in OPERATIONS if not row.announced] == ["Deleting a volume"]


@pytest.mark.promise("honest")
def test_an_operation_without_a_request_is_refused_even_if_live() -> None:
    with pytest.raises(_errors.CloudError, match="cannot do it") as caught:
        operation("server_info", "list").refuse()
    assert not isinstance(caught.value, _errors.NotYetLive)


TASKS: dict[tuple[str, str], dict[str, Any]] = {
    ("volume", "provision"): {"name": "data", "size": 1, "region": "eu"},
    ("volume", "delete"): {"name": "data", "state": "absent"},
    ("volume_attachment", "attach"): {"volume": "data", "server": "web"},
    ("volume_attachment", "detach"): {"volume": "data", "server": "web", "state": "absent"},
    ("server", "create"): {"name": "new", "plan": "small", "region": "eu"},
    ("server", "resize"): {"name": "web-01", "plan": "other"},
    ("server", "reinstall"): {"name": "web-01", "state": "reinstalled"},
    ("server", "delete"): {"name": "web-01", "state": "absent"},
}


NOT_LIVE = [row for row in OPERATIONS if row.modules and not row.live]


@pytest.mark.promise("honest")
@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("row", NOT_LIVE, ids=lambda row: row.title)
def test_a_task_fails_and_changes_nothing(row: Operation, check_mode: bool) -> None:
    (module,) = row.modules
    # The module server predicts in check mode.
    check_mode = check_mode and module != "server"
    with Sandbox(servers=1) as sandbox:
        connection = {"base_url": sandbox.url, "api_token": sandbox.token}
        task = {**connection, **TASKS.get((module, row.name), {})}
        outcome = run_module(module, task, check_mode=check_mode)
    message = outcome.result["msg"]
    start = f"{row.title} is not yet live: it needs the scope `{row.scope}`, and the API has "
    assert message.startswith(start)
    writes = row.scope != "billing:read"
    assert message.endswith(" this operation; nothing was changed." if writes else " operation.")
    assert (outcome.failed, outcome.warnings) == (True, [])
    assert outcome.result == {
        "changed": False,
        "msg": message,
        "operation": row.name,
        "scope": row.scope,
        "live": False,
        "error": {"code": "not_yet_live", "status": None, "message": message},
    }
    assert [request.method for request in sandbox.requests] == ["GET"] * (module == "server")


def test_the_status_page_contains_the_table() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")
