# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of operations, and the messages and documents that depend on it."""

import re

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    NotYetLive,
)
from ansible_collections.server_management.cloud.plugins.module_utils._operations import (
    OPERATIONS,
    operation,
)
from support.collection import REPOSITORY
from support.modules import Outcome, run
from support.status_page import PAGE, table

# For each operation of each module that is not live, the options of a task that requires it.
NOT_LIVE = yaml.safe_load("""
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


def test_only_the_listing_is_live():
    live = [row.name for row in OPERATIONS if row.live]
    assert live == ["list"]


def test_this_table_has_each_operation_of_a_module_that_is_not_live():
    rows = [row for row in OPERATIONS if row.modules and not row.live]
    assert [[*row.modules, row.name] for row in rows] == [task[:2] for task in NOT_LIVE]


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize(("module", "name", "options"), NOT_LIVE)
def test_an_operation_that_is_not_live_fails_before_any_request(
    sandbox, module, name, options, check_mode
):
    scope = operation(module, name).scope
    outcome = run(module, sandbox, check_mode=check_mode, **options)
    message = outcome.result["msg"]
    error = {"code": "not_yet_live", "status": None, "message": message}
    result = {"changed": False, "msg": message, "error": error}
    details = {"operation": name, "scope": scope, "live": False}
    assert outcome == Outcome({**result, **details}, failed=True)
    assert sandbox.requests == []


def test_the_message_about_a_write_names_the_scope_and_that_nothing_was_changed():
    with pytest.raises(NotYetLive) as caught:
        operation("volume", "delete").refuse()
    assert str(caught.value) == (
        "Deleting a volume is not yet live: it needs the scope `storage:write`, and the API has "
        "not announced this operation; nothing was changed."
    )


def test_the_message_about_a_read_does_not_mention_changes():
    with pytest.raises(NotYetLive, match=r"API has announced but not released this operation\.$"):
        operation("wallet_info", "read").refuse()


def test_an_operation_that_an_older_release_lacks_asks_for_an_update():
    with pytest.raises(CloudError, match="Listing servers is live, but this release of the col"):
        operation("server_info", "list").refuse()


def test_the_status_page_contains_the_table():
    page = PAGE.read_text(encoding="utf-8")
    assert table() in page


def test_the_integration_target_uses_each_unreleased_module():
    target = REPOSITORY / "tests/integration/targets/not_yet_live/tasks/main.yml"
    used = re.findall(r"^ +server_management\.cloud\.(\w+):", target.read_text(), re.M)
    assert set(used) == {module for module, _name, _options in NOT_LIVE}
