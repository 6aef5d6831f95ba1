# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build a release as the workflow does, and install it."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from support.collection import PLACE, REPOSITORY, copy_sources, install
from support.run import Runner

WORKFLOW = REPOSITORY / ".github" / "workflows" / "release.yml"
TIME_LIMIT = 300.0  # seconds


def git(folder, *arguments):
    author = ("-c", "user.name=A Maintainer", "-c", "user.email=maintainer@example.com")
    command = ("git", *author, *arguments)
    subprocess.run(command, cwd=folder, check=True)


@pytest.fixture
def checkout(tmp_path):
    """Return a repository whose one commit can be released: its address is not a placeholder."""
    folder = copy_sources(tmp_path / "checkout")
    galaxy = folder / "galaxy.yml"
    text = galaxy.read_text(encoding="utf-8")
    galaxy.write_text(text.replace("https://example.com/", "https://git.invalid/"))
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Release")
    return folder


def steps_of_the_build():
    """Return the steps of the job that builds a release."""
    workflow = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    return workflow["jobs"]["build"]["steps"]


def release(checkout):
    """Build with the workflow's command, but without the checks, of which this test is one."""
    commands = [step.get("run", "") for step in steps_of_the_build()]
    (command,) = [command for command in commands if command.startswith("make ")]
    # Not made anew for the checkout: nox and uv are what the session of this test uses.
    tools = Path(os.environ.get("TOOLS", REPOSITORY / ".venv-tools"))
    return subprocess.run(
        [*command.split(), "-o", str(tools / "ready"), f"TOOLS={tools}", "CHECKS="],
        cwd=checkout,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )


def test_a_release_is_the_tagged_commit(checkout, tmp_path):
    version = yaml.safe_load((checkout / "galaxy.yml").read_text(encoding="utf-8"))["version"]
    untagged = release(checkout)
    assert untagged.returncode != 0
    assert "the commit's tag must be" in untagged.stdout

    git(checkout, "tag", version)
    (checkout / ".git/info/exclude").write_text("private.txt\n", encoding="utf-8")
    (checkout / "private.txt").write_text("ignored on this machine only", encoding="utf-8")
    # git status does not show this change, so only the commit is without it.
    git(checkout, "update-index", "--assume-unchanged", "README.md")
    (checkout / "README.md").write_text("not in the commit", encoding="utf-8")
    built = release(checkout)
    assert built.returncode == 0, built.stdout

    (tarball,) = checkout.glob(steps_of_the_build()[-1]["with"]["path"])
    assert tarball.name == f"server_management-cloud-{version}.tar.gz"
    installed = install(Runner(tmp_path / "home"), tarball, tmp_path / "collections") / PLACE
    assert not (installed / "private.txt").exists()
    readme = (installed / "README.md").read_text(encoding="utf-8")
    assert f"/blob/{version}/docs/" in readme
    assert "](docs/" not in readme
