# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a real ansible-rulebook over the installed collection."""

import json
import os
import queue
import shutil
import signal
import subprocess
import threading
from contextlib import contextmanager

import pytest
import yaml

from sandbox import Sandbox
from support.secrets import find_secret

TIME_LIMIT = 180.0  # seconds; generous, because Java starts slowly on a busy machine
TOKEN = "t0ken-of-the-account"
SOURCE = "server_management.cloud.servers"

# Prints each event as one line of JSON.
PRINT = {
    "name": "Print every event",
    "condition": "event.server_management is defined",
    "action": {"debug": {"msg": "EVENT {{ event | tojson }}"}},
}


class Rulebook:
    """A rulebook that runs; its output is read line by line."""

    def __init__(self, process):
        self.process = process
        self.lines = []
        self._queue = queue.Queue()
        self._is_read = False
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout or ():
            self._queue.put(line)
        self._queue.put(None)

    @property
    def output(self):
        """Return what was printed and has been waited for."""
        return "".join(self.lines)

    def wait_for(self, text):
        """Return the next line with a text."""
        while True:
            try:
                line = self._queue.get(timeout=TIME_LIMIT)
            except queue.Empty:
                raise AssertionError(f"{text!r} was not printed:\n{self.output}") from None
            if line is None:
                raise AssertionError(f"ended before {text!r} was printed:\n{self.output}")
            self.lines.append(line)
            if text in line:
                return line

    def event(self, kind=""):
        """Return the next event; it must be of this kind."""
        event = json.loads(self.wait_for("EVENT ").partition("EVENT ")[2])
        assert event["server_management"]["event"] == kind, event
        return event

    def end(self):
        """Wait for its end, read the rest of its output, and return the exit status."""
        status = self.process.wait(TIME_LIMIT)
        while not self._is_read and (line := self._queue.get(timeout=TIME_LIMIT)) is not None:
            self.lines.append(line)
        self._is_read = True
        return status


class Rulebooks:
    """Start rulebooks in a folder."""

    def __init__(self, runner, folder):
        self.runner = runner
        self.folder = folder

    @contextmanager
    def run(self, *options, name="", **arguments):
        """Run a rulebook by its name, or one that prints the events of a source."""
        if not name:
            ruleset = {
                "name": "Print",
                "hosts": "all",
                "sources": [{SOURCE: {"interval": 1, "retries": 0, **arguments}}],
                "rules": [PRINT],
            }
            path = self.folder / "print.yml"
            path.write_text(yaml.safe_dump([ruleset], sort_keys=False))
            name = str(path)
        command = ("ansible-rulebook", "--rulebook", name, *map(str, options))
        environment = {**self.runner.environment, "PYTHONUNBUFFERED": "1"}
        if "JAVA_HOME" in os.environ:
            environment["JAVA_HOME"] = os.environ["JAVA_HOME"]
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="backslashreplace",
            start_new_session=True,
        ) as process:
            rulebook = Rulebook(process)
            try:
                yield rulebook
                process.terminate()  # as a service manager does
                rulebook.end()
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        assert not find_secret(rulebook.output), rulebook.output
        assert "Traceback" not in rulebook.output


@pytest.fixture(autouse=True)
def java():
    """Skip on a machine without Java."""
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        pytest.skip(
            "ansible-rulebook needs Java 17 or later (apt-get install default-jre-headless)"
        )


@pytest.fixture
def account():
    """Serve an account with two servers."""
    with Sandbox(servers=2, token=TOKEN, addresses="loopback") as api:
        yield api


@pytest.fixture
def rulebooks(runner, account, tmp_path):
    """Return what runs rulebooks over the account, with the connection in the environment."""
    folder = tmp_path / "rulebooks"
    folder.mkdir()
    runner.environment["SERVER_MANAGEMENT_BASE_URL"] = account.url
    # ansible-runner writes its environment into temporary files.
    token = folder / "token"
    token.write_text(account.token)
    runner.environment["SERVER_MANAGEMENT_API_TOKEN_FILE"] = str(token)
    return Rulebooks(runner, folder)


@pytest.fixture
def polls(account):
    """Return a function that waits for further requests."""

    def wait(count):
        end = len(account.requests) + count
        tick = threading.Event()
        for _tick in range(int(TIME_LIMIT * 20)):
            if len(account.requests) >= end:
                return
            tick.wait(0.05)
        raise AssertionError(f"fewer than {count} requests in {TIME_LIMIT:g} s")

    return wait
