# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _errors
from ansible_collections.server_management.cloud.plugins.module_utils._changes import (
    Change,
    decide,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from support.modules import WEB

TWIN = {**WEB, "name": "twin"}
SPACED = {**TWIN, "id": "s_5", "name": "twin ", "plan": "small\n"}
SERVERS = [
    Server("s_1", WEB),
    Server("s_2", {**TWIN, "id": "s_2"}),
    Server("s_3", {**TWIN, "id": "s_3"}),
    Server("s_4", {"id": "s_4", "name": "bare"}),
    Server("s_5", SPACED),
]


def decided(**options: Any) -> Change:
    """Decide with these options and the defaults of the others."""
    defaults = dict.fromkeys(("id", "name", "plan", "region"))
    return decide({**defaults, "state": "present", **options}, SERVERS)


@pytest.mark.parametrize(
    ("options", "operation", "after"),
    [
        ({"name": "web"}, "", WEB),
        ({"id": "s_1"}, "", WEB),
        ({"id": "s_4"}, "", {"id": "s_4", "name": "bare"}),
        ({"id": "s_5", "plan": "small"}, "", SPACED),
        ({"name": "web", "plan": "large"}, "resize", {**WEB, "plan": "large"}),
        ({"name": "web", "state": "absent"}, "delete", {}),
        ({"name": "gone", "state": "absent"}, "", {}),
        ({"id": "s_9", "state": "absent"}, "", {}),
        ({"name": "web", "state": "reinstalled"}, "reinstall", {**WEB, "status": "unknown"}),
    ],
)
def test_the_options_decide_the_operation(
    options: dict[str, Any], operation: str, after: dict[str, Any]
) -> None:
    result = decided(**options)
    assert (result.operation, result.after) == (operation, after)


def test_a_predicted_server_has_the_options_and_unknown_values() -> None:
    assert decided(name="new", plan="small", region="eu") == Change(
        "create",
        {},
        {**dict.fromkeys(WEB, "unknown"), "name": "new", "plan": "small", "region": "eu"},
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "twin"}, "name: 3 servers are named twin: s_2, s_3, s_5. Use id"),
        ({"name": "web", "region": "us"}, "region: web is in eu and cannot be moved to us."),
        ({"name": "web", "region": "us", "state": "reinstalled"}, "region: web is in eu and"),
        ({"name": "web", "region": "us", "state": "absent"}, "region: web is in eu and"),
        ({"name": "new"}, "plan and region: required, because the account has no server named"),
        ({"name": "new", "plan": "small"}, "region: required, because"),
        ({"id": "s_9", "plan": "s", "region": "eu"}, "id: the account has no server with the id"),
        ({"name": "new", "state": "reinstalled"}, "name: the account has no server named new to"),
        ({"id": "s_9", "state": "reinstalled"}, "id: the account has no server with the id s_9."),
        ({"name": "web", "plan": "large", "state": "reinstalled"}, "plan: web has the plan small."),
    ],
)
def test_impossible_options_are_an_error(options: dict[str, Any], words: str) -> None:
    with pytest.raises(_errors.OptionError, match=f"^{re.escape(words)}"):
        decided(**options)


@pytest.mark.parametrize("field", ["plan", "region"])
def test_a_field_that_the_api_does_not_give_is_not_compared(field: str) -> None:
    with pytest.raises(_errors.MalformedResponse, match=f"no usable {field} for the server s_4"):
        decided(id="s_4", **{field: "small"})


def test_text_of_the_api_stays_on_one_line() -> None:
    hostile = Server("s\n_1", {**WEB, "region": "eu\x1b[31m\nus"})
    options = {"id": "s\n_1", "name": None, "plan": None, "region": "us", "state": "present"}
    with pytest.raises(_errors.CloudError) as caught:
        decide(options, [hostile])
    assert str(caught.value).isprintable()
