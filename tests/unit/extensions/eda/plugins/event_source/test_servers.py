# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Load the event source like ansible-rulebook: by its path, without Ansible's loader."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from ansible.plugins.loader import fragment_loader
from ansible.utils.plugin_docs import get_docstring

from ansible_collections.server_management.cloud.plugins.plugin_utils import _polling
from sandbox import Fault
from support.collection import read
from support.guides import read_files

ROOT = Path(__file__).resolve().parents[6]
FILES = read_files("events")
SOURCE = Path("extensions/eda/plugins/event_source/servers.py")
TIME_LIMIT = 40  # seconds, of a process; its program ends itself after 20

# Neither Ansible nor its package of collections can be imported, as with ansible-rulebook alone.
# Whatever was imported before could hide a mistake, so each test has a process.
RULEBOOK = """
import asyncio, json, runpy, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores it
for name in ("ansible", "ansible_collections", *sys.argv[3:]):
    sys.modules[name] = None
path = list(sys.path)

class Queue:
    async def put(self, event):
        assert sys.path == path
        assert sys.modules["ansible_collections"] is None
        print(json.dumps(event))
        if event["server_management"]["event"] == "appeared":
            sys.exit()

main = runpy.run_path(sys.argv[1])["main"]
asyncio.run(asyncio.wait_for(main(Queue(), json.loads(sys.argv[2])), 20))
"""
OLD_PYTHON = "import sys; sys.version_info = (3, 9, 18)"


def command(arguments, *missing, source=ROOT / SOURCE, program=RULEBOOK):
    """Return the command that starts the source; ``missing`` can't be imported."""
    return [sys.executable, "-B", "-c", program, source, json.dumps(arguments), *missing]


def run(folder, *arguments, **options):
    """Run the source in a folder without collections, until the first server appears.

    Return its events, or the last line of its traceback.
    """
    program = command(*arguments, **options)
    done = subprocess.run(
        program, cwd=folder, capture_output=True, check=False, text=True, timeout=TIME_LIMIT
    )
    return done.stdout or done.stderr.splitlines()[-1]


def connection(sandbox):
    return {"base_url": sandbox.url, "api_token": sandbox.token, "retries": 0}


@pytest.mark.parametrize("place", ["checkout", "ansible_collections/server_management/cloud"])
def test_it_works_and_continues_without_ansible(place, sandbox, tmp_path):
    collection = tmp_path / "at" / place
    for folder in ("plugins", "extensions"):  # without galaxy.yml, as when it is installed
        shutil.copytree(ROOT / folder, collection / folder)
    sandbox.fail(Fault(status=503))
    arguments = {**connection(sandbox), "initial": True, "interval": 1}
    output = run(tmp_path, arguments, source=collection / SOURCE)
    events = map(json.loads, output.splitlines())
    failed, recovered, appeared = [event["server_management"] for event in events]
    assert failed["error"]["code"] == "server_error"
    assert recovered == {"event": "recovered"}
    server = sandbox.servers[-1]
    assert appeared == {"event": "appeared", "inventory_hostname": "db-1", "server": server}


def test_it_can_be_stopped_during_a_request(sandbox, tmp_path):
    sandbox.fail(Fault.hang(), times=None)
    arguments = {**connection(sandbox), "timeout": 3600}
    pipe = subprocess.PIPE
    with subprocess.Popen(command(arguments), cwd=tmp_path, stderr=pipe, text=True) as process:
        try:
            while not sandbox.requests and process.poll() is None:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)  # as Ctrl-C does
            _output, error = process.communicate(timeout=TIME_LIMIT)
        finally:
            process.kill()
    assert error.splitlines()[-1] == "KeyboardInterrupt"


def test_a_missing_library_is_reported_with_the_command_to_install_it(sandbox, tmp_path):
    error = run(tmp_path, connection(sandbox), "requests")
    assert "MissingLibrary: " in error
    assert "Install it: `" in error


def test_a_null_token_is_not_replaced_by_that_of_the_environment(sandbox, tmp_path, monkeypatch):
    monkeypatch.setenv("SERVER_MANAGEMENT_API_TOKEN", sandbox.token)
    error = run(tmp_path, {**connection(sandbox), "api_token": None})
    assert "OptionError: api_token: must not be empty." in error


def test_a_python_that_is_too_old_is_one_plain_error(tmp_path):
    error = run(tmp_path, {}, program=OLD_PYTHON + RULEBOOK)
    assert re.match(r"RuntimeError: .* Python 3\.10 .* is 3\.9\.", error)


def test_a_copy_outside_the_collection_is_one_plain_error(tmp_path):
    copy = tmp_path / "my/own/extensions/eda/plugins/event_source/servers.py"
    copy.parent.mkdir(parents=True)
    (tmp_path / "my/own/plugins").mkdir()
    copy.write_bytes((ROOT / SOURCE).read_bytes())
    error = run(tmp_path, {}, source=copy)
    assert error.startswith(f"RuntimeError: {copy} works only inside its collection")
    assert "write server_management.cloud.servers as the source" in error


def read_examples():
    _doc, examples, _returned, _metadata = get_docstring(str(ROOT / SOURCE), fragment_loader)
    return yaml.safe_load(examples)


def test_the_examples_have_valid_arguments():
    rulebooks = read_examples()
    for name in ("set_up.yml", "report.yml"):
        rulebooks += yaml.safe_load(FILES[name])
    for ruleset in rulebooks:
        for source in ruleset["sources"]:
            assert _polling.read_arguments(source["server_management.cloud.servers"])


def test_the_guide_and_the_examples_set_up_the_same_servers_as_the_shipped_rulebook():
    rulebook = read("extensions/eda/rulebooks/set_up_new_servers.yml")
    example, _print = read_examples()
    conditions = set()
    for text in (rulebook, yaml.safe_dump([example]), FILES["set_up.yml"]):
        (ruleset,) = yaml.safe_load(text)
        conditions.add(ruleset["rules"][0]["condition"])
    assert len(conditions) == 1
    (shipped,) = yaml.safe_load(rulebook)
    (shown,) = yaml.safe_load(FILES["set_up.yml"])
    _message, action = shipped["rules"][0]["actions"]
    expected = {**action["run_playbook"], "name": "set_up/set_up_server.yml"}
    assert shown["rules"][0]["action"]["run_playbook"] == expected
