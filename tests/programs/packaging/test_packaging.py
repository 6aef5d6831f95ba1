# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Install a release that is built as the workflow does, install from git, and make an image."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from e2e.conftest import hosts

from support.collection import PLACE, REPOSITORY, commit_all, copy_sources, git, install
from support.fixtures import SERVER_NAMES
from support.guides import read_files
from support.run import Runner, write_inventory

WORKFLOW = (REPOSITORY / ".github/workflows/release.yml").read_text(encoding="utf-8")


@pytest.fixture
def checkout(tmp_path):
    """Return a repository whose one commit can be released."""
    folder = copy_sources(tmp_path / "checkout")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit_all(folder)
    return folder


def release(checkout):
    """Build with the workflow's command, but without the checks, of which this test is one."""
    (command,) = re.findall("run: (make .+)", WORKFLOW)
    # Not made anew for the checkout: nox and uv are what the session of this test uses.
    tools = Path(os.environ.get("TOOLS", REPOSITORY / ".venv-tools"))
    options = ["-o", str(tools / "ready"), f"TOOLS={tools}", "CHECKS="]
    make = [*command.split(), *options]
    return subprocess.run(make, cwd=checkout, capture_output=True, text=True, check=False)


def test_a_release_is_the_tagged_commit(checkout, tmp_path):
    galaxy = yaml.safe_load((checkout / "galaxy.yml").read_text())
    version = galaxy["version"]
    untagged = release(checkout)
    assert untagged.returncode != 0
    assert "does not have the tag" in untagged.stdout

    git(checkout, "tag", version)
    (checkout / ".git/info/exclude").write_text("private.txt\n")
    (checkout / "private.txt").write_text("ignored on this machine only")
    # git status does not show this change, so only the commit is without it.
    git(checkout, "update-index", "--assume-unchanged", "README.md")
    (checkout / "README.md").write_text("not in the commit")
    built = release(checkout)
    assert built.returncode == 0, built

    (uploaded,) = re.findall("path: (.+)", WORKFLOW)
    (tarball,) = checkout.glob(uploaded)
    assert tarball.name == f"server_management-cloud-{version}.tar.gz"
    collections = install(Runner(tmp_path / "home"), tarball, tmp_path / "collections")
    installed = collections / PLACE
    assert not (installed / "private.txt").exists()
    readme = (installed / "README.md").read_text(encoding="utf-8")
    assert f"/blob/{version}/docs/" in readme
    assert "](docs/" not in readme


def test_a_requirements_file_with_a_git_address_installs(checkout, sandbox, tmp_path):
    collections = tmp_path / "collections"
    runner = Runner(tmp_path / "home", collections)
    requirements = tmp_path / "requirements.yml"
    shown = read_files("recipes")["requirements.yml"]
    requirements.write_text(re.sub(r"https://\S+\.git", f"file://{checkout}", shown))
    options = ("-r", requirements, "-p", collections, "--offline")
    runner.galaxy("collection", "install", *options).ok()

    path = write_inventory(tmp_path, {})
    runner.environment.update(sandbox.environment)
    run = runner.inventory("-i", path, "--list").ok()
    assert run.stderr == ""
    assert hosts(run.json()) == SERVER_NAMES


def test_an_image_with_the_collection_gets_requests(runner, installed):
    result = runner.run("ansible-builder", "introspect", installed).ok()
    packages = yaml.safe_load(result.stdout)["python"]
    assert packages == ["requests>=2.28.0  # from collection server_management.cloud"]


def test_the_definition_of_the_guide_makes_an_image_with_the_collection(runner, tmp_path):
    definition = tmp_path / "execution-environment.yml"
    definition.write_text(read_files("awx")[definition.name])
    context = tmp_path / "context"
    runner.run("ansible-builder", "create", "-f", definition, "-c", context).ok()
    text = (context / "_build/requirements.yml").read_text()
    url = "https://git.example.com/server_management/cloud.git"
    assert yaml.safe_load(text) == {"collections": [{"name": url, "type": "git"}]}
    # The versions that the page chooses, because the image has an older Python.
    (containerfile,) = context.glob("*file")  # its name depends on what is installed
    lines = containerfile.read_text()
    assert 'PYCMD="/usr/bin/python3.12"' in lines
    assert 'ANSIBLE_INSTALL_REFS="ansible-core~=2.21.0 ansible-runner~=2.4"' in lines
