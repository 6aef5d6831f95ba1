# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run Ansible's commands as forks of one process that has imported Ansible: a start costs 0.5 s.

This file is also the program of that process. It reads one order in JSON from each line of its
standard input, and prints the process id and the exit status of the command.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import Any, NoReturn

_FILES = ("stdin", "stdout", "stderr")
# Settings that are read at the start, except those that are a path in a test's home.
_READ_AT_START = ("ANSIBLE_", "PYTHON")
_IN_HOME = ("ANSIBLE_CONFIG", "ANSIBLE_HOME", "ANSIBLE_REMOTE_TMP")
PROGRAMS = ("ansible", "ansible-inventory", "ansible-playbook")


def _settings(environment: Mapping[str, str]) -> dict[str, str]:
    names = [name for name in environment if name.startswith(_READ_AT_START)]
    return {name: environment[name] for name in names if name not in _IN_HOME}


class ForkServer:
    """A process that has imported Ansible with an environment, and runs commands in it."""

    def __init__(self, environment: Mapping[str, str], python: Path = Path(sys.executable)) -> None:
        self._settings = _settings(environment)
        self._process = subprocess.Popen(
            [python, __file__],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def accepts(self, program: str, environment: Mapping[str, str]) -> bool:
        """Return whether a command is one of Ansible's with the settings of the server."""
        has_file = Path(environment["ANSIBLE_CONFIG"]).stat().st_size > 0
        is_usual = _settings(environment) == self._settings
        return program in PROGRAMS and is_usual and not has_file

    def run(
        self,
        command: tuple[str, ...],
        environment: Mapping[str, str],
        folder: Path,
        stdin: str,
        time_limit: float,
    ) -> tuple[int, str, str]:
        """Return the exit status, standard output and standard error of a command.

        The status is negative if it was killed after the time limit.
        """
        with TemporaryDirectory() as name:
            files = [Path(name, file) for file in _FILES]
            files[0].write_text(stdin, encoding="utf-8")
            order = {"command": command, "environment": dict(environment), "folder": str(folder)}
            order["files"] = [str(path) for path in files]
            self._send(json.dumps(order))
            process = self._receive()
            timer = Timer(time_limit, _kill, [process])
            timer.start()
            try:
                status = self._receive()
            except BaseException:
                # Ctrl-C does not reach the process.
                _kill(process)
                raise
            finally:
                timer.cancel()
            output = [path.read_text("utf-8", "backslashreplace") for path in files[1:]]
        return status, output[0], output[1]

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _receive(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _kill(process: int) -> None:
    # It may have just ended, or not have its own group yet.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def _serve() -> None:
    del sys.path[0]  # this folder, in which secrets.py is another one
    from ansible.cli.adhoc import AdHocCLI
    from ansible.cli.inventory import InventoryCLI
    from ansible.cli.playbook import PlaybookCLI

    commands = dict(zip(PROGRAMS, (AdHocCLI, InventoryCLI, PlaybookCLI), strict=True))
    for line in sys.stdin:
        order = json.loads(line)
        process = os.fork()
        if process == 0:
            _run(commands[order["command"][0]], **order)
        print(process, flush=True)
        _process, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(
    program: Any, command: list[str], environment: dict[str, str], folder: str, files: list[str]
) -> NoReturn:
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, path in enumerate(files):
        opened = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = command
    program.cli_executor(command)
    sys.exit(0)


if __name__ == "__main__":
    _serve()
