# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the output of ansible-inventory and ansible-doc, without warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.collection import REPOSITORY
from support.run import Runner

from .conftest import Source

MODULES = sorted(REPOSITORY.glob("plugins/modules/*.py"))


@pytest.mark.promise("quiet")
def test_no_view_of_an_inventory_has_warnings(source: Source) -> None:
    path = source.file()

    def shown(*arguments: str) -> str:
        result = source.runner.inventory("-i", path, *arguments).ok()
        assert result.stderr == ""
        return result.stdout

    graph = shown("--graph", "--vars")
    assert "{server_management_id = srv_1}\n" in graph
    assert "  |--@region_eu_2:\n  |  |--web-2\n" in graph
    assert json.loads(shown("--host", "web-1"))["server_management_id"] == "srv_1"
    tree = yaml.safe_load(shown("--list", "--yaml"))
    assert list(tree["all"]["children"]["plan_small"]["hosts"]) == ["web-1", "web-2"]


@pytest.mark.promise("quiet")
def test_python_has_no_warnings(source: Source) -> None:
    program = Path(source.runner.environment["PATH"].split(":")[0], "ansible-inventory")
    options: dict[str, Any] = {
        "compose": {"a": "server_management_plan | upper"},
        "keyed_groups": [{"key": "server_management_plan"}],
        "filters": [{"exclude": "server_management_name == 'web-2'"}],
    }
    command = ("python", "-W", "always", program, "-i", source.file(**options), "--list")
    result = source.runner.run(*command).ok()
    assert "server_management" not in result.stderr
    assert "ResourceWarning" not in result.stderr


def test_ansible_doc_shows_the_plugins_without_warnings(runner: Runner) -> None:
    name = "server_management.cloud.servers"
    documented = runner.doc("-t", "inventory", "-j", name).ok().json()[name]["doc"]["options"]
    assert documented["api_token"]["env"] == [{"name": "SERVER_MANAGEMENT_API_TOKEN"}]
    shown = runner.doc("-t", "inventory", name).ok()
    assert shown.stderr == ""
    modules = (f"server_management.cloud.{path.stem}" for path in MODULES)
    assert "#stq=" not in shown.stdout + runner.doc(*modules).ok().stdout
