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
    variables = host.ansible.get_variables()
    assert host.check_output("echo %s", variables["server_management_id"]) in ("srv_1", "srv_3")
"""


def run(source, *command):
    return source.runner.run(*command, cwd=source.folder).ok()


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed")
def test_jq_reads_servers_with_odd_fields(source):
    web, _stopped, db = source.sandbox.servers
    web["region"] = "{% eu\t1 %}"
    db["region"] = None
    source.file(NAME)
    (source.folder / "hosts.jq").write_text(RECIPES["hosts.jq"])
    command = f"ansible-inventory -i {NAME} --list | jq -r -f hosts.jq"
    result = run(source, "sh", "-c", command)
    assert result.stdout.splitlines() == [
        "db-1\t203.0.113.3\t\trunning",
        r"web-1	203.0.113.1	{% eu\t1 %}	running",
        "web-2\t203.0.113.2\teu-2\tstopped",
    ]


def test_molecule_uses_a_linked_directory(source):
    folder = source.folder / "molecule/default"
    folder.mkdir(parents=True)
    (folder / "molecule.yml").write_text(RECIPES["molecule/default/molecule.yml"])
    (folder / "converge.yml").write_text(CONVERGE)
    (source.folder / "inventory").mkdir()
    source.file(f"inventory/{NAME}", compose=LOCAL)
    converged = run(source, "molecule", "converge")
    assert converged.contains("this is srv_1")
    assert converged.contains("this is srv_3")
    assert not converged.contains("this is srv_2")


def test_testinfra_tests_the_hosts_of_a_group(source):
    (source.folder / "test_server.py").write_text(TEST_FILE)
    path = source.file(NAME, compose=LOCAL)
    command = ["pytest", "-p", "no:cacheprovider"]
    command += ["--hosts=ansible://status_running", f"--ansible-inventory={path}"]
    tested = run(source, *command)
    assert tested.contains("2 passed")
