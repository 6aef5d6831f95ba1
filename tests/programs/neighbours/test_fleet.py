# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reach several real OpenSSH servers, one of which is down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from e2e.conftest import KNOWN, Source

from sandbox import Sandbox
from support.run import Runner
from support.sshd import SshServer

UP = [f"127.0.0.{number}" for number in range(11, 15)]
DOWN = "127.0.0.15"
FLEET = [
    {
        **KNOWN[0],
        "id": f"srv_{address}",
        "name": f"web-{address.rpartition('.')[2]}",
        "status": "stopped" if address == DOWN else "running",
        "ipv4": address,
    }
    for address in (*UP, DOWN)
]


@pytest.mark.promise("misdirected")
def test_running_servers_are_reached_although_one_is_stopped(
    runner: Runner, tmp_path: Path, ssh_server: Callable[[Sequence[str]], SshServer]
) -> None:
    runner.environment.update(ssh_server(UP).environment, ANSIBLE_PIPELINING="true")
    with Sandbox(servers=FLEET) as api:
        path = Source(runner, api, tmp_path).file()
        running = runner.ansible("-i", path, "status_running", "-m", "ansible.builtin.ping").ok()
        every = runner.ansible("-i", path, "all", "-m", "ansible.builtin.ping")
    assert running.stderr == ""
    for result in (running, every):
        assert result.stdout.count('"ping": "pong"') == len(UP)
    assert every.rc == 4
    assert every.stdout.count("UNREACHABLE!") == 1
    assert "web-15 | UNREACHABLE!" in every.stdout
    assert len(api.requests) == 2
