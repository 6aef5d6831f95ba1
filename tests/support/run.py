# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run Ansible's commands as a user does, in a clean environment and with a time limit.

All tests start Ansible's commands here, so that each output is searched for tokens.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partialmethod
from pathlib import Path
from typing import Any

import yaml

from sandbox.server import DEFAULT_TOKEN
from support import forks

# Seconds; generous, since the machine may be shared, and less than the limit of a test.
TIME_LIMIT = 240.0
_GRACE = 5.0  # seconds
_LONGEST_OUTPUT = 20_000  # characters of which nothing is left out in messages

# Every token of the tests starts like this.
_PREFIX = "t0ken-of-the-"
_search = re.compile(f"{DEFAULT_TOKEN}|{_PREFIX}").search
# The names of files into which tests write a token.
_OWN_FILES = (".cfg", ".j2", ".pem", ".yaml", ".yml")
_OWN_NAMES = ("token", "password")


def find_secret(text: str) -> str:
    """Return the first token in a text with its surroundings, or an empty text."""
    found = _search(text)
    if found is None:
        return ""
    start = max(0, found.start() - 80)
    return text[start : found.end() + 40]


def find_in_files(folder: Path) -> list[str]:
    """Return the files in a folder that contain a token.

    Those with the names of files into which tests write it are not read.
    """
    found = []
    for path in sorted(folder.rglob("*")):
        is_ours = path.suffix in _OWN_FILES or path.name in _OWN_NAMES
        if path.is_file() and not is_ours:
            text = path.read_text(encoding="utf-8", errors="replace")
            if secret := find_secret(text):
                found.append(f"{path}: {secret}")
    return found


class CommandError(AssertionError):
    """A command did not do what was expected; the message contains its output."""


@dataclass(frozen=True, repr=False)
class Result:
    """The exit status and the output of one command."""

    command: tuple[str, ...]
    rc: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        """Return standard output followed by standard error."""
        return self.stdout + self.stderr

    def contains(self, text: str) -> bool:
        """Return whether the output contains this text, ignoring white space."""
        return without_white_space(text) in without_white_space(self.output)

    def shows(self, *texts: str) -> Result:
        """Return the result itself; raise CommandError if it does not contain all these texts."""
        __tracebackhide__ = True
        missing = [text for text in texts if not self.contains(text)]
        if missing:
            raise CommandError(f"does not show: {' | '.join(missing)}\n{self}")
        return self

    def json(self) -> Any:
        """Parse standard output; raise CommandError if it is not JSON."""
        __tracebackhide__ = True
        try:
            return json.loads(self.stdout)
        except ValueError as error:
            raise CommandError(f"not JSON: {error}\n{self}") from error

    def ok(self) -> Result:
        """Return the result itself; raise CommandError if the command failed."""
        __tracebackhide__ = True
        if self.rc != 0:
            raise CommandError(f"failed\n{self}")
        return self

    def __repr__(self) -> str:
        # Short, since pytest shows it within one line, and the output below it.
        return f"<Result of {self.command[0]}: exit status {self.rc}>"

    def __str__(self) -> str:
        command = " ".join(self.command)
        stdout = _shorten(self.stdout)
        stderr = _shorten(self.stderr)
        output = f"--- stdout\n{stdout}\n--- stderr\n{stderr}"
        return f"$ {command}\nexit status {self.rc}\n{output}"


def _shorten(text: str) -> str:
    left_out = len(text) - _LONGEST_OUTPUT
    if left_out <= 0:
        return text
    half = _LONGEST_OUTPUT // 2
    start = text[:half]
    return f"{start}\n[{left_out} characters left out]\n{text[-half:]}"


def without_white_space(text: str) -> str:
    """Return a text without white space, since Ansible breaks lines."""
    return "".join(text.split())


# The same for each command.
_SETTINGS = {
    "LC_ALL": "C.UTF-8",
    "ANSIBLE_NOCOLOR": "1",
    # Fewer processes for each task, and over SSH one connection for each module instead of six.
    "ANSIBLE_PIPELINING": "true",
    # Compressing a module takes longer than it saves.
    "ANSIBLE_MODULE_COMPRESSION": "ZIP_STORED",
    # A later Python refuses an invalid escape sequence such as '\\w' in a template.
    "PYTHONWARNINGS": "error:invalid escape sequence:DeprecationWarning:jinja2.lexer",
}


