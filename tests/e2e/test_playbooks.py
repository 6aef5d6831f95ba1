# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbooks check_api and set_up_server, and what all playbooks do with a limit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandbox import Fault
from support.run import Result

from .conftest import Source


def run(source: Source, playbook: str, *arguments: str | Path) -> Result:
    """Run a playbook of the collection, with the connection in the environment."""
    name = f"server_management.cloud.{playbook}"
    return source.runner.playbook(name, *arguments, env=source.sandbox.environment)


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize("playbook", ["check_api", "check_fleet", "declare_fleet", "ssh_config"])
def test_a_limit_that_excludes_localhost_is_an_error(source: Source, playbook: str) -> None:
    result = run(source, playbook, "-i", "web-1,", "--limit", "web-1")
    assert result.rc not in (0, 2)
    result.shows("The limit excludes localhost, where this playbook runs, so nothing was done.")
    assert source.sandbox.requests == []


def test_a_limit_may_include_localhost(source: Source) -> None:
    # In the working directory: Ansible splits a limit at white space, which the path may have.
    (source.runner.home / "limits").write_text("web-1\nlocalhost\n")
    result = run(source, "check_api", "-i", "web-1,", "--limit", "@limits").ok()
    result.shows('"token": "accepted"')


def test_check_api_shows_values_on_request_and_fails_if_the_api_does_not_work(
    source: Source,
) -> None:
    source.sandbox.servers[0]["plan"] = "plan-of-somebody"
    assert not run(source, "check_api").ok().contains("plan-of-somebody")
    run(source, "check_api", "-e", "show_values=true").ok().shows('"plan-of-somebody": 1')
    source.sandbox.fail(Fault(status=403))
    result = run(source, "check_api")
    result.shows('"token": "may lack the scope servers:read"', "The API refuses the request")
    assert result.rc == 2


def set_up(source: Source, host: str, server: str, *arguments: str | Path) -> Result:
    """Run set_up_server as ansible-rulebook does for an event."""
    event = {"meta": {"hosts": host}, "server_management": {"server": {"id": server}}}
    variables = json.dumps({"ansible_eda": {"event": event}})
    return run(source, "set_up_server", "-e", variables, "--limit", host, *arguments)


@pytest.mark.promise("misdirected")
def test_only_the_server_of_an_event_is_set_up(source: Source) -> None:
    path = source.file(compose={"ansible_connection": "'local'"})
    groups = source.folder / "z-groups.yml"
    # The names of groups, the second one with a host that has its name.
    groups.write_text("web: {hosts: {web-1: , web-2: }}\ndb-1: {hosts: {web-1: , db-1: }}\n")
    sources = ("-i", path, "-i", groups)
    result = set_up(source, "db-1", "srv_3", *sources).ok().shows("db-1 (srv_3) is reachable")
    assert not result.contains("ok: [web-1]")
    # Another server has the host name of the event now, and then none has it.
    assert not set_up(source, "web-1", "srv_4", *sources).ok().contains("ok: [")
    for name in ("web", "new"):
        result = set_up(source, name, "srv_1", *sources)
        assert result.rc != 0
        assert not result.contains("ok: [")
    # The API fails, so that Ansible has no hosts.
    source.sandbox.fail(Fault(status=503), times=None)
    failed = set_up(source, "db-1", "srv_3", "-i", path)
    assert failed.rc == 4
    failed.shows("The inventory has no host db-1, so nothing was set up.")
