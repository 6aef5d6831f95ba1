# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the inventory plugin shows while it waits; the end-to-end tests have everything else."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader

from ansible_collections.server_management.cloud.plugins.module_utils import _client
from sandbox import Fault, Sandbox
from support.run import write_inventory


@pytest.mark.promise("silent")
def test_long_waits_and_the_progress_are_shown_without_verbosity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("time.sleep", Mock())
    monkeypatch.setattr(_client, "_REPORT_INTERVAL", 0)
    with Sandbox(servers=1) as api:
        api.fail(Fault(status=429, retry_after=6))
        path = write_inventory(tmp_path, {"base_url": api.url, "api_token": api.token})
        inventory = InventoryManager(loader=DataLoader(), sources=[str(path)])
    assert list(inventory.hosts) == ["web-01"]
    printed = capsys.readouterr()
    progress, wait = printed.err.splitlines()
    assert progress == f"{path}: page 1, 0 servers so far"
    assert wait.startswith(f"{path}: retry 1 of 3 in 6.")
    assert printed.out == ""
