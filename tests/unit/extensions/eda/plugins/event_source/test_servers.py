# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Load the event source like ansible-rulebook: by its path, without Ansible's loader."""

import json
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme
import yaml
from ansible.plugins.loader import fragment_loader
from ansible.utils.plugin_docs import get_docstring

from ansible_collections.server_management.cloud.plugins.plugin_utils._polling import (
    ARGUMENTS,
    read_arguments,
)
from sandbox import Fault, Sandbox

ROOT = Path(__file__).resolve().parents[6]
SOURCE = Path("extensions/eda/plugins/event_source/servers.py")
NAME = "server_management.cloud.servers"

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
# The name is unknown at first. A real look-up can take longer than all tests of this file.
UNKNOWN_NAME = """
import socket

real_getaddrinfo = socket.getaddrinfo
lookups = []

def getaddrinfo(host, *options):
    assert host == "api.invalid"
    lookups.append(host)
    if len(lookups) <= 2:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    return real_getaddrinfo("127.0.0.1", *options)

socket.getaddrinfo = getaddrinfo
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
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, self.error()
        return json.loads(line)

    def error(self):
        """Wait for the end of the process, and return the last line of its traceback."""
        output, error = self._process.communicate(timeout=60)
        assert output == ""
        return error.splitlines()[-1]


@contextmanager
def started(arguments, folder, source=ROOT / SOURCE, program=RULEBOOK, missing=""):
    """Start the source in a folder without collections; ``missing`` can't be imported."""
    command = [sys.executable, "-B", "-c", program, str(source), json.dumps(arguments)]
    if missing:
        command.append(missing)
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Process(process)
        finally:
            process.kill()


def connection(sandbox):
    return {"base_url": sandbox.url, "api_token": sandbox.token, "retries": 0}


@pytest.mark.parametrize("place", ["checkout", "ansible_collections/server_management/cloud"])
def test_it_works_without_ansible(place, tmp_path):
    collection = tmp_path / "at" / place
    collection.parent.mkdir(parents=True)
    collection.symlink_to(ROOT, target_is_directory=True)
    with Sandbox(servers=1) as sandbox:
        arguments = {**connection(sandbox), "initial": True}
        with started(arguments, tmp_path, collection / SOURCE) as source:
            event = source.next_event()
    assert event["server_management"]["event"] == "appeared"
    assert event["server_management"]["server"] == sandbox.servers[0]
    assert event["meta"] == {"hosts": "web-01"}


def assert_failed(source, code):
    content = source.next_event()["server_management"]
    assert content["event"] == "failed"
    assert content["error"]["code"] == code


def assert_recovered(source):
    assert source.next_event() == {"server_management": {"event": "recovered"}}


