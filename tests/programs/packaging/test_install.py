# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Install the collection from git; all other tests install its tarball."""

import json

from e2e.conftest import hosts

from support.collection import copy_sources
from support.fixtures import KNOWN_NAMES
from support.run import Runner, write_inventory

SCRIPT = """\
git init --quiet --initial-branch=main
git add .
git -c user.name=A -c user.email=a@example.com commit --quiet --message=All
"""


def test_a_requirements_file_with_a_git_address_installs(sandbox, tmp_path):
    repository = copy_sources(tmp_path / "repository")
    collections = tmp_path / "collections"
    runner = Runner(tmp_path / "home", collections)
    runner.run("sh", "-e", "-c", SCRIPT, cwd=repository).ok()
    url = f"file://{repository}"
    collection = {"name": url, "type": "git", "version": "main"}
    requirements = tmp_path / "requirements.yml"
    content = json.dumps({"collections": [collection]})
    requirements.write_text(content)
    options = ("-r", requirements, "-p", collections, "--offline")
    runner.galaxy("collection", "install", *options).ok()

    path = write_inventory(tmp_path, {})
    runner.environment.update(sandbox.environment)
    run = runner.inventory("-i", path, "--list").ok()
    assert run.stderr == ""
    listing = run.json()
    assert hosts(listing) == KNOWN_NAMES
