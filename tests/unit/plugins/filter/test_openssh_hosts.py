# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of hosts as configuration for OpenSSH, or as a reason to leave a host out."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.filter.openssh_hosts import openssh_hosts


def configure(**variables):
    """Return what the filter makes of the host web-1, which has an address, and these variables."""
    return openssh_hosts(["web-1"], {"web-1": {"ansible_host": "192.0.2.1", **variables}})


def hosts_with(**arguments):
    """Return the variables of hosts with an address and these arguments of ssh."""
    address = {"ansible_host": "192.0.2.1"}
    return {name: {**address, "ansible_ssh_common_args": arguments[name]} for name in arguments}


def lines(**variables):
    """Return the lines of web-1 after its name and its address."""
    found = configure(**variables)
    assert found["left_out"] == []
    name, address, *others = found["text"].splitlines()
    assert (name, address) == ("Host web-1", "  HostName 192.0.2.1")
    return [line.strip() for line in others]


def reasons(**variables):
    """Return why web-1 is left out."""
    found = configure(**variables)
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
bad: {ansible_host: 192.0.2.3, ansible_port: ssh}
not in the group: {}
""")


def test_hosts_have_blocks_in_the_order_of_their_names():
    found = openssh_hosts(["web-2", "bad", "web-1"], HOSTVARS, prefix="prod-")
    hosts = ["prod-web-1", "prod-web-2"]
    assert found == {"text": TEXT, "hosts": hosts, "left_out": ["bad (invalid ansible_port)"]}


# Variables, and the lines that they become.
LINES = yaml.safe_load("""
- - {ansible_host: 192.0.2.9, ansible_ssh_host: 192.0.2.1, ansible_user: a, ansible_ssh_user: b,
     ansible_port: 1, ansible_ssh_port: 2, ansible_private_key_file: /a,
     ansible_ssh_private_key_file: /b}
  - [User b, Port 2, IdentityFile "/b"]
# A variable counts if it is empty, but not if it is null.
- [{ansible_ssh_user: null, ansible_user: b}, [User b]]
- [{ansible_ssh_user: '', ansible_user: b}, []]
# In the order of Ansible's command.
- - {ansible_private_key_file: /2, ansible_ssh_args: -i /1, ansible_ssh_common_args: -i /3,
     ansible_ssh_extra_args: -i /4}
  - [IdentityFile "/1", IdentityFile "/2", IdentityFile "/3", IdentityFile "/4"]
- [{ansible_port: 65535}, [Port 65535]]
- [{ansible_connection: smart}, []]
- [{ansible_connection: ansible.builtin.ssh}, []]
- [{ansible_connection: ansible.legacy.ssh}, []]
""")


@pytest.mark.parametrize(("variables", "expected"), LINES)
def test_variables_become_lines(variables, expected):
    assert lines(**variables) == expected


# Why a host is left out, and variables for which it is.
REASONS = yaml.safe_load("""
no ansible_host: [{ansible_host: ''}, {ansible_host: null}]
ansible_connection is not ssh: [{ansible_connection: local}, {ansible_connection: other.ssh}]
relative path in ansible_private_key_file: [{ansible_private_key_file: id}]
invalid ansible_port:
  [{ansible_port: 0}, {ansible_port: 100000}, {ansible_port: '022'}, {ansible_port: '0x16'},
   {ansible_port: 2 2}, {ansible_port: ٢٢}, {ansible_port: -1}, {ansible_port: []}]
