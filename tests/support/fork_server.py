# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run Ansible's commands as forks of one process that has imported Ansible: a start costs 0.5 s.

This file is also the program of that process. It reads one order in JSON from each line of its
standard input, and prints the exit status of the command.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

PROGRAMS = ("ansible", "ansible-inventory", "ansible-playbook")
# Settings that are read at the start, except those that are a path in a test's home.
_READ_AT_START = ("ANSIBLE_", "PYTHON")
_IN_HOME = ("ANSIBLE_CONFIG", "ANSIBLE_HOME", "ANSIBLE_REMOTE_TMP")


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
        is_usual = _settings(environment) == self._settings and not has_file
        return is_usual and program in PROGRAMS and self._process.returncode is None

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
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with TemporaryDirectory() as name:
            files = [Path(name, file) for file in ("stdin", "stdout", "stderr")]
            files[0].write_text(stdin, encoding="utf-8")
            paths = [str(path) for path in files]
            order = (command, dict(environment), str(folder), paths, int(time_limit))
            print(json.dumps(order), file=self._process.stdin, flush=True)
            try:
                status = int(self._process.stdout.readline())
            except BaseException:
                # The next command would get the status of this one.
                self.close()
                raise
            stdout, stderr = (path.read_text("utf-8", "backslashreplace") for path in files[1:])
        return status, stdout, stderr

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def _serve() -> None:
    del sys.path[0]  # this folder, in which secrets.py is another one
    from ansible import constants
    from ansible.cli.adhoc import AdHocCLI
    from ansible.cli.inventory import InventoryCLI
    from ansible.cli.playbook import PlaybookCLI

    import_module("requests")  # which most listings need
    commands = dict(zip(PROGRAMS, (AdHocCLI, InventoryCLI, PlaybookCLI), strict=True))
    for line in sys.stdin:
        command, environment, *order = json.loads(line)
        process = os.fork()
        if process == 0:
            os.environ.clear()
            os.environ.update(environment)
            # Otherwise, the first command would remove the folder of the server at its end.
            constants.DEFAULT_LOCAL_TMP = environment["TMPDIR"]
            _run(commands[command[0]], command, *order)
        _process, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(
    program: Any, command: list[str], folder: str, files: list[str], time_limit: int
) -> NoReturn:
    os.chdir(folder)
    for number, path in enumerate(files):
        opened = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, number)
    sys.argv = command
    signal.alarm(time_limit)
    try:
        program.cli_executor(command)
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(end.code or 0))
    os._exit(1)


if __name__ == "__main__":
    _serve()
