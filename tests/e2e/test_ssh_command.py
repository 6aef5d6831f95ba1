# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random variables: Ansible's command for ssh, and the file of the playbook ssh_config."""

import json
import random
import re

import yaml

from support.run import write_program

from .conftest import need_ssh

# For each variable, values with which ssh reaches the machine that Ansible reaches, and others.
COPIED = yaml.safe_load("""
ansible_host: [192.0.2.1, '2001:db8::1', db.example.com]
ansible_ssh_host: [192.0.2.2, null]
ansible_user: [admin, a.b+c@d, '', null]
ansible_ssh_user: [root, '', null]
ansible_port: [22, '2222', null]
ansible_ssh_port: [65535, null]
ansible_private_key_file: [/keys/a b, ~/.ssh/id, '', null]
ansible_ssh_private_key_file: [/keys/é, '', null]
ansible_connection: [ssh, smart, ansible.builtin.ssh]
""")
LEFT_OUT = yaml.safe_load("""
ansible_ssh_host: ['', -v, a b]
ansible_ssh_user: [a b, -v, '%u', a"b]
ansible_ssh_port: [0, 99999999]
ansible_ssh_private_key_file: [keys/id, /keys/%u, /"]
ansible_connection: [local]
ansible_ssh_extra_args: [-p 22, -l a, -oUser=a, -oHost=*, -o 'Match all', -J, -i id]
""")
ARGUMENTS = """\
-C
-q
-vvv
-4
-T
-J jump,web-2
-J web-4
-o 'ProxyJump a@web-1:22'
-o 'proxyjump = none'
-oProxyCommand=none
-oProxyJump=web-3
-o 'ProxyCommand=ssh -W %h:%p admin@web-4'
-oHostKeyAlias=srv_1+a
-oIdentitiesOnly=yes
-o 'IdentityFile "/keys/a b"'
-oIdentityFile=%d/.ssh/id
-oTunnel=Ethernet
-o 'UserKnownHostsFile=/dev/null /a'
-oCiphers=^aes256-ctr
-oSetEnv=A=b
-oServerAliveInterval=30
-o 'Compression no'
-oStrictHostKeyChecking=no
-o 'ControlPersist 60s'
-o 'SendEnv A #b'
-oForwardAgent=yes
-oRekeyLimit=1G
""".splitlines()
# What is for connections without a user, what Ansible sets itself, and what flags set.
DIFFERENT = re.compile(
    "host |batchmode|control|stricthostkeychecking|connecttimeout|preferredauth|passwordauth|"
    "kbdinteractiveauth|numberofpassword|requesttty|loglevel|compression|addressfamily"
)
# The machine that ssh reaches first.
JUMP = re.compile(r"^proxy(?:jump|command) (?:ssh .* )?(?:\S+@)?([\w-]+)", re.MULTILINE)
CASES = 60


def vary(number):
    """Return random variables of a host, and whether it must be left out."""
    draw = random.Random(number)
    variables = {"ansible_host": "192.0.2.3"}
    for name, values in COPIED.items():
        if draw.random() < 0.5:
            variables[name] = draw.choice(values)
    for name in ("ansible_ssh_args", "ansible_ssh_common_args"):
        arguments = draw.sample(ARGUMENTS, draw.randint(0, 3))
        variables[name] = " ".join(arguments)
    is_left_out = draw.random() < 0.3
    if is_left_out:
        name = draw.choice(list(LEFT_OUT))
        variables[name] = draw.choice(LEFT_OUT[name])
    return variables, is_left_out


# Prints what ssh would do into a file with the name of the host, which is the command.
FAKE_SSH = """\
#!/bin/sh
for name; do :; done
exec ssh -G -F /dev/null "$@" >"${0%/*}/$name"
"""
PLAYS = """\
- hosts: server_management
  gather_facts: false
  tasks:
    - ansible.builtin.raw: "{{ inventory_hostname }}"
      ignore_errors: true
      ignore_unreachable: true
- ansible.builtin.import_playbook: server_management.cloud.ssh_config
"""


def shown(text, home):
    """Return the lines of ssh -G that must not differ."""
    lines = text.replace(str(home), "~").splitlines()
    return [line for line in lines if not DIFFERENT.match(line)]


def follow(name, jump_hosts):
    """Follow the jump hosts of a host, which must end."""
    found = []
    while name in jump_hosts:
        name = jump_hosts[name]
        assert name not in found
        found.append(name)


def test_ssh_uses_the_file_as_ansible_uses_its_variables(runner, tmp_path):
    need_ssh(runner)
    ssh = write_program(tmp_path / "commands" / "ssh", FAKE_SSH)
    hosts = {}
    left_out = set()
    for number in range(CASES):
        name = f"web-{number}"
        hosts[name], is_left_out = vary(number)
        if is_left_out:
            left_out.add(name)
    group = {"hosts": hosts, "vars": {"ansible_ssh_executable": str(ssh)}}
    inventory = tmp_path / "hosts.json"
    inventory.write_text(json.dumps({"server_management": group}))
    plays = tmp_path / "plays.yml"
    plays.write_text(PLAYS)
    config = tmp_path / "config"
    command = ("-i", inventory, "-f10", "-e", f"ssh_config_file={config}")
    result = runner.playbook(*command, plays).ok()
    text = config.read_text()
    names = re.findall(r"^Host (.+)$", text, re.MULTILINE)
    jump_hosts = {}
    different = {}
    compared = 0
    for name in names:
        used = runner.run("ssh", "-G", "-F", config, name).ok().stdout
        if jump := JUMP.search(used):
            jump_hosts[name] = jump[1]
        # ssh refuses a command with several -J.
        if expected := (ssh.parent / name).read_text():
            compared += 1
            ours = shown(used, runner.home)
            theirs = shown(expected, runner.home)
            if ours != theirs:
                different[name] = hosts[name], ours, theirs
    assert different == {}
    assert compared > CASES // 2
    for name in names:
        follow(name, jump_hosts)
    # The others are left out because of their variables, or are in a circle.
    circles = re.findall(r"([\w-]+) \(jump hosts that may lead back to it\)", result.stdout)
    assert left_out | set(circles) == set(hosts).difference(names)
