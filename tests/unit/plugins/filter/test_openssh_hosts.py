# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of hosts as configuration for OpenSSH, or as a reason to leave a host out."""

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.filter.openssh_hosts import openssh_hosts


def lines(without_arguments=False, **variables):
    """Return the lines of web-1 after its name and its address."""
    hostvars = {"web-1": {"ansible_host": "192.0.2.1", **variables}}
    found = openssh_hosts(["web-1"], hostvars, "", without_arguments)
    assert found["left_out"] == []
    name, address, *others = found["text"].splitlines()
    assert (name, address) == ("Host web-1", "  HostName 192.0.2.1")
    return [line.strip() for line in others]


def reason(**variables):
    """Return why web-1 is left out."""
    found = openssh_hosts(["web-1"], {"web-1": {"ansible_host": "192.0.2.1", **variables}})
    (left_out,) = found.pop("left_out")
    assert found == {"text": "", "hosts": []}
    return left_out.removeprefix("web-1 (").removesuffix(")")


TEXT = """\
Host prod-web-1
  HostName 192.0.2.1
  User admin
  Port 2222

Host prod-web-2
  HostName 2001:db8::1
"""


HOSTVARS = yaml.safe_load("""
web-2: {ansible_host: '2001:db8::1'}
web-1: {ansible_host: 192.0.2.1, ansible_user: admin, ansible_port: 2222}
bad {{ name }}: {ansible_host: 192.0.2.3}
not in the group: {}
""")


def test_hosts_have_blocks_in_the_order_of_their_names():
    names = ["web-2", "unknown", "bad {{ name }}", "web-1"]
    found = openssh_hosts(names, HOSTVARS, prefix="prod-")
    hosts = ["prod-web-1", "prod-web-2"]
    left_out = ["bad __ name __ (invalid name)", "unknown (no ansible_host)"]
    assert found == {"text": TEXT, "hosts": hosts, "left_out": left_out}
    assert openssh_hosts(["web-1"], HOSTVARS, prefix=None)["hosts"] == ["web-1"]


# Variables, and the lines that they become.
LINES = yaml.safe_load("""
- [{ansible_host: 192.0.2.9, ansible_ssh_host: 192.0.2.1}, []]
# A variable counts if it is empty, but not if it is null.
- [{ansible_ssh_user: null, ansible_user: b}, [User b]]
- [{ansible_ssh_user: '', ansible_user: b}, []]
- [{ansible_private_key_file: ~/my keys/a=b}, [IdentityFile "~/my keys/a=b"]]
- [{ansible_port: 65535}, [Port 65535]]
- [{ansible_connection: smart}, []]
- [{ansible_connection: ansible.builtin.ssh}, []]
- [{ansible_connection: ansible.legacy.ssh}, []]
- [{ansible_ssh_common_args: ' ', ansible_ssh_args: null}, []]
- [{ansible_ssh_extra_args: -o HostKeyAlias=-x.+a}, [HostKeyAlias -x.+a]]
""")


@pytest.mark.parametrize(("variables", "expected"), LINES)
def test_variables_become_lines(variables, expected):
    assert lines(**variables) == expected
    assert lines(without_arguments=True, **variables) == expected


# Why a host is left out, and variables for which it is.
REASONS = yaml.safe_load("""
no ansible_host: [{ansible_host: ''}, {ansible_host: null}]
ansible_connection is not ssh: [{ansible_connection: local}, {ansible_connection: other.ssh}]
"relative path in ansible_private_key_file: use inventory_dir":
  [{ansible_private_key_file: id}, {ansible_private_key_file: ~root/id}]
invalid ansible_port:
  [{ansible_port: 0}, {ansible_port: 65536}, {ansible_port: '022'}, {ansible_port: '0x16'},
   {ansible_port: 2 2}, {ansible_port: 2٢}, {ansible_port: -1}, {ansible_port: []}]
# Before ansible-core 2.19, a template with an undefined variable stays as it is.
undefined variable or error in ansible_user: [{ansible_user: '{{ a }}'}, {ansible_user: '{% if %}'}]
"hostvars in ansible_user: Ansible defines it only in plays":
  [{ansible_user: '{{ hostvars.bastion.user }}'}]
""")


@pytest.mark.parametrize("expected", REASONS)
def test_a_host_with_other_variables_is_left_out(expected):
    for variables in REASONS[expected]:
        assert reason(**variables) == expected


# With the prefix x-, a name is the address of a host that has only a name.
OF_ANOTHER = yaml.safe_load("""
db.example.com: {ansible_host: db.example.com}
alias: {ansible_host: db.example.com}
jump.example.com: {ansible_host: 192.0.2.1}
Jump.example.com: {ansible_host: 192.0.2.2}
bastion: {ansible_host: db-1, ansible_ssh_host: jump.example.com}
x-db.example.com: {}
""")
IS_ADDRESS = "(the name is another host's address)"


def test_no_block_has_the_name_of_another_hosts_address():
    names = ["db.example.com", "jump.example.com", "Jump.example.com"]
    found = openssh_hosts(names, OF_ANOTHER)
    assert found["hosts"] == ["Jump.example.com", "db.example.com"]
    assert found["left_out"] == [f"jump.example.com {IS_ADDRESS}"]
    found = openssh_hosts(names, OF_ANOTHER, prefix="x-")
    assert found["hosts"] == ["x-Jump.example.com", "x-jump.example.com"]
    assert found["left_out"] == [f"db.example.com {IS_ADDRESS}"]


NAMES = ["ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args"]
# None of them is only the alias of the plugin.
OPTIONS = yaml.safe_load(r"""
[-C, -J admin@jump, -o StrictHostKeyChecking=no, -o HostKeyAlias=srv_1 -J jump,
 -oHostKeyAlias=srv_1, -o HostKeyAlias=%n, -o HostKeyAlias=SRV_1,
 "-o HostKeyAlias=a\nProxyCommand=b", '{{ nowhere }}', a]
""")


@pytest.mark.parametrize("text", OPTIONS)
def test_a_host_with_options_is_left_out_unless_they_are_ignored(text):
    for name in NAMES:
        assert reason(**{name: text}) == f"options in {name}"
        assert lines(without_arguments=True, **{name: text}) == []


def test_text_of_the_command_line_is_a_boolean():
    hostvars = {"a": {"ansible_host": "192.0.2.1", "ansible_ssh_args": "-C"}}
    assert openssh_hosts(["a"], hostvars, without_arguments="false")["hosts"] == []
    assert openssh_hosts(["a"], hostvars, without_arguments="True")["hosts"] == ["a"]


# Texts that OpenSSH could read as something else than a value.
HOSTILE = yaml.safe_load(r"""
["a\n  ProxyCommand touch proxied", "a\r", 'a" ProxyCommand "touch proxied', "a b' c", "%h", "a%%b",
 "${HOME}", "$(touch proxied)", "`touch proxied`", -oProxyCommand=touch, -a, "a # b", 'a\', "*",
 "!a", "a?", "a,b c"]
""")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_value_becomes_another_line_or_a_pattern(text):
    assert reason(ansible_host=text) == "invalid ansible_host"
    assert reason(ansible_user=text) == "invalid ansible_user"
    assert reason(ansible_port=f"22{text}") == "invalid ansible_port"
    assert reason(ansible_private_key_file=f"~/%{text}") == "invalid ansible_private_key_file"
    found = openssh_hosts(["web-1"], HOSTVARS, prefix=text)
    assert found["left_out"] == ["web-1 (invalid name)"]
