# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run sessions of nox in parallel, each with a separate log."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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

    def passes(name: str) -> bool:
        return _run((*command, name), name, logs / f"{name}.log")

    passed = {name: passes(name) for name in names if name == FIRST}
    others = [name for name in names if name != FIRST]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        passed |= zip(others, pool.map(passes, others), strict=True)
    return [name for name in names if not passed[name]]


def _run(command: Sequence[str], name: str, log: Path) -> bool:
    """Run a command, print its result, and its log if it failed; return whether it passed."""
    start = time.monotonic()
    with log.open("wb") as output:
        status = subprocess.call(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    seconds = time.monotonic() - start
    text = log.read_text(encoding="utf-8", errors="replace")
    verdict = "passed"
    shown = ""
    if status != 0:
        verdict = f"FAILED with status {status}"
        shown = f"--- {name}\n{text}--- {name}\n"
    counts = "".join(f": {found}" for found in _COUNTS.findall(text))
    # At once, because others print, too.
    print(f"{shown}{name}: {verdict} in {seconds:.0f} s{counts} ({log})", flush=True)
    return status == 0