""")


@pytest.mark.parametrize("reason", REASONS)
def test_a_host_with_other_variables_is_left_out(reason):
    for variables in REASONS[reason]:
        assert reasons(**variables) == reason


# The arguments of ssh, and the lines that they become.
COPIED = yaml.safe_load("""
-J jump: [ProxyJump jump]
'-J a@b:22,[2001:db8::1]:65535,c': ['ProxyJump a@b:22,[2001:db8::1]:65535,c']
-o ProxyJump=jump: [ProxyJump=jump]
-o 'ProxyJump = "jump"': [ProxyJump = "jump"]
# ssh uses the first of the two.
-J jump -o proxyjump=other: [ProxyJump jump, proxyjump=other]
'-o ProxyCommand="ssh -W %h:%p jump"': ['ProxyCommand=ssh -W %h:%p jump']
-i ~/.ssh/id_ed25519: [IdentityFile "~/.ssh/id_ed25519"]
-i '/my keys/id': [IdentityFile "/my keys/id"]
-o 'IdentityFile="/my keys/id"': [IdentityFile="/my keys/id"]
"-o 'UserKnownHostsFile=~/a ${HOME}/b'": ['UserKnownHostsFile=~/a ${HOME}/b']
-o CertificateFile=%d/a: [CertificateFile=%d/a]
-o GlobalKnownHostsFile=None: [GlobalKnownHostsFile=None]
-C -o ServerAliveInterval=30 -A: [ServerAliveInterval=30]
-o A==b: [A==b]
# Flags, and options for connections without a user.
'': []
-C -4 -6 -A -a -q -T -t -v -X -x -k -K -vvv: []
-C -o ControlMaster=auto -o ControlPersist=60s: []
-o batchmode=yes -o 'StrictHostKeyChecking no': []
-o ControlPath="a -o ProxyJump=jump -C": []
""")


@pytest.mark.parametrize("text", COPIED)
def test_options_are_copied_as_they_are_or_ignored(text):
    assert lines(ansible_ssh_common_args=text) == COPIED[text]


# Why a host is left out, and arguments of ssh for which it is.
REFUSED = yaml.safe_load(r"""
User in _: [-o User=a]
HostName in _: [-o HostName=other]
Match in _: [-o 'Match all']
host in _: [-o 'host *']
Include in _: [-o Include=~/a]
-p in _: [-p 2222]
-J in _: [-J]
-- in _: [--help]
-_ in _: ['-{']
an argument that is not an option in _: [other, "'{ #' -C", -o ProxyCommand=sshpass s3cret ssh]
an option that is not one line with a value in _, an argument that is not an option in _:
  - -o ProxyJump jump
an option that is not one line with a value in _:
  - "-o 'LogLevel=a\nProxyCommand=b'"
  - "-o 'ProxyCommand=sshpass\t-p s3cret ssh'"
  - "-J 'a\nProxyCommand b'"
  - -o '=Host *'
  - -o ' Host *'
  - -o '"Match" all'
  - -o 'Match"" all'
  - "-o '# a'"
a jump host that begins with a hyphen in _:
  - -J -oProxyCommand=x
  - -J a,b@-oProxyCommand=x
  - -oproxyjump=ssh://[-v]
  - -o 'ProxyJump "-v"'
quotes in _: ["-C '", "-o 'IdentityFile=\"/a'"]
relative path in IdentityFile: [-i id_ed25519, -o IdentityFile=../id]
relative path in certificatefile: [-o certificatefile=id]
relative path in UserKnownHostsFile: [-o 'UserKnownHostsFile=/a b']
relative path in GlobalKnownHostsFile: [-o 'GlobalKnownHostsFile="a"']
User in _, Port in _: [-o User=a -o Port=1]
# A template that was not rendered, or that appears when the arguments are split.
undefined variable or error in _: ['-o A={{nowhere}}', '{% if a %}-C{% endif %}', '{# a']
a template in the arguments: ['-o A={\{x}}', "-o A={''%}", '-J {\#x']
""")


@pytest.mark.parametrize("reason", REFUSED)
def test_a_host_with_other_arguments_is_left_out(reason):
    for text in REFUSED[reason]:
        expected = reason.replace(" in _", " in ansible_ssh_common_args")
        assert reasons(ansible_ssh_common_args=text) == expected


def test_a_path_that_playbook_dir_makes_in_the_collection_is_left_out():
    collection = Path(openssh_hosts.__code__.co_filename).parents[2]
    reason = "path in the collection: use inventory_dir, not playbook_dir"
    assert reasons(ansible_private_key_file=f"{collection}/playbooks/id") == reason
    argument = f"-o ProxyCommand='{collection}/playbooks/proxy %h'"
    assert reasons(ansible_ssh_common_args=argument) == reason
    path = f"{collection}/playbooks-keys/id"
    assert lines(ansible_private_key_file=path) == [f'IdentityFile "{path}"']


# What bastion, web and db use as their jump hosts, and which of them are left out.
JUMP_HOSTS = yaml.safe_load("""
- [[-J admin@bastion, -J admin@bastion, -J bastion], [bastion]]
- [[-J web, -J bastion, -J web], [bastion, web]]
- [[-J web, -J db, '-J ssh://bastion:22'], [bastion, db, web]]
- [['', -J bastion, -J web], []]
# Of several jump hosts, only the first uses its own block.
- [['-J a,bastion', '-J bastion,web', '-J other,web'], []]
- [['-J web,a', '-J bastion,b', ''], [bastion, web]]
- [[-J none, -J NONE, -o ProxyCommand=none], []]
# After it, only a ProxyCommand counts.
- - [-J none -o ProxyCommand='ssh web', "-J NONE -J a -o ProxyCommand='ssh bastion'", '']
  - [bastion, web]
