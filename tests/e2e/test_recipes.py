# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The recipes of the guide, beyond what the page shows: failures, odd servers, pipelines."""

import json

import pytest
import yaml

from sandbox import Fault
from support.guides import read_files

RECIPES = read_files("recipes")
# With it, Ansible adds a line before the JSON of ansible-inventory.
VERBOSE = "[defaults]\nverbosity = 1\n"


def test_prometheus_targets_have_labels_and_survive_a_failure(source, tmp_path):
    source.sandbox.servers[0].update(plan="{{ 1 + 1 }}", region=None)
    source.sandbox.servers[1]["ipv4"] = None
    (tmp_path / "ansible.cfg").write_text(VERBOSE)
    (tmp_path / "file_sd.py").write_text(RECIPES["file_sd.py"])
    command = ("python3", "file_sd.py", source.file(), "servers.json")
    source.runner.run(*command, cwd=tmp_path).ok()
    written = (tmp_path / "servers.json").read_text()
    first, second = json.loads(written)
    assert first["targets"] == ["203.0.113.3:9100"]
    assert second["targets"] == ["203.0.113.1:9100"]
    assert second["labels"] == {
        "host": "web-1",
        "server_management_id": "srv_1",
        "server_management_region": "",
        "server_management_plan": "{{ 1 + 1 }}",
        "server_management_status": "running",
    }
    source.sandbox.fail(Fault(has_more=True))
    failed = source.runner.run(*command, cwd=tmp_path)
    assert failed.rc != 0
    failed.shows("servers.json was not changed.")
    assert (tmp_path / "servers.json").read_text() == written


def test_the_pipelines_run_check_fleet():
    command = "ansible-playbook server_management.cloud.check_fleet"
    github = yaml.safe_load(RECIPES[".github/workflows/fleet.yml"])
    steps = github["jobs"]["check"]["steps"]
    assert steps[-1] == {"run": command}
    gitlab = yaml.safe_load(RECIPES[".gitlab-ci.yml"])
    script = gitlab["check fleet"]["script"]
    assert script[-1] == command


@pytest.fixture
def script(source, tmp_path):
    """Return the script of the guide that lists an inventory file, in a folder with both."""
    source.file("prod.server_management.yml")
    (tmp_path / "ansible.cfg").write_text(VERBOSE)
    path = tmp_path / "servers.sh"
    path.write_text(RECIPES["servers.sh"])
    path.chmod(0o755)
    return path


SHOW = """\
- hosts: web-1
  connection: local
  gather_facts: false
  tasks: [{ansible.builtin.debug: {msg: "<{{ server_management_plan }}>"}}]
"""


def test_a_script_exports_text_that_is_not_rendered(source, script, tmp_path):
    source.sandbox.servers[0]["plan"] = "{{ 6 * 7 }}"
    playbook = tmp_path / "show.yml"
    playbook.write_text(SHOW)
    result = source.runner.playbook("-i", script, playbook, cwd=tmp_path)
    result.shows("<{{ 6 * 7 }}>")


def test_a_script_fails_if_its_source_fails(source, script, tmp_path):
    source.sandbox.fail(Fault(status=401))
    failed = source.runner.run(str(script), cwd=tmp_path)
    assert failed.rc != 0
    failed.shows("The API rejected the token")
