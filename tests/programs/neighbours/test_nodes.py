# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Execution nodes: a real ansible-runner sends a job to a worker, and gets its results back."""

import pytest
import yaml

from support.run import Runner
from support.secrets import find_in_files

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


class Job:
    """A job of a control node, and the execution node that gets it as a stream."""

    def __init__(self, node, folder, variables):
        self.node = node
        self.folder = folder
        self.variables = variables
        self.control = Runner(folder / "control_home")
        self.control.environment["TMPDIR"] = node.environment["TMPDIR"]
        self.write("project/site.yml", PLAYBOOK)
        self.write("inventory/awx.server_management.yml", INVENTORY)

    def write(self, name, text):
        path = self.folder / "private" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def artifact(self, name):
        return (self.folder / "private/artifacts/job" / name).read_text()

    def run(self):
        self.write("env/envvars", yaml.safe_dump(self.variables))
        transmit = "ansible-runner transmit private --playbook site.yml --ident job > sent"
        work = "ansible-runner worker --private-data-dir worker < sent > received"
        process = "ansible-runner process private --ident job < received"
        self.control.run("sh", "-c", transmit, cwd=self.folder).ok()
        self.node.run("sh", "-c", work, cwd=self.folder)
        return self.control.run("sh", "-c", process, cwd=self.folder)


@pytest.fixture
def job(source, tmp_path):
    """Return a job with a credential like that of the AWX guide, whose files are on the node."""
    variables = {
        "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true",
        "SERVER_MANAGEMENT_BASE_URL": source.sandbox.url,
        "SERVER_MANAGEMENT_API_TOKEN_FILE": str(tmp_path / "worker/env/token"),
    }
    job = Job(source.runner, tmp_path, variables)
    job.write("env/token", source.sandbox.token)
    return job


def test_a_job_runs_on_a_node_and_its_token_does_not_come_back(job, source):
    job.variables["VISIBLE"] = "of the environment"
    assert "the account has 3 servers" in job.run().ok().stdout
    assert job.artifact("rc") == "0"
    assert len(source.sandbox.requests) == 2  # of the inventory and of the module
    # The environment of a job comes back in clear. The token is not there.
    assert "of the environment" in job.artifact("command")
    assert find_in_files(job.folder / "private/artifacts") == []


def test_a_token_that_a_node_has_travels_in_no_stream(job, source):
    (job.folder / "private/env/token").unlink()
    (job.node.home / "token").write_text(source.sandbox.token)
    job.variables["SERVER_MANAGEMENT_API_TOKEN_FILE"] = "~/token"
    assert "the account has 3 servers" in job.run().ok().stdout
    # Both streams were unpacked, so that a token in them would be in one of these folders.
    command = ("grep", "--recursive", source.sandbox.token, "private", "worker")
    assert job.node.run(*command, cwd=job.folder).rc == 1
