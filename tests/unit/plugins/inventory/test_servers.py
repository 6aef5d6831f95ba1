# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the inventory plugin shows while it waits; the end-to-end tests have everything else."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from ansible_collections.server_management.cloud.plugins.inventory.servers import InventoryModule
from ansible_collections.server_management.cloud.plugins.module_utils import _client
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from sandbox import Fault, Sandbox


@pytest.mark.promise("silent")
def test_long_waits_and_the_progress_are_shown_without_verbosity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin = InventoryModule()
    plugin.display = SimpleNamespace(verbosity=0, display=(shown := Mock()))
    plugin._label, plugin._token = "x.yml", "sandbox-token"
    monkeypatch.setattr(plugin, "get_option", lambda option: 0)
    monkeypatch.setattr("time.sleep", Mock())
    monkeypatch.setattr(_client, "_REPORT_INTERVAL", 0)
    with Sandbox(servers=1) as api:
        api.fail(Fault(status=429, retry_after=6))
        plugin._fetch(Connection(f"{api.url}/api/v1", api.token))
    progress, wait = (call.args[0] for call in shown.call_args_list)
    assert progress == "x.yml: page 1, 0 servers so far"
    assert wait.startswith("x.yml: retry 1 of 3 in 6.")
