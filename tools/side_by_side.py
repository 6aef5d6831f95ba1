# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run sessions of nox in parallel, each with a separate log."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

LOGS = Path(__file__).resolve().parents[1] / ".nox" / "logs"
NOX = (sys.executable, "-m", "nox", "--session")
AT_ONCE = (os.cpu_count() or 1) + 1  # one of them is usually waiting
# Runs before the others: files that they create for a moment would count as unlicensed.
FIRST = "license-check"
_COUNTS = re.compile(r"^=* ?(\d+ (?:passed|failed|error).*? in [\d.]+s)", re.MULTILINE)


def run(names: Sequence[str], command: Sequence[str] = NOX, logs: Path = LOGS) -> list[str]:
    """Run a command with each of the names, print the logs of failures, return their names."""
    logs.mkdir(parents=True, exist_ok=True)
    failed = set()
    first = [name for name in names if name == FIRST]
    others = [name for name in names if name != FIRST]
    for group in (first, others):
        with ThreadPoolExecutor(AT_ONCE) as pool:
            runs = {
                pool.submit(_run, [*command, name], logs / f"{name}.log"): name for name in group
            }
            for run_ in as_completed(runs):
                name = runs[run_]
                log = logs / f"{name}.log"
                status, seconds = run_.result()
                text = log.read_text(encoding="utf-8", errors="replace")
                if status != 0:
                    failed.add(name)
                    print(f"--- {name}\n{text}--- {name}")
                verdict = "passed" if status == 0 else f"FAILED with status {status}"
                counts = "".join(f": {found}" for found in _COUNTS.findall(text))
                print(f"{name}: {verdict} in {seconds:.0f} s{counts} ({log})", flush=True)
    return [name for name in names if name in failed]


def _run(command: Sequence[str], log: Path) -> tuple[int, float]:
    """Return the exit status of a command, and how many seconds it took."""
    start = time.monotonic()
    with log.open("wb") as output:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False
        )
    return done.returncode, time.monotonic() - start
