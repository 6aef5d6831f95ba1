# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The source among others, and its hosts reached over real SSH."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sandbox import Fault, Sandbox
from support.run import Runner, write_inventory
from support.sshd import SshServer

from .conftest import KNOWN, Source, hosts, members


@pytest.mark.promise("atomic")
def test_a_source_that_fails_leaves_no_trace(source: Source, tmp_path: Path) -> None:
    static = tmp_path / "static.yml"
    static.write_text("all: {children: {racks: {hosts: {rack-1: {own: 1}}}}}\n")
    with Sandbox(servers=9, pagination="page", page_size=4) as api:
        api.fail(Fault(status=500), page=2, times=None)
        failing = write_inventory(
            tmp_path,
            {"base_url": api.url, "api_token": api.token, "pagination": "page", "retries": 0},
            "bad.server_management.yml",
        )
        good = source.file("good.server_management.yml")
        result = source.runner.inventory("-i", static, "-i", failing, "-i", good, "--list")
    listing = result.json()
    assert hosts(listing) == ["db-1", "rack-1", "web-1", "web-2"]
    assert members(listing, "racks") == ["rack-1"]
    assert not [group for group in listing if "made_up" in group or "us_east" in group]


def test_a_folder_of_sources(source: Source, tmp_path: Path) -> None:
    folder = tmp_path / "inventory"
    (folder / "group_vars").mkdir(parents=True)
    source.folder = folder
    source.file("10.server_management.yml", compose={"rack": "colour | default('none')"})
    (folder / "05-static.yml").write_text("all: {hosts: {web-1: {colour: red}, own-1: {own: 1}}}\n")
    (folder / "group_vars" / "region_eu_1.yml").write_text("zone: west\n")
    result = source.runner.inventory("-i", folder, "--list").ok()
    hostvars = result.json()["_meta"]["hostvars"]
    assert hosts(result.json()) == ["db-1", "own-1", "web-1", "web-2"]
    assert hostvars["web-1"]["colour"] == "red"
    assert hostvars["web-1"]["rack"] == "red"
    assert hostvars["web-2"]["rack"] == "none"
    assert hostvars["db-1"]["zone"] == "west"
    assert "zone" not in hostvars["web-2"]


def test_only_a_mapping_of_another_source_is_replaced(runner: Runner, tmp_path: Path) -> None:
    static = tmp_path / "static.yml"
    static.write_text("all: {hosts: {web-1: {server_labels: {rack: 1}, colour: red}}}\n")
    servers = [{"labels": {"team": "x"}, **server} for server in KNOWN]
    with Sandbox(servers=servers) as api:
        path = Source(runner, api, tmp_path).file()
        listing = runner.inventory("-i", static, "-i", path, "--list").ok().json()
    expected = {f"server_{field}": value for field, value in servers[0].items()}
    expected |= {"ansible_host": KNOWN[0]["ipv4"], "colour": "red"}
    assert listing["_meta"]["hostvars"]["web-1"] == expected


# What there is to each variable beyond its value: from ansible-core 2.19 on, where it is from.
_MARKS = """
import json, sys
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import init_plugin_loader

init_plugin_loader()
inventory = InventoryManager(DataLoader(), sources=[sys.argv[1]])
marks = {
    name: {
        variable: [repr(type(value)), repr(getattr(value, "_ansible_tags_mapping", None))]
        for variable, value in host.vars.items()
    }
    for name, host in inventory.hosts.items()
}
print(json.dumps(marks))
"""


def test_what_hosts_share_is_what_ansible_made_of_it(source: Source) -> None:
    path = source.file(compose={"rack": "server_region ~ '/1'"})
    marks = source.runner.run("python", "-c", _MARKS, path).ok().json()
    assert len(marks) == len(KNOWN)
    assert marks["web-1"] == marks["db-1"]
    assert marks["web-1"]["server_region"] == marks["web-1"]["server_id"]
    tags = marks["web-1"]["server_region"][1]
    assert str(path) in tags or tags == "None"


@pytest.mark.promise("misdirected")
def test_a_server_does_not_become_a_group_of_another_source(source: Source, tmp_path: Path) -> None:
    static = tmp_path / "static.yml"
    static.write_text("all: {children: {web-1: {hosts: {own-1: {own: 1}}}}}\n")
    result = source.runner.inventory("-i", static, "-i", source.file(), "--list").ok()
    assert hosts(result.json()) == ["db-1", "own-1", "srv_1", "web-2"]
    own = result.json()["_meta"]["hostvars"]["own-1"]
    assert not [name for name in own if name.startswith("server_")]


def test_the_servers_that_run_are_reached_over_ssh(
    runner: Runner, tmp_path: Path, ssh_server: Callable[[Sequence[str]], SshServer]
) -> None:
    playbook = tmp_path / "site.yml"
    playbook.write_text(
        "- hosts: region_eu_central:&status_running\n  become: false\n  gather_facts: false\n"
        "  tasks:\n    - ansible.builtin.command: echo reached {{ server_id }}\n"
    )
    with Sandbox(servers=6, addresses="loopback") as api:
        addresses = [server["ipv4"] for server in api.servers]
        path = Source(runner, api, tmp_path).file()
        runner.environment.update(ssh_server(addresses).environment)
        pinged = runner.ansible("-i", path, "status_running", "-m", "ansible.builtin.ping").ok()
        played = runner.playbook("-i", path, playbook, "-v").ok()
    running = [server for server in api.servers if server["status"] == "running"]
    assert pinged.stdout.count('"ping": "pong"') == len(running)
    assert pinged.stderr == ""
    for server in running:
        reached = f"reached {server['id']}" in played.stdout
        assert reached == (server["region"] == "eu-central")
