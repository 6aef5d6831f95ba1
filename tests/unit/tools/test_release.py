# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the conditions of a release."""

import re
import subprocess

import pytest
import yaml

from support.collection import REPOSITORY, commit_all, git
from tools.release import find_obstacles, link_readme

VERSION = "version: 1.2.3\n"
GALAXY = f"{VERSION}repository: https://git.invalid/cloud\n"
WORKFLOWS = REPOSITORY / ".github/workflows"


@pytest.fixture
def ready(tmp_path):
    """Return a repository whose commit can be released, apart from its tag."""
    (tmp_path / "galaxy.yml").write_text(GALAXY)
    (tmp_path / "CHANGELOG.rst").write_text("v1.2.3\n======\n")
    git(tmp_path, "init", "--quiet")
    commit_all(tmp_path)
    return tmp_path


def test_a_release_needs_its_section_of_the_changelog(ready):
    (ready / "CHANGELOG.rst").write_text("v1.2.30")
    commit_all(ready)
    (found,) = find_obstacles(ready, final=False)
    assert found == "CHANGELOG.rst has no section v1.2.3: antsibull-changelog release"


def test_only_a_final_release_needs_its_tag(ready):
    git(ready, "tag", "1.2.3")  # of an earlier commit
    (ready / "more.txt").touch()
    commit_all(ready)
    assert find_obstacles(ready, final=False) == []
    assert find_obstacles(ready, final=True) == ["the commit does not have the tag 1.2.3"]
    git(ready, "tag", "--force", "1.2.3")
    assert find_obstacles(ready, final=True) == []


def test_uncommitted_changes_are_an_obstacle(ready):
    (ready / "galaxy.yml").write_text(f"{GALAXY}# more\n")
    (ready / "new.txt").touch()
    (found,) = find_obstacles(ready, final=False)
    assert found == "the working tree has changes: galaxy.yml, new.txt"


def test_the_links_of_the_readme_become_absolute(tmp_path):
    (tmp_path / "galaxy.yml").write_text(GALAXY)
    readme = tmp_path / "README.md"
    readme.write_text("![a](docs/a.svg) [b](b.md#b) [c](#c) [d](https://d.invalid)")
    link_readme(tmp_path)
    assert readme.read_text() == (
        "![a](https://git.invalid/cloud/raw/1.2.3/docs/a.svg) "
        "[b](https://git.invalid/cloud/blob/1.2.3/b.md#b) [c](#c) [d](https://d.invalid)"
    )


def test_the_links_of_the_readme_lead_to_files():
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    paths = re.findall(r"\]\((?!https:)([^)#]+)", text)
    assert "docs/overview.svg" in paths
    for path in paths:
        assert (REPOSITORY / path).is_file(), path


def test_only_the_step_that_publishes_has_a_secret():
    assert "${{ secrets." not in (WORKFLOWS / "ci.yml").read_text(encoding="utf-8")
    text = (WORKFLOWS / "release.yml").read_text(encoding="utf-8")
    assert text.count("${{ secrets.") == 1
    jobs = yaml.safe_load(text)["jobs"]
    last = jobs["publish"]["steps"][-1]
    assert last["run"] == "ansible-galaxy collection publish *.tar.gz"
    assert last["env"]["ANSIBLE_GALAXY_SERVER_GALAXY_TOKEN"] == "${{ secrets.GALAXY_TOKEN }}"


def test_a_release_is_checked_first():
    command = ("make", "--dry-run", "release", "ARGS=final")
    shown = subprocess.check_output(command, cwd=REPOSITORY, encoding="utf-8")
    sessions = ["demo -- \n", "check -- \n", "release -- final"]
    steps = ["release.py final", *(f"--session {session}" for session in sessions)]
    places = [shown.index(step) for step in steps]
    assert places == sorted(places)
