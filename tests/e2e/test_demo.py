# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What `make help` and the end of `make demo` tell a newcomer to enter."""

import re
from runpy import run_path
from tempfile import TemporaryDirectory

from sandbox import Sandbox
from sandbox.account import example_servers
from support import sshd
from support.collection import REPOSITORY
from support.run import Runner


def test_the_help_fits_a_terminal_of_80_columns(tmp_path):
    shown = Runner(tmp_path).run("make", "--no-print-directory", "help", cwd=REPOSITORY).ok()
    assert max(map(len, shown.stdout.splitlines())) < 80


def test_the_demo_names_the_program_that_is_missing_and_its_package(tmp_path, monkeypatch):
    for name in ("ssh", "ssh-keygen"):
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sshd, "_SYSTEM_FOLDERS", ())
    assert sshd.obstacle() == "sshd not found (Debian: apt install openssh-server)"
    (tmp_path / "ssh").unlink()
    assert sshd.obstacle() == (
        "ssh, sshd not found (Debian: apt install openssh-client openssh-server)"
    )


def test_the_demo_ends_with_an_inventory_of_your_own_sandbox(tmp_path, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    suggested = run_path(str(REPOSITORY / "tools/demo.py"))["suggest"]()
    first, second = re.findall(r"terminal.*:\n((?:  .+\n)+)", suggested)
    serve = "  python3 tests/sandbox --example\n"
    assert serve in first
    runner = Runner(tmp_path / "home")
    with (
        TemporaryDirectory(prefix="sm") as folder,  # the path of a socket must be short
        Sandbox(servers=example_servers(), token="sandbox-token") as api,
    ):
        runner.environment["TMPDIR"] = folder
        # The sandbox of this test is used instead of the one that the reader starts.
        commands = first.replace(serve, "") + second.replace("http://127.0.0.1:8080", api.url)
        result = runner.run("sh", "-ec", commands, cwd=REPOSITORY).ok()
    assert result.stderr == ""
    for server in api.servers:
        assert f"--{server['name']}\n" in result.stdout
        assert f"{server['name']} | SUCCESS" in result.stdout
