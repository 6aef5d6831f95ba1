# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of operations, and the messages and documents that depend on it."""

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _errors, _operations
from support.modules import run
from support.places import PAGE, table

# For each operation of each module, in the order of the table, the options of a task that requires
# it.
TASKS = yaml.safe_load("""
- [server_info, list, {}]
- [fleet_info, list, {servers: []}]
- [api_info, list, {}]
- [server, create, {name: new}]
- [server, resize, {id: srv_1}]
- [server, reinstall, {name: web-1, state: reinstalled}]
- [server, delete, {id: srv_1, state: absent}]
- [volume, provision, {name: data, size: 1, region: eu}]
- [volume, delete, {name: data, state: absent}]
- [volume_attachment, attach, {volume: data, server: web}]
- [volume_attachment, detach, {volume: data, server: web, state: absent}]
- [wallet_info, read, {}]
- [usage_info, read, {}]
- [invoice_info, read, {}]
""")


def test_each_operation_of_each_module_has_a_task():
    pairs = [[module, row.name] for row in _operations.OPERATIONS for module in row.modules]
    assert pairs == [task[:2] for task in TASKS]


@pytest.mark.parametrize(("module", "name", "options"), TASKS)
def test_an_operation_sends_its_request_or_fails_before_any(sandbox, module, name, options):
    row = _operations.operation(module, name)
    outcome = run(module, sandbox, **options)
    methods = {request.method for request in sandbox.requests}
    if row.request:
        assert not outcome.failed
        # A module may have to list the servers before it changes one.
        assert methods | {"GET"} == {row.request.method, "GET"}
        assert row.request.method in methods
        return
    assert outcome.failed
    assert run(module, sandbox, check_mode=True, **options) == outcome
    assert sandbox.requests == []
    message = outcome.result.pop("msg")
    error = {"code": "not_yet_live", "status": None, "message": message}
    assert outcome.result.pop("error") == error
    rest = {"changed": False, "operation": name, "scope": row.scope, "live": False}
    assert outcome.result == rest


def test_the_message_about_a_write_names_the_scope_and_that_nothing_was_changed():
    with pytest.raises(_errors.NotYetLive) as caught:
        _operations.operation("volume", "delete").refuse()
    assert str(caught.value) == (
        "Deleting a volume is not yet live: it needs the scope `storage:write`, and the API has "
        "not announced this operation; nothing was changed."
    )


def test_the_message_about_a_read_does_not_mention_changes():
    words = r"API has announced but not released this operation\.$"
    with pytest.raises(_errors.NotYetLive, match=words):
        _operations.operation("wallet_info", "read").refuse()


def test_the_status_page_contains_the_table():
    page = PAGE.read_text(encoding="utf-8")
    assert table() in page, PAGE
