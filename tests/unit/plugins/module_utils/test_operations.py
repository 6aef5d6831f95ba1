# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of operations, and the messages and documents that depend on it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _operations
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    NotYetLive,
)
from ansible_collections.server_management.cloud.plugins.module_utils._operations import (
    OPERATIONS,
    Operation,
    operation,
)
from sandbox import Sandbox
from support.modules import run_module
from support.status_page import PAGE, details, support, table


def turned_live(wanted: Operation) -> tuple[Operation, ...]:
    """Return the table with one more live operation."""
    return tuple(row._replace(live=row.live or row == wanted) for row in OPERATIONS)


def test_only_the_listing_is_live() -> None:
    live = [(row.modules, row.name) for row in OPERATIONS if row.live]
    assert live == [(("server_info", "fleet_info", "api_info"), "list")]


def test_each_operation_is_in_the_table_once() -> None:
    names = [(module, row.name) for row in OPERATIONS for module in row.modules or ("",)]
    assert len(names) == len(set(names))
    for row in OPERATIONS:
        assert all(operation(module, row.name) is row for module in row.modules)


@pytest.mark.promise("honest")
def test_an_operation_that_is_not_announced_is_reported_as_such() -> None:
    with pytest.raises(NotYetLive, match="and the API has not announced this operation; "):
        operation("volume", "delete").refuse()
    assert [row.title for row in OPERATIONS if not row.announced] == ["Deleting a volume"]


@pytest.mark.promise("honest")
def test_an_operation_without_a_request_is_refused_even_if_live() -> None:
    with pytest.raises(CloudError, match="cannot do it") as caught:
        operation("server_info", "list").refuse()
    assert not isinstance(caught.value, NotYetLive)


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


def options(sandbox: Sandbox, row: Operation) -> dict[str, Any]:
    """Return the options of a task that needs an operation."""
    task = TASKS.get((row.modules[0], row.name), {})
    return {"base_url": sandbox.url, "api_token": sandbox.token, **task}


@pytest.mark.promise("honest")
@pytest.mark.parametrize(
    ("row", "check_mode"),
    [(row, False) for row in NOT_LIVE]
    # The module server predicts in check mode.
    + [(row, True) for row in NOT_LIVE if row.modules != ("server",)],
)
def test_a_task_fails_and_changes_nothing(row: Operation, check_mode: bool) -> None:
    (module,) = row.modules
    with Sandbox(servers=1) as sandbox:
        outcome = run_module(module, options(sandbox, row), check_mode=check_mode)
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


@pytest.mark.parametrize("row", NOT_LIVE)
def test_a_row_turned_live_changes_failures_and_status_page(
    row: Operation, monkeypatch: pytest.MonkeyPatch
) -> None:
    (module,) = row.modules
    with Sandbox(servers=1) as sandbox:
        task = options(sandbox, row)
        before = table().count(" live\n")
        monkeypatch.setattr(_operations, "OPERATIONS", turned_live(row))
        result = run_module(module, task).result
    assert "live" not in result
    assert "not yet live" not in result["msg"]
    assert table().count(" live\n") == before + 1


def test_a_module_with_some_live_operations_has_partial_support(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = tuple(row._replace(live=row.name == "resize") for row in OPERATIONS)
    monkeypatch.setattr(_operations, "OPERATIONS", rows)
    assert (support("server"), support("volume")) == ("partial", "none")
    assert [sentence for sentence in details("server") if " is live. " in sentence] == [
        "Resizing a server is live. It needs the scope C(servers:write)."
    ]


def test_the_status_page_contains_the_table() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")
