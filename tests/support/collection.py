# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build the collection into a tarball and install it, as users do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from fnmatch import translate
from pathlib import Path
from typing import Any

import yaml

from support.run import Runner

REPOSITORY = Path(__file__).resolve().parents[2]
PLACE = "ansible_collections/server_management/cloud"


def read(path: str | Path) -> str:
    """Return the text of a file of the repository."""
    return (REPOSITORY / path).read_text(encoding="utf-8")


def read_yaml(path: str) -> Any:
    """Return the content of a YAML file of the repository."""
    return yaml.safe_load(read(path))


def sources() -> list[str]:
    """Return the files of the working tree that git tracks or does not ignore.

    A downloaded archive has no git, nor has the copy in which ansible-test runs.
    """
    if not (REPOSITORY / ".git").exists():
        return list(_files_outside_ignored_folders())
    command = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    # Its standard error is not captured: if git refuses the tree, it says why.
    done = subprocess.run(command, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
    names = done.stdout.split("\0")
    return [name for name in names if (REPOSITORY / name).is_file()]


def _files_outside_ignored_folders() -> Iterator[str]:
    lines = (REPOSITORY / ".gitignore").read_text(encoding="utf-8").splitlines()
    patterns = [translate(line.strip("/")) for line in lines if line.endswith("/")]
    is_ignored = re.compile("|".join(patterns)).match
    for folder, subfolders, files in os.walk(REPOSITORY):
        place = Path(folder).relative_to(REPOSITORY)
        for name in list(subfolders):
            if is_ignored(name) or is_ignored(str(place / name)):
                subfolders.remove(name)
        for name in files:
            yield (place / name).as_posix()


def git(folder: Path, *arguments: str) -> None:
    """Run git in a repository, with an author and without a signature."""
    author = ("-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false")
    command = ("git", *author, *arguments)
    subprocess.check_output(command, cwd=folder)


def commit_all(folder: Path) -> None:
    """Commit every file of a repository."""
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "a")


def copy_sources(folder: Path) -> Path:
    """Copy those files into a folder, and return it."""
    for name in sources():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, path, follow_symlinks=False)
    return folder


def link_collection(folder: Path) -> Path:
    """Return a collections path in which the collection is a link to the working tree."""
    place = folder / PLACE
    if not place.is_symlink():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(REPOSITORY, target_is_directory=True)
    return folder


def build(runner: Runner, destination: Path, source: Path = REPOSITORY) -> Path:
    """Build the collection from the working tree, or from a copy, and return the tarball."""
    destination.mkdir(parents=True, exist_ok=True)
    runner.galaxy("collection", "build", source, "--output-path", destination).ok()
    (tarball,) = destination.glob("*.tar.gz")
    return tarball


def install(runner: Runner, tarball: Path, collections: Path) -> Path:
    """Install a tarball offline into a collections path, and return the path."""
    collections.mkdir(parents=True, exist_ok=True)
    runner.galaxy("collection", "install", tarball, "-p", collections, "--offline").ok()
    return collections
