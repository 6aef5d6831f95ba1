# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools import side_by_side


def python(script: str) -> tuple[str, ...]:
    return (sys.executable, "-c", script)


def test_failed_commands_are_returned_in_order_and_their_logs_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = {
        "late": python("import sys, time; time.sleep(0.5); sys.exit('too late')"),
        "good": python("print('success')"),
        "bad": python("import sys; sys.exit('no good')"),
    }
    assert side_by_side.run(commands, tmp_path / "logs", {}, at_once=3) == ["late", "bad"]
    printed = capsys.readouterr().out
    assert "too late" in printed
    assert "no good" in printed
    assert "success" not in printed
    assert (tmp_path / "logs" / "good.log").read_text() == "success\n"


def test_commands_run_at_once_and_get_the_environment(tmp_path: Path) -> None:
    # Each creates a file and waits for the file of the other.
    script = """
import os, pathlib, sys, time
pathlib.Path(os.environ["FOLDER"], sys.argv[1]).touch()
deadline = time.monotonic() + 10
while not pathlib.Path(os.environ["FOLDER"], sys.argv[2]).exists():
    if time.monotonic() > deadline:
        sys.exit("timed out")
    time.sleep(0.01)
"""
    commands = {"a": (*python(script), "a", "b"), "b": (*python(script), "b", "a")}
    assert side_by_side.run(commands, tmp_path, {"FOLDER": str(tmp_path)}, at_once=2) == []
