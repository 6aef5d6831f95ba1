# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A source under test: a separate inventory file, and the inventory that Ansible reads from it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox import Sandbox
from sandbox.account import SERVER
from support.fixtures import KNOWN_NAMES
from support.run import CommandError, without_white_space, write_inventory

ENDING = ".server_management.yml"


class Source:
    """A sandbox and the files that list it."""

    def __init__(self, runner, sandbox, folder):
        self.runner = runner
        self.sandbox = sandbox
        self.folder = folder

    def file(self, name="test.server_management.yml", **options):
        """Write an inventory file; an option of None is left out."""
        connection = {"base_url": self.sandbox.url, "api_token": self.sandbox.token}
        every = {**connection, "retries": 0, **options}
        kept = {key: value for key, value in every.items() if value is not None}
        return write_inventory(self.folder, kept, name)

    def run(self, *arguments, **options):
        """List a source with these options."""
        return self.runner.inventory("-i", self.file(**options), "--list", *arguments)

    def list_silently(self, *arguments, **options):
        """Return the parsed list of a source that must not cause any message."""
        result = self.run(*arguments, **options).ok()
        assert result.stderr == ""
        return result.json()

    def flush(self, path, *arguments, **options):
        """List the hosts of a file without its cache, by a command that can in each version."""
        playbook = self.folder / "nothing.yml"
        playbook.write_text("- hosts: all\n")
        command = ("-i", path, playbook, "--flush-cache", "--list-hosts")
        return self.runner.playbook(*command, *arguments, **options)

    def addressed(self, patterns, *sources):
        """Return the hosts that each pattern addresses in a command over these sources."""
        playbook = self.folder / "patterns.yml"
        playbook.write_text(json.dumps([{"hosts": pattern} for pattern in patterns]))
        result = self.runner.playbook(*as_arguments(sources), "--list-hosts", playbook).ok()
        found = {}
        for line in result.stdout.splitlines():
            if play := re.fullmatch(r" *play #\d+ \((.+?)\):.*", line):
                pattern = play[1]
                found[pattern] = []
            elif host := re.fullmatch(r"      (\S+)", line):
                found[pattern].append(host[1])
        return found


@dataclass
class Expected:
    """A source, and what a command must make of it.

    ``hosts`` are those of the group with the name of the case, None for any. Each of ``warns`` is
    in another warning about the source, and there are no others. All of ``fails`` are in the error.
    """

    path: Path
    hosts: list[str] | None
    warns: Sequence[str]
    fails: Sequence[str]

    def problems(self, found, warnings, error):
        """Yield how the source differs from what is expected."""
        if self.hosts is not None and found != self.hosts:
            yield f"has the hosts {found} instead of {self.hosts}"
        if error and not self.fails:
            yield f"failed: {error}"
        if self.fails and not error:
            yield "did not fail"
        if not error and len(warnings) != len(self.warns):
            yield f"has {len(warnings)} warnings instead of {len(self.warns)}: {warnings}"
        yield from _missing(self.warns, "".join(warnings))
        yield from _missing(self.fails, error)


def _missing(texts, shown):
    for text in texts:
        if without_white_space(text) not in shown:
            yield f"does not show: {text}\n  but: {shown}"


