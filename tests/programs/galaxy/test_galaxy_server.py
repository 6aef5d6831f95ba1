# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Rehearse a release: publish it to a real Galaxy server; install, upgrade and verify it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox import Sandbox
from support.collection import PLACE, REPOSITORY, build, copy_sources
from support.galaxy import GalaxyServer, available
from support.run import Result, Runner, write_inventory

NAME = "server_management.cloud"
OLDER_VERSION = "0.0.1"
SLOW = 600.0  # seconds; the server runs Galaxy's importer on what is published

pytestmark = pytest.mark.skipif(not available(), reason="PostgreSQL's server is not installed")


class User:
    """A user whose Ansible has one Galaxy server and one collections path."""

    def __init__(self, server: GalaxyServer, home: Path) -> None:
        self.collections = home / "collections"
        self.runner = Runner(home, self.collections)
        loopback = f"[galaxy_server.loopback]\nurl = {server.url}\napi_version = 3\n"
        (home / "ansible.cfg").write_text(f"[galaxy]\nserver_list = loopback\n\n{loopback}")

    def galaxy(self, verb: str, *arguments: str | Path) -> Result:
        """Run a verb of ``ansible-galaxy collection``."""
        return self.runner.galaxy("collection", verb, *arguments, time_limit=SLOW)

    def version(self) -> str:
        """Return the version that ``list`` shows."""
        listing = self.galaxy("list", "--format=json").ok().json()
        version: str = listing[f"{self.collections}/ansible_collections"][NAME]["version"]
        return version


@pytest.fixture
def server() -> Generator[GalaxyServer, None, None]:
    """Return an empty Galaxy server."""
    with GalaxyServer() as running:
        yield running


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a repository whose one commit can be released: its address is not a placeholder."""
    folder = copy_sources(tmp_path / "checkout")
    text = (folder / "galaxy.yml").read_text(encoding="utf-8")
    real = text.replace("https://example.com/server_management/", "https://github.com/a-company/")
    assert real != text
    (folder / "galaxy.yml").write_text(real, encoding="utf-8")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    author = ("-c", "user.name=A Maintainer", "-c", "user.email=maintainer@example.com")
    git(folder, *author, "commit", "--quiet", "--message", "Release")
    return folder


def git(folder: Path, *arguments: str) -> None:
    command = ("git", *arguments)
    subprocess.run(command, cwd=folder, check=True)


def release(checkout: Path) -> subprocess.CompletedProcess[str]:
    """Run the command that builds a release in .github/workflows/release.yml.

    Without the checks that it starts with: this test is one of them.
    """
    # Not made anew for the checkout: nox and uv are what the session of this test uses.
    tools = Path(os.environ.get("TOOLS", REPOSITORY / ".venv-tools"))
    (command,) = [step["run"] for step in steps("build") if "make" in step.get("run", "")]
    return subprocess.run(
        [*command.split(), "-o", str(tools / "ready"), f"TOOLS={tools}", "CHECKS="],
        cwd=checkout,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SLOW,
        check=False,
    )


def publish(user: User, checkout: Path) -> Result:
    """Run the command that publishes a release in the workflow."""
    command = steps("publish")[-1]["run"]
    assert command == "ansible-galaxy collection publish *.tar.gz"
    (tarball,) = checkout.glob(steps("build")[-1]["with"]["path"])
    return user.galaxy("publish", tarball)


def steps(job: str) -> list[dict[str, Any]]:
    """Return the steps of a job of the workflow."""
    workflow = REPOSITORY / ".github" / "workflows" / "release.yml"
    content = yaml.safe_load(workflow.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = content["jobs"][job]["steps"]
    return found


def test_a_release_is_published_installed_upgraded_and_verified(
    server: GalaxyServer, checkout: Path, tmp_path: Path
) -> None:
    galaxy = yaml.safe_load((checkout / "galaxy.yml").read_text(encoding="utf-8"))
    user = User(server, tmp_path / "user")
    older = copy_sources(tmp_path / "older")
    (older / "galaxy.yml").write_text(yaml.safe_dump({**galaxy, "version": OLDER_VERSION}))
    published = user.galaxy("publish", build(user.runner, tmp_path / "older_tarball", older)).ok()
    assert published.contains("successfully published and imported")
    user.galaxy("install", NAME).ok()
    assert user.version() == OLDER_VERSION

    untagged = release(checkout)
    assert untagged.returncode != 0
    assert "the commit's tag must be" in untagged.stdout
    git(checkout, "tag", galaxy["version"])
    (checkout / ".git/info/exclude").write_text("private.txt\n", encoding="utf-8")
    (checkout / "private.txt").write_text("ignored on this machine only", encoding="utf-8")
    # git status does not show this change, so only the commit is without it.
    git(checkout, "update-index", "--assume-unchanged", "README.md")
    (checkout / "README.md").write_text("not in the commit", encoding="utf-8")
    built = release(checkout)
    assert built.returncode == 0, built.stdout
    assert publish(user, checkout).ok().contains("successfully published and imported")

    user.galaxy("install", NAME).ok()
    assert user.version() == OLDER_VERSION
    user.galaxy("install", NAME, "--upgrade").ok()
    new_user = User(server, tmp_path / "new_user")
    new_user.galaxy("install", NAME).ok()
    for each in (user, new_user):
        assert each.version() == galaxy["version"]
        assert not list(each.collections.rglob("private.txt"))
        readme = (each.collections / PLACE / "README.md").read_text(encoding="utf-8")
        assert f"/blob/{galaxy['version']}/docs/" in readme
        assert "](docs/" not in readme
        assert each.galaxy("verify", NAME).ok().contains("match the remote collection")

    with Sandbox(servers=3) as sandbox:
        options = {"base_url": sandbox.url, "api_token": sandbox.token}
        path = write_inventory(tmp_path, options)
        listing = new_user.runner.inventory("-i", path, "--list").ok()
    assert len(listing.json()["_meta"]["hostvars"]) == 3

    plugin = user.collections / "ansible_collections/server_management/cloud/plugins/inventory"
    (plugin / "servers.py").write_text("changed", encoding="utf-8")
    changed = user.galaxy("verify", NAME)
    assert changed.rc != 0
    assert changed.contains("plugins/inventory/servers.py")
