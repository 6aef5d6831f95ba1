# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a module in the process of the test."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any
from unittest import mock

import pytest
import yaml
from ansible.module_utils import basic

from ansible_collections.server_management.cloud.plugins.module_utils import _options
from sandbox import Sandbox
from sandbox.account import SERVER

TOKEN = "secret-t0ken"


def connection_to(base_url: str, api_token: str = TOKEN, **changes: Any) -> _options.Connection:
    """Return a connection with the defaults of all options, and with these changes."""
    written = {"base_url": base_url, "api_token": api_token}
    options = _options.resolve_options(written, _options.RULES)
    return _options.connection_from(options, "2.21.0")._replace(**changes)


MODULES = "ansible_collections.server_management.cloud.plugins.modules"
# The options that a module requires, apart from the connection.
REQUIRED: dict[str, dict[str, Any]] = yaml.safe_load("""
server: {name: web-01}
fleet_info: {servers: [{name: web-01}]}
volume: {name: data, size: 1, region: eu}
volume_attachment: {volume: data, server: web-01}
""")
WEB = {**SERVER, "id": "s_1", "name": "web", "region": "eu"}


@dataclass
class Outcome:
    """The result of a module, whether it failed, and its warnings."""

    result: dict[str, Any]
    failed: bool = False
    warnings: list[str] = field(default_factory=list)


def run_module(name: str, options: Mapping[str, Any], *, check_mode: bool = False) -> Outcome:
    """Run a module with these options."""
    module = import_module(f"{MODULES}.{name}")
    given = {**options, "_ansible_check_mode": check_mode, "_ansible_version": "2.0"}
    arguments = json.dumps({"ANSIBLE_MODULE_ARGS": given})
    # Since ansible-core 2.19, it also reads the profile.
    settings = {"_ANSIBLE_ARGS": arguments.encode(), "_ANSIBLE_PROFILE": "legacy"}
    task = mock.patch.dict(vars(basic), settings)
    warnings: list[str] = []
    warn = mock.patch.object(basic.AnsibleModule, "warn", warnings.append)
    output = contextlib.redirect_stdout(io.StringIO())
    with task, warn, output as stdout, pytest.raises(SystemExit):
        module.main()
    result = json.loads(stdout.getvalue())
    failed = result.pop("failed", False)
    # What Ansible adds differs between versions.
    result.pop("invocation", None)
    result.pop("_ansible_new_secrets", None)
    outcome = Outcome(result, failed, warnings)
    print(f"{name}: {outcome}")  # pytest shows it if the test fails
    return outcome


def run(module: str, sandbox: Sandbox, *, check_mode: bool = False, **options: Any) -> Outcome:
    """Run a module with these options over the account of a sandbox."""
    connection = {"base_url": sandbox.url, "api_token": sandbox.token}
    return run_module(module, {**connection, **options}, check_mode=check_mode)


def refusal(module: str, sandbox: Sandbox, **options: Any) -> str:
    """Return the message about an invalid option, which must come before any request."""
    outcome = run(module, sandbox, **options)
    assert outcome.failed
    assert outcome.result["error"]["code"] == "invalid_option"
    assert sandbox.requests == []
    message: str = outcome.result["msg"]
    return message
