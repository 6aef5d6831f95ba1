# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The source among others, and its hosts reached over real SSH."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox import Fault, Sandbox
from support.run import Runner, write_inventory
from support.sshd import SshServer

from .conftest import Source, hosts, members


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


@pytest.mark.promise("misdirected")
def test_a_server_does_not_become_a_group_of_another_source(source: Source, tmp_path: Path) -> None:
    static = tmp_path / "static.yml"
    static.write_text("all: {children: {web-1: {hosts: {own-1: {own: 1}}}}}\n")
    result = source.runner.inventory("-i", static, "-i", source.file(), "--list").ok()
    assert hosts(result.json()) == ["db-1", "own-1", "srv_1", "web-2"]
    own = result.json()["_meta"]["hostvars"]["own-1"]
    assert not [name for name in own if name.startswith("server_")]


def test_the_servers_that_run_are_reached_over_ssh(runner: Runner, tmp_path: Path) -> None:
    playbook = tmp_path / "site.yml"
    playbook.write_text(
        "- hosts: region_eu_central:&status_running\n  become: false\n  gather_facts: false\n"
        "  tasks:\n    - ansible.builtin.command: echo reached {{ server_id }}\n"
    )
    with Sandbox(servers=6, addresses="loopback") as api:
        addresses = [server["ipv4"] for server in api.servers]
        path = Source(runner, api, tmp_path).file()
        with SshServer(tmp_path / "ssh", addresses) as ssh:
            runner.environment.update(ssh.environment)
            pinged = runner.ansible("-i", path, "status_running", "-m", "ansible.builtin.ping").ok()
            played = runner.playbook("-i", path, playbook, "-v").ok()
    running = [server for server in api.servers if server["status"] == "running"]
    assert pinged.stdout.count('"ping": "pong"') == len(running)
    assert pinged.stderr == ""
    for server in running:
        reached = f"reached {server['id']}" in played.stdout
        assert reached == (server["region"] == "eu-central")
