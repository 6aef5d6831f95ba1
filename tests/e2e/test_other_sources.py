# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The source among others, and its hosts reached over real SSH."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from support.fixtures import KNOWN, KNOWN_NAMES
from support.sshd import SshServer

from .conftest import Source, hosts, need_ssh


def test_a_folder_of_sources(source: Source, tmp_path: Path) -> None:
    folder = source.folder = tmp_path / "inventory"
    (folder / "group_vars").mkdir(parents=True)
    for server in source.sandbox.servers:
        server["labels"] = {"team": "x"}
    source.file("10.server_management.yml", compose={"rack": "colour | default('none')"})
    # A mapping of another source is replaced, and nothing else.
    other = (
        "all: {hosts: {web-1: {colour: red, server_management_labels: {rack: 1}}, "
        "own-1: {own: 1}}}\n"
    )
    (folder / "05-static.yml").write_text(other)
    (folder / "group_vars" / "region_eu_1.yml").write_text("zone: west\n")
    result = source.runner.inventory("-i", folder, "--list").ok()
    hostvars = result.json()["_meta"]["hostvars"]
    assert hosts(result.json()) == ["db-1", "own-1", "web-1", "web-2"]
    assert hostvars["web-1"] == {
        **{f"server_management_{field}": value for field, value in KNOWN[0].items()},
        "ansible_host": KNOWN[0]["ipv4"],
        "server_management_labels": {"team": "x"},
        "colour": "red",
        "rack": "red",
        "zone": "west",
    }
    assert hostvars["web-2"]["rack"] == "none"
    assert hostvars["db-1"]["zone"] == "west"
    assert "zone" not in hostvars["web-2"]


def test_playbooks_for_this_machine_ignore_how_others_are_reached(source: Source) -> None:
    need_ssh(source.runner)
    variables = {
        "ansible_connection": "community.none",
        "ansible_become": True,
        "ansible_become_user": "nobody",
        "ansible_become_exe": "/nonexistent",
        "ansible_python_interpreter": "/nonexistent/python",
    }
    (source.folder / "group_vars").mkdir()
    (source.folder / "group_vars" / "all.json").write_text(json.dumps(variables))
    (source.runner.home / "known.yml").write_text(
        f"fleet: {[{'name': name} for name in KNOWN_NAMES]}"
    )
    playbooks = ("ssh_config", "declare_fleet", "check_fleet", "check_api")
    # A localhost that is written in an inventory has the variables of all hosts.
    source.runner.playbook(
        *("-i", source.file(), "-i", "localhost,", "-e", "check_fleet_file=known.yml"),
        *(f"server_management.cloud.{playbook}" for playbook in playbooks),
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


def test_the_servers_that_run_are_reached_over_ssh(
    source: Source, ssh_server: Callable[[Sequence[str]], SshServer]
) -> None:
    addresses = [f"127.0.0.{number}" for number in (11, 12, 13)]
    for server, address in zip(source.sandbox.servers, addresses, strict=True):
        server["ipv4"] = address
    playbook = source.folder / "site.yml"
    playbook.write_text(PLAYBOOK)
    source.runner.environment |= ssh_server(addresses).environment
    played = source.runner.playbook("-i", source.file(), playbook, "-v").ok()
    assert re.fullmatch(
        r"\S*/test\.server_management\.yml: .*; 3 hosts\n", played.stderr
    )  # from -v
    assert played.stdout.count('"ping": "pong"') == 2
    assert re.findall(r'"stdout": "reached (\w+)"', played.stdout) == ["srv_1"]
