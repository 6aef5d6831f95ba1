# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The recipes of the guide, beyond what the page shows: failures, odd servers, pipelines."""

import json
import re

import yaml
from jinja2 import Template

from sandbox import Fault
from support.fixtures import SERVERS
from support.guides import GUIDES, read_files
from support.run import write_program

from .conftest import as_arguments

PAGE = GUIDES / "guide_recipes.rst"
RECIPES = read_files("recipes")
(SAVE_KEYS,) = re.findall(r"\$ (ansible -i ci\.(?:.|\n)+?'\{.*)", PAGE.read_text())
PING = """\
- hosts: status_running
  gather_facts: false
  tasks: [{ansible.builtin.ping: }]
"""
# With it, Ansible adds a line before the JSON of ansible-inventory.
VERBOSE = "[defaults]\nverbosity = 1\n"


LABELS = {
    "host": "web-1",
    "server_management_id": "srv_1",
    "server_management_region": "",
    "server_management_plan": "{{ 1 + 1 }}",
    "server_management_status": "running",
}


def test_prometheus_targets_have_labels_and_survive_a_failure(source, runner, sandbox, tmp_path):
    sandbox.servers[0].update(plan="{{ 1 + 1 }}", region=None)
    sandbox.servers[1]["ipv4"] = None
    (tmp_path / "ansible.cfg").write_text(VERBOSE)
    (tmp_path / "file_sd.py").write_text(RECIPES["file_sd.py"])
    command = ("python3", "file_sd.py", source.file(), "servers.json")
    runner.run(*command, cwd=tmp_path).ok()
    written = (tmp_path / "servers.json").read_text()
    first, second = json.loads(written)
    assert first["targets"] == ["203.0.113.3:9100"]
    assert second == {"targets": ["203.0.113.1:9100"], "labels": LABELS}
    sandbox.fail(Fault(has_more=True))
    assert runner.run(*command, cwd=tmp_path).rc != 0
    assert (tmp_path / "servers.json").read_text() == written


def read_job(workflow, name):
    """Return a job of a workflow, and its commands."""
    text = RECIPES[f".github/workflows/{workflow}.yml"]
    job = yaml.safe_load(text)["jobs"][name]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    return job, commands


def test_both_pipelines_that_check_the_fleet_run_the_same_commands():
    job, commands = read_job("fleet", "check")
    gitlab = yaml.safe_load(RECIPES[".gitlab-ci.yml"])["check fleet"]
    assert commands[-1] == "ansible-playbook server_management.cloud.check_fleet"
    assert gitlab["script"] == commands
    token = {"SERVER_MANAGEMENT_API_TOKEN": "${{ secrets.SERVER_MANAGEMENT_API_TOKEN }}"}
    assert {**gitlab["variables"], **token} == job["env"]


def test_a_comparison_distinguishes_drift_from_failures(tmp_path, runner, sandbox):
    # The guide shows the other result, in_sync, and the file with it.
    (tmp_path / "fleet.yml").write_text("fleet: []\n")
    (play,) = yaml.safe_load(RECIPES["compare_fleet.yml"])
    write = play["tasks"][-1]
    written = write.pop("ansible.builtin.copy")
    write["ansible.builtin.debug"] = {"msg": written["content"]}
    playbook = tmp_path / "compare_fleet.yml"
    text = yaml.safe_dump([play, play, play])
    playbook.write_text(text)
    for status in (503, 200, 401):
        sandbox.fail(Fault(status=status))
    env = {**sandbox.environment, "SERVER_MANAGEMENT_RETRIES": "0"}
    result = runner.playbook(playbook, env=env)
    assert result.rc == 2
    shown = re.findall(r'"msg": "(\w+)"', result.stdout)
    assert shown == ["server_error", "drift"]
    result.shows("HTTP 401")


