# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a real ansible-rulebook makes of the events; unit tests cover the event source itself."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager
from importlib import import_module

import pytest

from ansible_collections.server_management.cloud.plugins.plugin_utils._events import plain_value
from sandbox import Fault, Sandbox
from sandbox.account import example_servers
from support import special_texts
from support.collection import REPOSITORY
from support.guides import block_with, is_shown, read_commands, read_files
from support.run import find_secret

TIME_LIMIT = 180.0  # seconds; generous, because Java starts slowly on a busy machine
# Prints each event as one line of JSON.
PRINT = """\
- name: Print
  hosts: all
  sources: [{server_management.cloud.servers: %s}]
  rules:
    - name: Print every event
      condition: event.server_management is defined
      action: {debug: {msg: "EVENT {{ event | tojson }}"}}
"""


class Rulebook:
    """A rulebook that runs, and prints into a file."""

    def __init__(self, process, file):
        self.process = process
        self.file = file
        self._position = 0

    @property
    def output(self):
        return self.file.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, text):
        """Return the rest of the next line with a text, below the last one that was waited for."""
        pattern = re.compile(re.escape(text) + "(.*)\n")
        deadline = time.monotonic() + TIME_LIMIT
        while time.monotonic() < deadline:
            ended = self.process.poll() is not None
            if found := pattern.search(self.output, self._position):
                self._position = found.end()
                return found[1]
            assert not ended, f"ended before {text!r} was printed:\n{self.output}"
            time.sleep(0.05)
        raise AssertionError(f"{text!r} was not printed:\n{self.output}")

    def next_event(self):
        """Return the content of the next event, and the hosts of its playbooks."""
        event = json.loads(self.wait_for("EVENT "))
        return {"hosts": event["meta"]["hosts"], **event["server_management"]}

    def hosts_of_tasks(self):
        """Return the host of each task that was not skipped, in order."""
        results = r"^(?:ok|changed|fatal|failed|unreachable): \[(.+?)\]"
        return re.findall(results, self.output, re.MULTILINE)

    def end(self):
        return self.process.wait(TIME_LIMIT)


class Rulebooks:
    """Start rulebooks in a folder."""

    def __init__(self, runner, folder):
        self.runner = runner
        self.folder = folder

    def print_events(self, **arguments):
        """Run a rulebook that prints the events of a source with these arguments."""
        source = {"interval": 1, "retries": 0, **arguments}
        path = self.folder / "print.yml"
        path.write_text(PRINT % json.dumps(source))
        return self.run(path)

    def write_files_of_the_guide(self):
        """Write the files that the guide about events shows, with the interval of the tests."""
        environment = self.runner.environment
        replaced = {
            "https://api.example.com": environment["SERVER_MANAGEMENT_BASE_URL"],
            "~/.config/server_management/token": environment["SERVER_MANAGEMENT_API_TOKEN_FILE"],
            "interval: 30": "interval: 1",
        }
        for name, content in read_files("events").items():
            text = content
            for shown, used in replaced.items():
                text = text.replace(shown, used)
            path = self.folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")

    @contextmanager
    def run(self, path, *options):
        """Run a rulebook, and end it as a service manager does."""
        environment = {**self.runner.environment, "PYTHONUNBUFFERED": "1"}
        if "JAVA_HOME" in os.environ:
            environment["JAVA_HOME"] = os.environ["JAVA_HOME"]
        command = ("ansible-rulebook", "--rulebook", path, *options)
        file = self.folder / "output"
        with (
            file.open("wb") as output,
            subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            ) as process,
        ):
            rulebook = Rulebook(process, file)
            try:
                yield rulebook
                process.terminate()
                rulebook.end()
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        assert not find_secret(rulebook.output), rulebook.output
        assert "Traceback" not in rulebook.output


@pytest.fixture(autouse=True)
def java():
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        pytest.skip(
            "ansible-rulebook needs Java 17 or later (apt-get install default-jre-headless)"
        )


@pytest.fixture
def account():
    with Sandbox(example_servers()[1:]) as api:
        yield api


