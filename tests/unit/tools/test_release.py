# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the conditions of a release."""

import re
import shutil
import subprocess

import pytest
import yaml

from support.collection import REPOSITORY
from tools.release import find_obstacles, link_readme

READY = {
    "galaxy.yml": "version: 1.2.3\nrepository: https://git.invalid/cloud\n",
    "plugins/module_utils/_options.py": 'VERSION = "1.2.3"\n',
    "changelogs/changelog.yaml": "releases:\n  1.2.3: {}\n",
    "CHANGELOG.rst": "v1.2.3\n======\n",
}


def git(repository, *arguments):
    who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false")
    command = ("git", *who, *arguments)
    subprocess.run(command, cwd=repository, check=True, capture_output=True)


@pytest.fixture
def ready(tmp_path):
    """Return a repository whose commit can be released, with its tag."""
    git(tmp_path, "init", "--quiet")
    for name, text in READY.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--message", "a")
    git(tmp_path, "tag", "1.2.3")
    return tmp_path


def test_a_tagged_commit_with_one_version_is_ready(ready):
    assert find_obstacles(ready, final=True) == []


@pytest.mark.parametrize(
    ("name", "text", "obstacle"),
    [
        ("plugins/module_utils/_options.py", 'VERSION = "1.2.4"\n', "_options.py has 1.2.4"),
        ("changelogs/changelog.yaml", "releases:\n  1.2.2: {}\n", "has no release 1.2.3"),
        ("CHANGELOG.rst", "v1.2.30\n=======\n", "has no section v1.2.3"),
    ],
)
def test_another_version_is_an_obstacle(ready, name, text, obstacle):
    (ready / name).write_text(text)
    git(ready, "commit", "--all", "--message", "b")
    git(ready, "tag", "--force", "1.2.3")
    (found,) = find_obstacles(ready, final=False)
    assert obstacle in found


def test_another_tag_is_an_obstacle(ready):
    git(ready, "tag", "1.2.4")
    git(ready, "tag", "other")
    (found,) = find_obstacles(ready, final=False)
    assert "tag must be 1.2.3, but is 1.2.3, 1.2.4" in found


def test_only_a_final_release_needs_its_tag_and_a_real_address(ready):
    galaxy = "version: 1.2.3\nrepository: https://example.com/cloud\n"
    (ready / "galaxy.yml").write_text(galaxy)
    git(ready, "commit", "--all", "--message", "b")
    assert find_obstacles(ready, final=False) == []
    tag, address = find_obstacles(ready, final=True)
    assert "the commit's tag must be 1.2.3, but is missing" in tag
    assert "repository in galaxy.yml is a placeholder" in address


def test_uncommitted_changes_are_an_obstacle(ready):
    (ready / "galaxy.yml").write_text(f"{READY['galaxy.yml']}# more\n")
    (ready / "new.txt").touch()
    (obstacle,) = find_obstacles(ready, final=False)
    assert obstacle == "the working tree has changes: galaxy.yml, new.txt"


def test_the_links_of_the_readme_become_absolute(tmp_path):
    for name in ("README.md", "galaxy.yml"):
        shutil.copy(REPOSITORY / name, tmp_path)
    link_readme(tmp_path)
    galaxy = yaml.safe_load((tmp_path / "galaxy.yml").read_text())
    text = (tmp_path / "README.md").read_text()
    assert re.findall(r"\]\((?!https://|#).*", text) == []
    place = re.escape(f"({galaxy['repository']}/") + rf"(blob|raw)/{galaxy['version']}/([^)#]+)"
    ours = re.findall(place, text)
    assert ("raw", "docs/graph.svg") in ours
    assert all((REPOSITORY / path).is_file() for _view, path in ours)


def test_only_the_step_that_publishes_has_a_secret():
    for path in (REPOSITORY / ".github" / "workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        if path.stem == "release":
            step = yaml.safe_load(text)["jobs"]["publish"]["steps"][-1]
            assert step["run"] == "ansible-galaxy collection publish *.tar.gz"
            text = text.replace(step["env"]["ANSIBLE_GALAXY_SERVER_GALAXY_TOKEN"], "")
        assert "${{ secrets." not in text
