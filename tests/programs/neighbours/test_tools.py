# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Use the inventory with other tools, with the files of the recipes."""

import shutil

import pytest

from support.guides import read_files

RECIPES = read_files("recipes")
NAME = "prod.server_management.yml"
LOCAL = {"ansible_connection": "'local'"}
CONVERGE = """\
- hosts: status_running
  gather_facts: false
  tasks: [{ansible.builtin.debug: {msg: "this is {{ server_management_id }}"}}]
"""
TEST_FILE = """\
def test_a_server(host):
    server_id = host.ansible.get_variables()["server_management_id"]
    assert host.check_output("echo %s", server_id) == "srv_1"
"""


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed")
def test_jq_reads_servers_with_odd_fields(source):
    source.sandbox.servers[0].update(plan="{{ 1 + 1 }}", region="{% eu\t1 %}")
    source.sandbox.servers[2]["region"] = None
    source.file(NAME)
    (source.folder / "hosts.jq").write_text(RECIPES["hosts.jq"])
    command = f"ansible-inventory -i {NAME} --list"
    read = source.runner.run("sh", "-c", f"{command} | jq -r -f hosts.jq", cwd=source.folder).ok()
    assert read.stdout.splitlines() == [
        "db-1\t203.0.113.3\t\trunning",
        r"web-1	203.0.113.1	{% eu\t1 %}	running",
        "web-2\t203.0.113.2\teu-2\tstopped",
    ]
    # Without the first line of the recipe, one such server is an error.
    simple = "._meta.hostvars[] | [.server_management_region] | @tsv"
    failed = source.runner.run("sh", "-c", f"{command} | jq -r '{simple}'", cwd=source.folder)
    assert failed.contains("is not valid in a csv row")


def test_molecule_uses_a_linked_directory(source):
    folder = source.folder / "role"
    for name in ("inventory", "molecule/default"):
        (folder / name).mkdir(parents=True)
    source.file(NAME, compose=LOCAL).rename(folder / "inventory" / NAME)
    (folder / "molecule/default/molecule.yml").write_text(RECIPES["molecule/default/molecule.yml"])
    (folder / "molecule/default/converge.yml").write_text(CONVERGE)
    converged = source.runner.run("molecule", "converge", cwd=folder).ok()
    assert converged.contains("this is srv_1")
    assert converged.contains("this is srv_3")
    assert not converged.contains("this is srv_2")


def test_testinfra_tests_the_hosts_of_a_group(source):
    (source.folder / "test_server.py").write_text(TEST_FILE)
    path = source.file(
        NAME, compose=LOCAL, filters=[{"exclude": "server_management_id == 'srv_3'"}]
    )
    arguments = ("--hosts=ansible://status_running", f"--ansible-inventory={path}")
    folder = source.folder
    tested = source.runner.run("pytest", "-p", "no:cacheprovider", "-v", *arguments, cwd=folder)
    assert tested.ok().contains("test_a_server[ansible://web-1] PASSED")
    assert tested.contains("1 passed")
