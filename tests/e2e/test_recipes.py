# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The recipes of the guide, beyond what the page shows: failures, odd servers, pipelines."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import yaml

from sandbox import Fault
from support.fixtures import KNOWN_NAMES
from support.guides import read_files

from .conftest import Source, hosts

RECIPES = read_files("recipes")

# Adds a line before the JSON of ansible-inventory.
VERBOSE = "[defaults]\nverbosity = 1\n"


def test_prometheus_targets_are_complete_and_survive_a_failure(
    source: Source, tmp_path: Path
) -> None:
    source.sandbox.servers[0].update(plan="{{ 1 + 1 }}", region=None)
    source.sandbox.servers[1]["ipv4"] = None
    path, targets = source.file(), tmp_path / "servers.json"
    (tmp_path / "ansible.cfg").write_text(VERBOSE)
    (tmp_path / "file_sd.py").write_text(RECIPES["file_sd.py"], encoding="utf-8")
    arguments = ("file_sd.py", path, targets)
    source.runner.run("python3", *arguments, cwd=tmp_path).ok()
    found = json.loads(targets.read_text(encoding="utf-8"))
    assert [group["targets"] for group in found] == [["203.0.113.3:9100"], ["203.0.113.1:9100"]]
    assert found[1]["labels"] == {
        "host": "web-1",
        "server_management_id": "srv_1",
        "server_management_region": "",
        "server_management_plan": "{{ 1 + 1 }}",
        "server_management_status": "running",
    }
    (tmp_path / "prometheus.yml").write_text(RECIPES["prometheus.yml"], encoding="utf-8")
    if shutil.which("promtool"):  # Debian has it in the package prometheus
        source.runner.run("promtool", "check", "config", "prometheus.yml", cwd=tmp_path).ok()

    before = targets.read_bytes()
    source.sandbox.fail(Fault(has_more=True))
    failed = source.runner.run("python3", *arguments, cwd=tmp_path)
    assert failed.rc != 0
    failed.shows("servers.json was not changed.")
    assert targets.read_bytes() == before


def test_a_pipeline_fails_with_the_findings_or_with_the_error(
    source: Source, tmp_path: Path
) -> None:
    github = yaml.safe_load(RECIPES[".github/workflows/fleet.yml"])["jobs"]["check"]
    gitlab = yaml.safe_load(RECIPES[".gitlab-ci.yml"])["check fleet"]
    command = github["steps"][-1]["run"]
    assert gitlab["script"][-1] == command
    for settings in (github["env"], gitlab["variables"]):
        assert "SERVER_MANAGEMENT_BASE_URL" in settings
    (tmp_path / "fleet.yml").write_text(f"fleet: {[{'name': name} for name in KNOWN_NAMES]}\n")
    account = source.sandbox.environment
    run = partial(source.runner.run, "sh", "-c", command, cwd=tmp_path, env=account)
    run().ok()
    source.sandbox.servers.pop()
    drifted = run().shows("db-1 is missing")
    # An account that can't be read has no missing servers.
    source.sandbox.fail(Fault(has_more=True))
    failed = run().shows("has more servers")
    assert not failed.contains("is missing")
    assert drifted.rc == failed.rc == 2


TEMPLATE = "{{ 6 * 7 }}"
SHOW = """\
- hosts: all
  connection: local
  gather_facts: false
  tasks: [{ansible.builtin.debug: {msg: "<{{ server_management_plan }}>"}}]
"""


def test_an_exported_inventory_is_trusted_but_a_script_is_not(
    source: Source, tmp_path: Path
) -> None:
    """Pin what Ansible does with exports: text of the API becomes a template there."""
    source.sandbox.servers[0]["plan"] = TEMPLATE
    file = source.file("prod.server_management.yml")
    script, playbook, frozen = (
        tmp_path / name for name in ("servers.sh", "show.yml", "frozen.yml")
    )
    script.write_text(RECIPES["servers.sh"])
    script.chmod(0o755)
    playbook.write_text(SHOW)
    exported = source.runner.inventory("-i", file, "--list", "--export", "--yaml").ok().stdout
    frozen.write_text(exported)
    for path, text in ((script, f"<{TEMPLATE}>"), (frozen, "<42>")):
        source.runner.playbook("-i", path, "--limit", "web-1", playbook).ok().shows(text)


def test_a_script_whose_source_fails_has_no_hosts(source: Source, tmp_path: Path) -> None:
    source.file("prod.server_management.yml")
    script = tmp_path / "servers.sh"
    script.write_text(RECIPES["servers.sh"])
    script.chmod(0o755)
    (tmp_path / "ansible.cfg").write_text(VERBOSE)
    assert hosts(source.runner.run(str(script), cwd=tmp_path).ok().json()) == KNOWN_NAMES
    source.sandbox.fail(Fault(status=401), times=None)
    strict = {"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true"}
    failed = source.runner.inventory("-i", script, "--list", env=strict)
    assert failed.rc != 0
    failed.shows("The API rejected the token")
