# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find obstacles to a release before the long checks run, and prepare its README for Galaxy.

python tools/release.py [final]
python tools/release.py readme TREE
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

PLACEHOLDER = "example.com"
_CODE = Path("plugins", "module_utils", "_options.py")
_VERSION = re.compile(r'^VERSION = "(.+)"$', re.MULTILINE)
_TAG = re.compile(r"v?\d+\.\d+\.\d+\S*")
_RELATIVE_LINK = re.compile(r"(!?)(\[[^]]*\])\((?!\w+:|#)([^)]+)\)")


def find_obstacles(repository: Path, *, final: bool) -> list[str]:
    """Return the reasons why the checked-out commit cannot be released, one sentence each.

    A final release is for Galaxy, and needs its tag and a real address.
    """
    return [*_changes(repository), *_versions(repository, final), *_address(repository, final)]


def _changes(repository: Path) -> Iterator[str]:
    if changed := _git(repository, "status", "--porcelain"):
        yield f"the working tree has changes: {', '.join(line[3:] for line in changed)}"


def _versions(repository: Path, final: bool) -> Iterator[str]:
    version = str(_galaxy(repository)["version"])
    in_code = _VERSION.search((repository / _CODE).read_text(encoding="utf-8"))
    found = in_code[1] if in_code else "nothing"
    if found != version:
        yield f"galaxy.yml has the version {version}, and {_CODE.as_posix()} has {found}"
    if version not in _released(repository):
        yield f"changelogs/changelog.yaml has no release {version}: antsibull-changelog release"
    if not re.search(
        rf"^v{re.escape(version)}$", _read(repository / "CHANGELOG.rst"), re.MULTILINE
    ):
        yield f"CHANGELOG.rst has no section v{version}: antsibull-changelog release"
    tags = [tag for tag in _git(repository, "tag", "--points-at", "HEAD") if _TAG.fullmatch(tag)]
    if tags not in ([], [version]) or (final and not tags):
        yield f"the commit's tag must be {version}, but is {', '.join(tags) or 'missing'}"


def _address(repository: Path, final: bool) -> Iterator[str]:
    if final and PLACEHOLDER in str(_galaxy(repository)["repository"]):
        yield f"repository in galaxy.yml is a placeholder under {PLACEHOLDER}"


def link_readme(tree: Path) -> None:
    """Make the links of a tree's README absolute, for its version.

    Galaxy shows the README under another address (ansible/galaxy issue 2869).
    """
    galaxy = _galaxy(tree)

    def link(match: re.Match[str]) -> str:
        mark, text, path = match.groups()
        view = "raw" if mark else "blob"
        return f"{mark}{text}({galaxy['repository']}/{view}/{galaxy['version']}/{path})"

    readme = tree / "README.md"
    readme.write_text(_RELATIVE_LINK.sub(link, _read(readme)), encoding="utf-8")


def _galaxy(repository: Path) -> dict[str, object]:
    content: dict[str, object] = yaml.safe_load(_read(repository / "galaxy.yml"))
    return content


def _released(repository: Path) -> dict[str, object]:
    content = yaml.safe_load(_read(repository / "changelogs" / "changelog.yaml")) or {}
    releases: dict[str, object] = content.get("releases") or {}
    return releases


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _git(repository: Path, *arguments: str) -> list[str]:
    command = ("git", *arguments)
    run = subprocess.run(command, cwd=repository, capture_output=True, encoding="utf-8", check=True)
    return run.stdout.splitlines()


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
