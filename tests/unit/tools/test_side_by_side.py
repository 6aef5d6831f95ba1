# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""A session that fails makes the whole run fail."""

import subprocess
import sys

import pytest

from support.collection import REPOSITORY

# Used instead of nox: a session fails if it has the name.
NOX = "import sys; print('output of', sys.argv[2]); sys.exit(sys.argv[2] == '{failing}')"


@pytest.mark.parametrize("failing", ["none", "lint", "license-check"])
def test_a_run_fails_with_each_of_its_sessions(tmp_path, failing):
    (tmp_path / "nox.py").write_text(NOX.format(failing=failing))
    program = REPOSITORY / "tools" / "side_by_side.py"
    command = (sys.executable, program, "license-check", "lint")
    env = {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == (failing != "none")
    assert done.stdout.count("output of") == done.returncode
