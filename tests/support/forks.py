# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run Ansible's commands as forks of one process that has imported Ansible: a start costs 0.5 s.

Python's fork server is that process. It is started with the first command and ends with the tests.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Mapping
from importlib import import_module
from multiprocessing import forkserver
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

_CONTEXT = multiprocessing.get_context("forkserver")
_PROGRAMS = ("ansible", "ansible-inventory", "ansible-playbook")
# Settings that have an effect only while Python starts, or Ansible is imported.
_READ_AT_START = ("PYTHON", "ANSIBLE_LOG_PATH")
_GRACE = 5.0  # seconds


def start(environment: Mapping[str, str]) -> None:
    """Start the process, with the environment that most commands have."""
    # Most listings need requests. Without processes of xdist, pytest is the main module, which each
    # fork imports.
    modules = [__name__, f"{__package__}.forked", "requests", "pytest"]
    _CONTEXT.set_forkserver_preload(modules)
    tests = str(Path(__file__).parents[1])
    with mock.patch.dict(os.environ, {**environment, "PYTHONPATH": tests}, clear=True):
        forkserver.ensure_running()


def can_run(program: str, environment: Mapping[str, str], usual: Mapping[str, str]) -> bool:
    """Return whether a command is one of Ansible's, with the settings of the process."""
    changed = environment.items() ^ usual.items()
    is_changed = any(name.startswith(_READ_AT_START) for name, _value in changed)
    return program in _PROGRAMS and not is_changed


def run(
    command: tuple[str, ...], environment: Mapping[str, str], folder: Path, time_limit: float
) -> tuple[int, str, str]:
    """Return the exit status, standard output and standard error of a command without input.

    The status is negative if it was killed after the time limit.
    """
    with TemporaryDirectory() as name:
        stdout = Path(name, "stdout")
        stderr = Path(name, "stderr")
        files = [Path(os.devnull), stdout, stderr]
        process = _CONTEXT.Process(target=_execute, args=(command, environment, folder, files))
        process.start()
        try:
            process.join(time_limit)
            status = process.exitcode
        finally:
            # Ansible's workers are not in its process group, so Ansible has to end them itself.
            process.terminate()
            process.join(_GRACE)
            process.kill()
            process.join()
        output = stdout.read_text("utf-8", "backslashreplace")
        errors = stderr.read_text("utf-8", "backslashreplace")
    if status is None:
        status = -signal.SIGKILL
    return status, output, errors


def _execute(*arguments: object) -> None:
    # Not at the top, since only the process that is forked may import Ansible with its settings.
    import_module(f"{__package__}.forked").execute(*arguments)
