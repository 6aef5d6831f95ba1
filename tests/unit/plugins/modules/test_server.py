# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _operations
from ansible_collections.server_management.cloud.plugins.module_utils._changes import (
    Change,
    decide,
)
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    MalformedResponse,
    OptionError,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from sandbox import Sandbox
from support.collection import REPOSITORY
from support.guides import read_blocks
from support.modules import WEB, Outcome, run_module

TWIN = {**WEB, "name": "twin"}
SERVERS = [
    Server("s_1", WEB),
    Server("s_2", {**TWIN, "id": "s_2"}),
    Server("s_3", {**TWIN, "id": "s_3"}),
    Server("s_4", {"id": "s_4", "name": "bare"}),
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
        ({"name": "web", "plan": "large"}, "resize", {**WEB, "plan": "large"}),
        ({"name": "web", "state": "absent"}, "delete", {}),
        ({"name": "gone", "state": "absent"}, "", {}),
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
        ({"name": "twin"}, "name: 2 servers are named twin: s_2, s_3. Use id"),
        ({"name": "web", "region": "us"}, "region: web is in eu and cannot be moved to us."),
        ({"name": "web", "region": "us", "state": "reinstalled"}, "region: web is in eu and"),
        ({"name": "new"}, "plan and region: required, because the account has no server named"),
        ({"name": "new", "plan": "small"}, "region: required, because"),
        ({"id": "s_9", "plan": "s", "region": "eu"}, "id: the account has no server with the id"),
        ({"name": "new", "state": "reinstalled"}, "name: the account has no server named new to"),
        ({"id": "s_9", "state": "reinstalled"}, "id: the account has no server with the id s_9."),
        ({"name": "web", "plan": "large", "state": "reinstalled"}, "plan: web has the plan small."),
    ],
)
def test_impossible_options_are_an_error(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(words)}"):
        decided(**options)


@pytest.mark.parametrize("field", ["plan", "region"])
def test_a_field_that_the_api_does_not_give_is_not_compared(field: str) -> None:
    with pytest.raises(MalformedResponse, match=f"no usable {field} for the server s_4"):
        decided(id="s_4", **{field: "small"})


def test_text_of_the_api_stays_on_one_line() -> None:
    hostile = Server("s\n_1", {**WEB, "region": "eu\x1b[31m\nus"})
    options = {"id": "s\n_1", "name": None, "plan": None, "region": "us", "state": "present"}
    with pytest.raises(CloudError) as caught:
        decide(options, [hostile])
    assert str(caught.value).isprintable()


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(servers=[WEB]) as running:
        yield running
        assert {request.method for request in running.requests} == {"GET"}


def run(sandbox: Sandbox, *, check_mode: bool = False, **options: Any) -> Outcome:
    """Run the module against the sandbox."""
    given = {"base_url": sandbox.url, "api_token": sandbox.token, **options}
    return run_module("server", given, check_mode=check_mode)


@pytest.mark.parametrize("check_mode", [False, True])
def test_nothing_to_do_is_ok(sandbox: Sandbox, check_mode: bool) -> None:
    outcome = run(sandbox, name="web", plan="small", region="eu", check_mode=check_mode)
    assert outcome == Outcome({"server": WEB}, False, [])
    assert run(sandbox, name="gone", state="absent") == Outcome({}, False, [])


CASES = [
    ("create", "Creating", {"name": "new", "plan": "small", "region": "eu"}),
    ("resize", "Resizing", {"name": "web", "plan": "large"}),
    ("reinstall", "Reinstalling", {"id": "s_1", "state": "reinstalled"}),
    ("delete", "Deleting", {"id": "s_1", "state": "absent"}),
]
OPERATIONS = [case for case in CASES if not _operations.operation("server", case[0]).live]


@pytest.mark.promise("honest")
@pytest.mark.parametrize(("operation", "title", "options"), OPERATIONS)
def test_check_mode_predicts_and_warns(
    sandbox: Sandbox, operation: str, title: str, options: dict[str, Any]
) -> None:
    outcome = run(sandbox, check_mode=True, **options)
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
    sandbox: Sandbox, check_mode: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tuple(replace(row, live=True) for row in _operations.OPERATIONS)
    monkeypatch.setattr(_operations, "OPERATIONS", rows)
    outcome = run(sandbox, name="web", plan="large", check_mode=check_mode)
    assert outcome.warnings == []
    assert outcome.failed is not check_mode
    assert outcome.result["changed"] is check_mode


def test_the_query_of_the_development_guide_finds_the_server_of_a_task() -> None:
    jq = pytest.importorskip("jq")
    guide = read_blocks(REPOSITORY / "docs/docsite/rst/guide_development.rst")
    (block,) = (block for block in guide if block.caption == "extensions/audit/event_query.yml")
    ((module, found),) = yaml.safe_load(block.text).items()
    assert module == "server_management.cloud.server"
    query = jq.compile(found["query"])
    with Sandbox(servers=[dict(WEB)]) as sandbox:
        given = {"base_url": sandbox.url, "api_token": sandbox.token}
        result = run_module("server", {**given, "name": WEB["name"]}).result
        (node,) = query.input_value(result).all()
        assert node.keys() == {"name", "canonical_facts", "facts"}
        assert (node["name"], node["canonical_facts"]) == (WEB["name"], {"id": WEB["id"]})
        for task in ({"name": "gone", "state": "absent"}, {"name": WEB["name"], "plan": "x"}):
            result = run_module("server", {**given, **task}).result
            assert query.input_value(result).all() == []
