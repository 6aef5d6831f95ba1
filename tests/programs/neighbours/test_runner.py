# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Use the collection with a real ansible-runner, as AWX does."""

import yaml

from support.run import Runner, find_in_files

# Ask for the inventory, then run something on it.
LIST_AND_PING = """\
import json, sys
import ansible_runner

path, folder = sys.argv[1:]
listing, errors = ansible_runner.get_inventory(
    action="list", inventories=[path], response_format="json", quiet=True, private_data_dir=folder
)
assert not errors, errors
run = ansible_runner.run(
    private_data_dir=folder, inventory=path, module="ping", host_pattern="status_running",
    extravars={"ansible_connection": "local"}, quiet=True,
)
print(json.dumps({"listing": listing, "status": run.status, "ok": sorted(run.stats["ok"])}))
"""
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


def test_ansible_runner_lists_and_runs(source):
    path = source.file()
    listing = source.list_silently()
    run = source.runner.run("python", "-c", LIST_AND_PING, path, source.folder).ok()
    result = run.json()
    assert result["listing"] == listing
    assert result["status"] == "successful"
    assert result["ok"] == ["db-1", "web-1"]


def test_a_job_runs_on_a_node_and_its_token_does_not_come_back(source, runner, sandbox, tmp_path):
    # A credential like that of the AWX guide, whose file is on the node.
    variables = {
        "SERVER_MANAGEMENT_BASE_URL": sandbox.url,
        "SERVER_MANAGEMENT_API_TOKEN_FILE": str(tmp_path / "worker/env/token"),
        "VISIBLE": "of the environment",
    }
    files = {
        "project/site.yml": PLAYBOOK,
        "inventory/awx.server_management.yml": INVENTORY,
        "env/token": sandbox.token,
        "env/envvars": yaml.safe_dump(variables),
    }
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
