# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook ssh_config: which file it writes, and that ssh reaches servers with it."""

import json
import os
import re
from collections.abc import Callable

import pytest

from sandbox import Fault
from support.fixtures import KNOWN
from support.sshd import SshServer

from .conftest import need_ssh
from .hostile import CANARY, CASES

PLAYBOOK = "server_management.cloud.ssh_config"
HEADING = (
    "# Written by the playbook server_management.cloud.ssh_config, which overwrites changes.\n"
)
CONFIRMED = {"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true"}
Start = Callable[..., SshServer]


class Config:
    """The file that the playbook writes for a source."""

    def __init__(self, source):
        self.source = source
        self.home = source.runner.home
        self.path = self.home / ".ssh/config.d/server_management.conf"
        source.runner.environment["ANSIBLE_REMOTE_TMP"] = str(self.home / "temporary files")

    def write(self, *arguments, **options):
        """Run the playbook for an inventory file with these options."""
        return self.write_for(self.source.file(**options), *arguments)

    def write_for(self, inventory, *arguments, **run):
        return self.source.runner.playbook("-i", inventory, PLAYBOOK, *arguments, **run)

    def create(self, text):
        """Create the file before the playbook runs."""
        self.path.parent.mkdir(parents=True)
        self.path.write_text(text)

    def names(self):
        """Return the names of the hosts in the file."""
        return re.findall(r"^Host (.+)$", self.path.read_text(), re.MULTILINE)


@pytest.fixture
def config(source):
    need_ssh(source.runner)
    return Config(source)


def test_ssh_reaches_a_server_by_its_name(config, ssh_server, source):
    ssh = ssh_server(["127.0.0.31", "127.0.0.32"])
    source.sandbox.servers[0]["ipv4"] = "127.0.0.31"
    source.sandbox.servers[1]["ipv4"] = "127.0.0.32"
    known_hosts = ssh.folder / "known_hosts"
    compose = {
        "ansible_user": f"'{ssh.user}'",
        "ansible_port": ssh.port,
        "ansible_ssh_common_args": (
            f'\'-i "{ssh.folder / "client_key"}" -o "UserKnownHostsFile {known_hosts}"\''
        ),
    }
    result = config.write(host_key_alias=True, compose=compose).ok()
    result.shows(f"at the top of ~/.ssh/config: Include {config.path}")
    main = config.home / ".ssh/config"
    main.write_text(f"Include {config.path}\nUser somebody\n")
    # On the command line as well: ssh does not use HOME, so a file without it would change the real
    # known_hosts.
    options = (f"-oUserKnownHostsFile={known_hosts}", "-oStrictHostKeyChecking=accept-new")
    for name in ("web-1", "web-2"):
        shown = source.runner.run("ssh", "-G", "-F", main, name).ok()
        shown.shows(f"userknownhostsfile {known_hosts}\n")
        arguments = (*options, "-oIdentitiesOnly=yes", "-oBatchMode=yes", name, "true")
        source.runner.run("ssh", "-F", main, *arguments).ok()
    assert ssh.known_names == ["srv_1", "srv_2"]


def test_only_the_user_can_read_what_is_written(config):
    path = config.source.file()
    config.write_for(path).ok()
    assert config.path.stat().st_mode & 0o777 == 0o600
    assert config.path.parent.stat().st_mode & 0o777 == 0o700
    heading = f"{HEADING}# Inventory: {path}, group server_management\n\nHost db-1\n"
    assert config.path.read_text().startswith(heading)
    config.write_for(path).ok().shows("changed=0")


def test_a_file_is_kept_if_the_inventory_does_not_fit(config):
    config.write().ok()
    before = config.path.read_text()
    no_group = config.write(api_token="t0ken-of-the-wrong")
    no_group.shows("The inventory has no group server_management, so nothing was changed")
    no_host = config.write(compose={"ansible_ssh_common_args": "'-p 22'"})
    no_host.shows("No host of the group server_management can be written", "was not changed")
    other = config.write("-e", "ssh_config_group=region_eu_1")
    other.shows("group server_management, and this one is", "group region_eu_1, so nothing")
    assert [no_group.rc, no_host.rc, other.rc] == [2, 2, 2]
    assert config.path.read_text() == before


def test_hosts_that_disappear_must_be_confirmed(config, source):
    folder = source.folder = source.folder / "accounts"
    folder.mkdir()
    source.file("a.server_management.yml", statuses=["running"])
    source.file("b.server_management.yml", statuses=["stopped"])
    config.write_for(folder).ok()
    before = config.path.read_text()
    # One of two accounts fails, and Ansible continues.
    source.sandbox.fail(Fault(status=503))
    failed = config.write_for(folder)
    assert failed.rc == 2
    failed.shows(
        "db-1, web-1 would disappear from ~/.ssh/config.d/server_management.conf",
        "run the playbook with ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED=true",
    )
    assert config.path.read_text() == before
    del source.sandbox.servers[0]
    config.write_for(folder, "--check", "--diff", env=CONFIRMED).ok().shows("-Host web-1")
    assert config.path.read_text() == before
    config.write_for(folder, env=CONFIRMED).ok()
    assert config.names() == ["db-1", "web-2"]


