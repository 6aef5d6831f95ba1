# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Use the inventory with other tools, with the files of the recipes, and a cache in Redis."""

import shutil
import subprocess

import pytest
from e2e.conftest import hosts

from support.fixtures import KNOWN, KNOWN_NAMES
from support.guides import GUIDES, read_files
from support.run import Runner
from support.sshd import free_port

RECIPES = read_files("recipes")
NAME = "prod.server_management.yml"
LOCAL = {"ansible_connection": "'local'"}
CONVERGE = """\
- hosts: status_running
  gather_facts: false
  tasks: [{ansible.builtin.debug: {msg: "{{ server_management_id }} for {{ purpose }}"}}]
"""
PING = """\
- hosts: status_running
  gather_facts: false
  tasks: [{ansible.builtin.ping: }]
"""
TESTINFRA = (
    f"pytest -p no:pytest-ansible --hosts=ansible://status_running --ansible-inventory={NAME}"
)
TEST_FILE = """\
def test_a_server(host):
    variables = host.ansible.get_variables()
    assert host.check_output("echo %s", variables["server_management_id"]) in ("srv_1", "srv_3")
"""


def run(source, *command):
    return source.runner.run(*command, cwd=source.folder)


@pytest.fixture
def scenario(source):
    """Return a folder with the scenario of the guide for Molecule, and an inventory to link."""
    folder = source.folder / "molecule/default"
    folder.mkdir(parents=True)
    (folder / "molecule.yml").write_text(RECIPES["molecule/default/molecule.yml"])
    (folder / "converge.yml").write_text(CONVERGE)
    for name in ("group_vars", "host_vars"):
        (source.folder / "inventory" / name).mkdir(parents=True)
    return source.folder


def test_molecule_reads_variables_beside_the_inventory_file(source, scenario):
    source.file(f"inventory/{NAME}")
    (scenario / "inventory/group_vars/all.yml").write_text("purpose: tests\n")
    (scenario / "inventory/host_vars/web-1.yml").write_text("server_management_id: srv_of_file\n")
    converged = run(source, "molecule", "converge").ok()
    converged.shows("srv_of_file for tests", "srv_3 for tests")
    assert not converged.contains("srv_2")
    source.file(f"inventory/{NAME}", api_token="wrong")
    failed = run(source, "molecule", "converge")
    assert failed.rc != 0
    failed.shows("The API rejected the token")


def test_molecule_refuses_a_changed_host_key(source, scenario, ssh_server):
    ssh = ssh_server(["127.0.0.31"])
    source.sandbox.servers = [{**KNOWN[0], "ipv4": "127.0.0.31"}]
    source.runner.environment.update(ssh.environment)
    source.file(f"inventory/{NAME}")
    accept_new = "ansible_ssh_common_args: -o StrictHostKeyChecking=accept-new\n"
    (scenario / "inventory/group_vars/all.yml").write_text(accept_new)
    (scenario / "molecule/default/converge.yml").write_text(PING)
    run(source, "molecule", "converge").ok()
    ssh.replace()
    refused = run(source, "molecule", "converge")
    assert refused.rc != 0
    refused.shows("REMOTE HOST IDENTIFICATION HAS CHANGED")


def test_testinfra_tests_the_hosts_of_a_group(source):
    assert TESTINFRA in (GUIDES / "guide_recipes.rst").read_text()
    (source.folder / "test_server.py").write_text(TEST_FILE)
    source.file(NAME, compose=LOCAL)
    run(source, "sh", "-c", TESTINFRA).ok().shows("2 passed")


PROGRAM = shutil.which("redis-server") or ""


@pytest.fixture
def redis(tmp_path):
    """Run a Redis server on loopback that writes nothing to disk, and return its port."""
    port = free_port()
    options = ("--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", tmp_path)
    command = (PROGRAM, *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        for line in process.stdout or ():
            if "Ready to accept connections" in line:
                break
        yield port
        process.terminate()


@pytest.mark.skipif(not PROGRAM, reason="Redis is not installed")
def test_several_controllers_share_a_listing(source, sandbox, redis, installed, tmp_path):
    plugin = "community.general.redis"
    path = source.file(cache=True, cache_plugin=plugin, cache_connection=f"127.0.0.1:{redis}:0")
    first = source.runner.inventory("-i", path, "--list").ok().json()
    assert hosts(first) == KNOWN_NAMES
    other = Runner(tmp_path / "another_home", installed)
    assert other.inventory("-i", path, "--list").ok().json() == first
    assert len(sandbox.requests) == 1

    sandbox.servers.pop()
    source.flush(path).ok()
    assert hosts(other.inventory("-i", path, "--list").ok().json()) == ["web-1", "web-2"]
    assert len(sandbox.requests) == 2