@pytest.fixture
def rulebooks(runner, account, tmp_path):
    """Return what runs rulebooks over the account, with the connection in the environment."""
    folder = tmp_path / "rulebooks"
    folder.mkdir()
    # ansible-runner writes its environment into temporary files.
    token = folder / "token"
    token.write_text(account.token)
    runner.environment["SERVER_MANAGEMENT_BASE_URL"] = account.url
    runner.environment["SERVER_MANAGEMENT_API_TOKEN_FILE"] = str(token)
    return Rulebooks(runner, folder)


@pytest.fixture
def polls(account):
    def wait(count):
        end = len(account.requests) + count
        deadline = time.monotonic() + TIME_LIMIT
        while len(account.requests) < end:
            assert time.monotonic() < deadline, f"fewer than {count} requests"
            time.sleep(0.05)

    return wait


# They use events in every way that renders templates.
USE_EACH_EVENT = """\
- name: Use each event
  hosts: all
  sources: [{server_management.cloud.servers: {interval: 1, retries: 0}}]
  rules:
    - name: Use it
      condition: event.server_management is defined
      actions:
        - debug: {msg: "GOT {{ event.server_management }}"}
        - run_playbook: {name: use.yml, extra_vars: {copy: "{{ event.server_management }}"}}
"""
USE = """\
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: "USED {{ ansible_eda.event.server_management }} {{ copy }}"
    - ansible.builtin.debug:
        var: ansible_eda.event.server_management.server
    - ansible.builtin.shell: "echo {{ ansible_eda.event.server_management | quote }}"
"""
# The token is in the environment. The servers are this machine.
INVENTORY = """\
plugin: server_management.cloud.servers
retries: 0
compose: {ansible_connection: "'local'"}
"""
# A group with the name of a later server.
STATIC_INVENTORY = "[prod]\nstatic-1 ansible_connection=local\n"
# Keys and values that could be lost or altered.
ODD = {
    **dict.fromkeys(special_texts.EVENT_TEXTS, 1),
    "id": "srv_odd",
    "name": "odd",
    "texts": list(special_texts.TEXTS),
    "keys": dict.fromkeys(special_texts.TEXTS),
    "numbers": [10**300, -(2**64), 1.5e300, -0.0, 5e-324, 1.0, True, None],
    "long key": {"k" * 10_000: 1},
    "long text": "x" * 1_000_000,
}


def test_no_event_is_lost_or_altered_because_of_its_keys_and_values(rulebooks, account, polls):
    with rulebooks.print_events() as rulebook:
        polls(1)
        account.servers.append(ODD)
        event = rulebook.next_event()
    assert event["hosts"] == "odd"
    assert event["server"] == plain_value(ODD)


def test_an_event_runs_only_on_its_host_and_its_text_is_not_executed(rulebooks, account, polls):
    marker = rulebooks.folder / "executed"
    attack = f"{{{{ lookup('pipe', 'touch {marker}') }}}}"
    path = rulebooks.folder / "use_each_event.yml"
    path.write_text(USE_EACH_EVENT)
    (rulebooks.folder / "use.yml").write_text(USE)
    inventory = rulebooks.folder / "hosts.ini"
    inventory.write_text("localhost ansible_connection=local\nnew ansible_connection=local\n")
    hostile = {"id": "srv_2", "name": "new", "status": attack, "ipv4": attack, attack: 1}
    hostile["later"] = {"list": [attack], attack: attack}
    with rulebooks.run(path, "-i", inventory) as rulebook:
        polls(1)
        account.servers.append(hostile)
        rulebook.wait_for("USED")
        rulebook.wait_for("PLAY RECAP")
        account.fail(Fault(status=500, body=attack))
        rulebook.wait_for("USED")
        rulebook.wait_for("PLAY RECAP")
    assert not marker.exists(), rulebook.output
    assert "lookup(" not in rulebook.output
    assert rulebook.hosts_of_tasks() == ["new"] * 3 + ["localhost"] * 3


