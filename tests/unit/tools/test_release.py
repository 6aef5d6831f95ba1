# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the conditions of a release."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

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


def git(repository: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false")
    command = ("git", *who, *arguments)
    subprocess.run(command, cwd=repository, check=True, capture_output=True)


def commit(repository: Path, **changed: str) -> None:
    for name, text in {**READY, **changed}.items():
        path = repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(repository, "add", "--all")
    git(repository, "commit", "--allow-empty", "--message", "a")


CODE = "plugins/module_utils/_options.py"
CHANGES = "changelogs/changelog.yaml"
PLACEHOLDER = "version: 1.2.3\nrepository: https://example.com/cloud\n"


@pytest.mark.parametrize(
    ("changed", "tags", "obstacle", "for_galaxy"),
    [
        ({}, "1.2.3", "", ""),
        ({CODE: 'VERSION = "1.2.4"\n'}, "1.2.3", "_options.py has 1.2.4", ""),
        ({CHANGES: "releases:\n  1.2.2: {}\n"}, "1.2.3", "has no release 1.2.3", ""),
        ({"CHANGELOG.rst": "v1.2.30\n=======\n"}, "1.2.3", "has no section v1.2.3", ""),
        ({}, "1.2.3 1.2.4 other", "tag must be 1.2.3, but is 1.2.3, 1.2.4", ""),
        ({}, "", "", "the commit's tag must be 1.2.3, but is missing"),
        ({"galaxy.yml": PLACEHOLDER}, "1.2.3", "", "repository in galaxy.yml is a placeholder"),
    ],
)
def test_a_commit_that_is_not_ready_is_refused(
    tmp_path: Path, changed: dict[str, str], tags: str, obstacle: str, for_galaxy: str
) -> None:
    git(tmp_path, "init", "--quiet")
    commit(tmp_path, **changed)
    for tag in tags.split():
        git(tmp_path, "tag", tag)
    for final, expected in ((False, obstacle), (True, obstacle or for_galaxy)):
        found = find_obstacles(tmp_path, final=final)
        assert len(found) == bool(expected)
        assert expected in "".join(found)


def test_uncommitted_changes_are_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    (tmp_path / "galaxy.yml").write_text(f"{READY['galaxy.yml']}# more\n")
    (tmp_path / "new.txt").touch()
    (obstacle,) = find_obstacles(tmp_path, final=False)
    assert obstacle == "the working tree has changes: galaxy.yml, new.txt"


def test_the_links_of_the_readme_become_absolute(tmp_path: Path) -> None:
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


def test_only_the_step_that_publishes_has_a_secret() -> None:
    for path in (REPOSITORY / ".github" / "workflows").glob("*.yml"):
        text = path.read_text(encoding="utf-8")
        if path.stem == "release":
            step = yaml.safe_load(text)["jobs"]["publish"]["steps"][-1]
            assert step["run"] == "ansible-galaxy collection publish *.tar.gz"
            text = text.replace(step["env"]["ANSIBLE_GALAXY_SERVER_GALAXY_TOKEN"], "")
        assert "${{ secrets." not in text