def test_an_empty_account_is_an_empty_file(config, source):
    path = source.file()
    config.write_for(path).ok()
    source.sandbox.servers.clear()
    config.write_for(path, env=CONFIRMED).ok()
    expected = f"{HEADING}# Inventory: {path}, group server_management\n\n"
    assert config.path.read_text() == expected


def test_a_host_that_is_left_out_needs_no_confirmation(config, source):
    extra = ("-e", "ssh_config_prefix=x-")
    config.write(*extra).ok()
    compose = {"ansible_ssh_common_args": "'-p 22' if server_management_name == 'web-1' else ''"}
    left_out = config.write(*extra, compose=compose).ok()
    left_out.shows("copied safely: web-1 (-p in ansible_ssh_common_args)")
    assert config.names() == ["x-db-1", "x-web-2"]


def test_a_file_for_another_inventory_is_not_replaced(config, source):
    before = f"{HEADING}# Inventory: of-another-account, group server_management\n"
    config.create(before)
    path = source.file("a\n  ProxyCommand touch proxied.server_management.yml")
    refused = config.write_for(path, "-i", "new,")
    assert refused.rc == 2
    refused.shows(
        "was written for the inventory of-another-account, group server_management",
        f"this one is {path}, new,, group server_management".replace("\n", " "),
        "so nothing was changed. Set ssh_config_file",
    )
    assert config.path.read_text() == before
    config.path.unlink()
    config.write_for(path, "-i", "new,").ok()
    assert "\n  ProxyCommand" not in config.path.read_text()
    # Neither their order nor the working directory matters.
    sources = ("-i", "new,", "-i", path.name)
    source.runner.playbook(*sources, PLAYBOOK, cwd=source.folder).ok().shows("changed=0")


def test_a_file_of_somebody_else_is_not_replaced(config):
    mine = f"Host mine\n{HEADING}"
    config.create(mine)
    refused = config.write()
    assert refused.rc == 2
    refused.shows("exists and was not written by this playbook, so nothing was changed")
    assert config.path.read_text() == mine


def test_variables_change_the_file_the_group_and_the_names(config):
    path = config.home / "own folder" / "fleet.conf"
    path.parent.mkdir()
    path.parent.chmod(0o755)
    config.path = path
    variables = {
        "ssh_config_file": "own folder/fleet.conf",
        "ssh_config_group": "fleet",
        "ssh_config_prefix": "x-",
    }
    # As JSON, since -e splits other text at white space.
    result = config.write("-e", json.dumps(variables), group="fleet").ok()
    result.shows(f'Include \\"{path}\\"')
    assert config.names() == ["x-db-1", "x-web-1", "x-web-2"]
    assert path.parent.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("kind", ["a directory", "not a regular file"])
def test_only_a_regular_file_is_replaced(config, kind):
    path = config.home / "other"
    if kind == "a directory":
        path.mkdir()
    else:
        os.mkfifo(path)
    result = config.write("-e", f"ssh_config_file={path}")
    assert result.rc == 2
    result.shows(f"{path} is {kind}, so nothing was changed")
    assert not path.is_file()


def test_a_host_with_a_variable_that_fails_is_left_out(config, source):
    values = {
        "ansible_ssh_host": "{{ nowhere }}",
        "ansible_port": "{{ 1 // 0 }}",
        "ansible_user": "a-{{ nowhere.name }}",
        "ansible_private_key_file": "~/{{ bastion }}.key",
        "ansible_ssh_common_args": "-J {{ lookup('ansible.builtin.file', '/nonexistent') }}",
        "ansible_ssh_extra_args": "-o ServerAliveInterval={{nowhere}}",
    }
    variables = {name: {name: value, "bastion": "{{ nowhere }}"} for name, value in values.items()}
    variables["web"] = {"ansible_ssh_common_args": "-J {{ jump }}", "jump": "b"}
    source.sandbox.servers.clear()
    (source.folder / "host_vars").mkdir()
    for number, name in enumerate(variables):
        source.sandbox.servers.append({**KNOWN[0], "id": f"srv_{number}", "name": name})
        (source.folder / "host_vars" / f"{name}.yml").write_text(json.dumps(variables[name]))
    reasons = [f"{name} (undefined variable or error in {name})" for name in sorted(values)]
    config.write().ok().shows(f"cannot be copied safely: {', '.join(reasons)}")
    text = config.path.read_text()
    assert text.endswith("\n\nHost web\n  HostName 203.0.113.1\n  ProxyJump b\n")
    assert text.count("Host ") == 1


def test_no_text_of_the_api_becomes_another_line(config, source):
    source.sandbox.servers[:] = [case.server for case in CASES]
    config.write(host_key_alias=True).ok()
    assert len(config.names()) > len(CASES) // 2
    line = r"#.*|Host [\w.-]+|  HostName [\w.:-]+|  HostKeyAlias [\w.+-]+|"
    others = [text for text in config.path.read_text().splitlines() if not re.fullmatch(line, text)]
    assert others == []
    assert not list(source.folder.rglob(CANARY))
