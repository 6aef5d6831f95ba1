# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Share the inventory cache between controllers in a real Redis."""

import shutil
import socket
import subprocess
import time

import pytest
from e2e.conftest import hosts

from support.fixtures import KNOWN_NAMES
from support.guides import read_files
from support.run import Runner, write_inventory

START_LIMIT = 60.0  # seconds

PROGRAM = shutil.which("redis-server") or ""

pytestmark = pytest.mark.skipif(not PROGRAM, reason="Redis is not installed")


class Redis:
    """A Redis server on loopback that writes nothing to disk."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        options = ("--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--dir", folder)
        self._process = subprocess.Popen((PROGRAM, *options), stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + START_LIMIT
        while self.ask("PING") != b"+PONG":
            assert time.monotonic() < deadline, "Redis did not start"
            time.sleep(0.05)

    def ask(self, command):
        """Return the first line of the server's response, or nothing if it is not running."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                connection.sendall(f"{command}\r\n".encode())
                return connection.recv(4096).partition(b"\r\n")[0]
        except ConnectionError:
            return b""

    def stop(self):
        """End the server; does nothing if it has ended."""
        self._process.terminate()
        self._process.wait()


@pytest.fixture
def redis(tmp_path):
    server = Redis(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def options(redis):
    """Return the options that put the cache into Redis."""
    return {
        "cache": True,
        "cache_plugin": "community.general.redis",
        "cache_connection": f"127.0.0.1:{redis.port}:0",
    }


def test_two_controllers_share_a_cache(source, redis, options, installed, tmp_path):
    path = source.file(**options)
    first = source.runner.inventory("-i", path, "--list").ok().json()
    assert len(source.sandbox.requests) == 1
    assert int(redis.ask("DBSIZE").lstrip(b":")) >= 1
    other = Runner(tmp_path / "another_home", installed)
    assert other.inventory("-i", path, "--list").ok().json() == first
    assert len(source.sandbox.requests) == 1
    source.sandbox.servers.pop()
    source.flush(path).ok()
    assert len(source.sandbox.requests) == 2
    assert len(hosts(other.inventory("-i", path, "--list").ok().json())) == 2
    assert len(source.sandbox.requests) == 2


def test_without_redis_the_listing_is_read_from_the_api(source, redis, options):
    assert hosts(source.list_silently(**options)) == KNOWN_NAMES
    redis.stop()
    before = len(source.sandbox.requests)
    result = source.run(**options).ok()
    assert hosts(result.json()) == KNOWN_NAMES
    assert len(source.sandbox.requests) - before == 1
    assert result.contains("The cache community.general.redis can't be read")
    assert "can't be written" not in result.stderr  # one warning is enough
    assert "Traceback" not in result.output


def test_the_requests_of_several_nodes(source, redis, installed, tmp_path):
    """Count what the API receives from two nodes that update twice, as the guides say."""
    files = {**read_files("awx"), **read_files("inventory")}
    token = tmp_path / "token"
    token.write_text(source.sandbox.token, encoding="utf-8")
    nodes = [Runner(tmp_path / f"node_{number}", installed) for number in range(2)]
    for node in nodes:
        node.environment["SERVER_MANAGEMENT_BASE_URL"] = source.sandbox.url
        node.environment["SERVER_MANAGEMENT_API_TOKEN_FILE"] = str(token)
    for name, expected in (("awx", 4), ("shared", 1)):
        text = files[f"{name}.server_management.yml"]
        text = text.replace("redis.example.com:6379", f"127.0.0.1:{redis.port}")
        path = write_inventory(tmp_path, text, f"{name}.server_management.yml")
        before = len(source.sandbox.requests)
        for _update in range(2):
            for node in nodes:
                assert hosts(node.inventory("-i", path, "--list").ok().json()) == KNOWN_NAMES
        assert len(source.sandbox.requests) - before == expected
