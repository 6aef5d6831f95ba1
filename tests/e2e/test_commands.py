# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the output of ansible-inventory and ansible-doc, without warnings."""

import sys
from pathlib import Path

import yaml

from support.collection import REPOSITORY

PATHS = sorted(REPOSITORY.glob("plugins/modules/*.py"))
MODULES = [f"server_management.cloud.{path.stem}" for path in PATHS]


def test_no_view_of_an_inventory_has_warnings(source):
    path = source.file()
    graph = source.runner.inventory("-i", path, "--graph", "--vars").ok()
    assert "{server_management_id = srv_1}\n" in graph.stdout
    assert "  |--@region_eu_2:\n  |  |--web-2\n" in graph.stdout
    host = source.runner.inventory("-i", path, "--host", "web-1").ok()
    assert host.json()["server_management_id"] == "srv_1"
    tree = source.runner.inventory("-i", path, "--list", "--yaml").ok()
    plans = yaml.safe_load(tree.stdout)["all"]["children"]["plan_small"]
    assert list(plans["hosts"]) == ["web-1", "web-2"]
    assert graph.stderr + host.stderr + tree.stderr == ""


def test_python_has_no_warnings(source):
    path = source.file(
        compose={"a": "server_management_plan | upper"},
        keyed_groups=[{"key": "server_management_plan"}],
        filters=[{"exclude": "server_management_name == 'web-2'"}],
    )
    # Commands of the environment are beside its Python.
    program = Path(sys.executable).with_name("ansible-inventory")
    result = source.runner.run("python", "-W", "always", program, "-i", path, "--list").ok()
    assert "server_management" not in result.stderr
    assert "ResourceWarning" not in result.stderr


def test_ansible_doc_shows_the_plugins_without_warnings(runner):
    name = "server_management.cloud.servers"
    parsed = runner.doc("-t", "inventory", "-j", name).ok().json()
    option = parsed[name]["doc"]["options"]["api_token"]
    assert option["env"] == [{"name": "SERVER_MANAGEMENT_API_TOKEN"}]
    inventory = runner.doc("-t", "inventory", name).ok()
    modules = runner.doc(*MODULES).ok()
    for shown in (inventory, modules):
        assert shown.stderr == ""
        # What a link macro becomes if ansible-doc can't read it.
        assert "#stq=" not in shown.stdout
