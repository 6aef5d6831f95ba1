# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the conditions of a release."""

import re
import subprocess

import pytest
import yaml

from support.collection import REPOSITORY
from tools.release import ADDRESSES, INSTALLATION, PAGES, find_obstacles, link_readme

VERSION = "version: 1.2.3\n"
GALAXY = VERSION + "".join(f"{key}: https://git.invalid/cloud\n" for key in ADDRESSES)
WORKFLOWS = REPOSITORY / ".github/workflows"


def git(folder, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false")
    command = ("git", *who, *arguments)
    subprocess.check_output(command, cwd=folder)


def commit(folder):
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "a")


@pytest.fixture
def ready(tmp_path):
    """Return a repository whose commit can be released, with its tag."""
    (tmp_path / "galaxy.yml").write_text(GALAXY)
    (tmp_path / "CHANGELOG.rst").write_text("v1.2.3\n======\n")
    for page in PAGES:
        path = tmp_path / page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(INSTALLATION)
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    git(tmp_path, "tag", "1.2.3")
    return tmp_path


def test_a_tagged_commit_is_ready(ready):
    assert find_obstacles(ready, final=True) == []


def test_a_changelog_without_the_version_is_an_obstacle(ready):
    (ready / "CHANGELOG.rst").write_text("v1.2.30\n=======\n")
    commit(ready)
    (found,) = find_obstacles(ready, final=False)
    assert found == "CHANGELOG.rst has no section v1.2.3: antsibull-changelog release"


def test_only_a_final_release_needs_its_tag_and_real_addresses(ready):
    galaxy = f"{VERSION}repository: https://example.com/cloud\nissues: https://git.invalid\n"
    (ready / "galaxy.yml").write_text(galaxy)
    commit(ready)
    assert find_obstacles(ready, final=False) == []
    assert find_obstacles(ready, final=True) == [
        "the commit's tag must be 1.2.3, but is missing",
        "repository in galaxy.yml is a placeholder under example.com",
        "documentation in galaxy.yml is missing",
        "homepage in galaxy.yml is missing",
    ]


def test_a_page_that_says_that_nothing_is_published_is_an_obstacle(ready):
    sentences = [
        "It is not on Ansible Galaxy yet.",
        "has not\nbeen published on Ansible Galaxy yet",
    ]
    (ready / PAGES[0]).write_text(sentences[0])
    (ready / PAGES[1]).write_text(sentences[1])
    commit(ready)
    git(ready, "tag", "--force", "1.2.3")
    assert find_obstacles(ready, final=True) == [
        f"{PAGES[0]} says that the collection is not on Galaxy yet",
        f"{PAGES[1]} says that the collection is not on Galaxy yet",
        f"README.md does not show: {INSTALLATION}",
    ]


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
    last = yaml.safe_load(text)["jobs"]["publish"]["steps"][-1]
    assert last["run"] == "ansible-galaxy collection publish *.tar.gz"
    assert last["env"]["ANSIBLE_GALAXY_SERVER_GALAXY_TOKEN"] == "${{ secrets.GALAXY_TOKEN }}"
