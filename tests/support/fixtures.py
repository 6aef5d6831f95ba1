# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The fixtures of the outside-in tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.collection import build, install
from support.run import Runner


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a collections path that holds the collection, installed from its tarball."""
    folder = tmp_path_factory.mktemp("installed")
    runner = Runner(folder / "home")
    return install(runner, build(runner, folder / "tarball"), folder / "collections")


@pytest.fixture
def runner(installed: Path, tmp_path: Path) -> Runner:
    """Return a runner of Ansible's commands over the installed collection, with an empty home."""
    return Runner(tmp_path / "home", installed)
