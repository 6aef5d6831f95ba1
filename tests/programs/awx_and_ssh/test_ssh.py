# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real OpenSSH server, with host keys that are remembered by server, and that are checked."""

import threading
import time

import pytest

from support.fixtures import SERVERS
from support.guides import read_files

ADDRESS = "127.0.0.31"

# Each is text of the API that must stay one argument of ssh, and a name that no other one has.
HOSTILE_IDS = [
    "srv_ab",
    "srv_AB",
    "Srv_ab",
    "-oProxyCommand=touch proxied",
    "srv' -o 'ProxyCommand=touch proxied",
    'srv" -o ProxyCommand="touch proxied',
    "srv\n-o ProxyCommand=touch\tproxied",
    "%h%p%r%%",
    "$(touch proxied)`touch proxied`",
    "{{ lookup('pipe', 'touch proxied') }}",
    "*,!srv_ab",
    "|1|#@cert-authority",
    "-",
    "é漢",
]

TRANSFERS = """\
- hosts: web-1
  gather_facts: false
  tasks:
    - ansible.builtin.copy:
        content: "{{ item }}"
        dest: "{{ folder }}/{{ item }}"
        mode: "0600"
      vars:
        ansible_ssh_transfer_method: "{{ item }}"
      loop: [sftp, scp, piped]
"""


@pytest.fixture
def ssh(runner, sandbox, ssh_server):
    """Return the OpenSSH server of web-1, the only server of the account; no key is known."""
    sandbox.servers = [{**SERVERS[0], "ipv4": ADDRESS}]
    server = ssh_server([ADDRESS])
    runner.environment.update(server.environment)
    return server


def ping(source, *arguments):
    path = source.file(host_key_alias=True)
    module = ("-m", "ansible.builtin.ping")
    return source.runner.ansible("-i", path, "all", *module, *arguments)


def test_a_key_belongs_to_a_server_and_not_to_its_address(source, runner, sandbox, ssh):
    assert ping(source).ok().stderr == ""
    assert ssh.known_names == ["srv_1"]

    ssh.replace()
    sandbox.servers[0]["id"] = "srv_2"
    ping(source).ok()
    assert ssh.known_names == ["srv_1", "srv_2"]

    ssh.replace()
    # With pipelining, Ansible prints nothing of ssh if ssh ends while the module is sent to it.
    refused = ping(source, "-e", "ansible_pipelining=false")
    assert "UNREACHABLE!" in refused.stdout
    assert "REMOTE HOST IDENTIFICATION HAS CHANGED" in refused.stdout

    known_hosts = ssh.folder / "known_hosts"
    runner.run("ssh-keygen", "-R", "srv_2", "-f", known_hosts).ok()
    ping(source).ok()


def test_each_way_to_transfer_a_file_checks_the_key_of_the_server(source, runner, ssh, tmp_path):
    ping(source).ok()
    # From here on a key that is looked up by another name is an unknown one.
    runner.environment["ANSIBLE_SSH_ARGS"] += " -o StrictHostKeyChecking=yes"
    playbook = tmp_path / "transfers.yml"
    playbook.write_text(TRANSFERS)
    path = source.file(host_key_alias=True)
    folder = tmp_path / "received"
    folder.mkdir()
    command = ("-i", path, "-vvv", "-e", f"folder={folder}")
    run = runner.playbook(*command, playbook).ok()
    received = {file.name for file in folder.iterdir()}
    assert received == {"piped", "scp", "sftp"}
    for program in ("EXEC sftp", "EXEC scp", "dd of="):
        commands = [line for line in run.stdout.splitlines() if program in line]
        assert commands
        for command in commands:
            assert "HostKeyAlias=srv_1" in command


def test_no_id_becomes_an_option_of_ssh_or_shares_a_name(source, tmp_path, runner, sandbox, ssh):
    count = len(HOSTILE_IDS)
    for number, server_id in enumerate(HOSTILE_IDS, start=2):
        server = {**sandbox.servers[0], "id": server_id, "name": f"web-{number}"}
        sandbox.servers.append(server)
    del sandbox.servers[0]
    ping(source, "--forks", "3").ok()
    names = {name.lower() for name in ssh.known_names}
    assert len(names) == count
    assert list(tmp_path.rglob("proxied")) == []
    # Each name is found again, whatever the command line says.
    runner.environment["ANSIBLE_SSH_ARGS"] += " -o StrictHostKeyChecking=yes"
    again = ping(source, "--forks", "3", "--ssh-extra-args=-o HostKeyAlias=other").ok()
    assert again.stdout.count("pong") == count


@pytest.fixture
def playbook(tmp_path, runner, sandbox):
    token = runner.home / ".config/server_management/token"
    token.parent.mkdir(parents=True)
    token.write_text(sandbox.token)
    text = read_files("connecting")["wait_for_server.yml"]
    path = tmp_path / "wait_for_server.yml"
    path.write_text(text.replace("https://api.example.com", sandbox.url))
    return path


def wait_for_requests(sandbox, count):
    while len(sandbox.requests) < count:
        time.sleep(0.1)


def let_it_appear(sandbox, ssh):
    """List the server after the first attempt, let it run after the second, and listen at last."""
    server = {**SERVERS[0], "name": "new-1", "status": "made-up-starting", "ipv4": ADDRESS}
    wait_for_requests(sandbox, 2)  # the inventory, and the first attempt
    sandbox.servers.append(server)
    wait_for_requests(sandbox, 3)
    server["status"] = "running"
    wait_for_requests(sandbox, 5)  # the last attempt, and the inventory again
    time.sleep(2)
    ssh.start()


def test_the_playbook_waits_for_a_server(source, runner, sandbox, ssh_server, playbook):
    ssh = ssh_server([ADDRESS])
    ssh.stop()
    runner.environment.update(ssh.environment)
    sandbox.servers.clear()
    path = source.file(host_key_alias=True)
    threading.Thread(target=let_it_appear, args=(sandbox, ssh), daemon=True).start()
    run = runner.playbook("-i", path, "-e", "server=new-1", playbook).ok()
    assert run.stdout.count("FAILED - RETRYING") == 2
    assert "ok: [new-1]" in run.stdout.partition("TASK [Run the first command]")[2]
    assert ssh.known_names == ["srv_1"]
    assert len(sandbox.requests) == 5
