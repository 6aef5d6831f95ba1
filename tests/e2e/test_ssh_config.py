# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook ssh_config: which file it writes, and that ssh reaches servers with it."""

import json
import re

import pytest
import yaml

from support.guides import GUIDES, read_blocks
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


OF_THE_TEST = """
Host *
  User somebody
  UserKnownHostsFile "{known_hosts}"
  BatchMode yes
"""


def test_ssh_reaches_servers_through_a_jump_host_as_the_guide_shows(
    config, ssh_server, source, runner, sandbox
):
    ssh = ssh_server(["127.0.0.31", "127.0.0.32", "127.0.0.33"])
    sandbox.servers = named("bastion", "web-01", "web-02")
    for server, address in zip(sandbox.servers, ssh.addresses, strict=True):
        server["ipv4"] = address
    compose = {"ansible_user": f"'{ssh.user}'"}
    compose["ansible_port"] = ssh.port
    compose["ansible_private_key_file"] = f"'{ssh.folder}/client_key'"
    prefix = ("-e", "ssh_config_prefix=prod-")
    result = write(source, *prefix, host_key_alias=True, compose=compose).ok()
    result.shows(f"at the top of ~/.ssh/config: Include {config}")
    blocks = read_blocks(GUIDES / "guide_connecting.rst")
    (shown,) = [block.text for block in blocks if "ProxyJump" in block.text]
    known_hosts = ssh.folder / "known_hosts"
    main = config.parents[1] / "config"
    # ssh does not use HOME.
    included = shown.replace("~/.ssh/config.d/server_management.conf", str(config))
    main.write_text(included + OF_THE_TEST.format(known_hosts=known_hosts))
    for name in ("prod-bastion", "prod-web-01", "prod-web-02"):
        used = runner.run("ssh", "-F", main, "-G", name).ok()
        # Otherwise, ssh would change the real file.
        used.shows(f"userknownhostsfile {known_hosts}\n")
        jumps = "proxyjump prod-bastion" in used.stdout
        assert jumps is (name != "prod-bastion")
        runner.run("ssh", "-F", main, name, "true").ok()
    assert ssh.known_names == ["srv_1", "srv_2", "srv_3"]


# The variables of hosts that ssh reaches as Ansible does.
REACHED = yaml.safe_load("""
- {ansible_host: 192.0.2.1, ansible_ssh_host: 192.0.2.2}
- {ansible_host: '2001:db8::1', ansible_ssh_host: null, ansible_connection: smart}
- {ansible_host: db.example.com, ansible_user: a, ansible_ssh_user: b.c+d@e}
- {ansible_host: 192.0.2.1, ansible_user: a, ansible_ssh_user: ''}
- {ansible_host: 192.0.2.1, ansible_user: a, ansible_ssh_user: null}
- {ansible_host: 192.0.2.1, ansible_port: 1, ansible_ssh_port: '65535'}
- {ansible_host: 192.0.2.1, ansible_port: 1, ansible_ssh_port: null}
- {ansible_host: 192.0.2.1, ansible_private_key_file: ~/a, ansible_ssh_private_key_file: /b c=é}
- {ansible_host: 192.0.2.1, ansible_private_key_file: ~/a, ansible_ssh_private_key_file: ''}
- {ansible_host: 192.0.2.1, ansible_ssh_extra_args: -o HostKeyAlias=srv_1}
""")
# Prints what ssh would do into a file with the name of the host, which is the command.
FAKE_SSH = """\
#!/bin/sh
for name; do :; done
exec ssh -G -F none "$@" >"${0%/*}/$name"
"""
PLAYS = """\
- hosts: server_management
  gather_facts: false
  tasks:
    - ansible.builtin.raw: "{{ inventory_hostname }}"
      ignore_unreachable: true
- ansible.builtin.import_playbook: server_management.cloud.ssh_config
"""
COMPARED = re.compile("^(?:hostname|user|port|identityfile|hostkeyalias) .*", re.MULTILINE)


def test_ssh_uses_the_file_as_ansible_uses_its_variables(config, runner, tmp_path):
    ssh = write_program(tmp_path / "commands" / "ssh", FAKE_SSH)
    hosts = {f"web-{number}": variables for number, variables in enumerate(REACHED)}
    group = {"hosts": hosts, "vars": {"ansible_ssh_executable": str(ssh)}}
    inventory = tmp_path / "hosts.json"
    inventory.write_text(json.dumps({"server_management": group}))
    plays = tmp_path / "plays.yml"
    plays.write_text(PLAYS)
    runner.playbook("-i", inventory, plays).ok()
    for name in hosts:
        theirs = COMPARED.findall((ssh.parent / name).read_text())
        ours = runner.run("ssh", "-G", "-F", config, name).ok().stdout
        assert COMPARED.findall(ours.replace(str(runner.home), "~")) == theirs


