# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A source under test: a separate inventory file, and the inventory that Ansible reads from it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from sandbox.account import SERVER
from support.run import Result, Runner, write_inventory

KNOWN = [
    {
        **SERVER,
        "id": f"srv_{number}",
        "name": name,
        "status": status,
        "plan": plan,
        "region": region,
        "ipv4": f"203.0.113.{number}",
        "created_at": f"2026-0{number}-01T00:00:00Z",
    }
    for number, (name, status, plan, region) in enumerate(
        [
            ("web-1", "running", "small", "eu-1"),
            ("web-2", "stopped", "small", "eu-2"),
            ("db-1", "running", "large", "eu-1"),
        ],
        start=1,
    )
]

THREE = ["db-1", "web-1", "web-2"]

# Named here, since in the class below `list` is a method.
Addressed = dict[str, list[str]]


class Source:
    """A sandbox and the files that list it."""

    def __init__(self, runner: Runner, sandbox: Sandbox, folder: Path) -> None:
        self.runner = runner
        self.sandbox = sandbox
        self.folder = folder

    def file(self, name: str = "test.server_management.yml", **options: Any) -> Path:
        """Write an inventory file; an option of None is left out."""
        every = {
            "base_url": self.sandbox.url,
            "api_token": self.sandbox.token,
            "retries": 0,
            **options,
        }
        kept = {key: value for key, value in every.items() if value is not None}
        return write_inventory(self.folder, kept, name)

    def run(self, *arguments: str | Path, **options: Any) -> Result:
        """List a source with these options."""
        return self.runner.inventory("-i", self.file(**options), "--list", *arguments)

    def list(self, *arguments: str | Path, **options: Any) -> dict[str, Any]:
        """Return the parsed list of a source that must work without a word on standard error."""
        result = self.run(*arguments, **options).ok()
        assert result.stderr == ""
        listing: dict[str, Any] = result.json()
        return listing

    def flush(self, path: Path, *arguments: str, **options: Any) -> Result:
        """List the hosts of a file without its cache, by the one command that always could."""
        playbook = self.folder / "nothing.yml"
        playbook.write_text("- hosts: all\n")
        every = ("-i", path, "--flush-cache", "--list-hosts", *arguments)
        return self.runner.playbook(*every, playbook, **options)

    def addressed(self, patterns: Iterable[str], *sources: Path) -> Addressed:
        """Return the hosts that each pattern addresses in a command over these sources."""
        playbook = self.folder / "patterns.yml"
        playbook.write_text("".join(f"- hosts: {json.dumps(pattern)}\n" for pattern in patterns))
        shown = self.runner.playbook(*as_arguments(sources), "--list-hosts", playbook).ok().stdout
        found: Addressed = {}
        for part in re.split(r"^ *play #\d+ ", shown, flags=re.MULTILINE)[1:]:
            pattern, _colon, rest = part[1:].partition("):")
            found[pattern] = re.findall(r"^      (\S+)$", rest, flags=re.MULTILINE)
        return found


class Cases:
    """Sources that one command lists, so that many cases cost one process.

    The file of a source and its group of all hosts have the name of its case.
    """

    def __init__(self, runner: Runner, folder: Path, stack: ExitStack) -> None:
        self.runner = runner
        self.folder = folder
        self.paths: dict[str, Path] = {}
        self._stack = stack

    def serve(self, *names: str, **account: Any) -> Sandbox:
        """Serve an account until the test ends, with one server for each name."""
        if names:
            account["servers"] = [
                {**KNOWN[0], "id": f"srv_{number}", "name": name}
                for number, name in enumerate(names, start=1)
            ]
        return self._stack.enter_context(Sandbox(**account))

    def add(self, case: str, api: Sandbox | None = None, **options: Any) -> Sandbox:
        """Add a source over an account, by default over one server, ``case-1``."""
        api = api or self.serve(f"{case}-1")
        source = Source(self.runner, api, self.folder)
        every = {"group": case, **options}
        self.paths[case] = source.file(f"{case}.server_management.yml", **every)
        return api

    def share(self, case: str, api: Sandbox, **options: Any) -> None:
        """Add a source over an account that others list too, with other host names."""
        self.add(case, api, hostnames=[f"'{case}-' ~ server_name"], **options)

    def write(self, case: str, content: str) -> None:
        """Add a source with this content."""
        name = f"{case}.server_management.yml"
        self.paths[case] = write_inventory(self.folder, content, name)

    def run(self, *arguments: str | Path, env: Mapping[str, str] | None = None) -> Result:
        """List all sources by one command."""
        paths = as_arguments(self.paths.values())
        return self.runner.inventory(*arguments, *paths, "--list", env=env).ok()

    def list(self, *arguments: str | Path, env: Mapping[str, str] | None = None) -> dict[str, Any]:
        """List sources that must work without a word on standard error."""
        result = self.run(*arguments, env=env)
        noisy = [case for case, path in self.paths.items() if path.name in result.stderr]
        assert result.stderr == "", f"messages of {', '.join(noisy) or 'Ansible'}"
        listing: dict[str, Any] = result.json()
        return listing


