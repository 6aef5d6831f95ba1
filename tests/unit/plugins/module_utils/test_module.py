# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Behaviour of all modules: errors fail the task, and options are checked first."""

import time
from importlib.metadata import version

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MissingLibrary,
)
from ansible_collections.server_management.cloud.plugins.module_utils._module import failure
from sandbox import Fault
from sandbox.account import SERVER
from support.collection import REPOSITORY
from support.modules import REQUIRED, run_module

ALL = sorted(path.stem for path in REPOSITORY.glob("plugins/modules/*.py"))


def connection(sandbox, **options):
    """Return the options that connect a module to the sandbox."""
    return {"base_url": sandbox.url, "api_token": sandbox.token, "retries": 0, **options}


@pytest.mark.parametrize("module", ["server_info", "fleet_info", "server"])
def test_an_error_of_the_api_fails_the_task(sandbox, module):
    sandbox.fail(Fault(status=403))
    outcome = run_module(module, {**connection(sandbox), **REQUIRED.get(module, {})})
    assert outcome.failed
    error = outcome.result["error"]
    assert error["code"] == "forbidden"
    assert error["status"] == 403
    assert outcome.result["msg"].startswith(f"{error['message']} ")
    assert outcome.result.keys() == {"changed", "msg", "error"}
    assert outcome.result["changed"] is False


def test_a_partial_listing_causes_a_warning_if_it_is_allowed(sandbox):
    sandbox.fail(Fault(has_more=True))
    outcome = run_module("server_info", connection(sandbox, allow_partial=True))
    assert " ansible/2.0 " in sandbox.requests[0].headers["User-Agent"]
    assert outcome.result == {"servers": sandbox.servers}
    assert len(outcome.warnings) == 1


def test_a_long_wait_causes_a_warning(sandbox, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    sandbox.fail(Fault(status=429, retry_after=40))
    (warning,) = run_module("server_info", connection(sandbox, retries=1)).warnings
    assert warning.startswith("retry 1 of 1 in 40.")


def test_each_unusable_field_causes_one_warning(sandbox):
    sandbox.servers[:] = [
        {**SERVER, "id": "srv_1", "name": "a", "plan": None},
        {**SERVER, "id": "srv_2", "name": "b", "status": 7},
        {**SERVER, "id": "srv_3", "name": "c", "status": {}},
    ]
    outcome = run_module("server_info", connection(sandbox))
    assert outcome.warnings == [
        "The field status is missing or not text for 2 servers: b (srv_2), c (srv_3).",
        "The field plan is missing or not text for 1 server: a (srv_1).",
    ]


def test_a_token_of_the_environment_is_masked_in_messages(sandbox, monkeypatch):
    sandbox.token = "t0ken-of-the-environment"
    monkeypatch.setenv("SERVER_MANAGEMENT_API_TOKEN", sandbox.token)
    for server in sandbox.servers:
        server["name"] = sandbox.token
    options = {"base_url": sandbox.url, "name": sandbox.token}
    message = run_module("server", options).result["msg"]
    is_masked_here = version("ansible-core") < "2.22"  # later, Ansible masks it after the module
    assert ("are named ********:" in message) is is_masked_here


@pytest.mark.parametrize("module", ALL)
def test_each_module_checks_the_connection_before_any_request(sandbox, module):
    options = {**connection(sandbox), **REQUIRED.get(module, {}), "retries": -1}
    outcome = run_module(module, options)
    assert outcome.failed
    assert outcome.result["msg"] == "retries: must be 0 or more, but is -1."
    assert outcome.result["error"]["code"] == "invalid_option"
    assert sandbox.requests == []


@pytest.mark.parametrize("empty", [None, " "])  # white space is not a secret to be masked
def test_an_empty_token_is_not_replaced_by_that_of_the_environment(sandbox, empty, monkeypatch):
    monkeypatch.setenv("SERVER_MANAGEMENT_API_TOKEN", sandbox.token)
    outcome = run_module("server_info", {"base_url": sandbox.url, "api_token": empty})
    assert outcome.result["msg"].startswith("api_token: the value is empty. Check the template")
    assert sandbox.requests == []


def test_a_missing_option_is_named_with_the_places_where_it_can_be_set():
    message = run_module("server_info", {}).result["msg"]
    assert message.startswith("base_url: an address is required. Set it in the task or in module_")


def test_an_option_that_is_not_written_is_read_from_the_environment(sandbox, monkeypatch):
    monkeypatch.setenv("SERVER_MANAGEMENT_RETRIES", "-5")
    options = {"base_url": sandbox.url, "api_token": sandbox.token}
    message = run_module("server_info", options).result["msg"]
    assert message == "retries: must be 0 or more, but is -5."
    assert not run_module("server_info", {**options, "retries": 0}).failed


def test_only_a_missing_requests_is_explained_by_ansible():
    error = MissingLibrary("PySocks is not installed.", "Install it.")
    error.library = "PySocks"
    assert failure(error)["msg"] == "PySocks is not installed. Install it."
    error.library = "requests"
    message = failure(error)["msg"]
    assert "Failed to import the required Python library (requests)" in message
    assert "delegate_to: localhost" in message


@pytest.mark.parametrize(
    ("module", "option"),
    [("server_info", "name"), ("volume_attachment", "server")],
)
@pytest.mark.parametrize("value", ["", " \n"])
def test_an_empty_text_is_an_error(sandbox, module, option, value):
    options = {**connection(sandbox), **REQUIRED.get(module, {}), option: value}
    outcome = run_module(module, options)
    assert outcome.failed
    assert outcome.result["msg"] == f"{option}: must not be empty."
    assert sandbox.requests == []


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
    sandbox, module, options, words, check_mode
):
    outcome = run_module(module, {**connection(sandbox), **options}, check_mode=check_mode)
    assert outcome.failed
    assert words in outcome.result["msg"]
    assert "live" not in outcome.result
    assert sandbox.connections == 0
