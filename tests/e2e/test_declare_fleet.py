# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook declare_fleet: the file that it writes declares exactly the account."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox import Sandbox
from support.run import Result, Runner

from .conftest import KNOWN
from .hostile import CANARY, CASES, EXECUTE

PLAYBOOK = "server_management.cloud.declare_fleet"
COMPARE = """\
- hosts: localhost
  gather_facts: false
  vars_files: [fleet.yml]
  tasks:
    - server_management.cloud.fleet_info:
        servers: "{{ fleet }}"
      register: comparison
    - ansible.builtin.assert:
        that: comparison.in_sync
        fail_msg: "{{ comparison.report }}"
"""
# Names that YAML reads as something else, or that Ansible could read as a template.
NAMES = ["yes", "null", "12", "1e3", "0x10", "2026-01-01", "a: b", "- a", "@a", "é漢", "😀", "a b "]
NAMES += ["=", "<<", "~", "no\n", "12\n", "2026-01-01\t10:00:00", "[1]", "{}", "null\n"]
NAMES += ["#jinja2:variable_start_string:'['", "{1: 2}", "#jinja2: a\n{{ 1 }}", "!!python/none"]
NAMES += [EXECUTE, "{% if %}", "{# a", "\n", "a\nb", '"', "'", "!unsafe a", "&a"]
NAMES += ["web", "web", "Web"]


def run(runner: Runner, api: Sandbox, *arguments: str | Path) -> Result:
    environment = {
        "SERVER_MANAGEMENT_BASE_URL": api.url,
        "SERVER_MANAGEMENT_API_TOKEN": api.token,
    }
    return runner.playbook(*arguments, env=environment)


def declare(runner: Runner, api: Sandbox, *arguments: str) -> Result:
    return run(runner, api, PLAYBOOK, *arguments)


def compare(runner: Runner, api: Sandbox) -> Result:
    playbook = runner.home / "compare.yml"
    playbook.write_text(COMPARE)
    return run(runner, api, playbook)


def test_it_writes_names_and_replaces_nothing_by_mistake(runner: Runner, sandbox: Sandbox) -> None:
    path = runner.home / "fleet.yml"
    assert declare(runner, sandbox, "--check", "--diff").ok().says("+  - name: web-1")
    assert not path.exists()
    declare(runner, sandbox).ok()
    entry = "  - name: db-1\n    plan: large\n    region: eu-1\n    status: running\n"
    assert f"\n---\nfleet:\n{entry}" in path.read_text()
    path.write_text("fleet: []\n")
    assert declare(runner, sandbox).says("fleet.yml exists, so nothing was changed")
    assert path.read_text() == "fleet: []\n"
    replace = ("-e", "declare_fleet_replace=true")
    declare(runner, sandbox, *replace).ok()
    assert path.read_text().count("name: ") == 3
    assert declare(runner, sandbox, *replace).ok().says("changed=0")
    sandbox.servers.clear()
    declare(runner, sandbox, *replace).ok()
    compare(runner, sandbox).ok()
    # A directory is never replaced, and no file is written into it.
    path.unlink()
    path.mkdir()
    result = declare(runner, sandbox, *replace)
    assert result.says("fleet.yml is a directory, so nothing was changed")
    assert not result.says("declare_fleet_replace")
    assert not list(path.iterdir())


@pytest.mark.promise("data")
def test_a_hostile_account_is_in_sync_with_its_declaration(runner: Runner) -> None:
    # Not with fields that Ansible gives a meaning in the JSON of a module's result.
    cases = [case for case in CASES if "__ansible_" not in str(case.server)]
    servers = [case.server for case in cases]
    for number, text in enumerate(NAMES):
        field = {"name": text, "plan": text, "status": text}
        servers.append({**KNOWN[0], "id": f"srv_name_{number}", **field})
        servers.append({**KNOWN[0], "id": f"{text}{number}", "name": f"by-id-{number}"})
    with Sandbox(servers=servers, page_size=1000) as api:
        declare(runner, api).ok()
        compare(runner, api).ok()
    text = (runner.home / "fleet.yml").read_text(encoding="utf-8")
    assert "  - name: 'yes'\n" in text
    assert "  - name: é漢\n" in text
    assert "  - name: web\n" not in text
    assert not list(runner.home.rglob(CANARY))