- [[-o ProxyCommand=none -J web, -J bastion, ''], []]
- [[-o ProxyJump=none -o ProxyJump=bastion, -J Web, -J db.example.com], []]
- [[-o 'proxyjump "bastion"', '-J [web]:22', -o 'ProxyJump = db'], [bastion, db, web]]
- [["-o ProxyCommand='ssh -W %h:%p a@bastion'", '', ''], [bastion]]
- [[-o ProxyCommand='exec /usr/bin/ssh -p 22 web nc %h', -J bastion, ''], [bastion, web]]
- [[-o 'ProxyCommand sh -c "ssh -J web -W %h db"', '', -J bastion], [bastion, db]]
# What else can be around the name, and around ssh.
- - ['-J ssh://a@bastion:22/', -J a=b@web, '-o ProxyCommand=''"ssh" -W %h:%p db''']
  - [bastion, db, web]
- - [-o ProxyCommand='$(command -v ssh) -Jbastion a', -o ProxyCommand='sh -c "ssh web; true"', -o
     ProxyCommand='(ssh -q a=b@db|tee log)']
  - [bastion, db, web]
- [[-o ProxyCommand='nc -x bastion %h %p', -o ProxyCommand='a web', ''], []]
- [[-J other -o ProxyCommand='ssh bastion', '', ''], []]
""")


@pytest.mark.parametrize(("arguments", "left_out"), JUMP_HOSTS)
def test_a_host_that_its_jump_hosts_lead_back_to_is_left_out(arguments, left_out):
    bastion, web, db = arguments
    hostvars = hosts_with(bastion=bastion, db=db, web=web)
    found = openssh_hosts(hostvars, hostvars)["hosts"]
    assert found == [name for name in hostvars if name not in left_out]
    # The names in the file count.
    assert openssh_hosts(hostvars, hostvars, prefix="x-")["left_out"] == []


def test_a_jump_host_that_is_left_out_or_none_leads_nowhere():
    hostvars = hosts_with(a="-J b", b="-J a -o User=a", none="-o 'ProxyJump none '")
    found = openssh_hosts(hostvars, hostvars)
    assert found["hosts"] == ["a", "none"]


def test_a_host_with_a_line_that_ssh_refuses_is_left_out():
    hostvars = hosts_with(a="", b="-o A=1", c="-o B=1 -o C=1", d="-o D=1", aa="-J aa")
    # The first line of b, and the last ones of c.
    errors = """\
/dev/stdin: line 4: Bad configuration option: {a}\r
/dev/stdin line 11: invalid time value.
/dev/stdin: line 12: Bad configuration option: c
/dev/stdin line 15: Unsupported option "d"
/dev/stdin: terminating, 3 bad configuration options
"""
    text = openssh_hosts(hostvars, hostvars)["text"].split("\n")
    assert text[3] == "Host b"
    assert text[10] == "  C=1"
    found = openssh_hosts(hostvars, hostvars, "", errors)
    assert found["hosts"] == ["a", "d"]
    assert found["text"] == openssh_hosts(["a", "d"], hostvars)["text"]
    assert found["left_out"] == [
        "aa (jump hosts that may lead back to it)",
        "b (ssh: Bad configuration option: _a})",
        "c (ssh: invalid time value., ssh: Bad configuration option: c)",
    ]


# Texts that OpenSSH could read as something else than a value.
HOSTILE = yaml.safe_load(r"""
["a\n  ProxyCommand touch proxied", "a\r", 'a" ProxyCommand "touch proxied', "a b' c", "%h", "a%%b",
 "${HOME}", "$(touch proxied)", "`touch proxied`", -oProxyCommand=touch, -a, "a # b", 'a\', "*",
 "!a", "a?", "a,b c"]
""")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_value_becomes_another_line_or_a_pattern(text):
    assert reasons(ansible_host=text) == "invalid ansible_host"
    assert reasons(ansible_user=text) == "invalid ansible_user"
    assert reasons(ansible_port=f"22{text}") == "invalid ansible_port"
    assert reasons(ansible_private_key_file=f"~/%{text}") == "invalid ansible_private_key_file"
    found = openssh_hosts(["web-1"], HOSTVARS, prefix=text)
    assert found["left_out"] == ["web-1 (invalid name)"]


def test_a_name_is_shown_without_characters_that_could_be_a_template():
    name = "a {{ b }}"
    found = openssh_hosts([name], {name: {"ansible_host": "192.0.2.1"}})
    assert found["left_out"] == ["a __ b __ (invalid name)"]


class Failing(dict[str, Any]):
    """Variables of a host, which cannot be read."""

    def __getitem__(self, name):
        raise ZeroDivisionError


def test_a_host_with_a_variable_that_cannot_be_read_is_left_out():
    found = openssh_hosts(["a"], {"a": Failing(ansible_host="192.0.2.1")})
    assert found["left_out"] == ["a (undefined variable or error in ansible_host)"]