def check_refused(result: Result, cases: Mapping[str, str | Iterable[str]]) -> None:
    """Check that each of these cases failed with its texts, and added no host to its group.

    The error names every case for which this is not so.
    """
    listing = result.json()
    messages = failures(result)
    wrong = []
    for case, texts in cases.items():
        message = messages.get(f"{case}.server_management.yml", "it did not fail")
        expected = [texts] if isinstance(texts, str) else texts
        missing = [text for text in expected if "".join(text.split()) not in message]
        if missing or members(listing, case):
            wrong.append(f"{case}: {missing} missing in\n  {message}\n  {members(listing, case)}")
    assert not wrong, "\n".join(wrong)
    assert "Traceback" not in result.output, result


def prefixed(case: str) -> list[str]:
    """Return the names of the known servers in a source that shares their account."""
    return [f"{case}-{name}" for name in THREE]


def cached(folder: Path) -> dict[str, Any]:
    """Return the options of a cache in this folder."""
    return {
        "cache": True,
        "cache_plugin": "ansible.builtin.jsonfile",
        "cache_connection": str(folder),
    }


def rewrite(entry: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the cache entry in a file, which Ansible 2.19 and later wraps in a text."""
    outer = json.loads(entry.read_text())
    if "__payload__" in outer:
        outer["__payload__"] = json.dumps(change(json.loads(outer["__payload__"])))
    else:
        outer = change(outer)
    entry.write_text(json.dumps(outer))


def as_arguments(sources: Iterable[Path]) -> list[str]:
    """Return the arguments of a command that uses these sources."""
    return [text for path in sources for text in ("-i", str(path))]


def failures(result: Result) -> dict[str, str]:
    """Return what was printed for each source that failed, by file name, without white space."""
    words = "".join(result.stderr.split())
    parts = re.split(r"Unabletoparse(\S*?)asaninventorysource", words)
    return {Path(path).name: text for text, path in zip(parts[::2], parts[1::2], strict=False)}


def hosts(listing: dict[str, Any]) -> list[str]:
    """Return the names of all hosts of a list."""
    return sorted(listing["_meta"]["hostvars"])


def members(listing: dict[str, Any], group: str) -> list[str]:
    """Return the hosts of a group, in order."""
    found: list[str] = listing.get(group, {}).get("hosts", [])
    return found


@pytest.fixture
def sandbox() -> Generator[Sandbox, None, None]:
    """Serve three known servers."""
    with Sandbox(servers=[dict(server) for server in KNOWN], token="t0ken-of-the-sandbox") as api:
        yield api


@pytest.fixture
def source(runner: Runner, sandbox: Sandbox, tmp_path: Path) -> Source:
    """Return a source over the known servers."""
    return Source(runner, sandbox, tmp_path)


@pytest.fixture
def cases(runner: Runner, tmp_path: Path) -> Generator[Cases, None, None]:
    """Return an empty collection of cases, whose accounts are served until the test ends."""
    with ExitStack() as stack:
        yield Cases(runner, tmp_path, stack)


def need_ssh(runner: Runner) -> None:
    """Skip the test on a machine without ssh."""
    if shutil.which("ssh", path=runner.environment["PATH"]) is None:
        pytest.skip("the OpenSSH client is not installed")
