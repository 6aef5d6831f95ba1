# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ``ansible-galaxy`` packs of a checkout, and what the demo advises there."""

import re
import tarfile
from contextlib import ExitStack
from runpy import run_path
from tempfile import TemporaryDirectory
from unittest.mock import Mock

import pytest

from sandbox import Sandbox
from sandbox.account import example_servers
from support.collection import REPOSITORY, build, copy_sources, sources
from support.run import CommandError, Runner, write_inventory
from support.sshd import SshError

PRIVATE = """
server_management.yml prod.server_management.yaml inventories/prod.server_management.yml
clouds/a.server_management.yml token token.txt secrets/token ansible.cfg trial/ansible.cfg fleet.yml
fleet-prod.yaml .env .vault_password vault.yml vault_password.txt id.pem certs/a.key ansible.log
hosts hosts.ini inventory/hosts.yml group_vars/all.yml prod/host_vars/web-1.yml
collections/ansible_collections/a/b/README.md htmlcov/index.html node_modules/a/index.js
site/index.html venv2/bin/activate venv/pyvenv.cfg env/bin/activate .venv/bin/activate
build/a dist/a a.tar.gz README.md~ .cache/a docs/.cache/a my-password.txt
"""
# The paths of what ansible-core, ansible-rulebook, Galaxy and readers use.
USED = re.compile(
    r"(README\.md|CHANGELOG\.rst|requirements\.txt)$|"
    r"(changelogs/changelog|docs|extensions|meta|playbooks|plugins|tests/sandbox)[./]"
)


def names_in(tarball):
    with tarfile.open(tarball) as archive:
        return {member.name for member in archive if member.isfile()}


def test_files_that_users_keep_in_a_checkout_are_not_packed(tarball, tmp_path):
    checkout = copy_sources(tmp_path / "checkout")
    for name in PRIVATE.split():
        path = checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("private")
    runner = Runner(tmp_path / "home")
    built = build(runner, tmp_path / "built", checkout)
    assert names_in(built) == names_in(tarball)


def test_everything_that_ansible_uses_is_packed(tarball):
    ours = {name for name in sources() if USED.match(name)}
    assert ours - names_in(tarball) == set()


def test_the_demo_ends_with_an_inventory_of_your_own_sandbox(tmp_path, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    suggest = run_path("tools/demo.py")["suggest"]
    first, second = re.findall(r"terminal.*:\n((?:  .+\n)+)", suggest())
    # The sandbox of this test is used instead of the one that the reader starts.
    serve = "  python3 tests/sandbox --example\n"
    assert serve in first
    commands = first.replace(serve, "") + second
    runner = Runner(tmp_path / "home")
    account = Sandbox(example_servers(), "sandbox-token")
    # The path of a socket must be short.
    with account, TemporaryDirectory(prefix="sm") as folder:
        runner.environment["TMPDIR"] = folder
        script = commands.replace("http://127.0.0.1:8080", account.url)
        result = runner.run("sh", "-ec", script, cwd=REPOSITORY).ok()
    assert result.stderr == ""
    for name in ("web-01", "web-02", "db-01"):
        assert f"--{name}\n" in result.stdout
        assert f"{name} | SUCCESS" in result.stdout


def test_the_demo_reaches_the_servers_without_ssh(runner, tmp_path, monkeypatch, capsys):
    program = run_path(f"{REPOSITORY}/tools/demo.py")
    reach = program["reach"]
    without = Mock(side_effect=SshError("sshd is not installed"))
    monkeypatch.setitem(reach.__globals__, "SshServer", without)
    demo = program["Demo"](tmp_path)
    demo.runner = runner
    with Sandbox(example_servers()) as sandbox:
        write_inventory(tmp_path, {"base_url": sandbox.url}, program["INVENTORY"])
        runner.environment["SERVER_MANAGEMENT_API_TOKEN"] = sandbox.token
        demo.run(*program["PING"], *reach(demo, ExitStack(), sandbox))
    shown = capsys.readouterr().out
    assert "sshd is not installed" in shown
    assert "web-01 | SUCCESS" in shown


STATUSES = [(None, 0), (CommandError("failed"), 1), (KeyboardInterrupt, 130)]


@pytest.mark.parametrize(("error", "status"), STATUSES)
def test_the_demo_fails_with_a_command(monkeypatch, capsys, error, status):
    main = run_path(f"{REPOSITORY}/tools/demo.py")["main"]
    monkeypatch.setitem(main.__globals__, "show", Mock(side_effect=error))
    monkeypatch.setattr("signal.signal", Mock())
    assert main() == status
    assert ("The demo stops here" in capsys.readouterr().err) is (status == 1)
