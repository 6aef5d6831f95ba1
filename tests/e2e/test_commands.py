# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the tarball, and the output of ansible-inventory and ansible-doc, without warnings."""

import tarfile

import pytest

from support.collection import REPOSITORY

PATHS = sorted(REPOSITORY.glob("plugins/modules/*.py"))
MODULES = [f"server_management.cloud.{path.stem}" for path in PATHS]


@pytest.mark.parametrize("view", ["--graph --vars", "--host web-1", "--list --yaml"])
def test_no_view_of_an_inventory_has_warnings(source, view):
    path = source.file()
    result = source.runner.inventory("-i", path, *view.split())
    assert result.stderr == ""
    result.shows("srv_1")


def test_python_has_no_warnings(source):
    path = source.file(compose={"a": "server_management_plan | upper"})
    env = {"PYTHONWARNINGS": "always"}
    result = source.runner.inventory("-i", path, "--list", env=env)
    assert "server_management" not in result.ok().stderr


def test_ansible_doc_shows_the_plugins_without_warnings(runner):
    inventory = runner.doc("-t", "inventory", "server_management.cloud.servers")
    modules = runner.doc(*MODULES)
    assert inventory.stderr + modules.stderr == ""
    # What a link macro becomes if ansible-doc can't read it.
    assert "#stq=" not in inventory.stdout + modules.stdout


def test_the_tarball_has_all_files_that_are_used(tarball):
    with tarfile.open(tarball) as archive:
        packed = {member.name for member in archive}
    used = {"README.md", "LICENSE", "CHANGELOG.rst", "requirements.txt"}
    for folder in ("docs", "extensions", "meta", "playbooks", "plugins", "tests/sandbox"):
        for path in (REPOSITORY / folder).rglob("*.*"):
            is_temporary = path.name.startswith(".") or path.name.endswith(("~", ".pyc"))
            if not is_temporary:
                used.add(path.relative_to(REPOSITORY).as_posix())
    assert sorted(used - packed) == []
