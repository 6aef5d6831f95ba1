# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sources under test: an inventory file for an account, alone or among others."""

import json
import re
import shutil
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from sandbox.account import SERVER
from support.run import without_white_space, write_inventory


class Source:
    """A sandbox and the files that list it."""

    def __init__(self, runner, sandbox, folder):
        self.runner = runner
        self.sandbox = sandbox
        self.folder = folder

    def file(self, name="test.server_management.yml", **options):
        """Write an inventory file; an option of None is left out."""
        connection = {"base_url": self.sandbox.url, "api_token": self.sandbox.token}
        given = {**connection, "retries": 0, **options}
        for option, value in options.items():
            if value is None:
                del given[option]
        return write_inventory(self.folder, given, name)

    def run(self, *arguments, **options):
        path = self.file(**options)
        return self.runner.inventory("-i", path, "--list", *arguments)

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
        plays = [{"hosts": pattern} for pattern in patterns]
        playbook.write_text(json.dumps(plays))
        inventory = as_arguments(sources)
        result = self.runner.playbook(*inventory, "--list-hosts", playbook).ok()
        _heading, *shown = result.stdout.split("play #")
        hosts = [re.findall(r"^      (\S+)$", play, re.MULTILINE) for play in shown]
        return dict(zip(patterns, hosts, strict=True))


@dataclass
class Expected:
    """A source, and what a command must make of it.

    ``hosts`` are those of the group with the name of the case. Each of ``texts`` is in a warning
    about the source, and there are no others, or all are in the error if it ``fails``.
    """

    name: str
    path: Path
    hosts: Any
    texts: Any
    fails: bool

    def faults(self, listing, texts):
        """Return what is wrong with the hosts, and with the texts, each of which must come once."""
        faults = []
        found = members(listing, self.name)
        if found != self.hosts:
            faults.append(f"has the hosts {found} instead of {self.hosts}")
        start = without_white_space(f"{self.path}:")
        ours = [text for text in texts if start in text]
        for expected in self.texts:
            number = sum(without_white_space(expected) in text for text in ours)
            if number != 1:
                faults.append(f"does not say once, but {number} times: {expected}")
        failed = without_white_space(f"Unable to parse {self.path} as an inventory source")
        has_failed = any(text.startswith(failed) for text in texts)
        if has_failed != self.fails:
            faults.append("fails" if has_failed else "does not fail")
        if not self.fails and len(ours) != len(self.texts):
            faults.append(f"says more than expected: {ours}")
        return [f"{self.name} {fault}" for fault in faults]


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
            account["servers"] = named(*names)
        return self._stack.enter_context(Sandbox(**account))

    def add(self, case, api=None, *, hosts=None, warns=(), fails=(), **options):
        """Add a source over an account, by default over a new one with the server ``<case>-1``.

        Unless it fails, its hosts must have the names of the servers, or be the given ``hosts``.
        """
        if api is None:
            api = self.serve(f"{case}-1")
        if fails:
            hosts = []
        if hosts is None:
            hosts = sorted(server["name"] for server in api.servers)
        source = Source(self.runner, api, self.folder)
        options = {"group": case, **options}
        path = source.file(f"{case}.server_management.yml", **options)
        texts = fails or warns
        if isinstance(texts, str):
            texts = (texts,)
        self.all[case] = Expected(case, path, hosts, texts, bool(fails))
        return api

    def list(self, *arguments, env=None):
        paths = as_arguments(case.path for case in self.all.values())
        command = (*arguments, *paths, "--list")
        return self.runner.inventory(*command, env=env).ok()

    def check(self, *arguments, env=None):
        """List all sources, and check the hosts and the messages of each: there are no others."""
        result = self.list(*arguments, env=env)
        assert "Traceback" not in result.output
        listing = result.json()
        texts = messages(result)
        faults = []
        known = ["Noinventorywasparsed,"]  # all sources have failed
        for case in self.all.values():
            faults += case.faults(listing, texts)
            known.append(without_white_space(str(case.path)))
        assert faults == []
        for text in texts:
            assert any(part in text for part in known)
        return result


def named(*names):
    """Return servers with these names, and the ids ``srv_1``, ``srv_2`` and so on."""
    servers = []
    for number, name in enumerate(names, start=1):
        place = {"id": f"srv_{number}", "ipv4": f"203.0.113.{number}"}
        servers.append({**SERVER, "name": name, **place})
    return servers


def cached(folder):
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
    return [text for path in sources for text in ("-i", str(path))]


def messages(result):
    """Return the warnings and errors that were printed, without white space.

    Ansible breaks their lines, before 2.19 also inside a path. Lines of -v follow a message.
    """
    text = without_white_space(result.stderr)
    for kind in ("[DEPRECATIONWARNING]:", "[ERROR]:"):
        text = text.replace(kind, "[WARNING]:")
    return [message for message in text.split("[WARNING]:") if message]


def hosts(listing):
    return sorted(listing["_meta"]["hostvars"])


def addresses(listing):
    hostvars = listing["_meta"]["hostvars"]
    return {name: variables.get("ansible_host") for name, variables in hostvars.items()}


def members(listing, group):
    return listing.get(group, {}).get("hosts", [])


def tokens_sent(api):
    headers = [request.headers["Authorization"] for request in api.requests]
    return [header.removeprefix("Bearer ") for header in headers]


@pytest.fixture
def source(runner, sandbox, tmp_path):
    return Source(runner, sandbox, tmp_path)


@pytest.fixture
def sources(runner, tmp_path):
    """Return no sources yet; the accounts of those that are added are served during the test."""
    with ExitStack() as stack:
        yield Sources(runner, tmp_path, stack)


def need_ssh(runner):
    if shutil.which("ssh", path=runner.environment["PATH"]) is None:
        pytest.skip("the OpenSSH client is not installed")
