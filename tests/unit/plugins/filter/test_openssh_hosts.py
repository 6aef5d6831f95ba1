# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variables of hosts as configuration for OpenSSH, or as a reason to leave a host out."""

import shutil
import subprocess
from typing import Any

import pytest
from ansible.errors import AnsibleError

from ansible_collections.server_management.cloud.plugins.filter.openssh_hosts import openssh_hosts


def configure(**variables):
    """Return what the filter makes of the host web-1, which has an address, and these variables."""
    return openssh_hosts(["web-1"], {"web-1": {"ansible_host": "192.0.2.1", **variables}})


def lines(**variables):
    """Return the lines of web-1 after its name and its address."""
    found = configure(**variables)
    assert found["left_out"] == []
    beginning, address, others = found["text"].partition("  HostName 192.0.2.1\n")
    assert beginning == "Host web-1\n"
    assert address
    return [line.strip() for line in others.splitlines()]


def reasons(**variables):
    """Return why web-1 is left out."""
    found = configure(**variables)
    (left_out,) = found.pop("left_out")
    assert found == {"text": "", "hosts": []}
    return left_out.removeprefix("web-1 (").removesuffix(")")


def test_hosts_have_blocks_in_the_order_of_their_names():
    web_1 = {"ansible_host": "192.0.2.1", "ansible_user": "admin", "ansible_port": 2222}
    web_2 = {"ansible_host": "2001:db8::1"}
    bad = {"ansible_host": "192.0.2.3", "ansible_port": "ssh"}
    hostvars: Any = {"web-2": web_2, "web-1": web_1, "bad": bad, "not in the group": {}}
    found = openssh_hosts(["web-2", "bad", "web-1"], hostvars, prefix="prod-")
    text = (
        "Host prod-web-1\n"
        "  HostName 192.0.2.1\n"
        "  User admin\n"
        "  Port 2222\n"
        "\n"
        "Host prod-web-2\n"
        "  HostName 2001:db8::1\n"
    )
    hosts = ["prod-web-1", "prod-web-2"]
    assert found == {"text": text, "hosts": hosts, "left_out": ["bad (ansible_port)"]}


def test_without_hosts_there_is_no_text():
    found = openssh_hosts([], {})
    assert found == {"text": "", "hosts": [], "left_out": []}


def test_variables_with_ssh_in_their_names_take_precedence():
    addresses = {"ansible_host": "192.0.2.9", "ansible_ssh_host": "192.0.2.1"}
    users = {"ansible_user": "a", "ansible_ssh_user": "b"}
    ports = {"ansible_port": 1, "ansible_ssh_port": 2}
    keys = {"ansible_private_key_file": "/a", "ansible_ssh_private_key_file": "/b"}
    found = lines(**addresses, **users, **ports, **keys)
    assert found == ["User b", "Port 2", 'IdentityFile "/b"']


@pytest.mark.parametrize("value", [None, "", 0, [], False])
def test_an_empty_value_counts_as_not_set(value):
    assert lines(ansible_ssh_port=value, ansible_port=22) == ["Port 22"]


def test_a_host_without_an_address_is_left_out():
    assert reasons(ansible_host="") == "ansible_host"


