# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Use the collection with ansible-builder."""

import yaml

from support.guides import read_files

NAME = "execution-environment.yml"


def test_an_image_with_the_collection_gets_requests(runner, installed):
    result = runner.run("ansible-builder", "introspect", installed).ok()
    packages = yaml.safe_load(result.stdout)["python"]
    assert packages == ["requests>=2.28.0  # from collection server_management.cloud"]


def test_the_definition_of_the_guide_makes_an_image_with_the_collection(runner, tmp_path):
    definition = tmp_path / NAME
    definition.write_text(read_files("awx")[NAME])
    context = tmp_path / "context"
    runner.run("ansible-builder", "create", "-f", definition, "-c", context).ok()
    text = (context / "_build/requirements.yml").read_text()
    url = "https://git.example.com/server_management/cloud.git"
    assert yaml.safe_load(text) == {"collections": [{"name": url, "type": "git"}]}
    # The versions that the page chooses, because the image has an older Python.
    (containerfile,) = context.glob("*file")  # its name depends on what is installed
    lines = containerfile.read_text()
    assert 'PYCMD="/usr/bin/python3.12"' in lines
    assert 'ANSIBLE_INSTALL_REFS="ansible-core~=2.21.0 ansible-runner~=2.4"' in lines
