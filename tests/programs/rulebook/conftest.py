# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a real ansible-rulebook over the installed collection."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager

import pytest

from sandbox import Sandbox
from sandbox.account import example_servers
from support.guides import read_files
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
