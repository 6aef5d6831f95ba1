# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook ssh_config: what it writes, and what the real ssh makes of it."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.fixtures import KNOWN
from support.run import Result
from support.sshd import SshServer

from .conftest import Source, hosts, need_ssh
from .hostile import CANARY, CASES, EXECUTE

PLAYBOOK = "server_management.cloud.ssh_config"
FILE = ".ssh/config.d/server_management.conf"
HEADER = "# Written by the playbook server_management.cloud.ssh_config"
Start = Callable[..., SshServer]
# Texts of other sources, each of which must be refused or reach ssh as it is.
TEXTS = [
    *("a\n  ProxyCommand touch proxied", 'a" ProxyCommand "touch proxied', "a' b", "%h", "a%%b"),
    *("${HOME}", "$(touch proxied)", "`touch proxied`", "-oProxyCommand=touch", "a # b", "a\\"),
    *("*", "!a", "Match exec touch", "99999", "0", "a:b:c", "a@b@c", "[::1", "é", EXECUTE),
]
VARIABLES = {
    "user": ("ansible_user", ""),
    "port": ("ansible_port", ""),
    "identityfile": ("ansible_ssh_private_key_file", "~/"),
    "proxyjump": ("ansible_ssh_common_args", "-J "),
    "userknownhostsfile": ("ansible_ssh_common_args", "-o UserKnownHostsFile=/"),
    "hostname": ("ansible_host", ""),
}


