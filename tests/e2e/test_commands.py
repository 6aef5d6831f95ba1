# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a newcomer types, from the README on, and that it is quiet when all is well."""

from __future__ import annotations

import json
import re
from itertools import chain
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

from sandbox import Sandbox
from support.collection import REPOSITORY
from support.run import Runner, write_inventory

from .conftest import KNOWN, Source

GRAPH = """\
@all:
  |--@ungrouped:
  |--@plan_large:
  |  |--db-1
  |--@plan_small:
  |  |--web-1
  |  |--web-2
  |--@region_eu_1:
  |  |--db-1
  |  |--web-1
  |--@region_eu_2:
  |  |--web-2
  |--@server_management:
  |  |--db-1
  |  |--web-1
  |  |--web-2
  |--@status_running:
  |  |--db-1
  |  |--web-1
  |--@status_stopped:
  |  |--web-2
"""


def blocks() -> list[str]:
    """Return the indented blocks of the README."""
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    return [dedent(block) for block in re.findall(r"(?:^ {4}.*\n)+", text, re.MULTILINE)]


def commands(program: str) -> list[list[str]]:
    """Return the commands of the README that run this program on a file."""
    lines = [line.removeprefix("$ ") for block in blocks() for line in block.splitlines()]
    return [line.split() for line in lines if line.startswith(f"{program} -i ")]


@pytest.mark.promise("quiet")
def test_every_view_of_an_inventory_is_quiet(source: Source) -> None:
    path = source.file()

    def shown(*arguments: str) -> str:
        result = source.runner.inventory("-i", path, *arguments).ok()
        assert result.stderr == ""
        return result.stdout

    assert shown("--graph") == GRAPH
    assert "{server_id = srv_1}" in shown("--graph", "--vars")
    assert json.loads(shown("--host", "web-1"))["server_id"] == "srv_1"
    tree = yaml.safe_load(shown("--list", "--yaml"))
    assert list(tree["all"]["children"]["plan_small"]["hosts"]) == ["web-1", "web-2"]


@pytest.mark.promise("quiet")
def test_python_itself_has_nothing_to_warn_of(source: Source) -> None:
    program = Path(source.runner.environment["PATH"].split(":")[0], "ansible-inventory")
    options: dict[str, Any] = {
        "compose": {"a": "server_plan | upper"},
        "keyed_groups": [{"key": "server_plan"}],
        "filters": [{"exclude": "server_name == 'web-2'"}],
    }
    command = ("python", "-W", "always", program, "-i", source.file(**options), "--list")
    result = source.runner.run(*command).ok()
    assert "server_management" not in result.stderr
    assert "ResourceWarning" not in result.stderr


def test_the_inventory_file_and_the_commands_of_the_readme(runner: Runner, tmp_path: Path) -> None:
    (text,) = [block for block in blocks() if "\nplugin: " in block]
    name = text.splitlines()[0].removeprefix("# ")
    (config,) = [block for block in blocks() if block.startswith("# ansible.cfg")]
    token = runner.home / ".config" / "server_management" / "token"
    token.parent.mkdir(parents=True)
    (tmp_path / "ansible.cfg").write_text(config)
    (tmp_path / "site.yml").write_text("- hosts: all\n  gather_facts: false\n  connection: local\n")
    servers = [{**server, "region": "eu-1"} for server in KNOWN]
    with Sandbox(servers=servers) as api:
        token.write_text(f"{api.token}\n")
        write_inventory(tmp_path, text.replace("https://api.example.com", api.url), name)
        found = [commands(program) for program in ("ansible-inventory", "ansible-playbook")]
        assert [len(lines) for lines in found] == [1, 1]
        for program, *arguments in chain(*found):
            assert runner.run(program, *arguments, cwd=tmp_path).ok().stderr == ""
        ((program, *arguments),) = commands("ansible")
        result = runner.run(program, *arguments, "--connection", "local", cwd=tmp_path).ok()
        assert result.stdout.count('"ping": "pong"') == 2
        token.write_text("expired")
        result = runner.run(program, *arguments, cwd=tmp_path)
        assert result.rc != 0
        assert result.says("The API rejected the token")


def test_the_documentation_of_every_option(runner: Runner) -> None:
    name = "server_management.cloud.servers"
    documented = runner.doc("-t", "inventory", "-j", name).ok().json()[name]["doc"]["options"]
    assert documented["api_token"]["env"] == [{"name": "SERVER_MANAGEMENT_API_TOKEN"}]
    shown = runner.doc("-t", "inventory", name).ok()
    assert shown.stderr == ""
    for option in documented:
        assert option in shown.stdout
