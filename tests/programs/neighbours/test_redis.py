# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Share the inventory cache between controllers in a real Redis."""

import shutil
import subprocess

import pytest
from e2e.conftest import hosts

from support.fixtures import KNOWN_NAMES
from support.run import Runner
from support.sshd import free_port

PROGRAM = shutil.which("redis-server") or ""

pytestmark = pytest.mark.skipif(not PROGRAM, reason="Redis is not installed")


@pytest.fixture
def redis(tmp_path):
    """Run a Redis server on loopback that writes nothing to disk, and return its port."""
    port = free_port()
    options = ("--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", tmp_path)
    command = (PROGRAM, *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        for line in process.stdout or ():
            if "Ready to accept connections" in line:
                break
        yield port
        process.terminate()


def test_several_controllers_share_a_listing(source, redis, installed, tmp_path):
    plugin = "community.general.redis"
    path = source.file(cache=True, cache_plugin=plugin, cache_connection=f"127.0.0.1:{redis}:0")
    first = source.runner.inventory("-i", path, "--list").ok().json()
    assert hosts(first) == KNOWN_NAMES
    other = Runner(tmp_path / "another_home", installed)
    assert other.inventory("-i", path, "--list").ok().json() == first
    assert len(source.sandbox.requests) == 1

    source.sandbox.servers.pop()
    source.flush(path).ok()
    assert hosts(other.inventory("-i", path, "--list").ok().json()) == ["web-1", "web-2"]
    assert len(source.sandbox.requests) == 2