# The arguments of ssh, and the lines that they become.
COPIED = {
    "-J jump": ["ProxyJump jump"],
    "-o ProxyJump=jump": ["ProxyJump jump"],
    "-o 'ProxyJump jump'": ["ProxyJump jump"],
    "-o 'ProxyJump = jump'": ["ProxyJump jump"],
    "-o 'ProxyJump \"jump\"'": ["ProxyJump jump"],
    "-J a@b:22,[2001:db8::1]:65535,c": ["ProxyJump a@b:22,[2001:db8::1]:65535,c"],
    # ssh uses the first of the two.
    "-J jump -o proxyjump=other": ["ProxyJump jump", "proxyjump other"],
    "-i ~/.ssh/id_ed25519": ['IdentityFile "~/.ssh/id_ed25519"'],
    "-o 'IdentityFile=\"/my keys/id\"'": ['IdentityFile "/my keys/id"'],
    "-o UserKnownHostsFile=/dev/null": ["UserKnownHostsFile /dev/null"],
    "-o HostKeyAlias=srv_1+a.b-c": ["HostKeyAlias srv_1+a.b-c"],
    "-o ProxyCommand=None": ["ProxyCommand None"],
    "-o HostKeyAlgorithms=+ssh-rsa,ssh-dss": ["HostKeyAlgorithms +ssh-rsa,ssh-dss"],
    "-o PubkeyAcceptedAlgorithms=+ssh-rsa": ["PubkeyAcceptedAlgorithms +ssh-rsa"],
    "-o PubkeyAcceptedKeyTypes=+ssh-rsa": ["PubkeyAcceptedKeyTypes +ssh-rsa"],
    "-o KexAlgorithms=^diffie*": ["KexAlgorithms ^diffie*"],
    "-o Ciphers=-aes128-gcm@openssh.com": ["Ciphers -aes128-gcm@openssh.com"],
    "-o MACs=hmac-sha1": ["MACs hmac-sha1"],
    "-o CASignatureAlgorithms=ssh-rsa": ["CASignatureAlgorithms ssh-rsa"],
}


@pytest.mark.parametrize("text", COPIED)
def test_arguments_that_lead_to_a_machine_or_a_key_are_copied(text):
    assert lines(ansible_ssh_common_args=text) == COPIED[text]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-C -4 -6 -A -a -q -T -t -v -X -x -k -K",
        "-vvv",
        "-C -o ControlMaster=auto -o ControlPersist=60s",
        "-o AddKeysToAgent=yes -o GSSAPIAuthentication=no -oGSSAPIDelegateCredentials=no",
        "-o serveraliveinterval=30 -o 'StrictHostKeyChecking no'",
        '-o ControlPath="a -o ProxyJump=jump -C"',
    ],
)
def test_arguments_that_lead_to_no_other_machine_are_ignored(text):
    assert lines(ansible_ssh_common_args=text) == []


