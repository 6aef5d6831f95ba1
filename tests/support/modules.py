# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a module in the process of the test."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any
from unittest import mock

from ansible.module_utils import basic

from sandbox.account import SERVER

MODULES = "ansible_collections.server_management.cloud.plugins.modules"
ADDED = ("invocation", "_ansible_new_secrets")
# The options that a module requires, apart from the connection.
REQUIRED: dict[str, dict[str, Any]] = {
    "server": {"name": "web-01"},
    "fleet_info": {"servers": [{"name": "web-01"}]},
    "volume": {"name": "data", "size": 1, "region": "eu"},
    "volume_attachment": {"volume": "data", "server": "web-01"},
}
WEB = {**SERVER, "id": "s_1", "name": "web", "region": "eu"}


@dataclass(frozen=True)
class Outcome:
    """The result of a module, whether it failed, and its warnings."""

    result: dict[str, Any]
    failed: bool
    warnings: list[str]


def run_module(name: str, options: Mapping[str, Any], *, check_mode: bool = False) -> Outcome:
    """Run a module with these options."""
    main = import_module(f"{MODULES}.{name}").main
    given = {**options, "_ansible_check_mode": check_mode, "_ansible_version": "2.0"}
    output = io.StringIO()
    warnings: list[str] = []
    with (
        mock.patch.object(
            basic, "_ANSIBLE_ARGS", json.dumps({"ANSIBLE_MODULE_ARGS": given}).encode()
        ),
        # Since ansible-core 2.19.
        mock.patch.object(basic, "_ANSIBLE_PROFILE", "legacy", create=True),
        mock.patch.object(basic.AnsibleModule, "warn", lambda module, text: warnings.append(text)),
        contextlib.redirect_stdout(output),
    ):
        status = _exit_status(main)
    result = json.loads(output.getvalue())
    failed = result.pop("failed", False) or status != 0
    # What Ansible adds differs between versions.
    kept = {key: value for key, value in result.items() if key not in ADDED}
    return Outcome(kept, failed, warnings)


def _exit_status(main: Any) -> int:
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    raise RuntimeError("the module returned without a result")
