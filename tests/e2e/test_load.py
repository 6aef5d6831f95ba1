# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Test many servers in one account, and many commands at the same time."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox import Fault, Sandbox
from support.fixtures import KNOWN_NAMES

from .conftest import Source, hosts

pytestmark = [pytest.mark.slow]

MANY = 100_000
CLIENTS = 20
TIME_LIMIT = 900.0  # seconds; all clients share the processors of one machine
MOST_MEMORY = 1200  # MiB; three times what it takes

READ = """\
import json, resource, sys
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import init_plugin_loader

init_plugin_loader()
inventory = InventoryManager(loader=DataLoader(), sources=[sys.argv[1]])
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
groups = {name: len(group.get_hosts()) for name, group in inventory.groups.items()}
print(json.dumps({"hosts": len(inventory.hosts), "groups": groups, "memory": memory}))
"""


def test_a_hundred_thousand_servers_are_listed(runner, tmp_path):
    with Sandbox(servers=MANY) as api:
        path = Source(runner, api, tmp_path).file()
        result = runner.run("python", "-c", READ, path, time_limit=TIME_LIMIT).ok()
    assert result.stderr == ""
    found = result.json()
    print(f"{MANY} servers take {found['memory']} MiB")
    groups = found["groups"]
    assert found["hosts"] == groups["server_management"] == MANY
    for prefix in ("region_", "plan_", "status_"):
        counts = [count for name, count in groups.items() if name.startswith(prefix)]
        assert sum(counts) == MANY
    assert found["memory"] < MOST_MEMORY


def test_all_clients_of_a_throttling_api_get_every_server(source):
    source.sandbox.fail(Fault(status=429, retry_after=1), times=2 * CLIENTS)
    path = source.file(retries=20)

    def list_all(_number):
        return source.runner.inventory("-i", path, "--list", time_limit=TIME_LIMIT)

    with ThreadPoolExecutor(CLIENTS) as pool:
        results = list(pool.map(list_all, range(CLIENTS)))
    assert len(source.sandbox.requests) == 3 * CLIENTS
    for result in results:
        assert result.ok().stderr == ""
        assert hosts(result.json()) == KNOWN_NAMES
