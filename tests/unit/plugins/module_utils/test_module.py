# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Behaviour of all modules: errors fail the task, and options are checked first."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Any

import pytest

from sandbox import Fault, Sandbox
from sandbox.account import SERVER
from support.collection import REPOSITORY
from support.modules import REQUIRED, run_module

ALL = sorted(path.stem for path in REPOSITORY.glob("plugins/modules/*.py"))


def connection(sandbox: Sandbox, **options: Any) -> dict[str, Any]:
    """Return the options that connect a module to the sandbox."""
    return {"base_url": sandbox.url, "api_token": sandbox.token, "retries": 0, **options}


@pytest.mark.parametrize("module", ["server_info", "fleet_info", "server"])
def test_an_error_of_the_api_fails_the_task(sandbox: Sandbox, module: str) -> None:
    sandbox.fail(Fault(status=403))
    outcome = run_module(module, {**connection(sandbox), **REQUIRED.get(module, {})})
    assert outcome.failed
    error = outcome.result["error"]
    assert (error["code"], error["status"]) == ("forbidden", 403)
    assert outcome.result["msg"].startswith(f"{error['message']} ")
    assert outcome.result.keys() == {"changed", "msg", "error"}
    assert outcome.result["changed"] is False


@pytest.mark.promise("whole")
def test_a_partial_listing_causes_a_warning_if_it_is_allowed(sandbox: Sandbox) -> None:
    sandbox.fail(Fault(has_more=True))
    outcome = run_module("server_info", connection(sandbox, allow_partial=True))
    assert " ansible/2.0 " in sandbox.requests[0].headers["User-Agent"]
    assert outcome.result == {"servers": sandbox.servers}
    assert len(outcome.warnings) == 1


@pytest.mark.promise("silent")
@pytest.mark.parametrize("module", ["server_info", "fleet_info"])
def test_a_long_wait_causes_a_warning(
    sandbox: Sandbox, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    sandbox.fail(Fault(status=429, retry_after=40))
    options = {**connection(sandbox), **REQUIRED.get(module, {}), "retries": 1}
    (warning,) = run_module(module, options).warnings
    assert warning.startswith("retry 1 of 1 in 40.")


def test_each_unusable_field_causes_one_warning(sandbox: Sandbox) -> None:
    sandbox.servers[0]["plan"] = None
    del sandbox.servers[1]["plan"]
    sandbox.servers[2]["status"] = 7
    outcome = run_module("server_info", connection(sandbox))
    names = [f"{server['name']} ({server['id']})" for server in sandbox.servers]
    assert outcome.warnings == [
        f"The field status is missing or not text for 1 server: {names[2]}.",
        f"The field plan is missing or not text for 2 servers: {', '.join(sorted(names[:2]))}.",
    ]
    dropped = [SERVER.keys() - server.keys() for server in outcome.result["servers"]]
    assert dropped == [{"plan"}, {"plan"}, {"status"}]


@pytest.mark.promise("secret")
def test_a_token_of_the_environment_is_masked_in_messages(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.token = "t0ken-of-the-environment"
    monkeypatch.setenv("SERVER_MANAGEMENT_API_TOKEN", sandbox.token)
    for server in sandbox.servers:
        server["name"] = sandbox.token
    options = {"base_url": sandbox.url, "name": sandbox.token}
    message = run_module("server", options).result["msg"]
    # Since 2.22, Ansible masks it later.
    assert ("are named ********:" in message) == (version("ansible-core") < "2.22")


@pytest.mark.parametrize("module", ALL)
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"api_token": ...}, "api_token: is required"),
        ({"api_token": None}, "api_token: is empty."),
        ({"api_token": " "}, "api_token: is empty."),  # not a secret to be masked
        ({"api_token_file": None}, "api_token_file: is empty."),
        ({"api_token": "two words"}, "api_token: the token must be visible ASCII"),
        ({"api_token": ..., "api_token_file": "missing"}, "api_token_file: "),
        ({"retries": -1}, "retries: must be 0 or more"),
    ],
)
def test_connection_options_are_checked_before_any_request(
    sandbox: Sandbox, module: str, changed: dict[str, Any], words: str
) -> None:
    options = {**connection(sandbox), **REQUIRED.get(module, {}), **changed}
    outcome = run_module(module, {key: value for key, value in options.items() if value is not ...})
    assert outcome.failed
    assert outcome.result["msg"].startswith(words)
    assert outcome.result["error"]["code"] in ("invalid_option", "invalid_token_file")
    assert "two words" not in outcome.result["msg"]
    assert sandbox.requests == []


@pytest.mark.parametrize(
    ("module", "option"),
    [("server_info", "name"), ("server", "region"), ("volume_attachment", "server")],
)
@pytest.mark.parametrize("value", ["", " \n"])
def test_an_empty_text_is_an_error(sandbox: Sandbox, module: str, option: str, value: str) -> None:
    options = {**connection(sandbox), **REQUIRED.get(module, {}), option: value}
    outcome = run_module(module, options)
    assert outcome.failed
    assert outcome.result["msg"] == f"{option}: must not be empty."
    assert sandbox.requests == []


@pytest.mark.promise("honest")
@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize(
    ("module", "options", "words"),
    [
        ("server", {}, "one of the following is required: name, id"),
        ("server", {"name": "web", "id": "s_1"}, "parameters are mutually exclusive: name|id"),
        ("volume", {"name": "data"}, "all of the following are missing: size, region"),
        ("volume", {"name": "data", "size": 0, "region": "eu"}, "size: must be at least 1, but is"),
    ],
)
def test_options_of_operations_that_are_not_live_are_checked_first(
    sandbox: Sandbox, module: str, options: dict[str, Any], words: str, check_mode: bool
) -> None:
    outcome = run_module(module, {**connection(sandbox), **options}, check_mode=check_mode)
    assert outcome.failed
    assert words in outcome.result["msg"]
    assert "live" not in outcome.result
    assert sandbox.connections == 0
