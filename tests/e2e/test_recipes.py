# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The recipes of the guide, beyond what the page shows: failures, odd servers, pipelines."""

import json
import shutil

import yaml

from sandbox import Fault
from support.fixtures import KNOWN_NAMES
from support.guides import read_files

from .conftest import hosts

RECIPES = read_files("recipes")

# Adds a line before the JSON of ansible-inventory.
VERBOSE = "[defaults]\nverbosity = 1\n"


def write_targets(source, path):
    """Run the script of the guide that writes targets for Prometheus."""
    folder = path.parent
    (folder / "ansible.cfg").write_text(VERBOSE)
    (folder / "file_sd.py").write_text(RECIPES["file_sd.py"], encoding="utf-8")
    return source.runner.run("python3", "file_sd.py", source.file(), path, cwd=folder)


def test_prometheus_targets_have_labels(source, tmp_path):
    source.sandbox.servers[0].update(plan="{{ 1 + 1 }}", region=None)
    source.sandbox.servers[1]["ipv4"] = None
    targets = tmp_path / "servers.json"
    write_targets(source, targets).ok()
    first, second = json.loads(targets.read_text(encoding="utf-8"))
    assert first["targets"] == ["203.0.113.3:9100"]
    assert second["targets"] == ["203.0.113.1:9100"]
    assert second["labels"] == {
        "host": "web-1",
        "server_management_id": "srv_1",
        "server_management_region": "",
        "server_management_plan": "{{ 1 + 1 }}",
        "server_management_status": "running",
    }
    (tmp_path / "prometheus.yml").write_text(RECIPES["prometheus.yml"], encoding="utf-8")
    if shutil.which("promtool"):  # Debian has it in the package prometheus
        source.runner.run("promtool", "check", "config", "prometheus.yml", cwd=tmp_path).ok()


def test_prometheus_targets_survive_a_failure(source, tmp_path):
    targets = tmp_path / "servers.json"
    targets.write_text("[]")
    source.sandbox.fail(Fault(has_more=True))
    failed = write_targets(source, targets)
    assert failed.rc != 0
    failed.shows("servers.json was not changed.")
    assert targets.read_text() == "[]"


def test_a_pipeline_fails_with_the_findings_or_with_the_error(source, tmp_path):
    github = yaml.safe_load(RECIPES[".github/workflows/fleet.yml"])["jobs"]["check"]
    gitlab = yaml.safe_load(RECIPES[".gitlab-ci.yml"])["check fleet"]
    command = github["steps"][-1]["run"]
    assert gitlab["script"][-1] == command
    assert "SERVER_MANAGEMENT_BASE_URL" in github["env"]
    assert "SERVER_MANAGEMENT_BASE_URL" in gitlab["variables"]
    fleet = "fleet: [{name: db-1}, {name: web-1}, {name: web-2}]\n"
    (tmp_path / "fleet.yml").write_text(fleet)

    def run():
        account = source.sandbox.environment
        return source.runner.run("sh", "-c", command, cwd=tmp_path, env=account)

    run().ok()
    source.sandbox.servers.pop()
    drifted = run().shows("db-1 is missing")
    assert drifted.rc == 2
    # An account that can't be read has no missing servers.
    source.sandbox.fail(Fault(has_more=True))
    failed = run().shows("has more servers")
    assert failed.rc == 2
    assert not failed.contains("is missing")


SHOW = """\
- hosts: all
  connection: local
  gather_facts: false
  tasks: [{ansible.builtin.debug: {msg: "<{{ server_management_plan }}>"}}]
"""


def write_script(folder):
    """Write the script of the guide that lists an inventory."""
    script = folder / "servers.sh"
    script.write_text(RECIPES["servers.sh"])
    script.chmod(0o755)
    return script


def test_an_exported_inventory_is_trusted_but_a_script_is_not(source, tmp_path):
    """Pin what Ansible does with exports: text of the API becomes a template there."""
    source.sandbox.servers[0]["plan"] = "{{ 6 * 7 }}"
    file = source.file("prod.server_management.yml")
    script = write_script(tmp_path)
    playbook = tmp_path / "show.yml"
    playbook.write_text(SHOW)
    exported = source.runner.inventory("-i", file, "--list", "--export", "--yaml").ok().stdout
    frozen = tmp_path / "frozen.yml"
    frozen.write_text(exported)
    limit = ("--limit", "web-1", playbook)
    source.runner.playbook("-i", script, *limit).ok().shows("<{{ 6 * 7 }}>")
    source.runner.playbook("-i", frozen, *limit).ok().shows("<42>")


def test_a_script_whose_source_fails_has_no_hosts(source, tmp_path):
    source.file("prod.server_management.yml")
    script = write_script(tmp_path)
    (tmp_path / "ansible.cfg").write_text(VERBOSE)
    assert hosts(source.runner.run(str(script), cwd=tmp_path).ok().json()) == KNOWN_NAMES
    source.sandbox.fail(Fault(status=401), times=None)
    strict = {"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true"}
    failed = source.runner.inventory("-i", script, "--list", env=strict)
    assert failed.rc != 0
    failed.shows("The API rejected the token")
