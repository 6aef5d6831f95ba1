# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the output of ansible-inventory and ansible-doc, without warnings."""

from support.collection import REPOSITORY

PATHS = sorted(REPOSITORY.glob("plugins/modules/*.py"))
MODULES = [f"server_management.cloud.{path.stem}" for path in PATHS]


def test_an_inventory_in_yaml_has_no_warnings(source):
    result = source.run("--yaml")
    assert result.stderr == ""
    result.shows("server_management_id: srv_1")


def test_ansible_doc_shows_the_plugins_without_warnings(runner):
    inventory = runner.doc("-t", "inventory", "server_management.cloud.servers")
    modules = runner.doc(*MODULES)
    assert inventory.stderr + modules.stderr == ""
    # What a link macro becomes if ansible-doc can't read it.
    assert "#stq=" not in inventory.stdout + modules.stdout
