# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Use the collection with ansible-builder."""

import pytest
import yaml

from support.guides import read_files

REPOSITORY_URL = "https://git.example.com/server_management/cloud.git"
GALAXY = {"collections": [{"name": REPOSITORY_URL, "type": "git"}]}
NAME = "execution-environment.yml"


@pytest.fixture
def requirements(runner, installed):
    """Return the Python packages that an image with the collection would contain."""
    result = runner.run("ansible-builder", "introspect", installed).ok()
    return yaml.safe_load(result.stdout)["python"]


def test_the_image_gets_requests(requirements):
    assert requirements == ["requests>=2.28.0  # from collection server_management.cloud"]


def test_a_build_context_asks_for_the_collection_and_what_it_needs(
    runner, installed, requirements, tmp_path
):
    definition = tmp_path / NAME
    definition.write_text(read_files("awx")[NAME], encoding="utf-8")
    context = tmp_path / "context"
    runner.run("ansible-builder", "create", "-f", definition, "-c", context).ok()
    galaxy = yaml.safe_load((context / "_build" / "requirements.yml").read_text("utf-8"))
    assert galaxy == GALAXY
    # The versions that the page chooses, because the image has an older Python.
    (path,) = context.glob("*file")  # its name depends on what is installed
    containerfile = path.read_text("utf-8")
    assert 'PYCMD="/usr/bin/python3.12"' in containerfile
    assert 'PYPKG="python3.12"' in containerfile
    assert 'ANSIBLE_INSTALL_REFS="ansible-core~=2.21.0 ansible-runner~=2.4"' in containerfile
    # What the build runs in the image, once the collection is installed there.
    script = context / "_build" / "scripts" / "introspect.py"
    written = tmp_path / "requirements.txt"
    runner.run("python", script, "introspect", installed, "--write-pip", written).ok()
    assert written.read_text("utf-8").splitlines() == requirements
