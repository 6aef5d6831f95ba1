# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Connections that are kept for later tasks, to servers with the same address."""

from pathlib import Path

from .conftest import named

PLAY = """\
- hosts: server_management
  gather_facts: false
  tasks:
    - ansible.builtin.raw: test "$MACHINE" = {{ inventory_hostname }}
    - ansible.builtin.raw: test "$MACHINE" = {{ inventory_hostname }}
"""


def test_servers_with_one_address_behind_two_jump_hosts_share_no_connection(
    source, runner, sandbox, ssh_server
):
    ssh = ssh_server(["127.0.0.31"])
    args = ssh.environment["ANSIBLE_SSH_ARGS"]
    runner.environment["ANSIBLE_SSH_ARGS"] = f"{args} -o ControlMaster=auto -o ControlPersist=60s"
    # A longer path of the socket is an error.
    name_length = len(f"/0123456789-{ssh.port}-{ssh.user}")
    start = f"{runner.environment['TMPDIR']}/"
    folder = Path(start.ljust(90 - name_length, "c"))
    runner.environment["ANSIBLE_SSH_CONTROL_PATH_DIR"] = str(folder)
    play = source.folder / "play.yml"
    play.write_text(PLAY)
    networks = {}
    sandbox.servers = named("web-1", "web-2")
    for server in sandbox.servers:
        server["ipv4"] = "10.0.0.5"
        networks[server["name"]] = f'-o ProxyCommand="{ssh.proxy_command(server["name"])}"'
    compose = {"ansible_ssh_common_args": f"{networks}[server_management_name]"}
    path = source.file(host_key_alias=True, compose=compose)
    runner.playbook("-i", path, "--forks=1", play).ok()
    sockets = list(folder.iterdir())
    for socket in sockets:
        end = ("-O", "exit", "-o", f"ControlPath={socket}")
        runner.run("ssh", "-F", "none", *end, "web-1").ok()
    assert [len(str(socket)) for socket in sockets] == [90, 90]
