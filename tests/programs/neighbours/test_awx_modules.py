# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the playbook of the AWX guide with the real modules of awx.awx, but without AWX."""

import pytest
import yaml

from support.guides import read_files
from support.run import Runner

NAME = "set_up_awx.yml"


@pytest.fixture
def playbook(tmp_path):
    path = tmp_path / NAME
    path.write_text(f"---\n{read_files('awx')[NAME]}")
    return path


def test_the_playbook_passes_the_linter(playbook, tmp_path):
    # Without the collections that other tests install: those of the package are used.
    runner = Runner(tmp_path / "home")
    strict = ("--offline", "--strict", "--profile", "production", "--nocolor")
    linted = runner.run("ansible-lint", *strict, NAME, cwd=playbook.parent).ok()
    assert linted.contains("0 failure(s), 0 warning(s) in 1 files")
    runner.playbook("--syntax-check", playbook).ok()


def test_the_playbook_has_only_options_of_the_modules(playbook, tmp_path):
    tasks = yaml.safe_load(playbook.read_text())[0]["tasks"]
    used = {name: task[name] for task in tasks for name in task if name.startswith("awx.awx.")}
    assert len(used) == len(tasks)
    docs = Runner(tmp_path / "home").doc("-t", "module", "-j", *used).ok().json()
    for name, options in used.items():
        known = docs[name]["doc"]["options"]
        assert set(options) <= set(known), name
        required = {option for option in known if known[option].get("required")}
        assert required <= set(options), name
        for option, value in options.items():
            assert value in known[option].get("choices", [value]), f"{name}: {option}"