def test_the_file_is_for_one_inventory_in_any_order_from_any_folder(config, source, runner):
    path = source.file("a\n  ProxyCommand touch proxied.server_management.yml")
    play = runner.playbook
    play("-i", path, "-i", "new,", PLAYBOOK).ok()
    inventory = f"{path}, new,, group server_management".replace("\n", " ")
    start = f"{HEADING}# Inventory: {inventory}\n\nHost db-1\n"
    assert config.read_text().startswith(start)
    assert config.parent.stat().st_mode & 0o777 == 0o700
    reordered = ("-i", "new,", "-i", path.name)
    no_prefix = ("-e", '{"ssh_config_prefix": null}')
    again = play(*reordered, *no_prefix, PLAYBOOK, cwd=source.folder)
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
  - {compose: {ansible_ssh_common_args: "'-o StrictHostKeyChecking=no'"}}
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


def test_a_host_that_has_lost_its_address_is_kept(config, source):
    static = ("-i", "web-9,", "-e", "ssh_config_inventory=x ssh_config_group=all")
    write(source, *static, "-e", "ansible_host=192.0.2.9").ok()
    assert "web-9" in names_in(config)
    fails_and_keeps(config, source, *static).shows("web-9 would disappear from")


def test_variables_in_the_path_are_expanded(config, source, runner):
    config.parent.mkdir(parents=True)
    config.write_text("mine")
    runner.environment["NAME"] = config.name
    place = f"ssh_config_file={config.parent}/$NAME"
    fails_and_keeps(config, source, "-e", place).shows("was not written by this playbook")


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
user: [{ansible_user: "a-{{ nowhere.name }}"}, undefined variable or error in ansible_user]
other:
  - {ansible_user: "{{ hostvars['web'].jump }}"}
  - "hostvars in ansible_user: Ansible defines it only in plays"
folder:
  - {ansible_private_key_file: "{{ playbook_dir }}/keys/id"}
  - "relative path in ansible_private_key_file: use inventory_dir"
jump:
  - {ansible_ssh_common_args: "-J {{ lookup('ansible.builtin.file', '/nonexistent') }}"}
  - options in ansible_ssh_common_args
password:
  - {ansible_ssh_common_args: -o ProxyCommand=sshpass s3cret}
  - options in ansible_ssh_common_args
""")
WEB = """
user: admin
ansible_user: "{{ user }}"
ansible_private_key_file: "{{ inventory_dir }}/keys/id"
"""
WRITTEN = """\
Host x-web
  HostName 203.0.113.1
  User admin
  IdentityFile "{folder}/keys/id"
  HostKeyAlias srv_1
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
    write_before(config, source, "x-jump", note="group server_management, prefix x-")
    for mode in (["--check"], ["-vvvv", "--diff", "-u", "of-an-option"]):
        assert names_in(config) == ["x-jump"]  # --check has changed nothing
        arguments = ("-e", "ssh_config_prefix=x- ssh_config_without_arguments=false", *mode)
        result = write(source, *arguments, host_key_alias=True).ok()
        assert not result.contains("s3cret")
        result.shows("Not in ~/.ssh/config.d/server_management.conf, for the reasons in paren")
        result.shows("-e ssh_config_without_arguments=true")
        for name, (_variables, reason) in LEFT_OUT.items():
            result.shows(f"{name} ({reason})")
    _note, blocks = config.read_text().split("\n\n")
    assert blocks == WRITTEN.format(folder=tmp_path)
    assert config.stat().st_mode & 0o777 == 0o600
    arguments = ("-e", "ssh_config_prefix=x- ssh_config_without_arguments=true")
    result = write(source, *arguments, host_key_alias=True).ok()
    assert names_in(config) == ["x-jump", "x-password", "x-web"]
    assert not result.contains("ssh_config_without_arguments")


def test_a_file_that_ssh_refuses_is_not_written(config, source, runner):
    ssh = write_program(runner.home / "bin" / "ssh", "#!/bin/sh\nexit 255\n")
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
    # Written for the same inventory in another folder, and saved by an editor of Windows.
    start = f"{HEADING}# Inventory: production, group fleet, prefix x-\n\nHost "
    path.write_text(f"{start}x-db-1\n", newline="\r\n")
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
    ours = r"#.*|Host [\w.-]+|  HostName [\w.:-]+|  HostKeyAlias [\w.+-]+|"
    for line in config.read_text().splitlines():
        assert re.fullmatch(ours, line)
    assert not list(tmp_path.rglob(CANARY))