def clean_environment(home: Path, python: Path = Path(sys.executable)) -> dict[str, str]:
    """Return an environment in which Ansible does not use the user's files and settings."""
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    # Not resolved: the interpreter of a virtual environment is a link.
    program = python.absolute()
    # Its commands first, and without the shims of version managers.
    inherited = os.environ.get("PATH", os.defpath).split(os.pathsep)
    kept = [folder for folder in inherited if Path(folder).name != "shims"]
    path = os.pathsep.join([str(program.parent), *kept])
    return {
        **_SETTINGS,
        "PATH": path,
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "ANSIBLE_HOME": str(home / ".ansible"),
        # Its default, ~/.ansible/tmp, is in the user's home, whatever HOME is.
        "ANSIBLE_REMOTE_TMP": str(home / ".ansible" / "tmp"),
        # Interpreter discovery may find a version manager's shim that fails.
        "ANSIBLE_PYTHON_INTERPRETER": str(program),
    }


class Runner:
    """Run the commands of one virtual environment with a separate home.

    ``environment`` may be changed between runs. Commands with the settings of ``usual`` are forks.
    """

    # pytest sets it, and shows what a test has printed if the test fails.
    prints_results = False

    def __init__(
        self,
        home: Path,
        collections: Path | None = None,
        python: Path = Path(sys.executable),
        usual: Mapping[str, str] | None = None,
    ) -> None:
        self.home = home
        self._usual = usual
        self.environment = clean_environment(home, python)
        if collections is not None:
            self.environment["ANSIBLE_COLLECTIONS_PATH"] = str(collections)
        self._no_configuration = home / "no_configuration.cfg"
        self._no_configuration.touch()

    def run(
        self,
        program: str,
        *arguments: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stdin: str = "",
        time_limit: float = TIME_LIMIT,
    ) -> Result:
        """Run a program with ``env`` added to the clean environment.

        The working directory defaults to the home. Only an ansible.cfg in it is used. Raises
        CommandError after the time limit, and if a token was shown.
        """
        folder = cwd or self.home
        configuration = folder / "ansible.cfg"
        if not configuration.exists():
            configuration = self._no_configuration
        environment = {"ANSIBLE_CONFIG": str(configuration), **self.environment, **(env or {})}
        command = (program, *map(str, arguments))
        if self._usual and not stdin and forks.can_run(program, environment, self._usual):
            finished = forks.run(command, environment, folder, time_limit)
        else:
            finished = _finish(command, environment, folder, stdin, time_limit)
        result = Result(command, *finished)
        if result.rc == -signal.SIGKILL:
            raise CommandError(f"killed after the time limit\n{result}")
        if self.prints_results:
            print(result)
        if shown := find_secret(result.output):
            raise CommandError(f"a token was shown: {shown}\n{result}")
        return result

    ansible = partialmethod(run, "ansible")
    inventory = partialmethod(run, "ansible-inventory")
    playbook = partialmethod(run, "ansible-playbook")
    doc = partialmethod(run, "ansible-doc")
    galaxy = partialmethod(run, "ansible-galaxy")


def _finish(
    command: tuple[str, ...],
    environment: Mapping[str, str],
    folder: Path,
    stdin: str,
    time_limit: float,
) -> tuple[int, str, str]:
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="backslashreplace",
        # A new process group, so that child processes can be ended too.
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(stdin, timeout=time_limit)
    except subprocess.TimeoutExpired:
        stdout, stderr = _end(process)
        return -signal.SIGKILL, stdout, stderr
    except BaseException:
        # Ctrl-C does not reach the process.
        _end(process)
        raise
    return process.returncode, stdout, stderr


def _end(process: subprocess.Popen[str]) -> tuple[str, str]:
    # Ansible's workers leave the process group, so Ansible has to end them itself.
    os.killpg(process.pid, signal.SIGTERM)
    try:
        return process.communicate(timeout=_GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()


def write_inventory(
    folder: Path, content: str | Mapping[str, Any], name: str = "test.server_management.yml"
) -> Path:
    """Write an inventory file from its text, or from its options without ``plugin``."""
    if not isinstance(content, str):
        options = {"plugin": "server_management.cloud.servers", **content}
        content = yaml.safe_dump(options, sort_keys=False, allow_unicode=True)
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def write_program(path: Path, text: str) -> Path:
    """Write a program into a folder, and return its path."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path