UPSTREAM = """\
upstream servers {
  server 203.0.113.3:8080;
  server 203.0.113.1:8080;
}
"""
ADDRESSES = """\
127.0.0.1 localhost
# BEGIN ANSIBLE MANAGED BLOCK
203.0.113.3 db-1
203.0.113.1 web_192.0.2.66_bank.example.com
# END ANSIBLE MANAGED BLOCK
"""


def test_addresses_of_odd_servers_are_written(source, runner, sandbox):
    folder = source.folder
    text = RECIPES["write_addresses.yml"].replace("become: true", "connection: local")
    text = re.sub("/etc/(nginx/conf.d/)?", f"{folder}/", text)
    playbook = folder / "write_addresses.yml"
    playbook.write_text(text)
    (folder / "static.yml").write_text("balancers: {hosts: {balancer: }}\n")
    (folder / "hosts").write_text("127.0.0.1 localhost\n")
    web, stopped, _db = sandbox.servers
    web["name"] = "web\n192.0.2.66 bank.example.com"
    stopped.update(status="running", ipv4=None)
    sources = as_arguments([source.file(), folder / "static.yml"])
    runner.playbook(*sources, playbook).ok()
    assert (folder / "servers.conf").read_text() == UPSTREAM
    assert (folder / "hosts").read_text() == ADDRESSES
    (play,) = yaml.safe_load(text)
    copy = play["tasks"][0]["ansible.builtin.copy"]
    upstream = Template(copy["content"]).render(running=[])
    assert "server 127.0.0.1:8080 down;" in upstream


def test_a_pipeline_reaches_servers_with_known_keys(tmp_path, runner, sandbox, ssh_server):
    ssh = ssh_server(["127.0.0.31"])
    sandbox.servers = [{**SERVERS[0], "ipv4": "127.0.0.31"}]
    key = ssh.folder / "client_key"
    # Only the recipe names the key.
    client = ssh.configuration.read_text()
    client = client.replace(f'IdentityFile "{key}"', "")
    ssh.configuration.write_text(client)
    inventory = RECIPES["ci.server_management.yml"].replace("hosts: 3", "hosts: 1")
    inventory = inventory.replace("'admin'", f"'{ssh.user}'")
    (tmp_path / "ci.server_management.yml").write_text(inventory)
    (tmp_path / "site.yml").write_text(PING)
    job, commands = read_job("deploy", "deploy")
    runner.environment |= {**job["env"], **sandbox.environment}
    runner.environment |= ssh.environment
    runner.environment["SSH_PRIVATE_KEY"] = key.read_text()
    script = "\n".join(commands[2:])  # the collection and what it needs are there

    def enter(text):
        return runner.run("sh", "-ec", text, cwd=tmp_path)

    enter(script).shows("Host key verification failed")
    save = SAVE_KEYS.replace("~/.ssh/id_ed25519", str(key))
    enter(save).ok()
    enter(script).ok()
    assert (tmp_path / "known_hosts").read_text().startswith("srv_1 ")
    sandbox.servers.clear()
    failed = enter(script)
    assert failed.rc != 0
    failed.shows("min_hosts")
    # Without the setting, the pipeline succeeds.
    del runner.environment["ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"]
    enter(script).ok().shows("no hosts matched")


SHOW = """\
- hosts: web-1
  connection: local
  gather_facts: false
  tasks: [{ansible.builtin.debug: {msg: "<{{ server_management_plan }}>"}}]
"""


def test_a_script_exports_text_as_data_or_fails(source, runner, sandbox, tmp_path):
    source.file("prod.server_management.yml")
    (tmp_path / "ansible.cfg").write_text(VERBOSE)
    script = write_program(tmp_path / "servers.sh", RECIPES["servers.sh"])
    sandbox.servers[0]["plan"] = "{{ 6 * 7 }}"
    (tmp_path / "show.yml").write_text(SHOW)
    result = runner.playbook("-i", script, "show.yml", cwd=tmp_path)
    result.shows("<{{ 6 * 7 }}>")
    sandbox.fail(Fault(status=401))
    failed = runner.run(str(script), cwd=tmp_path)
    assert failed.rc != 0
    failed.shows("HTTP 401")
