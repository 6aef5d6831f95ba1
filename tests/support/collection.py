# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The collection as its users get it: built into a tarball, and installed from it."""

from __future__ import annotations

from pathlib import Path

from support.run import Runner

REPOSITORY = Path(__file__).resolve().parents[2]


def build(runner: Runner, destination: Path) -> Path:
    """Build the collection from the working tree and return the tarball."""
    destination.mkdir(parents=True, exist_ok=True)
    runner.galaxy("collection", "build", REPOSITORY, "--output-path", destination).ok()
    (tarball,) = destination.glob("*.tar.gz")
    return tarball


def install(runner: Runner, tarball: Path, collections: Path) -> Path:
    """Install a tarball into a collections path, with no server asked, and return the path."""
    collections.mkdir(parents=True, exist_ok=True)
    runner.galaxy("collection", "install", tarball, "-p", collections, "--offline").ok()
    return collections
