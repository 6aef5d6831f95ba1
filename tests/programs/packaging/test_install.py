# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Install the collection in each supported way, and use it."""

import shutil
from pathlib import Path

import pytest
import yaml

from sandbox import Sandbox
from support.collection import REPOSITORY, copy_sources, sources
from support.run import Runner, write_inventory

COLLECTION = Path("ansible_collections", "server_management", "cloud")
ALL_THAT_RUNS = {"meta", "plugins"}


@pytest.fixture
def collections(tmp_path):
    """Return the collections path that a test installs into."""
    return tmp_path / "collections"


@pytest.fixture
def bare(tmp_path, collections):
    """Return a runner that looks for collections only there."""
    return Runner(tmp_path / "home", collections)


def install(runner, *what):
    """Install without a Galaxy server."""
    place = runner.environment["ANSIBLE_COLLECTIONS_PATH"]
    runner.galaxy("collection", "install", *what, "-p", place, "--offline").ok()


def assert_works(runner, folder):
    """Check that an inventory lists a sandbox's servers and prints no warning."""
    with Sandbox(servers=3) as sandbox:
        options = {"base_url": sandbox.url, "api_token": sandbox.token}
        file = write_inventory(folder, options)
        result = runner.inventory("-i", file, "--list").ok()
        assert result.stderr == ""
        names = [server["name"] for server in sandbox.servers]
        assert sorted(result.json()["_meta"]["hostvars"]) == sorted(names)


def test_the_tarball_installs(bare, tarball, tmp_path):
    install(bare, tarball)
    listing = bare.galaxy("collection", "list", "--format=json").ok().json()
    (found,) = listing.values()
    galaxy = yaml.safe_load((REPOSITORY / "galaxy.yml").read_text(encoding="utf-8"))
    assert found == {"server_management.cloud": {"version": galaxy["version"]}}
    verified = bare.galaxy("collection", "verify", "--offline", "server_management.cloud").ok()
    assert verified.contains("Successfully verified that checksums")
    assert_works(bare, tmp_path)


def test_a_requirements_file_with_a_git_address_installs(bare, tmp_path, tmp_path_factory):
    repository = copy_sources(tmp_path_factory.mktemp("repository"))
    author = ("-c", "user.name=A Tester", "-c", "user.email=tester@example.com")
    for command in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "."),
        (*author, "commit", "--quiet", "--message=All"),
    ):
        bare.run("git", *command, cwd=repository).ok()
    wanted = {"name": f"file://{repository}", "type": "git", "version": "main"}
    requirements = tmp_path / "requirements.yml"
    requirements.write_text(yaml.safe_dump({"collections": [wanted]}), encoding="utf-8")
    install(bare, "-r", requirements)
    assert_works(bare, tmp_path)


def test_meta_and_plugins_are_all_that_it_needs(bare, collections, tarball, tmp_path):
    install(bare, tarball)
    for path in (collections / COLLECTION).iterdir():
        if path.name in ALL_THAT_RUNS:
            continue
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert {path.name for path in (collections / COLLECTION).iterdir()} == ALL_THAT_RUNS
    assert_works(bare, tmp_path)


def test_the_tarball_holds_nothing_that_git_does_not(bare, collections, tarball):
    install(bare, tarball)
    place = collections / COLLECTION
    installed = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    assert installed - set(sources()) == {"MANIFEST.json", "FILES.json"}
