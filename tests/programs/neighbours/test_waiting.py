# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook of the guide that waits for a server: from an empty account to a first command."""

import threading
import time

import pytest

from support.fixtures import KNOWN
from support.guides import read_files

ADDRESS = "127.0.0.31"


@pytest.fixture
def playbook(source):
    token = source.runner.home / ".config/server_management/token"
    token.parent.mkdir(parents=True)
    token.write_text(source.sandbox.token)
    text = read_files("connecting")["wait_for_server.yml"]
    path = source.folder / "wait_for_server.yml"
    path.write_text(text.replace("https://api.example.com", source.sandbox.url))
    return path


def wait_for_requests(sandbox, count):
    while len(sandbox.requests) < count:
        time.sleep(0.1)


def let_it_appear(sandbox, ssh):
    """List the server after the first attempt, let it run after the second, and listen at last."""
    server = {**KNOWN[0], "name": "new-1", "status": "made-up-starting", "ipv4": ADDRESS}
    wait_for_requests(sandbox, 2)  # the inventory, and the first attempt
    sandbox.servers.append(server)
    wait_for_requests(sandbox, 3)
    server["status"] = "running"
    wait_for_requests(sandbox, 5)  # the last attempt, and the inventory again
    time.sleep(2)
    ssh.start()


def test_the_playbook_waits_for_a_server(source, ssh_server, playbook):
    ssh = ssh_server([ADDRESS])
    ssh.stop()
    source.runner.environment.update(ssh.environment)
    source.sandbox.servers.clear()
    path = source.file(host_key_alias=True)
    threading.Thread(target=let_it_appear, args=(source.sandbox, ssh), daemon=True).start()
    run = source.runner.playbook("-i", path, "-e", "server=new-1", playbook).ok()
    assert run.stdout.count("FAILED - RETRYING") == 2
    assert "ok: [new-1]" in run.stdout.partition("TASK [Run the first command]")[2]
    assert ssh.known_names == ["srv_1"]
    assert len(source.sandbox.requests) == 5
