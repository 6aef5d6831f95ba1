# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the demo tells a newcomer to enter."""

import re
from runpy import run_path
from tempfile import TemporaryDirectory

import pytest

from sandbox import Sandbox
from sandbox.account import example_servers
from support import sshd
from support.collection import REPOSITORY, read
from support.run import CommandError, Runner


def test_the_demo_names_the_programs_that_are_missing_and_their_packages(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sshd, "_SYSTEM_FOLDERS", ())
    programs = "ssh, ssh-keygen, sshd"
    packages = "openssh-client openssh-server"
    assert sshd.obstacle() == f"{programs} not found (Debian: apt install {packages})"


def test_the_demo_ends_with_an_inventory_of_your_own_sandbox(tmp_path, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    suggest = run_path("tools/demo.py")["suggest"]
    first, second = re.findall(r"terminal.*:\n((?:  .+\n)+)", suggest())
    # The sandbox of this test is used instead of the one that the reader starts.
    serve = "  python3 tests/sandbox --example\n"
    assert serve in first
    commands = first.replace(serve, "") + second
    runner = Runner(tmp_path / "home")
    account = Sandbox(servers=example_servers(), token="sandbox-token")
    # The path of a socket must be short.
    with account, TemporaryDirectory(prefix="sm") as folder:
        runner.environment["TMPDIR"] = folder
        script = commands.replace("http://127.0.0.1:8080", account.url)
        result = runner.run("sh", "-ec", script, cwd=REPOSITORY).ok()
    assert result.stderr == ""
    for name in ("web-01", "web-02", "db-01"):
        assert f"--{name}\n" in result.stdout
        assert f"{name} | SUCCESS" in result.stdout


def test_the_demo_stores_host_keys_by_id_as_it_says():
    # To run it takes a minute.
    assert '"host_key_alias": True' in read("tools/demo.py")


@pytest.mark.parametrize(
    ("error", "status"), [(None, 0), (CommandError("failed"), 1), (KeyboardInterrupt, 130)]
)
def test_the_demo_fails_with_a_command(monkeypatch, capsys, error, status):
    def show(demo, stack):
        if error is not None:
            raise error

    main = run_path(f"{REPOSITORY}/tools/demo.py")["main"]
    monkeypatch.setitem(main.__globals__, "show", show)
    monkeypatch.setattr("signal.signal", lambda number, handler: None)
    assert main() == status
    assert ("The demo stops here" in capsys.readouterr().err) is (status == 1)
