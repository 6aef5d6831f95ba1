# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the modules whose operations are not yet live."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox import Sandbox
from support.modules import Outcome, run_module

pytestmark = pytest.mark.promise("honest")

VOLUME = {"name": "data", "size": 10, "region": "eu"}
ATTACHMENT = {"volume": "data", "server": "web"}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(servers=1) as running:
        yield running
        assert running.connections == 0


def run(sandbox: Sandbox, module: str, check_mode: bool, **options: Any) -> Outcome:
    """Run a module with a sandbox that must not receive requests."""
    given = {"base_url": sandbox.url, "api_token": sandbox.token, **options}
    return run_module(module, given, check_mode=check_mode)


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize(
    ("module", "options", "words"),
    [
        ("volume", {}, "missing required arguments: name"),
        ("volume", {"name": "data"}, "all of the following are missing: size, region"),
        ("volume", {"name": "data", "size": 10}, "all of the following are missing: region"),
        ("volume", {**VOLUME, "size": "large"}, "size"),
        ("volume", {**VOLUME, "size": 0}, "size: must be at least 1, but is 0."),
        ("volume", {**VOLUME, "size": -1}, "size: must be at least 1, but is -1."),
        ("volume", {**VOLUME, "state": "full"}, "value of state must be one of"),
        ("volume", {**VOLUME, "colour": "blue"}, "Unsupported parameters"),
        ("volume_attachment", {}, "missing required arguments: server, volume"),
        ("volume_attachment", {"volume": "data"}, "missing required arguments: server"),
        ("volume_attachment", {**ATTACHMENT, "state": "loose"}, "value of state must be one of"),
        ("wallet_info", {"currency": "EUR"}, "Unsupported parameters"),
        ("usage_info", {"month": 1}, "Unsupported parameters"),
        ("invoice_info", {"id": "i_1"}, "Unsupported parameters"),
    ],
)
def test_options_are_checked_first(
    sandbox: Sandbox, module: str, options: dict[str, Any], words: str, check_mode: bool
) -> None:
    outcome = run(sandbox, module, check_mode, **options)
    assert outcome.failed
    assert words in outcome.result["msg"]
    assert "live" not in outcome.result
