# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Host keys that OpenSSH remembers by server: a real OpenSSH server, with checking on."""

from collections.abc import Callable

import pytest

from support.fixtures import KNOWN
from support.sshd import SshServer

ADDRESSES = ["127.0.0.31", "127.0.0.32"]
CHANGED = "REMOTE HOST IDENTIFICATION HAS CHANGED"
PING = "ansible.builtin.ping"
# Not for long: a connection that is kept open holds the standard error of its command.
PERSIST = "-o ControlMaster=auto -o ControlPersist=2"

Start = Callable[..., SshServer]

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
- hosts: web-2
  gather_facts: false
  tasks:
    - ansible.builtin.copy:
        content: "{{ item }}"
        dest: "{{ folder }}/{{ inventory_hostname }}-{{ item }}"
        mode: "0600"
      vars:
        ansible_ssh_transfer_method: "{{ item }}"
      loop: [sftp, scp, piped]
"""


class Fleet:
    """Servers of the sandbox at the addresses of an OpenSSH server; no key is known at first."""

    def __init__(self, source, ssh, *ids):
        self.source = source
        self.ssh = ssh
        self.become(*ids)
        source.runner.environment |= ssh.environment

    def become(self, *ids):
        """Let the account have other servers, at the same addresses."""
        self.source.sandbox.servers[:] = [
            {**KNOWN[0], "id": server_id, "name": f"web-{number}", "ipv4": address}
            for number, (server_id, address) in enumerate(
                zip(ids, self.ssh.addresses, strict=True), start=1
            )
        ]

    def add_ssh_arguments(self, arguments):
        """Add to what Ansible passes to ssh, before anything else."""
        environment = self.source.runner.environment
        environment["ANSIBLE_SSH_ARGS"] += f" {arguments}"
        # The path of a socket must be short.
        environment["ANSIBLE_SSH_CONTROL_PATH_DIR"] = f"{environment['TMPDIR']}/cp"

    def ping(self, *arguments):
        """Ping all servers."""
        path = self.source.file(host_key_alias=True)
        return self.source.runner.ansible("-i", path, "all", "-m", PING, *arguments)

    def reached(self, *arguments):
        """Return the number of servers that can be reached."""
        return self.ping(*arguments).stdout.count('"ping": "pong"')

    def assert_refused(self):
        """Check that both servers are refused because of their keys."""
        # With pipelining, Ansible prints nothing of ssh if ssh ends while the module is sent to it.
        result = self.ping("-e", "ansible_pipelining=false")
        assert result.stdout.count("UNREACHABLE!") == 2
        # From ansible-core 2.19 on, each error is printed twice.
        assert result.stdout.count(CHANGED) in (2, 4)


@pytest.mark.parametrize("arguments", ["-o ControlMaster=no", PERSIST], ids=["once", "persist"])
def test_a_key_belongs_to_a_server_and_not_to_its_address(source, ssh_server, arguments):
    ssh = ssh_server(ADDRESSES)
    fleet = Fleet(source, ssh, "srv_a", "srv_b")
    fleet.add_ssh_arguments(arguments)
    assert fleet.ping().ok().stderr == ""
    assert ssh.known_names == ["srv_a", "srv_b"]

    ssh.replace()
    fleet.become("srv_c", "srv_d")
    fleet.ping().ok()
    assert ssh.known_names == ["srv_a", "srv_b", "srv_c", "srv_d"]

    ssh.replace()
    fleet.assert_refused()

    known_hosts = ssh.folder / "known_hosts"
    source.runner.run("ssh-keygen", "-R", "srv_c", "-f", known_hosts).ok()
    assert fleet.reached() == 1


def test_each_way_to_transfer_a_file_checks_the_key_of_the_server(source, ssh_server, tmp_path):
    ssh = ssh_server(ADDRESSES)
    fleet = Fleet(source, ssh, "srv_a", "srv_b")
    assert fleet.reached() == 2
    # From here on a key that is looked up by another name is an unknown one.
    fleet.add_ssh_arguments("-o StrictHostKeyChecking=yes")
    folder = tmp_path / "received"
    folder.mkdir()
    playbook = tmp_path / "transfers.yml"
    playbook.write_text(TRANSFERS, encoding="utf-8")
    path = source.file(host_key_alias=True)
    run = source.runner.playbook("-i", path, "-vvv", "-e", f"folder={folder}", playbook).ok()
    for method in ("sftp", "scp", "piped"):
        assert (folder / f"web-2-{method}").read_text() == method
    for program in ("EXEC sftp", "EXEC scp", "dd of="):
        used = [line for line in run.stdout.splitlines() if program in line]
        assert used
        assert all("HostKeyAlias=srv_b" in line for line in used)


def test_the_key_of_a_jump_host_is_checked_by_its_own_name(source, ssh_server, tmp_path):
    ssh = ssh_server([*ADDRESSES, "127.0.0.33"])
    fleet = Fleet(source, ssh, "srv_a", "srv_b", "srv_c")
    source.sandbox.servers.pop()
    variables = tmp_path / "group_vars"
    variables.mkdir()
    jump = f"ansible_ssh_common_args: -J {ssh.user}@127.0.0.33:{ssh.port}\n"
    (variables / "server_management.yml").write_text(jump, encoding="utf-8")
    assert fleet.reached() == 2
    assert ssh.known_names == [f"[127.0.0.33]:{ssh.port}", "srv_a", "srv_b"]


def test_no_id_becomes_an_option_of_ssh_or_shares_a_name(source, ssh_server):
    ssh = ssh_server([f"127.0.0.{number}" for number in range(31, 31 + len(HOSTILE_IDS))])
    fleet = Fleet(source, ssh, *HOSTILE_IDS)
    assert fleet.reached("--forks", "3") == len(HOSTILE_IDS)
    assert len({name.lower() for name in ssh.known_names}) == len(HOSTILE_IDS)
    assert not list(source.folder.rglob("proxied"))
    # Each name is found again, whatever the command line says.
    fleet.add_ssh_arguments("-o StrictHostKeyChecking=yes")
    other = "--ssh-extra-args=-o HostKeyAlias=other"
    assert fleet.reached("--forks", "3", other) == len(HOSTILE_IDS)


def test_a_connection_that_is_kept_open_can_be_kept_by_server(source, ssh_server):
    ssh = ssh_server(["127.0.0.31"])
    fleet = Fleet(source, ssh, "srv_a")
    other = {**source.sandbox.servers[0], "id": "srv_b", "name": "web-2"}
    source.sandbox.servers.append(other)
    fleet.add_ssh_arguments(PERSIST)
    source.runner.environment["ANSIBLE_SSH_CONTROL_PATH"] = "%(directory)s/%%k-%%p-%%r"
    assert fleet.reached("--forks", "1") == 2
    assert ssh.known_names == ["srv_a", "srv_b"]
