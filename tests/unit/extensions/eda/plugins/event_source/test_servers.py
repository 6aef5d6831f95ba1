# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Load the event source like ansible-rulebook: by its path, without Ansible's loader."""

import json
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from ansible.plugins.loader import fragment_loader
from ansible.utils.plugin_docs import get_docstring
from jinja2 import Template

from ansible_collections.server_management.cloud.plugins.plugin_utils._polling import (
    ARGUMENTS,
    read_arguments,
)
from sandbox import Fault, Sandbox
from support.guides import read_files

ROOT = Path(__file__).resolve().parents[6]
SOURCE = Path("extensions/eda/plugins/event_source/servers.py")
TIME_LIMIT = 60.0  # seconds, of a process

# Neither Ansible nor its package of collections can be imported, as with ansible-rulebook alone.
# Whatever was imported before could hide a mistake, so each test has a process.
RULEBOOK = """
import asyncio, json, runpy, sys

for name in ("ansible", "ansible_collections", *sys.argv[3:]):
    sys.modules[name] = None
path = list(sys.path)
real_sleep = asyncio.sleep
asyncio.sleep = lambda seconds: real_sleep(0.02)  # between two polls

class Queue:
    async def put(self, event):
        assert sys.path == path
        assert sys.modules["ansible_collections"] is None
        print(json.dumps(event), flush=True)

main = runpy.run_path(sys.argv[1])["main"]
asyncio.run(asyncio.wait_for(main(Queue(), json.loads(sys.argv[2])), 60))
"""
OLD_PYTHON = """
import sys

sys.version_info = (3, 9, 18)
"""


class Process:
    """The event source in a process that prints its events."""

    def __init__(self, process):
        self._process = process

    def next_event(self):
        line = self._process.stdout.readline()
        assert line, self.error()
        return json.loads(line)["server_management"]

    def error(self):
        """Wait for the end of the process, and return the last line of its traceback."""
        _output, error = self._process.communicate(timeout=TIME_LIMIT)
        return error.splitlines()[-1]

    def interrupt_when(self, condition):
        """Interrupt the process, as Ctrl-C does, as soon as a condition holds."""
        deadline = time.monotonic() + TIME_LIMIT
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        self._process.send_signal(signal.SIGINT)


@contextmanager
def started(arguments, folder, *missing, source=ROOT / SOURCE, program=RULEBOOK):
    """Start the source in a folder without collections; ``missing`` can't be imported."""
    command = [sys.executable, "-B", "-c", program, source, json.dumps(arguments), *missing]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Process(process)
        finally:
            process.kill()


@pytest.fixture
def sandbox():
    """Serve an account with one server."""
    with Sandbox(servers=1) as api:
        yield api


def connection(sandbox):
    return {"base_url": sandbox.url, "api_token": sandbox.token, "retries": 0}


@pytest.mark.parametrize("place", ["checkout", "ansible_collections/server_management/cloud"])
def test_it_works_without_ansible(place, sandbox, tmp_path):
    collection = tmp_path / "at" / place
    collection.parent.mkdir(parents=True)
    collection.symlink_to(ROOT, target_is_directory=True)
    arguments = {**connection(sandbox), "initial": True}
    with started(arguments, tmp_path, source=collection / SOURCE) as source:
        event = source.next_event()
    (server,) = sandbox.servers
    name = server["name"]
    assert event == {"event": "appeared", "inventory_hostname": name, "server": server}


def test_it_can_be_stopped_during_a_request(sandbox, tmp_path):
    sandbox.fail(Fault.hang(), times=None)
    arguments = {**connection(sandbox), "timeout": 3600}
    with started(arguments, tmp_path) as source:
        source.interrupt_when(lambda: sandbox.requests)
        assert source.error() == "KeyboardInterrupt"


def test_a_missing_library_is_reported_with_the_command_to_install_it(sandbox, tmp_path):
    with started(connection(sandbox), tmp_path, "requests") as source:
        error = source.error()
    assert "MissingLibrary: The Python library requests is not installed" in error
    assert "Install it: `" in error


def test_a_python_that_is_too_old_is_one_plain_error(tmp_path):
    with started({}, tmp_path, program=OLD_PYTHON + RULEBOOK) as source:
        assert source.error() == (
            "RuntimeError: server_management.cloud requires Python 3.10 or later, but "
            f"ansible-rulebook runs with {sys.executable}, which is 3.9. "
            "Install ansible-rulebook with a later Python."
        )


def test_a_copy_outside_the_collection_is_one_plain_error(tmp_path):
    copy = tmp_path / "my/own/extensions/eda/plugins/event_source/servers.py"
    copy.parent.mkdir(parents=True)
    copy.write_bytes((ROOT / SOURCE).read_bytes())
    with started({}, tmp_path, source=copy) as source:
        error = source.error()
    assert error.startswith(f"RuntimeError: {copy} works only inside its collection")
    assert "write server_management.cloud.servers as the source" in error


def read_examples():
    _doc, examples, _returned, _metadata = get_docstring(str(ROOT / SOURCE), fragment_loader)
    return yaml.safe_load(examples)


def test_the_guide_names_the_arguments_and_the_defaults_of_the_source():
    guide = (ROOT / "docs/docsite/rst/guide_events.rst").read_text(encoding="utf-8")
    (section,) = re.findall(r"^Arguments\n-+\n.*?\n---", guide, re.M | re.S)
    assert ARGUMENTS.keys() <= set(re.findall(r"``(\w+)``", section))
    rows = re.findall(r"^   \* - ``(\w+)``\n     - ``(\w+)``\n     - ", section, re.M)
    shown = {name: yaml.safe_load(default) for name, default in rows}
    assert shown.keys() == {"interval", "hosts", "min_servers", "initial", "allow_partial"}
    for name, default in shown.items():
        assert default == ARGUMENTS[name]["default"], name


def test_the_examples_have_valid_arguments():
    for ruleset in read_examples():
        for source in ruleset["sources"]:
            assert read_arguments(source["server_management.cloud.servers"])


@pytest.fixture
def shipped():
    """Return the set of rules in the rulebook of the collection."""
    path = ROOT / "extensions/eda/rulebooks/set_up_new_servers.yml"
    (ruleset,) = yaml.safe_load(path.read_text(encoding="utf-8"))
    return ruleset


def test_the_shipped_rulebook_polls_every_minute(shipped):
    arguments = shipped["sources"][0]["server_management.cloud.servers"]
    interval = Template(arguments["interval"])
    assert interval.render() == "60"
    assert interval.render(interval=5) == "5"


def test_the_shipped_rulebook_repeats_a_playbook_that_failed(shipped):
    _message, action = shipped["rules"][0]["actions"]
    # The API may fail while the playbook reads the inventory.
    assert action["run_playbook"] == {
        "name": "server_management.cloud.set_up_server",
        "retries": 1,
        "delay": 60,
    }


def test_the_guide_and_the_examples_set_up_the_same_servers_as_the_shipped_rulebook(shipped):
    example, _print = read_examples()
    (of_the_guide,) = yaml.safe_load(read_files("events")["set_up.yml"])
    conditions = {ruleset["rules"][0]["condition"] for ruleset in (shipped, example, of_the_guide)}
    assert len(conditions) == 1