class Sources:
    """Sources that one command lists, because a process costs a second.

    Each is a case with a name, which its inventory file and its group of all hosts have, too.
    """

    def __init__(self, runner, folder, stack):
        self.runner = runner
        self.folder = folder
        self.all = {}
        self._stack = stack

    def serve(self, *names, **account):
        """Serve an account until the test ends, with one server for each name."""
        if names:
            account["servers"] = [
                {**SERVER, "id": f"srv_{number}", "name": name, "ipv4": f"203.0.113.{number}"}
                for number, name in enumerate(names, start=1)
            ]
        return self._stack.enter_context(Sandbox(**account))

    def add(self, case, api=None, *, hosts=None, warns=(), fails=(), **options):
        """Add a source over an account, by default over a new one with the server ``<case>-1``."""
        if api is None:
            api = self.serve(f"{case}-1")
            hosts = [f"{case}-1"]
        if fails:
            hosts = []
        source = Source(self.runner, api, self.folder)
        path = source.file(f"{case}{ENDING}", **{"group": case, **options})
        self.all[case] = Expected(path, hosts, as_tuple(warns), as_tuple(fails))
        return api

    def add_with_prefix(self, case, api, **options):
        """Add a source over the known servers that names its hosts ``<case>-web-1`` and so on.

        So several sources can list one account, and each has separate hosts.
        """
        hosts = [f"{case}-{name}" for name in KNOWN_NAMES]
        prefixed = [f"'{case}-' ~ server_management_name"]
        self.add(case, api, **{"hosts": hosts, "hostnames": prefixed, **options})

    def write(self, case, content, fails):
        """Add a source with this content, which fails."""
        path = write_inventory(self.folder, content, f"{case}{ENDING}")
        self.all[case] = Expected(path, [], (), as_tuple(fails))

    def check(self, *arguments, env=None):
        """List all sources by one command; raise CommandError for those not as expected."""
        __tracebackhide__ = True
        paths = as_arguments(case.path for case in self.all.values())
        result = self.runner.inventory(*arguments, *paths, "--list", env=env).ok()
        listing = result.json()
        warned = warnings(result)
        failed = failures(result)
        problems = []
        for name, case in self.all.items():
            found = members(listing, name)
            differences = case.problems(found, warned.get(name, []), failed.get(name, ""))
            problems += [f"{name}: {difference}" for difference in differences]
        is_silent = not any(case.warns or case.fails for case in self.all.values())
        if "Traceback" in result.output or (is_silent and not arguments and result.stderr):
            problems.append(f"there are other messages\n{result}")
        if problems:
            raise CommandError("\n".join(problems))
        return result


def as_tuple(texts):
    """Return several texts as they are, and one text as a tuple."""
    if isinstance(texts, str):
        return (texts,)
    return texts


def cached(folder):
    """Return the options of a cache in this folder."""
    return {
        "cache": True,
        "cache_plugin": "ansible.builtin.jsonfile",
        "cache_connection": str(folder),
    }


def rewrite(entry, change):
    """Change the cache entry in a file, which Ansible 2.19 and later wraps in a text."""
    content = json.loads(entry.read_text())
    if "__payload__" in content:
        changed = change(json.loads(content["__payload__"]))
        content["__payload__"] = json.dumps(changed)
    else:
        content = change(content)
    entry.write_text(json.dumps(content))


def as_arguments(sources):
    """Return the arguments of a command that uses these sources."""
    return [text for path in sources for text in ("-i", str(path))]


def failures(result):
    """Return what was printed for each source that failed, by case, without white space."""
    found = {}
    shown = without_white_space(result.stderr)
    # Ansible prints what went wrong first, and then which source it was.
    for match in re.finditer(rf"(.*?)Unabletoparse\S*?([^/]+){ENDING}asaninventory", shown):
        found[match[2]] = match[1]
    return found


def warnings(result):
    """Return the warnings about each source, by case, without white space."""
    found = {}
    for text in without_white_space(result.stderr).split("[WARNING]:"):
        if match := re.match(rf"/[^:]*?([^/:]+){ENDING}:(.*)", text):
            found.setdefault(match[1], []).append(match[2])
    return found


def hosts(listing):
    """Return the names of all hosts of a list."""
    return sorted(listing["_meta"]["hostvars"])


def members(listing, group):
    """Return the hosts of a group, in order."""
    return listing.get(group, {}).get("hosts", [])


@pytest.fixture
def source(runner, sandbox, tmp_path):
    """Return a source over the known servers."""
    return Source(runner, sandbox, tmp_path)


@pytest.fixture
def sources(runner, tmp_path):
    """Return no sources yet; the accounts of those that are added are served during the test."""
    with ExitStack() as stack:
        yield Sources(runner, tmp_path, stack)


def need_ssh(runner):
    """Skip the test on a machine without ssh."""
    if shutil.which("ssh", path=runner.environment["PATH"]) is None:
        pytest.skip("the OpenSSH client is not installed")
