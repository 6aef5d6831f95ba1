# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbooks declare_fleet and check_fleet: an account and its declaration."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from support.fixtures import KNOWN
from support.run import Result, Runner

from .hostile import CANARY, CASES, EXECUTE

FLEET = "fleet: [{name: db-1, plan: small}, {name: web-1}, {name: web-3}]\n"
# Names that YAML reads as something else, or that Ansible could read as a template.
NAMES = ["yes", "null", "12", "1e3", "0x10", "2026-01-01", "a: b", "- a", "@a", "é漢", "😀", "a b "]
NAMES += ["=", "<<", "~", "no\n", "12\n", "2026-01-01\t10:00:00", "[1]", "{}", "null\n"]
NAMES += ["#jinja2:variable_start_string:'['", "{1: 2}", "#jinja2: a\n{{ 1 }}", "!!python/none"]
NAMES += [EXECUTE, "{% if %}", "{# a", "\n", "a\nb", '"', "'", "!unsafe a", "&a"]
NAMES += ["web", "web", "Web"]


def run(playbook: str, runner: Runner, api: Sandbox, *arguments: str | Path) -> Result:
    name = f"server_management.cloud.{playbook}"
    return runner.playbook(name, *arguments, env=api.environment)


declare = partial(run, "declare_fleet")
check = partial(run, "check_fleet")


def test_it_writes_names_and_replaces_nothing_by_mistake(runner: Runner, sandbox: Sandbox) -> None:
    path = runner.home / "fleet.yml"
    declare(runner, sandbox, "--diff").ok().shows("+  - name: web-1")
    entry = "  - name: db-1\n    plan: large\n    region: eu-1\n"
    assert f"\n---\nfleet:\n{entry}" in path.read_text()
    sandbox.servers.clear()
    declare(runner, sandbox).shows("fleet.yml exists, so nothing was changed")
    assert path.read_text().count("name: ") == 3
    replace = ("-e", "declare_fleet_replace=true")
    declare(runner, sandbox, *replace).ok()
    check(runner, sandbox).ok()
    # Only a regular file is replaced, and none is written into a directory.
    (runner.home / "folder").mkdir()
    result = declare(runner, sandbox, *replace, "-e", "declare_fleet_file=folder")
    result.shows("folder is a directory, so nothing was changed")
    assert not list((runner.home / "folder").iterdir())


def test_a_difference_is_one_line_of_the_output(runner: Runner, sandbox: Sandbox) -> None:
    declared = runner.home / "declared.yml"
    declared.write_text(FLEET)
    # A name in the report is never rendered.
    sandbox.servers[1]["name"] = EXECUTE
    result = check(runner, sandbox, "-e", "check_fleet_file=~/declared.yml")
    assert result.rc == 2
    lines = [line.strip(" ,") for line in result.stdout.splitlines()]
    start = lines.index('"msg": [')
    assert lines[start + 1 : start + 3] == [
        '"db-1 has the plan large instead of small"',
        '"web-3 is missing"',
    ]
    assert lines[start + 3].endswith('(srv_2) is not declared"')
    assert lines[start + 4] == "]"
    assert not list(runner.home.rglob(CANARY))
    sandbox.servers[:] = [{**KNOWN[2], "plan": "small"}, KNOWN[0], {**KNOWN[1], "name": "web-3"}]
    same = check(runner, sandbox, "-e", "check_fleet_file=declared.yml").ok()
    same.shows("The account has exactly the servers of declared.yml.")


def test_a_file_that_declares_no_fleet_is_named(runner: Runner, sandbox: Sandbox) -> None:
    missing = "fleet.yml is not a file. Set check_fleet_file to the path of a declared fleet."
    check(runner, sandbox).shows(missing)
    (runner.home / "fleet.yml").write_text("fleet: {web-1: {plan: small}}\n")
    check(runner, sandbox).shows("fleet.yml does not have the list fleet")
    assert sandbox.requests == []


def test_both_playbooks_read_all_pages(runner: Runner) -> None:
    paging: dict[str, Any] = {"pagination": "cursor", "pagination_parameter": "last"}
    with Sandbox(servers=3, page_size=2, **paging) as api:
        for name in ("declare_fleet", "check_fleet"):
            options = [f"{name}_{option}={value}" for option, value in paging.items()]
            run(name, runner, api, "-e", " ".join(options)).ok()
    assert (runner.home / "fleet.yml").read_text().count("name: ") == 3


@pytest.mark.promise("data")
def test_a_hostile_account_is_in_sync_with_its_declaration(runner: Runner) -> None:
    # Not with fields that Ansible gives a meaning in the JSON of a module's result.
    cases = [case for case in CASES if "__ansible_" not in str(case.server)]
    servers = [case.server for case in cases]
    for number, text in enumerate(NAMES):
        field = {"name": text, "plan": text, "region": text}
        servers.append({**KNOWN[0], "id": f"srv_name_{number}", **field})
        servers.append({**KNOWN[0], "id": f"{text}{number}", "name": f"by-id-{number}"})
    with Sandbox(servers=servers, page_size=1000) as api:
        declare(runner, api).ok()
        check(runner, api).ok()
    text = (runner.home / "fleet.yml").read_text(encoding="utf-8")
    assert "  - name: 'yes'\n" in text
    assert "  - name: é漢\n" in text
    assert "  - name: web\n" not in text
    assert not list(runner.home.rglob(CANARY))
