# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _operations
from support.fixtures import KNOWN
from support.modules import Outcome, run

WEB = KNOWN[0]


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize(
    ("options", "result"),
    [
        ({"name": "web-1 \n", "plan": " small", "region": "eu-1\n"}, {"server": WEB}),
        ({"name": "gone", "state": "absent"}, {}),
    ],
)
def test_nothing_to_do_is_ok(sandbox, options, result, check_mode):
    outcome = run("server", sandbox, check_mode=check_mode, **options)
    assert outcome == Outcome(result)


RESIZE = {
    "server": WEB,
    "changed": True,
    "operation": "resize",
    "scope": "servers:write",
    "live": False,
    "diff": {
        "before": WEB,
        "after": {**WEB, "plan": "large"},
        "before_header": "srv_1",
        "after_header": "srv_1",
    },
}


def test_check_mode_predicts_a_change_and_warns_that_it_is_not_yet_live(sandbox):
    outcome = run("server", sandbox, check_mode=True, id="srv_1", plan="large")
    warning = (
        "Resizing a server is not yet live: it needs the scope `servers:write`, and the API has "
        "announced but not released this operation; without check mode, this task fails."
    )
    assert outcome == Outcome(RESIZE, warnings=[warning])


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_live_operation_that_this_release_lacks_is_refused(sandbox, check_mode, monkeypatch):
    resize = _operations.operation("server", "resize")
    live = resize._replace(live=True)
    monkeypatch.setattr(_operations, "OPERATIONS", [live])
    options = {"name": "web-1", "plan": "large"}
    outcome = run("server", sandbox, check_mode=check_mode, **options)
    assert outcome.warnings == []
    assert outcome.failed == (not check_mode)
    assert outcome.result["changed"] is check_mode