def test_the_guide_reports_failures_and_servers_that_are_gone(rulebooks, account, polls):
    # As the guide advises for other rulebooks: with it, no file of servers can be read now.
    rulebooks.runner.environment["ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"] = "true"
    rulebooks.write_files_of_the_guide()
    with rulebooks.run("report.yml", "-i", "localhost.ini") as rulebook:
        polls(1)
        gone = account.servers.pop()
        rulebook.wait_for(f"{gone['name']} ({gone['id']}) is gone")
        rulebook.wait_for("PLAY RECAP")
        account.stop()
        rulebook.wait_for("The servers cannot be listed: Cannot reach")
        rulebook.wait_for("PLAY RECAP")
        account.start()
        rulebook.wait_for("The servers can be listed again")
        rulebook.wait_for("PLAY RECAP")
    assert rulebook.hosts_of_tasks() == ["localhost"] * 3


@pytest.fixture
def shipped(rulebooks):
    """Run the shipped rulebook, but let it repeat a playbook after a second."""
    inventory = rulebooks.folder / "inventory"
    inventory.mkdir()
    (inventory / "20-cloud.server_management.yml").write_text(INVENTORY)
    variables = rulebooks.folder / "variables.yml"
    variables.write_text("interval: 1\n")
    source = REPOSITORY / "extensions/eda/rulebooks/set_up_new_servers.yml"
    text = source.read_text(encoding="utf-8")
    path = rulebooks.folder / "set_up.yml"
    path.write_text(text.replace("delay: 60\n", "delay: 1\n"), encoding="utf-8")
    with rulebooks.run(path, "-i", inventory, "-e", variables) as rulebook:
        yield rulebook


def test_a_server_is_set_up_although_the_api_failed_while_the_playbook_read_it(
    shipped, account, polls
):
    polls(1)
    # The next poll finds the server, and all requests after it fail.
    account.servers.append({**account.servers[0], "id": "srv_2", "name": "new-01"})
    account.fail(Fault(status=429), times=None, after=1)
    shipped.wait_for("The inventory has no host new-01, so nothing was set up.")
    account.recover()
    shipped.wait_for("Previous run_playbook failed. Retry 1 of 1")
    shipped.wait_for("new-01 (srv_2) is reachable")


def test_the_shipped_rulebook_sets_up_new_servers_and_no_group_with_the_name_of_one(
    shipped, rulebooks, account, polls
):
    # Before the other file, so that the plugin knows its groups.
    (rulebooks.folder / "inventory/10-static").write_text(STATIC_INVENTORY)
    web = account.servers[0]
    polls(2)
    account.servers.append({**web, "id": "srv_2", "name": "new-01"})
    shipped.wait_for("new-01 is running, and is set up now")
    shipped.wait_for("new-01 (srv_2) is reachable")
    account.servers.append({**web, "id": "srv_3", "name": "prod"})
    shipped.wait_for("prod is running, and is set up now")

    new = {"id": "srv_new_3", "name": "web-99", "status": "starting"}
    account.servers.append(new)
    shipped.wait_for("web-99 appeared, and is set up when it is running and has an address")
    new["status"] = "running"
    shipped.wait_for("web-99 changed: status")
    new["ipv4"] = "127.0.0.31"
    shipped.wait_for("web-99 is running, and is set up now")
    shipped.wait_for("web-99 (srv_new_3) is reachable")
    new["plan"] = "large"
    shipped.wait_for("web-99 changed: plan")
    new["status"] = "stopped"
    shipped.wait_for("web-99 changed: status")
    account.servers.remove(new)
    shipped.wait_for("web-99 is gone")
    account.fail(Fault(status=401))
    shipped.wait_for("The servers can't be listed: ")
    shipped.wait_for("The servers can be listed again")

    assert shipped.hosts_of_tasks() == ["new-01"] * 3 + ["web-99"] * 3
    example = block_with("web-99 is gone", "guide_events")
    assert is_shown(example.replace("Debian 12.11", "..."), shipped.output)


def test_an_invalid_argument_ends_the_rulebook_before_any_request(rulebooks, account):
    with rulebooks.print_events(intervall=5) as rulebook:
        assert rulebook.end() == 1
    assert "intervall" in rulebook.output
    assert account.requests == []


def test_the_program_accepts_the_commands_of_the_guide():
    commands = [command for command in read_commands() if command[0] == "ansible-rulebook"]
    assert commands
    parser = import_module("ansible_rulebook.cli").get_parser()
    for _program, *arguments in commands:
        parser.parse_args(arguments)