# Each failure, and the code of its event.
FAULTS = {
    "timeout": (Fault.hang(), "timeout"),
    "closed": (Fault(cut="start"), "unreachable"),
    "reset": (Fault.reset(), "unreachable"),
    "half a body": (Fault(cut="body"), "unreachable"),
    "no HTTP": (Fault(raw=b"SSH-2.0-OpenSSH_9.2\r\n"), "unreachable"),
    "no JSON": (Fault.html(), "malformed_response"),
    "damaged gzip": (
        Fault(body="{}", headers={"Content-Encoding": "gzip"}),
        "malformed_response",
    ),
    "another encoding": (Fault(headers={"Content-Encoding": "br"}), "malformed_response"),
    "302": (Fault(status=302, location="/elsewhere"), "redirected"),
    "401": (Fault(status=401), "unauthorized"),
    "403": (Fault(status=403), "forbidden"),
    "404": (Fault(status=404), "not_found"),
    "429": (Fault(status=429), "rate_limited"),
    "500": (Fault(status=500), "server_error"),
    "has_more": (Fault(has_more=True), "incomplete_listing"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_failure_of_the_first_requests_is_one_event(name, tmp_path):
    fault, code = FAULTS[name]
    with Sandbox(servers=1) as sandbox:
        sandbox.fail(fault, times=2)
        arguments = {**connection(sandbox), "timeout": 0.5}
        with started(arguments, tmp_path) as source:
            assert_failed(source, code)
            assert_recovered(source)


def test_it_continues_if_nothing_listens_at_first(tmp_path):
    with Sandbox(servers=1) as sandbox:
        sandbox.stop()
        with started(connection(sandbox), tmp_path) as source:
            assert_failed(source, "unreachable")
            sandbox.start()
            assert_recovered(source)


def test_it_continues_if_the_name_is_unknown_at_first(tmp_path):
    with Sandbox(servers=1) as sandbox:
        arguments = {**connection(sandbox), "base_url": f"http://api.invalid:{sandbox.port}"}
        with started(arguments, tmp_path, program=UNKNOWN_NAME + RULEBOOK) as source:
            assert_failed(source, "unreachable")
            assert_recovered(source)


def test_it_continues_if_the_port_does_not_use_tls_at_first(tmp_path):
    certificate = tmp_path / "certificate.pem"
    trustme.CA().issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(certificate)
    plain = Sandbox(servers=1)
    encrypted = Sandbox(servers=1, tls=(certificate, None))
    with plain:
        arguments = {**connection(plain), "validate_certs": False}
        arguments["base_url"] = f"https://127.0.0.1:{plain.port}"
        with started(arguments, tmp_path) as source:
            assert_failed(source, "tls")
            plain.stop()
            encrypted.port = plain.port
            with encrypted:
                assert_recovered(source)


def test_a_missing_library_is_reported_with_the_command_to_install_it(tmp_path):
    arguments = {"base_url": "http://127.0.0.1:9", "api_token": "t"}
    with started(arguments, tmp_path, missing="requests") as source:
        error = source.error()
    assert "MissingLibrary: The Python library requests is not installed" in error
    assert "Install it where Ansible runs: " in error


def test_an_older_python_is_one_plain_error(tmp_path):
    with started({}, tmp_path, program=OLD_PYTHON + RULEBOOK) as source:
        assert source.error() == (
            "RuntimeError: server_management.cloud requires Python 3.10 or later, but "
            f"ansible-rulebook runs with {sys.executable}, which is 3.9. "
            "Install ansible-rulebook with a later Python."
        )


@pytest.mark.parametrize("folder", ["sources", "my/own/extensions/eda/plugins/event_source"])
def test_a_copy_outside_the_collection_is_one_plain_error(folder, tmp_path):
    copy = tmp_path / folder / "servers.py"
    copy.parent.mkdir(parents=True)
    copy.write_bytes((ROOT / SOURCE).read_bytes())
    with started({}, tmp_path, copy) as source:
        error = source.error()
    assert error.startswith(f"RuntimeError: {copy} works only inside its collection")
    assert "write server_management.cloud.servers as the source" in error


def documentation():
    doc, examples, _returned, _metadata = get_docstring(str(ROOT / SOURCE), fragment_loader)
    return doc, yaml.safe_load(examples)


def rules(options):
    keys = ("type", "default", "choices")
    return {name: tuple(map(option.get, keys)) for name, option in options.items()}


def test_its_arguments_are_documented():
    assert rules(documentation()[0]["options"]) == rules(ARGUMENTS)


def test_the_guide_lists_the_arguments_with_their_defaults():
    guide = (ROOT / "docs/docsite/rst/guide_events.rst").read_text(encoding="utf-8")
    section = guide.partition("\nArguments\n---------\n")[2].partition("\n------\n")[0]
    rows = dict(re.findall(r"^   \* - ``(\w+)``\n     - (.+)\n     - ", section, re.M))
    assert set(rows) == set(ARGUMENTS)
    for name, option in ARGUMENTS.items():
        if (default := option.get("default")) is not None:
            shown = str(default).lower().removesuffix(".0")
            assert rows[name].endswith(f"``{shown}``"), name


def test_the_examples_have_valid_arguments():
    for ruleset in documentation()[1]:
        for source in ruleset["sources"]:
            assert read_arguments(source[NAME])


def test_the_shipped_rulebook_repeats_a_playbook_that_failed():
    path = ROOT / "extensions/eda/rulebooks/set_up_new_servers.yml"
    (ruleset,) = yaml.safe_load(path.read_text(encoding="utf-8"))
    _message, action = ruleset["rules"][0]["actions"]
    # The API may fail while the playbook reads the inventory.
    assert action["run_playbook"] == {
        "name": "server_management.cloud.set_up_server",
        "retries": 1,
        "delay": 60,
    }
