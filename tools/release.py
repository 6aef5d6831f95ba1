# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find obstacles to a release before the long checks run, and prepare its README for Galaxy.

python tools/release.py [final]
python tools/release.py readme TREE
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

_RELATIVE_LINK = re.compile(r"(!?)(\[[^]]*\])\((?!\w+:|#)([^)]+)\)")


def find_obstacles(repository: Path, *, final: bool) -> list[str]:
    """Return the reasons why the checked-out commit cannot be released, one sentence each.

    A final release is for Galaxy, and needs its tag.
    """
    galaxy = _read_galaxy(repository)
    version = galaxy["version"]
    obstacles = []
    changed = [line[3:] for line in _git(repository, "status", "--porcelain")]
    if changed:
        obstacles.append(f"the working tree has changes: {', '.join(changed)}")
    changelog = (repository / "CHANGELOG.rst").read_text(encoding="utf-8")
    if f"v{version}" not in changelog.splitlines():
        obstacles.append(f"CHANGELOG.rst has no section v{version}: antsibull-changelog release")
    if final and version not in _git(repository, "tag", "--points-at", "HEAD"):
        obstacles.append(f"the commit does not have the tag {version}")
    return obstacles


def link_readme(tree: Path) -> None:
    """Make the links of a tree's README absolute, for its version.

    Galaxy shows the README under another address (ansible/galaxy issue 2869).
    """
    galaxy = _read_galaxy(tree)
    readme = tree / "README.md"

    def link(match: re.Match[str]) -> str:
        mark, text, path = match.groups()
        view = "raw" if mark else "blob"
        return f"{mark}{text}({galaxy['repository']}/{view}/{galaxy['version']}/{path})"

    text = readme.read_text(encoding="utf-8")
    readme.write_text(_RELATIVE_LINK.sub(link, text), encoding="utf-8")


def _read_galaxy(repository: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((repository / "galaxy.yml").read_text("utf-8"))
    return content


def _git(repository: Path, *arguments: str) -> list[str]:
    command = ("git", *arguments)
    # Its standard error is not captured: if git refuses the tree, it says why.
    return subprocess.check_output(command, cwd=repository, encoding="utf-8").splitlines()


def main(arguments: list[str]) -> int:
    """Print the obstacles to a release of this checkout, or prepare the README of a tree.

    Return the exit status.
    """
    if arguments[:1] == ["readme"]:
        link_readme(Path(arguments[1]))
        return 0
    if arguments not in ([], ["final"]):
        sys.exit("the only possible arguments are final, and readme with a folder")
    obstacles = find_obstacles(Path(__file__).resolve().parents[1], final=bool(arguments))
    print("\n".join(["not released:", *obstacles]) if obstacles else "No obstacle to a release")
    return bool(obstacles)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
