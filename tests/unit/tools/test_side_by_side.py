# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools import side_by_side

# Each run creates a file; the first two wait for each other's.
SCRIPT = """
import pathlib, sys, time
folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
(folder / name).touch()
deadline = time.monotonic() + 20
while not all((folder / other).exists() for other in ("late", "good")):
    if time.monotonic() > deadline:
        sys.exit("alone")
    time.sleep(0.01)
print("====== 7 passed, 1 skipped in 3.21s ======")
if name != "good":
    sys.exit(f"failure of {name}")
"""


def test_commands_run_at_once_and_failures_are_returned_in_order_with_their_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = (sys.executable, "-c", SCRIPT, str(tmp_path))
    names = ["late", "good", "bad"]
    assert side_by_side.run(names, command, tmp_path / "logs", at_once=2) == ["late", "bad"]
    printed = capsys.readouterr().out
    assert "failure of late" in printed
    assert "failure of bad" in printed
    assert "good: passed in" in printed
    assert printed.count("7 passed, 1 skipped in 3.21s") == 3 + 2  # and in the logs of failures
