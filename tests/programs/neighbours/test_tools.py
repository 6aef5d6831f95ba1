# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Use the collection with other programs: Molecule, Testinfra, Redis and ansible-runner."""

import shutil
import subprocess

import pytest
import yaml
from e2e.conftest import hosts

from support.fixtures import KNOWN, KNOWN_NAMES
from support.guides import GUIDES, read_files
from support.run import Runner, find_in_files
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
def scenario(tmp_path):
    """Return a folder with the scenario of the guide for Molecule, and an inventory to link."""
    folder = tmp_path / "molecule/default"
    folder.mkdir(parents=True)
    (folder / "molecule.yml").write_text(RECIPES["molecule/default/molecule.yml"])
    (folder / "converge.yml").write_text(CONVERGE)
    for name in ("group_vars", "host_vars"):
        (tmp_path / "inventory" / name).mkdir(parents=True)
    return tmp_path


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


def test_molecule_refuses_a_changed_host_key(source, runner, sandbox, scenario, ssh_server):
    ssh = ssh_server(["127.0.0.31"])
    sandbox.servers = [{**KNOWN[0], "ipv4": "127.0.0.31"}]
    runner.environment.update(ssh.environment)
    source.file(f"inventory/{NAME}")
    accept_new = "ansible_ssh_common_args: -o StrictHostKeyChecking=accept-new\n"
    (scenario / "inventory/group_vars/all.yml").write_text(accept_new)
    (scenario / "molecule/default/converge.yml").write_text(PING)
    run(source, "molecule", "converge").ok()
    ssh.replace()
    refused = run(source, "molecule", "converge")
    assert refused.rc != 0
    refused.shows("REMOTE HOST IDENTIFICATION HAS CHANGED")


def test_testinfra_tests_the_hosts_of_a_group(source, tmp_path):
    assert TESTINFRA in (GUIDES / "guide_recipes.rst").read_text()
    (tmp_path / "test_server.py").write_text(TEST_FILE)
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
def test_several_controllers_share_a_listing(source, runner, sandbox, redis, installed, tmp_path):
    options = {"cache": True, "cache_plugin": "community.general.redis"}
    path = source.file(**options, cache_connection=f"127.0.0.1:{redis}:0")
    first = runner.inventory("-i", path, "--list").ok().json()
    assert hosts(first) == KNOWN_NAMES
    other = Runner(tmp_path / "another_home", installed)
    assert other.inventory("-i", path, "--list").ok().json() == first
    assert len(sandbox.requests) == 1

    sandbox.servers.pop()
    source.flush(path).ok()
    second = other.inventory("-i", path, "--list").ok().json()
    assert hosts(second) == ["web-1", "web-2"]
    assert len(sandbox.requests) == 2


# A job travels to an execution node as a stream, and so do its results.
TRANSMIT = "ansible-runner transmit private --playbook site.yml --ident job > sent"
WORK = "ansible-runner worker --private-data-dir worker < sent > received"
PROCESS = "ansible-runner process private --ident job < received"
INVENTORY = "plugin: server_management.cloud.servers\nmin_servers: 1\n"
PLAYBOOK = """\
- hosts: status_running
  connection: local
  gather_facts: false
  tasks:
    - server_management.cloud.server_info:
      register: account
      run_once: true
    - ansible.builtin.debug:
        msg: "the account has {{ account.servers | length }} servers"
      run_once: true
"""


PROJECT = {"project/site.yml": PLAYBOOK, "inventory/awx.server_management.yml": INVENTORY}


def test_a_job_runs_on_a_node_and_its_token_does_not_come_back(runner, sandbox, tmp_path):
    # A credential like that of the AWX guide, whose file is on the node.
    variables = {"VISIBLE": "of the environment"}
    variables["SERVER_MANAGEMENT_BASE_URL"] = sandbox.url
    variables["SERVER_MANAGEMENT_API_TOKEN_FILE"] = str(tmp_path / "worker/env/token")
    files = {**PROJECT, "env/token": sandbox.token}
    files["env/envvars"] = yaml.safe_dump(variables)
    for name, text in files.items():
        path = tmp_path / "private" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    control = Runner(tmp_path / "control_home")
    control.environment["TMPDIR"] = runner.environment["TMPDIR"]

    control.run("sh", "-c", TRANSMIT, cwd=tmp_path).ok()
    runner.run("sh", "-c", WORK, cwd=tmp_path)
    processed = control.run("sh", "-c", PROCESS, cwd=tmp_path).ok()

    assert "the account has 3 servers" in processed.stdout
    assert len(sandbox.requests) == 2  # of the inventory and of the module
    artifacts = tmp_path / "private/artifacts"
    # The environment of a job comes back in clear. The token is not there.
    assert "of the environment" in (artifacts / "job/command").read_text()
    assert find_in_files(artifacts) == []
