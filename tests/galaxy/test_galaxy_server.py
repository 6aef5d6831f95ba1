# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Publish the collection to a real Galaxy server; install, upgrade and verify it from there."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
import yaml

from sandbox import Sandbox
from support.collection import REPOSITORY, build, copy_sources
from support.galaxy import GalaxyServer, available
from support.run import Result, Runner, write_inventory

NAME = "server_management.cloud"
NEXT_VERSION = "1000.0.0"
SLOW = 600.0  # seconds; the server runs Galaxy's importer on what is published

pytestmark = pytest.mark.skipif(not available(), reason="PostgreSQL's server is not installed")


class User:
    """A user whose Ansible has one Galaxy server and one collections path."""

    def __init__(self, server: GalaxyServer, home: Path) -> None:
        self.collections = home / "collections"
        self.runner = Runner(home, self.collections)
        server.configure(home / "ansible.cfg")

    def galaxy(self, verb: str, *arguments: str | Path) -> Result:
        """Run a verb of ``ansible-galaxy collection``."""
        return self.runner.galaxy("collection", verb, *arguments, time_limit=SLOW)

    def version(self) -> str:
        """Return the version that ``list`` shows."""
        listing = self.galaxy("list", "--format=json").ok().json()
        version: str = listing[f"{self.collections}/ansible_collections"][NAME]["version"]
        return version


@pytest.fixture
def user(tmp_path: Path) -> Generator[User, None, None]:
    """Return a user of an empty Galaxy server."""
    with GalaxyServer() as server:
        yield User(server, tmp_path)


def build_next(user: User, folder: Path) -> Path:
    """Build the working tree as a later version."""
    copy = copy_sources(folder / "next")
    galaxy = yaml.safe_load((copy / "galaxy.yml").read_text(encoding="utf-8"))
    changed = yaml.safe_dump({**galaxy, "version": NEXT_VERSION})
    (copy / "galaxy.yml").write_text(changed, encoding="utf-8")
    return build(user.runner, folder / "next_tarball", copy)


def test_publish_install_upgrade_list_and_verify(user: User, tarball: Path, tmp_path: Path) -> None:
    galaxy = yaml.safe_load((REPOSITORY / "galaxy.yml").read_text(encoding="utf-8"))
    assert user.galaxy("publish", tarball).ok().says("successfully published and imported")
    user.galaxy("install", NAME).ok()
    assert user.version() == galaxy["version"]

    user.galaxy("publish", build_next(user, tmp_path)).ok()
    user.galaxy("install", NAME).ok()
    assert user.version() == galaxy["version"]
    user.galaxy("install", NAME, "--upgrade").ok()
    assert user.version() == NEXT_VERSION
    assert user.galaxy("verify", NAME).ok().says("match the remote collection")

    with Sandbox(servers=3) as sandbox:
        options = {"base_url": sandbox.url, "api_token": sandbox.token}
        listing = user.runner.inventory("-i", write_inventory(tmp_path, options), "--list").ok()
    assert len(listing.json()["_meta"]["hostvars"]) == 3

    plugin = user.collections / "ansible_collections/server_management/cloud/plugins/inventory"
    (plugin / "servers.py").write_text("changed", encoding="utf-8")
    changed = user.galaxy("verify", NAME)
    assert changed.rc != 0
    assert changed.says("plugins/inventory/servers.py")
