# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook ssh_config: which file it writes, and that ssh reaches servers with it."""

import json
import re

import pytest
import yaml

from support.collection import read
from support.run import write_program

from .conftest import named, need_ssh
from .hostile import CANARY, CASES

PLAYBOOK = "server_management.cloud.ssh_config"
HEADING = (
    "# Written by the playbook server_management.cloud.ssh_config, which overwrites changes.\n"
)


@pytest.fixture
def config(runner):
    need_ssh(runner)
    runner.environment["ANSIBLE_REMOTE_TMP"] = str(runner.home / "temporary files")
    folder = runner.home / ".ssh" / "config.d"
    return folder / "server_management.conf"


def write(source, *arguments, **options):
    path = source.file(**options)
    return source.runner.playbook("-i", path, PLAYBOOK, *arguments)


def write_before(config, source, *hosts, note="group server_management"):
    """Write the file as the playbook did for the same inventory, with these hosts."""
    path = source.file()
    text = f"{HEADING}# Inventory: {path}, {note}\n\n"
    for name in hosts:
        text += f"Host {name}\n"
    config.parent.mkdir(parents=True)
    config.write_text(text)


def fails_and_keeps(config, source, *arguments, **options):
    """Run the playbook, which must fail and not change the file, and return the result."""
    before = config.read_text()
    result = write(source, *arguments, **options)
    assert result.rc == 2
    assert config.read_text() == before
    return result


def names_in(config):
    text = config.read_text()
    return re.findall(r"^Host (.+)$", text, re.MULTILINE)


def test_ssh_reaches_a_server_by_its_name(config, ssh_server, source, runner, sandbox):
    ssh = ssh_server(["127.0.0.31", "127.0.0.32"])
    for server, address in zip(sandbox.servers, ssh.addresses, strict=False):
        server["ipv4"] = address
    known_hosts = ssh.folder / "known_hosts"
    arguments = f'-i "{ssh.folder}/client_key" -o "UserKnownHostsFile {known_hosts}"'
    compose = {"ansible_user": f"'{ssh.user}'"}
    compose["ansible_port"] = ssh.port
    compose["ansible_ssh_common_args"] = f"'{arguments}'"
    result = write(source, host_key_alias=True, compose=compose).ok()
    result.shows(f"at the top of ~/.ssh/config: Include {config}")
    main = config.parents[1] / "config"
    main.write_text(f"Include {config}\nUser somebody\n")
    command = ("ssh", "-F", main, "-oStrictHostKeyChecking=accept-new", "-oBatchMode=yes")
    enter = runner.run
    for name in ("web-1", "web-2"):
        shown = enter(*command, "-G", name).ok()
        # Otherwise, ssh would change the real file, since it does not use HOME.
        shown.shows(f"userknownhostsfile {known_hosts}\n")
        enter(*command, name, "true").ok()
    assert ssh.known_names == ["srv_1", "srv_2"]


def test_the_file_is_for_one_inventory_in_any_order_from_any_folder(config, source, runner):
    path = source.file("a\n  ProxyCommand touch proxied.server_management.yml")
    play = runner.playbook
    play("-i", path, "-i", "new,", PLAYBOOK).ok()
    inventory = f"{path}, new,, group server_management".replace("\n", " ")
    start = f"{HEADING}# Inventory: {inventory}\n\nHost db-1\n"
    assert config.read_text().startswith(start)
    assert config.parent.stat().st_mode & 0o777 == 0o700
    reordered = ("-i", "new,", "-i", path.name)
    again = play(*reordered, PLAYBOOK, cwd=source.folder)
    again.ok().shows("changed=0")


def test_a_file_of_somebody_else_is_kept(config, source):
    config.parent.mkdir(parents=True)
    config.write_text(f"Host mine\n{HEADING}")
    failed = fails_and_keeps(config, source)
    failed.shows("exists and was not written by this playbook, so nothing was changed")


