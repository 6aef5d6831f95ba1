# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of operations, and the messages and documents that depend on it."""

import re
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _errors
from ansible_collections.server_management.cloud.plugins.module_utils._operations import (
    OPERATIONS,
    operation,
)
from support.collection import REPOSITORY
from support.modules import Outcome, run_module
from support.status_page import PAGE, modules_by_support, table

# For each operation of each module, the options of a task that requires it. The account has the
# server web-1.
TASKS: dict[tuple[str, str], dict[str, Any]] = {
    ("server_info", "list"): {},
    ("fleet_info", "list"): {"servers": [{"name": "web-1"}]},
    ("api_info", "list"): {},
    ("server", "create"): {"name": "new", "plan": "small", "region": "eu"},
    ("server", "resize"): {"name": "web-1", "plan": "other"},
    ("server", "reinstall"): {"name": "web-1", "state": "reinstalled"},
    ("server", "delete"): {"name": "web-1", "state": "absent"},
    ("volume", "provision"): {"name": "data", "size": 1, "region": "eu"},
    ("volume", "delete"): {"name": "data", "state": "absent"},
    ("volume_attachment", "attach"): {"volume": "data", "server": "web"},
    ("volume_attachment", "detach"): {"volume": "data", "server": "web", "state": "absent"},
    ("wallet_info", "read"): {},
    ("usage_info", "read"): {},
    ("invoice_info", "read"): {},
}
# The methods of the requests that each live operation sends.
METHODS = {"list": {"GET"}}
# Modules that only check their options; the module server reads the listing and predicts.
PREVIEWS = [name for name in modules_by_support("none") if name != "server"]
ENDS = {
    "servers:write": "; nothing was changed.",
    "storage:write": "; nothing was changed.",
    "billing:read": ".",
}


def test_only_the_listing_is_live():
    live = [(row.modules, row.name) for row in OPERATIONS if row.live]
    assert live == [(("server_info", "fleet_info", "api_info"), "list")]


def test_each_operation_of_a_module_has_a_task():
    operations = []
    for row in OPERATIONS:
        operations += [(module, row.name) for module in row.modules]
    assert operations == list(TASKS)


def run(account, module, name, *, check_mode=False):
    connection = {"base_url": account.url, "api_token": account.token}
    return run_module(module, {**connection, **TASKS[module, name]}, check_mode=check_mode)


def tasks(*, live):
    return [key for key in TASKS if operation(*key).live is live]


@pytest.mark.parametrize(("module", "name"), tasks(live=True))
def test_a_live_operation_is_requested(sandbox, module, name):
    outcome = run(sandbox, module, name)
    assert not outcome.failed
    assert {request.method for request in sandbox.requests} == METHODS[name]


@pytest.mark.parametrize(("module", "name"), tasks(live=False))
def test_another_operation_fails_and_changes_nothing(sandbox, module, name):
    row = operation(module, name)
    outcome = run(sandbox, module, name)
    message = outcome.result["msg"]
    start = f"{row.title} is not yet live: it needs the scope `{row.scope}`, and the API has "
    assert message.startswith(start)
    assert message.endswith(f" this operation{ENDS[row.scope]}")
    result = {
        "changed": False,
        "msg": message,
        "operation": name,
        "scope": row.scope,
        "live": False,
        "error": {"code": "not_yet_live", "status": None, "message": message},
    }
    assert outcome == Outcome(result, failed=True, warnings=[])


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("module", PREVIEWS)
def test_a_module_that_only_checks_its_options_fails_without_a_request(sandbox, module, check_mode):
    names = [name for candidate, name in TASKS if candidate == module]
    assert run(sandbox, module, names[0], check_mode=check_mode).failed
    assert sandbox.requests == []


def test_an_operation_that_is_not_announced_is_reported_as_such():
    with pytest.raises(_errors.NotYetLive, match="and the API has not announced this operation; "):
        operation("volume", "delete").refuse()


def test_an_operation_without_a_request_is_refused_even_if_live():
    with pytest.raises(_errors.CloudError, match="cannot do it") as caught:
        operation("server_info", "list").refuse()
    assert not isinstance(caught.value, _errors.NotYetLive)


def test_the_status_page_contains_the_table():
    assert table() in PAGE.read_text(encoding="utf-8")


def test_ansible_test_expects_the_failures_of_what_is_not_live():
    target = REPOSITORY / "tests/integration/targets/not_yet_live/tasks/main.yml"
    used = re.findall(r"^ +server_management\.cloud\.(\w+):", target.read_text(), re.M)
    assert sorted(used) == PREVIEWS
