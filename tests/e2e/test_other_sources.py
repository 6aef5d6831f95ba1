# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The source among others, and its hosts reached over real SSH."""

import re

from support.run import write_inventory

from .conftest import hosts, need_ssh

STATIC = """
all:
  hosts:
    web-1: {colour: red, server_management_labels: {rack: 1}}
    own-1: {own: 1}
"""


def test_a_folder_of_sources(source, tmp_path):
    folder = source.folder = tmp_path / "inventory"
    (folder / "group_vars").mkdir(parents=True)
    (folder / "group_vars" / "region_eu_1.yml").write_text("zone: west\n")
    (folder / "05-static.yml").write_text(STATIC)
    for server in source.sandbox.servers:
        server["labels"] = {"team": "x"}
    source.file("10.server_management.yml", compose={"rack": "colour | default('none')"})
    listing = source.runner.inventory("-i", folder, "--list").ok().json()
    assert hosts(listing) == ["db-1", "own-1", "web-1", "web-2"]
    hostvars = listing["_meta"]["hostvars"]
    merged = hostvars["web-1"]
    assert merged["colour"] == "red"
    assert merged["rack"] == "red"
    assert merged["zone"] == "west"
    assert merged["server_management_id"] == "srv_1"
    assert merged["ansible_host"] == "203.0.113.1"
    # A mapping of another source is replaced.
    assert merged["server_management_labels"] == {"team": "x"}
    assert hostvars["web-2"]["rack"] == "none"
    assert hostvars["db-1"]["zone"] == "west"
    assert "zone" not in hostvars["web-2"]
    assert hostvars["own-1"] == {"own": 1}


def test_a_machine_of_another_source_is_one_host(source):
    source.sandbox.servers[0].update(name="db-01", ipv4="127.0.2.20")
    static = source.folder / "hosts.ini"
    static.write_text("[databases]\ndb-01 ansible_host=127.0.2.20 ansible_password=x\n")
    playbook = source.folder / "site.yml"
    playbook.write_text(
        "[{hosts: all, gather_facts: false, tasks: [{debug: {var: ansible_host}}]}]"
    )
    played = source.runner.playbook("-i", static, "-i", source.file(), playbook).ok()
    assert played.stderr == ""
    reached = re.findall(r"^ok: \[(\S+)\]", played.stdout, re.MULTILINE)
    assert sorted(reached) == ["db-01", "db-1", "web-2"]
    pattern = "databases:&status_running"
    assert source.addressed([pattern], static, source.file()) == {pattern: ["db-01"]}


OTHERS = """
all:
  hosts:
    same-1: {ansible_ssh_host: 203.0.113.1, ansible_connection: local}
    moved-1: {ansible_host: 192.0.2.9}
    composed-1: {ansible_host: 203.0.113.1}
    template-1: {ansible_host: "{{ '203.0.113.1' }}"}
    twin-1: {ansible_host: 203.0.113.1}
    vault-1:
      ansible_host: !vault |
        $ANSIBLE_VAULT;1.1;AES256
        33333333333333333333333333333333333333333333333333333333333333333333333333333333
"""


def test_only_a_machine_with_the_same_address_is_one_host(sources, tmp_path):
    static = write_inventory(tmp_path, OTHERS, "static.yml")
    sources.add("same")
    moved = (
        "moved-1 (srv_1) is moved-1_srv_1. The host moved-1 has ansible_host 192.0.2.9, and the "
        "server has 203.0.113.1: the same address or none would make them one host."
    )
    sources.add("moved", sources.serve("moved-1"), hosts=["moved-1_srv_1"], warns=moved)
    composed = "The host composed-1 has ansible_host 203.0.113.1, and the server has 203.0.113.1, "
    sources.add(
        "composed",
        sources.serve("composed-1"),
        hosts=["composed-1_srv_1"],
        warns=f"{composed}which compose replaces: ",
        compose={"ansible_host": "server_management_ipv4"},
    )
    template = "The host template-1 has ansible_host, and the server has 203.0.113.1: "
    sources.add("template", sources.serve("template-1"), hosts=["template-1_srv_1"], warns=template)
    vault = "The host vault-1 has ansible_host, and the server has 203.0.113.1: "
    sources.add("vault", sources.serve("vault-1"), hosts=["vault-1_srv_1"], warns=vault)
    unique = "2 servers do not have their preferred names, because other servers have the same name"
    sources.add(
        "twins",
        sources.serve("twin-1", "twin-1"),
        hosts=["twin-1_srv_1", "twin-1_srv_2"],
        warns=unique,
    )
    sources.check("-i", static)


UNUSABLE = """{
  "ansible_connection": "community.none",
  "ansible_become": true,
  "ansible_become_user": "nobody",
  "ansible_become_exe": "/nonexistent",
  "ansible_python_interpreter": "/nonexistent/python"
}"""


def test_playbooks_for_this_machine_ignore_how_others_are_reached(source):
    need_ssh(source.runner)
    (source.folder / "group_vars").mkdir()
    (source.folder / "group_vars" / "all.json").write_text(UNUSABLE)
    fleet = source.runner.home / "known.yml"
    fleet.write_text("fleet: [{name: db-1}, {name: web-1}, {name: web-2}]")
    # A localhost that is written in an inventory has the variables of all hosts.
    source.runner.playbook(
        *("-i", source.file(), "-i", "localhost,", "-e", "check_fleet_file=known.yml"),
        "server_management.cloud.ssh_config",
        "server_management.cloud.declare_fleet",
        "server_management.cloud.check_fleet",
        "server_management.cloud.check_api",
        env=source.sandbox.environment,
    ).ok()


PLAYBOOK = """
- hosts: status_running
  gather_facts: false
  tasks:
    - ansible.builtin.ping:
- hosts: plan_small:&status_running
  gather_facts: false
  tasks:
    - ansible.builtin.command: echo reached {{ server_management_id }}
"""


def test_the_servers_that_run_are_reached_over_ssh(source, ssh_server):
    addresses = ["127.0.0.11", "127.0.0.12", "127.0.0.13"]
    for server, address in zip(source.sandbox.servers, addresses, strict=True):
        server["ipv4"] = address
    source.runner.environment |= ssh_server(addresses).environment
    playbook = source.folder / "site.yml"
    playbook.write_text(PLAYBOOK)
    played = source.runner.playbook("-i", source.file(), playbook, "-v").ok()
    line = r"\S*/test\.server_management\.yml: .*; 3 hosts\n"  # from -v
    assert re.fullmatch(line, played.stderr)
    assert played.stdout.count('"ping": "pong"') == 2
    assert re.findall(r'"stdout": "reached (\w+)"', played.stdout) == ["srv_1"]
