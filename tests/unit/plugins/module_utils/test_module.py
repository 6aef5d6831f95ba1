# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Behaviour of all modules: errors fail the task, and options are checked first."""

import time
from importlib.metadata import version

import pytest
import requests
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils._errors import MissingLibrary
from ansible_collections.server_management.cloud.plugins.module_utils._module import failed_result
from ansible_collections.server_management.cloud.plugins.module_utils._options import VERSION
from sandbox import Fault
from support.collection import REPOSITORY
from support.modules import REQUIRED, refusal, run, run_module

ALL = sorted(path.stem for path in REPOSITORY.glob("plugins/modules/*.py"))


def test_an_error_of_the_api_fails_the_task(sandbox):
    sandbox.fail(Fault(status=403))
    outcome = run("server_info", sandbox)
    assert outcome.failed
    result = outcome.result
    message = result["error"].pop("message")
    assert result.pop("msg").startswith(f"{message} ")
    assert result == {"changed": False, "error": {"code": "forbidden", "status": 403}}


def test_a_long_wait_and_a_partial_listing_cause_a_warning_each(sandbox, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    sandbox.fail(Fault(status=429, retry_after=40))
    sandbox.fail(Fault(has_more=True))
    outcome = run("server_info", sandbox, retries=1, allow_partial=True)
    assert outcome.result == {"servers": sandbox.servers}
    wait, _partial = outcome.warnings
    assert wait.startswith("retry 1 of 1 in 40.")


def test_a_module_that_needs_the_whole_account_ignores_allow_partial(sandbox):
    sandbox.fail(Fault(has_more=True))
    result = run("fleet_info", sandbox, allow_partial=True, servers=[]).result
    assert result["error"]["code"] == "incomplete_listing"
    assert result["msg"].endswith("so it ignores allow_partial.")


def test_a_token_that_is_null_is_not_replaced_by_that_of_the_environment(sandbox, monkeypatch):
    monkeypatch.setenv("SERVER_MANAGEMENT_API_TOKEN", sandbox.token)
    message = refusal("server_info", sandbox, api_token=None)
    assert message.startswith("api_token: ")


def test_the_user_agent_names_the_versions_of_the_collection_ansible_and_requests(sandbox):
    run("server_info", sandbox)
    (request,) = sandbox.requests
    agent = f"server_management.cloud/{VERSION} ansible/2.0 python-requests/{requests.__version__}"
    assert request.headers["User-Agent"] == agent


def test_a_token_of_the_environment_is_masked_in_messages(sandbox, monkeypatch):
    sandbox.token = "t0ken-of-the-environment"
    monkeypatch.setenv("SERVER_MANAGEMENT_API_TOKEN", sandbox.token)
    twice = [{"name": sandbox.token}, {"name": sandbox.token}]
    options = {"base_url": sandbox.url, "servers": twice}
    message = run_module("fleet_info", options).result["msg"]
    is_masked_here = version("ansible-core") < "2.22"  # later, Ansible masks it after the module
    assert ("entry 2 (********)" in message) is is_masked_here


@pytest.mark.parametrize("module", ALL)
def test_each_module_checks_the_connection_before_any_request(sandbox, module):
    options = REQUIRED.get(module, {})
    message = refusal(module, sandbox, timeout=0, **options)
    assert message.startswith("timeout: ")


def test_a_missing_option_is_named_with_its_variable():
    message = run_module("server_info", {}).result["msg"]
    assert message.startswith("base_url: ")
    assert "SERVER_MANAGEMENT_BASE_URL" in message


def test_an_option_that_is_not_written_is_read_from_the_environment(sandbox, monkeypatch):
    monkeypatch.setenv("SERVER_MANAGEMENT_TIMEOUT", "0")
    assert refusal("server_info", sandbox).startswith("timeout: ")
    assert not run("server_info", sandbox, timeout=30).failed


def test_a_missing_library_names_the_python_of_the_control_node():
    error = MissingLibrary("It is not installed.", "Install it.")
    assert failed_result(error)["msg"] == (
        "It is not installed. Install it. Or run the task on the control node, with `delegate_to: "
        "localhost`; if it is there already, set `ansible_python_interpreter: "
        '"{{ ansible_playbook_python }}"`.'
    )


def test_an_empty_text_is_an_error(sandbox):
    message = refusal("volume_attachment", sandbox, volume="data", server=" \n")
    assert message.startswith("server: ")


INVALID = yaml.safe_load("""
- [server, {}, 'one of the following is required: name, id']
- [server, {name: web, id: s_1}, 'parameters are mutually exclusive: name|id']
- [volume, {name: data}, 'all of the following are missing: size, region']
- [volume, {name: data, size: big, region: eu}, "argument 'size' is of type"]
""")


@pytest.mark.parametrize(("module", "options", "words"), INVALID)
def test_options_of_operations_that_are_not_live_are_checked_first(sandbox, module, options, words):
    outcome = run(module, sandbox, **options)
    assert words in outcome.result["msg"]
    assert "live" not in outcome.result
    assert sandbox.requests == []
