# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Test many servers in one account."""

import pytest

from sandbox import Sandbox

from .conftest import Source

pytestmark = [pytest.mark.slow]

MANY = 100_000
TIME_LIMIT = 900.0  # seconds
MOST_MEMORY = 1200  # MiB; three times what it takes

READ = """\
import json, resource, sys
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import init_plugin_loader

init_plugin_loader()
inventory = InventoryManager(loader=DataLoader(), sources=[sys.argv[1]])
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(json.dumps({"hosts": len(inventory.hosts), "memory": memory}))
"""


def test_a_hundred_thousand_servers_are_listed(runner, tmp_path):
    with Sandbox(servers=MANY) as api:
        path = Source(runner, api, tmp_path).file()
        command = ("python", "-c", READ, path)
        result = runner.run(*command, time_limit=TIME_LIMIT)
    assert result.stderr == ""
    found = result.json()
    assert found["hosts"] == MANY
    assert found["memory"] < MOST_MEMORY