# Hosts in the file, options of the source, arguments of the playbook, and why the file is kept.
KEPT = yaml.safe_load("""
another inventory:
  - []
  - {}
  - [-i, "new,", -e, ssh_config_group=region_eu_1 ssh_config_prefix=x-]
  - "was written for the inventory {path}, group server_management, and this one is {path}, new,,
     group region_eu_1, prefix x-, so nothing was changed."
failing source:
  - [web-1]
  - {api_token: t0ken-of-the-wrong}
  - []
  - The inventory has no group server_management, so nothing was changed
no host:
  - []
  - {compose: {ansible_ssh_common_args: "'-p 22'"}}
  - []
  - No host of the group server_management can be written, so
hosts gone:
  - [web-9, db-1, db-9]
  - {}
  - []
  - db-9, web-9 would disappear from ~/.ssh/config.d/server_management.conf, so nothing was changed.
""")


@pytest.mark.parametrize(("hosts", "options", "arguments", "reason"), KEPT.values(), ids=KEPT)
def test_a_file_is_kept_for_a_reason(config, source, hosts, options, arguments, reason):
    write_before(config, source, *hosts)
    failed = fails_and_keeps(config, source, *arguments, **options)
    failed.shows(reason.format(path=source.file(**options)))


@pytest.mark.parametrize("place", ["environment", "ansible.cfg"])
def test_all_hosts_disappear_if_it_is_confirmed(place, config, source, runner, sandbox):
    if place == "environment":  # as the message says
        runner.environment["ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"] = "true"
    else:
        (runner.home / place).write_text("[inventory]\nany_unparsed_is_failed = true\n")
    write_before(config, source, "web-1")
    sandbox.servers.clear()
    write(source).ok()
    assert names_in(config) == []


# The names of hosts, with variables of which one leaves the host out, and the reason.
LEFT_OUT = yaml.safe_load("""
port: [{ansible_port: "{{ 1 // 0 }}"}, undefined variable or error in ansible_port]
key:
  - {ansible_private_key_file: "~/{{ bastion }}.key", bastion: "{{ nowhere }}"}
  - undefined variable or error in ansible_private_key_file
jump:
  - ansible_ssh_common_args: "-J {{ lookup('ansible.builtin.file', '/nonexistent') }}"
  - undefined variable or error in ansible_ssh_common_args
interval:
  - {ansible_ssh_extra_args: "-o ServerAliveInterval={{nowhere}}"}
  - undefined variable or error in ansible_ssh_extra_args
address: [{ansible_ssh_host: "{{ nowhere }}"}, undefined variable or error in ansible_ssh_host]
user: [{ansible_user: "a-{{ nowhere.name }}"}, undefined variable or error in ansible_user]
other: [{ansible_user: "{{ hostvars['web'].jump }}"}, undefined variable or error in ansible_user]
folder:
  - {ansible_private_key_file: "{{ playbook_dir }}/keys/id"}
  - "path in the collection: use inventory_dir, not playbook_dir"
argument: [{ansible_ssh_common_args: -p 22}, -p in ansible_ssh_common_args]
option: [{ansible_ssh_extra_args: -o MadeUp=1}, "ssh: Bad configuration option: madeup"]
digits: [{ansible_ssh_extra_args: -oPort22=yes}, "ssh: Bad configuration option: port22"]
password:
  - ansible_ssh_common_args: -o ProxyCommand=sshpass s3cret -o 'A s3cret'
  - an argument that is not an option in ansible_ssh_common_args
""")
WEB = """
ansible_ssh_common_args: -J {{ jump }}
jump: b
ansible_ssh_extra_args:
  -oServerAliveInterval=30 '-oProxyCommand=sshpass -p s3cret ssh -W %h:%p b'
ansible_private_key_file: "{{ inventory_dir }}/keys/id"
"""
WRITTEN = """\
Host x-web
  HostName 203.0.113.1
  IdentityFile "{folder}/keys/id"
  ProxyJump b
  ServerAliveInterval=30
  ProxyCommand=sshpass -p s3cret ssh -W %h:%p b
"""


