# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Use the collection with ansible-runner."""

import yaml

from support.run import Runner, find_in_files

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
