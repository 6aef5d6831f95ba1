# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbooks check_api and set_up_server, and what all playbooks do with limits."""

import json

from sandbox import Fault, Sandbox

from .conftest import write_program
from .hostile import CANARY, EXECUTE


def run(source, playbook, *arguments):
    name = f"server_management.cloud.{playbook}"
    env = source.sandbox.environment
    return source.runner.playbook(name, *arguments, env=env)


# With it, Ansible before 2.19 ignores undefined variables.
LENIENT = {"ANSIBLE_ERROR_ON_UNDEFINED_VARS": "false"}


# A unit test compares the other playbooks with this one.
def test_a_limit_that_excludes_localhost_is_an_error(source):
    source.runner.environment |= LENIENT
    result = run(source, "check_api", "-i", "web-1,", "--limit", "web-1")
    assert result.rc not in (0, 2)
    result.shows("The limit excludes localhost, where this playbook runs, so nothing was done.")
    assert source.sandbox.requests == []


def test_check_api_fails_if_the_api_does_not_work(source):
    source.sandbox.fail(Fault(status=403, body=EXECUTE))
    result = run(source, "check_api")
    result.shows(
        '"token": "may lack the scope servers:read"', "The API refuses the request", "lookup("
    )
    assert result.rc == 2
    assert not list(source.runner.home.rglob(CANARY))


OF_ACCOUNTS = ("check_api", "declare_fleet", "check_fleet")


def test_playbooks_read_all_pages_also_with_a_limit_that_includes_localhost(source):
    # In the working directory: Ansible splits a limit at white space, which the path may have.
    (source.runner.home / "limits").write_text("web-1\nlocalhost\n")
    arguments = [f"server_management.cloud.{name}" for name in OF_ACCOUNTS[1:]]
    arguments += ["-i", "web-1,", "--limit", "@limits"]
    for name in OF_ACCOUNTS:
        arguments += ["-e", f"{name}_pagination=last_id {name}_pagination_parameter=last"]
    with Sandbox(servers=3, page_size=2, pagination_parameter="last") as api:
        source.sandbox = api
        for name in ("check_api", "declare_fleet"):
            failed = run(source, name).shows(f"Set {name}_pagination to")
            assert not failed.contains("allow_partial")  # the playbook has no such variable
        run(source, "check_api", *arguments).ok().shows('"token": "accepted"')


# Instead of ssh: the first connection fails, as while a server boots. Others lead to this machine.
SSH_OF_A_NEW_SERVER = """\
#!/bin/sh
mkdir "$0.started" 2>/dev/null && exit 255
for command; do :; done
exec sh -c "$command"
"""


def set_up(source, host, server, *arguments, limit=None, **options):
    """Run set_up_server as ansible-rulebook does for an event, with its host as the limit."""
    options = {"compose": {"ansible_connection": "'local'"}, **options}
    path = source.file(**options)
    data = {"inventory_hostname": host, "server": {"id": server}}
    variables = json.dumps({"ansible_eda": {"event": {"server_management": data}}})
    command = ("-i", path, *arguments, "-e", variables, "--limit", limit or host)
    return run(source, "set_up_server", *command)


def test_the_server_of_an_event_is_set_up_when_it_can_be_reached(source, tmp_path):
    ssh = write_program(tmp_path / "ssh", SSH_OF_A_NEW_SERVER)
    compose = {"ansible_ssh_executable": f"'{ssh}'", "ansible_pipelining": "true"}
    # If somebody starts it by hand with a wider limit, other servers are left out.
    result = set_up(source, "web-1", "srv_1", limit="all", compose=compose)
    result.ok().shows("web-1 (srv_1) is reachable")
    assert not result.contains("ok: [db-1]")


def test_another_server_with_the_name_of_the_event_is_not_set_up(source):
    result = set_up(source, "web-1", "srv_4").ok()
    assert not result.contains("ok: [")


def test_an_event_with_the_name_of_a_group_fails(source, tmp_path):
    groups = tmp_path / "z-groups.yml"
    groups.write_text("web: {hosts: {web-1: , web-2: }}")
    result = set_up(source, "web", "srv_1", "-i", groups)
    assert result.rc != 0
    assert not result.contains("ok: [")


def test_an_event_fails_if_the_inventory_cannot_be_read(source):
    source.runner.environment |= LENIENT
    result = set_up(source, "db-1", "srv_3", api_token="wrong")
    assert result.rc not in (0, 2)
    result.shows("The inventory has no host db-1, so nothing was set up.")


def test_a_host_without_an_id_fails_instead_of_being_skipped(source):
    result = set_up(source, "db-1", "srv_3", hostvars_prefix="vm_")
    assert result.rc == 2
    result.shows(
        "db-1 does not have the variable server_management_id, so it was not set up",
        "sets another hostvars_prefix, or another source has added the host",
    )