def test_hosts_that_cannot_be_written_are_left_out_for_a_reason(config, source, tmp_path, sandbox):
    sandbox.servers = named("web", *LEFT_OUT)
    folder = tmp_path / "host_vars"
    folder.mkdir()
    (folder / "web").write_text(WEB)
    for name, (variables, _reason) in LEFT_OUT.items():
        text = json.dumps(variables)
        (folder / name).write_text(text)
    source.runner.environment["ANSIBLE_REMOTE_USER"] = "of-a-setting"
    # A host that is left out may disappear from the file.
    write_before(config, source, "x-argument", note="group server_management, prefix x-")
    for mode in (["--check"], ["-vvvv", "--diff", "-u", "of-an-option"]):
        assert names_in(config) == ["x-argument"]  # --check has changed nothing
        result = write(source, "-e", "ssh_config_prefix=x-", *mode).ok()
        assert not result.contains("s3cret")
        result.shows("Not in ~/.ssh/config.d/server_management.conf, for the reasons in paren")
        for name, (_variables, reason) in LEFT_OUT.items():
            result.shows(f"{name} ({reason})")
    _note, blocks = config.read_text().split("\n\n")
    assert blocks == WRITTEN.format(folder=tmp_path)
    assert config.stat().st_mode & 0o777 == 0o600


def test_no_task_logs_the_text():
    # Modules write their arguments to the system's log as well, unless they have no_log.
    (play,) = yaml.safe_load(read("playbooks/ssh_config.yml"))
    search = re.compile(r"openssh_hosts|servers\.text").search
    found = 0
    for task in play["tasks"]:
        if search(str(task)):
            found += 1
            assert task.get("no_log") or not task.get("diff", True), task["name"]
    assert found == 4


def test_a_file_that_ssh_refuses_is_not_written(config, source, runner):
    # It says no more than that.
    program = '#!/bin/sh\n[ "$1" = -V ] || exit 255\n'
    ssh = write_program(runner.home / "bin" / "ssh", program)
    environment = runner.environment
    environment["PATH"] = f"{ssh.parent}:{environment['PATH']}"
    write_before(config, source, "db-1")
    failed = fails_and_keeps(config, source)
    failed.shows("failed to validate")


# As JSON, since -e splits other text at white space.
VARIABLES = """{
  "ssh_config_file": "own folder/fleet.conf",
  "ssh_config_group": "fleet",
  "ssh_config_inventory": "production",
  "ssh_config_prefix": "x-"
}"""


def test_variables_change_the_file_the_group_the_names_and_the_note(config, source, runner):
    path = runner.home / "own folder" / "fleet.conf"
    path.parent.mkdir(mode=0o755)
    # Written for the same inventory in another folder.
    start = f"{HEADING}# Inventory: production, group fleet, prefix x-\n\nHost "
    path.write_text(f"{start}x-db-1\n")
    result = write(source, "-e", VARIABLES, group="fleet").ok()
    result.shows(f'Include \\"{path}\\"')
    assert names_in(path) == ["x-db-1", "x-web-1", "x-web-2"]
    assert path.read_text().startswith(start)
    assert path.parent.stat().st_mode & 0o777 == 0o755


def test_only_a_regular_file_is_replaced(source, runner):
    path = runner.home / "other"
    path.mkdir()
    variables = json.dumps({"ssh_config_file": str(path)})
    failed = write(source, "-e", variables)
    assert failed.rc == 2
    failed.shows("is a directory, so nothing was changed")


def test_no_text_of_the_api_becomes_another_line(config, source, tmp_path, sandbox):
    sandbox.servers = [case.server for case in CASES]
    write(source, host_key_alias=True).ok()
    names = names_in(config)
    assert len(names) > len(CASES) // 2
    ours = r"#.*|Host [\w.-]+|  HostName [\w.:-]+|  HostKeyAlias=[\w.+-]+|"
    for line in config.read_text().splitlines():
        assert re.fullmatch(ours, line)
    assert not list(tmp_path.rglob(CANARY))
