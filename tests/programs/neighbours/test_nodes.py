# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Execution nodes: a real ansible-runner sends a job to a worker with a separate environment."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from jinja2 import Template

from support.guides import read_files, read_tasks
from support.run import Runner
from support.secrets import find_in_files, find_secret

FILES = read_files("awx")
PROGRAMS = ("ansible", "ansible-inventory", "ansible-playbook", "ansible-runner")
WITNESS = "seen-in-the-environment"
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


def make_environment(folder, *missing):
    """Make a virtual environment with the packages of this one, but for some; return its Python.

    Nothing is downloaded: the packages are links.
    """
    venv = (sys.executable, "-m", "venv", "--without-pip", folder)
    subprocess.run([*map(str, venv)], check=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if entry.name not in missing and not (packages / entry.name).exists():
            (packages / entry.name).symlink_to(entry)
    python = folder / "bin" / "python"
    for entry_point in metadata.entry_points(group="console_scripts"):
        if entry_point.name in PROGRAMS:
            program = folder / "bin" / entry_point.name
            call = f"from {entry_point.module} import {entry_point.attr} as main\n"
            program.write_text(f"#!{python}\nimport sys\n{call}sys.exit(main())\n")
            program.chmod(0o755)
    return python


@dataclass
class Nodes:
    """A control node, and an execution node that shares nothing with it but the streams."""

    control: Runner
    node: Runner
    folder: Path

    @property
    def private(self):
        """Return the job's directory on the control node."""
        return self.folder / "private"

    @property
    def worker(self):
        """Return the job's directory on the execution node."""
        return self.folder / "worker"

    def write(self, name, content):
        """Write a file of the job."""
        path = self.private / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))

    def run(self):
        """Run the job from the control node to the execution node and back."""
        sent, received = self.folder / "sent.stream", self.folder / "received.stream"
        transmit = f"transmit {self.private} --playbook site.yml --ident job > {sent}"
        work = f"worker --private-data-dir {self.worker} < {sent} > {received}"
        process = f"process {self.private} --ident job < {received}"
        self.control.run("sh", "-c", f"ansible-runner {transmit}").ok()
        self.node.run("sh", "-c", f"ansible-runner {work}")
        return self.control.run("sh", "-c", f"ansible-runner {process}")


@pytest.fixture
def temporary():
    """Return a folder for sockets: their paths must be short, and pytest's folders are long."""
    with TemporaryDirectory(prefix="sm") as folder:
        yield folder


@pytest.fixture
def start(installed, tmp_path, temporary, source):
    """Return a function that prepares the job of the guide, on a node that may lack something."""

    def make(*missing):
        python = make_environment(tmp_path / "node", *missing)
        control = Runner(tmp_path / "control_home")
        node = Runner(tmp_path / "node_home", installed, python)
        for runner in (control, node):
            runner.environment["TMPDIR"] = temporary
        nodes = Nodes(control, node, tmp_path)
        # AWX keeps the files of credentials in this folder of the job.
        values = {
            "base_url": source.sandbox.url,
            "api_token": source.sandbox.token,
        }
        injectors = read_tasks(FILES["set_up_awx.yml"])["awx.awx.credential_type"]["injectors"]
        files = {key.partition(".")[2]: text for key, text in injectors["file"].items()}
        for name, text in files.items():
            nodes.write(f"env/{name}", Template(text).render(values))
        values["tower"] = {"filename": {name: str(nodes.worker / "env" / name) for name in files}}
        variables = {name: Template(text).render(values) for name, text in injectors["env"].items()}
        variables |= {"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true", "WITNESS": WITNESS}
        nodes.write("env/envvars", variables)
        nodes.write("project/site.yml", PLAYBOOK)
        nodes.write("inventory/awx.server_management.yml", FILES["awx.server_management.yml"])
        return nodes

    return make


def test_a_job_runs_on_a_node_and_its_token_does_not_come_back(start, source):
    nodes = start()
    assert "the account has 3 servers" in nodes.run().ok().stdout
    assert len(source.sandbox.requests) == 2
    artifacts = nodes.private / "artifacts" / "job"
    assert (artifacts / "rc").read_text() == "0"
    # What a job has in its environment is in clear in what comes back. The token is not there.
    assert WITNESS in (artifacts / "command").read_text()
    assert find_in_files(artifacts) == []
    assert find_in_files(nodes.worker / "artifacts") == []
    assert find_secret((nodes.folder / "received.stream").read_bytes()) == ""


def test_a_token_that_a_node_has_travels_in_no_stream(start, source):
    nodes = start()
    (nodes.private / "env" / "token").unlink()
    token = nodes.node.home / "token"
    token.write_text(source.sandbox.token, encoding="utf-8")
    variables = yaml.safe_load((nodes.private / "env" / "envvars").read_text())
    nodes.write("env/envvars", {**variables, "SERVER_MANAGEMENT_API_TOKEN_FILE": "~/token"})
    assert "the account has 3 servers" in nodes.run().ok().stdout
    stored = [path for path in nodes.folder.rglob("*") if path.is_file() and path != token]
    assert stored
    assert not [path for path in stored if source.sandbox.token.encode() in path.read_bytes()]


def test_a_node_without_requests_is_reported(start):
    nodes = start("requests")
    result = nodes.run()
    assert result.contains("The Python library requests is not installed")
    assert (nodes.private / "artifacts" / "job" / "rc").read_text() != "0"
    assert "Traceback" not in result.output
