# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run commands in parallel, each with a separate log, and report failures."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path


def run(
    commands: Mapping[str, Sequence[str]],
    logs: Path,
    environment: Mapping[str, str],
    at_once: int = (os.cpu_count() or 1) + 1,  # one of them is usually waiting
) -> list[str]:
    """Start commands in the given order, print the logs of those that fail, return their names."""
    logs.mkdir(parents=True, exist_ok=True)
    failed = set()
    with ThreadPoolExecutor(at_once) as pool:
        runs = {
            pool.submit(_run, command, logs / f"{name}.log", environment): name
            for name, command in commands.items()
        }
        for run_ in as_completed(runs):
            name = runs[run_]
            status, seconds = run_.result()
            log = logs / f"{name}.log"
            if status != 0:
                failed.add(name)
                print(f"--- {name}\n{log.read_text(encoding='utf-8', errors='replace')}--- {name}")
            verdict = "passed" if status == 0 else f"FAILED with status {status}"
            print(f"{name}: {verdict} in {seconds:.0f} s ({log})", flush=True)
    return [name for name in commands if name in failed]


def _run(command: Sequence[str], log: Path, environment: Mapping[str, str]) -> tuple[int, float]:
    """Return the exit status of a command, and how many seconds it took."""
    start = time.monotonic()
    with log.open("wb") as output:
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return done.returncode, time.monotonic() - start
