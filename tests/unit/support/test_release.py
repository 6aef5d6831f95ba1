# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check what prevents a release."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.release import find_obstacles

READY = {
    "galaxy.yml": "version: 1.2.3\nrepository: https://git.invalid/cloud\n",
    "plugins/module_utils/_connection.py": 'VERSION = "1.2.3"\n',
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


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository whose commit is ready and tagged."""
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    git(tmp_path, "tag", "1.2.3")
    return tmp_path


@pytest.mark.parametrize("publish", [False, True])
def test_what_is_ready_is_released(repository: Path, publish: bool) -> None:
    assert find_obstacles(repository, publish=publish) == []


@pytest.mark.parametrize("name", ["galaxy.yml", "new.txt"])
def test_a_change_is_refused(repository: Path, name: str) -> None:
    (repository / name).write_text(READY.get(name, "") + "# more\n")
    (obstacle,) = find_obstacles(repository, publish=False)
    assert obstacle == f"the working tree has changes: {name}"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("plugins/module_utils/_connection.py", 'VERSION = "1.2.4"\n', "_connection.py has 1.2.4"),
        ("plugins/module_utils/_connection.py", "", "_connection.py has nothing"),
        ("changelogs/changelog.yaml", "releases:\n  1.2.2: {}\n", "has no release 1.2.3"),
        ("changelogs/changelog.yaml", "", "has no release 1.2.3"),
        ("CHANGELOG.rst", "v1.2.30\n=======\n", "has no section v1.2.3"),
    ],
)
def test_another_version_is_refused(repository: Path, name: str, text: str, said: str) -> None:
    commit(repository, **{name: text})
    (obstacle,) = find_obstacles(repository, publish=False)
    assert said in obstacle


def test_a_tag_that_is_not_the_version_is_refused(repository: Path) -> None:
    git(repository, "tag", "1.2.4")
    git(repository, "tag", "seen-by-somebody")
    (obstacle,) = find_obstacles(repository, publish=False)
    assert obstacle == "the commit's tag must be 1.2.3, but is 1.2.3, 1.2.4"


def test_what_has_no_tag_is_built_and_not_published(repository: Path) -> None:
    git(repository, "tag", "--delete", "1.2.3")
    assert find_obstacles(repository, publish=False) == []
    (obstacle,) = find_obstacles(repository, publish=True)
    assert obstacle == "the commit's tag must be 1.2.3, but is missing"


def test_a_placeholder_is_built_and_not_published(repository: Path) -> None:
    text = "version: 1.2.3\nrepository: https://example.com/cloud\n"
    commit(repository, **{"galaxy.yml": text})
    git(repository, "tag", "--force", "1.2.3")
    assert find_obstacles(repository, publish=False) == []
    (obstacle,) = find_obstacles(repository, publish=True)
    assert "placeholder" in obstacle
