# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Host keys that OpenSSH remembers by server: a real OpenSSH server, with checking on."""

import pytest

from support.fixtures import KNOWN

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
def ssh(source, ssh_server):
    """Return the OpenSSH server of web-1, the only server of the account; no key is known."""
    source.sandbox.servers = [{**KNOWN[0], "ipv4": ADDRESS}]
    server = ssh_server([ADDRESS])
    source.runner.environment.update(server.environment)
    return server


def ping(source, *arguments):
    path = source.file(host_key_alias=True)
    module = ("-m", "ansible.builtin.ping")
    return source.runner.ansible("-i", path, "all", *module, *arguments)


def test_a_key_belongs_to_a_server_and_not_to_its_address(source, ssh):
    assert ping(source).ok().stderr == ""
    assert ssh.known_names == ["srv_1"]

    ssh.replace()
    source.sandbox.servers[0]["id"] = "srv_2"
    ping(source).ok()
    assert ssh.known_names == ["srv_1", "srv_2"]

    ssh.replace()
    # With pipelining, Ansible prints nothing of ssh if ssh ends while the module is sent to it.
    refused = ping(source, "-e", "ansible_pipelining=false")
    assert "UNREACHABLE!" in refused.stdout
    assert "REMOTE HOST IDENTIFICATION HAS CHANGED" in refused.stdout

    source.runner.run("ssh-keygen", "-R", "srv_2", "-f", ssh.folder / "known_hosts").ok()
    ping(source).ok()


def test_each_way_to_transfer_a_file_checks_the_key_of_the_server(source, ssh, tmp_path):
    ping(source).ok()
    # From here on a key that is looked up by another name is an unknown one.
    source.runner.environment["ANSIBLE_SSH_ARGS"] += " -o StrictHostKeyChecking=yes"
    playbook = tmp_path / "transfers.yml"
    playbook.write_text(TRANSFERS)
    path = source.file(host_key_alias=True)
    folder = tmp_path / "received"
    folder.mkdir()
    run = source.runner.playbook("-i", path, "-vvv", "-e", f"folder={folder}", playbook).ok()
    assert sorted(file.name for file in folder.iterdir()) == ["piped", "scp", "sftp"]
    for program in ("EXEC sftp", "EXEC scp", "dd of="):
        commands = [line for line in run.stdout.splitlines() if program in line]
        assert commands
        for command in commands:
            assert "HostKeyAlias=srv_1" in command


def test_no_id_becomes_an_option_of_ssh_or_shares_a_name(source, ssh):
    count = len(HOSTILE_IDS)
    for number, server_id in enumerate(HOSTILE_IDS, start=2):
        server = {**source.sandbox.servers[0], "id": server_id, "name": f"web-{number}"}
        source.sandbox.servers.append(server)
    del source.sandbox.servers[0]
    ping(source, "--forks", "3").ok()
    names = {name.lower() for name in ssh.known_names}
    assert len(names) == count
    assert list(source.folder.rglob("proxied")) == []
    # Each name is found again, whatever the command line says.
    source.runner.environment["ANSIBLE_SSH_ARGS"] += " -o StrictHostKeyChecking=yes"
    again = ping(source, "--forks", "3", "--ssh-extra-args=-o HostKeyAlias=other").ok()
    assert again.stdout.count("pong") == count


def test_a_connection_that_is_kept_open_can_be_kept_by_server(source, ssh):
    other = {**source.sandbox.servers[0], "id": "srv_2", "name": "web-2"}
    source.sandbox.servers.append(other)
    environment = source.runner.environment
    # Not for long: a connection that is kept open holds the standard error of its command.
    environment["ANSIBLE_SSH_ARGS"] += " -o ControlMaster=auto -o ControlPersist=2"
    # The path of a socket must be short.
    environment["ANSIBLE_SSH_CONTROL_PATH_DIR"] = f"{environment['TMPDIR']}/cp"
    environment["ANSIBLE_SSH_CONTROL_PATH"] = "%(directory)s/%%k-%%p-%%r"
    ping(source, "--forks", "1").ok()
    assert ssh.known_names == ["srv_1", "srv_2"]