class Config:
    """The configuration that the playbook writes for a source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.home = source.runner.home
        self.path = self.home / FILE
        self.options: dict[str, Any] = {"host_key_alias": True}
        source.runner.environment["ANSIBLE_REMOTE_TMP"] = str(self.home / "temporary files")

    def write(self, *arguments: str | Path) -> Result:
        path = self.source.file(**self.options)
        return self.source.runner.playbook("-i", path, PLAYBOOK, *arguments)

    def include(self) -> None:
        (self.home / ".ssh/config").write_text(f"Include {self.path}\nUser somebody\n")

    def of(self, name: str) -> dict[str, str]:
        """Return what ssh uses for a host, with keywords in lower case."""
        file = self.home / ".ssh/config"
        shown = self.source.runner.run("ssh", "-G", "-F", file, name).ok().stdout
        return dict(line.split(" ", 1) for line in shown.splitlines() if " " in line)


@pytest.fixture
def config(source: Source) -> Config:
    need_ssh(source.runner)
    return Config(source)


@pytest.mark.promise("misdirected")
def test_ssh_reaches_a_server_by_its_name(
    config: Config, ssh_server: Start, source: Source
) -> None:
    ssh = ssh_server(["127.0.0.31", "127.0.0.32"], known=False)
    for server, address in zip(source.sandbox.servers, ssh.addresses, strict=False):
        server["ipv4"] = address
    config.options["compose"] = {
        "ansible_user": f"'{ssh.user}'",
        "ansible_port": ssh.port,
        "ansible_ssh_private_key_file": f"'{ssh.folder / 'client_key'}'",
        "ansible_ssh_common_args": f"'-o UserKnownHostsFile={ssh.folder / 'known_hosts'}'",
    }
    result = config.write().ok()
    result.shows(f"at the top of ~/.ssh/config: Include {config.path}")
    config.include()
    known_hosts = str(ssh.folder / "known_hosts")
    # On the command line as well: ssh does not use HOME, so a file without it would change the real
    # known_hosts.
    options = ("StrictHostKeyChecking=accept-new", "IdentitiesOnly=yes", "BatchMode=yes")
    arguments = [f"-o{option}" for option in (f"UserKnownHostsFile={known_hosts}", *options)]
    for name in ("web-1", "web-2"):
        assert config.of(name)["userknownhostsfile"] == known_hosts
        source.runner.run("ssh", "-F", config.home / ".ssh/config", *arguments, name, "true").ok()
    assert ssh.known_names == ["srv_1", "srv_2"]


def test_the_file_follows_the_account(config: Config, source: Source) -> None:
    config.write().ok()
    modes = [path.stat().st_mode & 0o777 for path in (config.path, config.path.parent)]
    assert modes == [0o600, 0o700]
    # A source that fails changes nothing; an empty account is an empty file.
    before = config.path.read_text()
    failed = source.runner.playbook("-i", source.file(api_token="t0ken-of-the-wrong"), PLAYBOOK)
    assert failed.rc != 0
    failed.shows("The inventory has no group server_management, so nothing was changed")
    assert config.path.read_text() == before
    source.sandbox.servers.clear()
    config.write("--check", "--diff").ok().shows("-Host web-1", "changed=1")
    assert config.path.read_text() == before
    config.write().ok()
    path = source.file(**config.options)
    expected = f"{HEADER}, which overwrites changes.\n# Inventory: {path}\n"
    assert config.path.read_text() == expected


@pytest.mark.promise("misdirected")
def test_a_file_for_another_inventory_is_not_replaced(config: Config, source: Source) -> None:
    before = f"{HEADER}, which overwrites changes.\n# Inventory: of-another-account\n"
    config.path.parent.mkdir(parents=True)
    config.path.write_text(before)
    odd = source.file("a\n  ProxyCommand touch proxied.server_management.yml", host_key_alias=True)
    refused = source.runner.playbook("-i", "new,", "-i", odd, PLAYBOOK)
    assert refused.rc == 2
    sources = ("the inventory of-another-account", f"{odd}, new,".replace("\n", " "))
    refused.shows(*sources, "so nothing was changed", "Set ssh_config_file", "remove the file")
    assert config.path.read_text() == before
    # A file of an earlier version does not name its inventory.
    config.path.write_text(before.replace("# Inventory: ", "# "))
    source.runner.playbook("-i", "new,", "-i", odd, PLAYBOOK).ok()
    assert "\n  ProxyCommand" not in config.path.read_text()
    # Neither their order nor the working directory matters.
    relative = ("-i", odd.name, "-i", "new,")
    source.runner.playbook(*relative, PLAYBOOK, cwd=source.folder).ok().shows("changed=0")


def test_variables_change_the_file_the_group_and_the_names(config: Config) -> None:
    config.options["group"] = "fleet"
    own = config.home / "own folder" / "fleet.conf"
    own.parent.mkdir()
    own.parent.chmod(0o755)
    # As JSON, since -e splits other text at white space.
    variables = {
        "ssh_config_file": "own folder/fleet.conf",
        "ssh_config_group": "fleet",
        "ssh_config_prefix": "x-",
    }
    extra = ("-e", json.dumps(variables))
    config.write(*extra).ok().shows(f'Include \\"{own}\\"')
    names = re.findall(r"^Host (.+)$", own.read_text(), re.MULTILINE)
    assert names == ["x-db-1", "x-web-1", "x-web-2"]
    assert own.parent.stat().st_mode & 0o777 == 0o755
    own.write_text("Host mine\n")
    config.write(*extra).shows("was not written by this playbook, so nothing was changed")
    assert own.read_text() == "Host mine\n"
    assert not config.path.exists()


def test_only_a_regular_file_is_replaced(config: Config) -> None:
    folder, fifo = config.home / "folder", config.home / "fifo"
    folder.mkdir()
    os.mkfifo(fifo)
    for path, kind in ((folder, "a directory"), (fifo, "not a regular file")):
        result = config.write("-e", f"ssh_config_file={path}")
        assert result.rc == 2
        result.shows(f"{path} is {kind}, so nothing was changed")
    assert fifo.is_fifo()


# The arguments of ssh, and the reason to leave a host out, or what the file has for it.
ARGUMENTS = {
    "-C -o ControlMaster=auto -oControlPersist=60s -J jump -o User=a": "User",
    "-C -o ControlMaster=auto -oControlPersist=60s -o StrictHostKeyChecking=no": [],
    "-qJ jump": "-qJ jump in the arguments of ssh",
    "-o ProxyJump=jump  -o UserKnownHostsFile=/dev/null": [
        "ProxyJump jump",
        "UserKnownHostsFile /dev/null",
    ],
    "-Jjump -o proxyjump=other": ["ProxyJump jump", "proxyjump other"],
    # ssh uses the first of the two.
    "-o ProxyCommand=none -o ProxyJump=a@b:22,c": ["ProxyCommand none", "ProxyJump a@b:22,c"],
    "-p 2222": "-p 2222 in the arguments of ssh",
    "-F -o ProxyJump=jump": "-F in the arguments of ssh",
    "-o HostName=other": "HostName",
    "-o ProxyJump jump": "-o ProxyJump in the arguments of ssh",
    "-o 'ProxyJump=jump'": "-o _ProxyJump=jump_ in the arguments of ssh",
    '-o ProxyCommand="ssh -W %h:%p jump"': "ProxyCommand, _ssh -W in the arguments of ssh",
    '-o ControlPath="a -o ProxyJump=jump -C"': "_a -C_ in the arguments of ssh",
    '-o ControlPath="a -o ProxyJump=jump -o LogLevel="': "_a _ in the arguments of ssh",
    "-o ProxyJump=a\\ b": "_ b in the arguments of ssh",
    "-o UserKnownHostsFile=~/a%h": "UserKnownHostsFile",
}


@pytest.mark.promise("misdirected")
def test_arguments_of_ssh_are_copied_or_ignored_or_the_host_is_left_out(
    config: Config, source: Source
) -> None:
    source.sandbox.servers[:] = [
        {**KNOWN[0], "id": f"srv_{number}", "name": f"web-{number}", "arguments": text}
        for number, text in enumerate(ARGUMENTS)
    ]
    config.options["host_key_alias"] = False
    config.options["compose"] = {"ansible_ssh_common_args": "server_management_arguments"}
    config.write().ok()
    found: dict[str, str | list[str]] = {}
    for part in config.path.read_text().split("\n\n")[1:]:
        first, *lines = part.splitlines()
        _start, number, reason = re.split(r"web-(\d+)", first)
        kept = [line.strip() for line in lines if "HostName" not in line]
        found[list(ARGUMENTS)[int(number)]] = reason.strip(" ()") or kept
    assert found == ARGUMENTS


@pytest.mark.promise("misdirected")
def test_a_host_with_an_undefined_variable_in_a_value_is_left_out(
    config: Config, source: Source
) -> None:
    values = {
        "ansible_ssh_host": "{{ nowhere }}",
        "ansible_port": "{{ nowhere }}",
        "ansible_user": "a-{{ nowhere.name }}",
        "ansible_private_key_file": "~/{{ bastion }}.key",
        "ansible_ssh_common_args": "-J {{ bastion }}",
        "ansible_ssh_extra_args": "-o ServerAliveInterval={{ nowhere }}",
    }
    source.sandbox.servers[:] = [
        {**KNOWN[0], "id": name.replace("ansible", "srv"), "name": name}
        for name in [*values, "web"]
    ]
    for name, value in {**values, "web": "-J {{ jump }}"}.items():
        variables = {name if name in values else "ansible_ssh_common_args": value}
        path = source.folder / "host_vars" / f"{name}.yml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({**variables, "bastion": "{{ nowhere }}", "jump": "b"}))
    left_out = ", ".join(f"{name} (undefined variable in {name})" for name in sorted(values))
    config.write().ok().shows(f"cannot be copied safely: {left_out}")
    config.include()
    assert re.findall(r"^Host (.+)$", config.path.read_text(), re.MULTILINE) == ["web"]
    assert config.of("web")["proxyjump"] == "b"


@pytest.mark.promise("data", "misdirected")
def test_no_text_becomes_an_option_of_ssh(config: Config, source: Source) -> None:
    servers = [case.server for case in CASES]
    hostile = [
        {**KNOWN[0], "id": f"srv_{keyword}_{number}", "name": f"{keyword}-{number}", keyword: text}
        for keyword in VARIABLES
        for number, text in enumerate(TEXTS)
    ]
    source.sandbox.servers[:] = [*servers, *hostile]
    config.options["compose"] = {
        variable: " ~ ".join(
            f"(('{prefix}' ~ server_management_{keyword}) "
            f"if server_management_{keyword} is defined else '')"
            for keyword, (other, prefix) in VARIABLES.items()
            if other == variable
        )
        + (" or ansible_host" if variable == "ansible_host" else "")
        for variable, _prefix in VARIABLES.values()
    }
    config.write().ok()
    config.include()
    text = config.path.read_text(encoding="utf-8")
    listing = source.runner.inventory("-i", source.file(**config.options), "--list").ok().json()
    written = re.findall(r"^Host (.+)$", text, re.MULTILINE)
    assert set(written) <= set(hosts(listing))
    assert len(written) > len(CASES) // 2
    keywords = "HostName|HostKeyAlias|User|Port|ProxyJump"
    files = r"IdentityFile \"[^\"%$]+\"|UserKnownHostsFile [^\"%$#]+"
    line = rf"#.*|Host [\w.-]+|  ({keywords}) \S+|  ({files})|"
    assert [found for found in text.splitlines() if not re.fullmatch(line, found)] == []
    expected = {name: listing["_meta"]["hostvars"][name] for name in written}
    for name in written[::7] + [name for name in written if re.fullmatch(r"[a-z]+-\d+", name)]:
        used, variables = config.of(name), expected[name]
        # Numbers are IPv4 addresses, for Ansible's connections as well.
        if not plain(variables["ansible_host"]).isdigit():
            assert used["hostname"] == plain(variables["ansible_host"]).lower()
        assert used["user"] == (plain(variables["ansible_user"]) or "somebody")
        assert "proxycommand" not in used
        keyword, _dash, number = name.partition("-")
        if keyword in VARIABLES and number.isdigit() and keyword != "hostname":
            variable, start = VARIABLES[keyword]
            text = start + TEXTS[int(number)]
            # The arguments of ssh are split into words. ssh shows a number as the name of a jump
            # host in brackets.
            if "args" in variable:
                text = shlex.split(text)[1].removeprefix("UserKnownHostsFile=")
            assert used[keyword].strip("[]") == text
    assert not list(source.folder.rglob("proxied"))
    assert not list(source.folder.rglob(CANARY))


def plain(value: Any) -> str:
    """Return the text of a value that may be marked unsafe."""
    return str(value["__ansible_unsafe"] if isinstance(value, dict) else value)