# The arguments of ssh, and why a host with them is left out.
REFUSED = {
    "-o User=a": "User",
    "-o HostName=other": "HostName",
    '-o ProxyCommand="ssh -W %h:%p jump"': "ProxyCommand",
    "-p 2222": "-p in ansible_ssh_common_args",
    "-J": "-J in ansible_ssh_common_args",
    "--help": "-help in ansible_ssh_common_args",
    "-{#": "-_ in ansible_ssh_common_args",
    "other": "other in ansible_ssh_common_args",
    "'{#' -C": "_ in ansible_ssh_common_args",
    "-o ProxyJump jump": "-o ProxyJump, jump in ansible_ssh_common_args",
    "-o 'LogLevel=a\nProxyCommand=b'": "-o LogLevel_a_ProxyCommand_b",
    "-C '": "quotes in ansible_ssh_common_args",
    "-J a,": "-J",
    "-J a:0": "-J",
    "-J a\\ b": "-J",
    "-J a@b@c": "-J",
    "-J '[::1'": "-J",
    "-i id_ed25519": "relative path in -i",
    "-o IdentityFile=../id": "relative path in IdentityFile",
    "-o UserKnownHostsFile=known_hosts": "relative path in UserKnownHostsFile",
    "-i ~other/id": "-i",
    "-o UserKnownHostsFile=~/a%h": "UserKnownHostsFile",
    "-o 'UserKnownHostsFile=/a /b'": "UserKnownHostsFile",
    "-o 'HostKeyAlgorithms=ssh-rsa # a'": "HostKeyAlgorithms",
    "-o HostKeyAlias=%h": "HostKeyAlias",
    "-o User=a -o Port=1": "User, Port",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_host_with_another_argument_is_left_out(text):
    assert reasons(ansible_ssh_common_args=text) == REFUSED[text]


def test_all_variables_with_arguments_are_read_in_the_order_of_ansible():
    found = lines(
        ansible_ssh_args="-J first",
        ansible_ssh_common_args="-J second",
        ansible_ssh_extra_args="-J third",
    )
    assert found == ["ProxyJump first", "ProxyJump second", "ProxyJump third"]


# Texts that OpenSSH could read as something else than a value.
HOSTILE = [
    "a\n  ProxyCommand touch proxied",
    "a\r",
    'a" ProxyCommand "touch proxied',
    "a b' c",
    "%h",
    "a%%b",
    "${HOME}",
    "$(touch proxied)",
    "`touch proxied`",
    "-oProxyCommand=touch",
    "-a",
    "a # b",
    "a\\",
    "*",
    "!a",
    "a?",
    "a,b c",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_value_becomes_another_line_or_a_pattern(text):
    assert reasons(ansible_host=text) == "ansible_host"
    assert reasons(ansible_user=text) == "ansible_user"
    assert reasons(ansible_port=f"22{text}") == "ansible_port"
    assert reasons(ansible_private_key_file=f"~/%{text}") == "ansible_private_key_file"
    hostvars = {"a": {"ansible_host": "192.0.2.1"}}
    found = openssh_hosts(["a"], hostvars, prefix=text)
    assert found["left_out"] == ["a (the name)"]


@pytest.mark.parametrize("port", [65536, "99999", "0x16", "2 2", "٢٢", -1, "1" * 5000])
def test_a_port_is_a_number_that_tcp_has(port):
    assert reasons(ansible_port=port) == "ansible_port"
    assert lines(ansible_port=65535) == ["Port 65535"]


def test_a_name_is_shown_without_characters_that_could_be_a_template():
    hostvars = {"a {{ b }}": {"ansible_host": "192.0.2.1"}}
    found = openssh_hosts(hostvars, hostvars)
    assert found["left_out"] == ["a_b_ (the name)"]


class Failing(dict[str, Any]):
    """Variables of a host; reading the port raises the error that is its value."""

    def __getitem__(self, name):
        value = super().__getitem__(name)
        if name == "ansible_port":
            raise value
        return value


@pytest.mark.parametrize("error", [AnsibleError("a"), ZeroDivisionError()])
def test_a_host_with_a_variable_that_cannot_be_read_is_left_out(error):
    variables = Failing(ansible_host="192.0.2.1", ansible_port=error)
    found = openssh_hosts(["a"], {"a": variables})
    assert found["left_out"] == ["a (undefined variable or error in ansible_port)"]


@pytest.mark.parametrize("text", ["-o LogLevel={{nowhere}}", "{% if a %}-C{% endif %}"])
def test_a_host_with_a_template_that_was_not_rendered_is_left_out(text):
    found = reasons(ansible_ssh_extra_args=text)
    assert found == "undefined variable or error in ansible_ssh_extra_args"


def test_ssh_uses_the_values_as_they_are(tmp_path):
    ssh = shutil.which("ssh")
    if ssh is None:
        pytest.skip("the OpenSSH client is not installed")
    arguments = "-J a@b:22 -i '/my keys/id' -o UserKnownHostsFile=/a=b,c -o HostKeyAlias=srv+1"
    found = configure(
        ansible_user="a.b+c@d",
        ansible_port=2222,
        ansible_private_key_file="/é/k=",
        ansible_ssh_common_args=arguments,
    )
    file = tmp_path / "config"
    file.write_text(found["text"], encoding="utf-8")
    command = [ssh, "-G", "-F", file, "web-1"]
    shown = subprocess.check_output(command, encoding="utf-8").splitlines()
    used = {
        "hostname 192.0.2.1",
        "user a.b+c@d",
        "port 2222",
        "identityfile /é/k=",
        "identityfile /my keys/id",
        "proxyjump a@b:22",
        "userknownhostsfile /a=b,c",
        "hostkeyalias srv+1",
    }
    assert used <= set(shown)
