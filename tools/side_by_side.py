# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run sessions of nox side by side; fail if one of them fails.

python tools/side_by_side.py SESSION...
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

AT_ONCE = (os.cpu_count() or 1) + 1  # one of them is usually waiting
# Runs before the others: files that they create for a moment would count as unlicensed.
FIRST = "license-check"


def passes(session: str) -> bool:
    """Run a session, print its output if it fails, and return whether it passed."""
    done = subprocess.run(
        (sys.executable, "-m", "nox", "--session", session),
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode == 0:
        print(f"{session}: passed", flush=True)
        return True
    print(f"{done.stdout}{session}: FAILED", flush=True)
    return False


def main(sessions: list[str]) -> int:
    """Run the sessions, and return the exit status."""
    failed = [name for name in sessions if name == FIRST and not passes(name)]
    others = [name for name in sessions if name != FIRST]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for name, has_passed in zip(others, pool.map(passes, others), strict=True):
            if not has_passed:
                failed.append(name)
    if failed:
        print(f"not passed: {', '.join(failed)}", flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
