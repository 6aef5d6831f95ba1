# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbooks, except ssh_config: limits, a new server, an account and its declaration."""

import json
import re

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils._models import DECLARED_FIELDS
from sandbox import Fault, Sandbox
from support.fixtures import SERVERS
from support.guides import read_files
from support.run import write_program

from .hostile import CANARY, CASES, EXECUTE


def play(runner, api, *arguments):
    return runner.playbook(*arguments, env=api.environment)


def run(source, playbook, *arguments):
    return play(source.runner, source.sandbox, f"server_management.cloud.{playbook}", *arguments)


# With it, Ansible before 2.19 ignores undefined variables.
LENIENT = {"ANSIBLE_ERROR_ON_UNDEFINED_VARS": "false"}


# A unit test compares the other playbooks with this one.
def test_a_limit_that_excludes_localhost_is_an_error(source, runner, sandbox):
    runner.environment |= LENIENT
    result = run(source, "check_api", "-i", "web-1,", "--limit", "web-1")
    assert result.rc not in (0, 2)
    result.shows("The limit excludes localhost, where this playbook runs, so nothing was done.")
    assert sandbox.requests == []


def test_check_api_fails_if_the_api_does_not_work(source, runner, sandbox):
    sandbox.fail(Fault(status=403, body=EXECUTE))
    result = run(source, "check_api")
    result.shows(
        '"token": "may lack the scope servers:read"', "The API refuses the request", "lookup("
    )
    assert result.rc == 2
    assert not list(runner.home.rglob(CANARY))


OF_ACCOUNTS = ("check_api", "declare_fleet", "check_fleet")


def test_playbooks_read_all_pages_also_with_a_limit_that_includes_localhost(source, runner):
    # In the working directory: Ansible splits a limit at white space, which the path may have.
    (runner.home / "limits").write_text("web-1\nlocalhost\n")
    arguments = [f"server_management.cloud.{name}" for name in OF_ACCOUNTS[1:]]
    arguments += ["-i", "web-1,", "--limit", "@limits"]
    # A variable with the name of an option has no effect.
    arguments += ["-e", "base_url=http://127.0.0.1:9"]
    for name in OF_ACCOUNTS:
        arguments += ["-e", f"{name}_pagination=last_id {name}_pagination_parameter=last"]
    with Sandbox(servers=3, page_size=2, pagination_parameter="last") as api:
        source.sandbox = api
        for name in ("check_api", "declare_fleet"):
            failed = run(source, name)
            failed.shows(f"Set {name}_pagination to")
            assert not failed.contains("allow_partial")  # the playbook has no such variable
        checked = run(source, "check_api", *arguments)
        checked.ok().shows('"token": "accepted"')


# Instead of ssh: the first connection fails, as while a server boots. Others lead to this machine.
SSH_OF_A_NEW_SERVER = """\
#!/bin/sh
mkdir "$0.started" 2>/dev/null && exit 255
for command; do :; done
exec sh -c "$command"
"""


SHIPPED = "server_management.cloud.set_up_server"


@pytest.fixture(params=["shipped", "guide"])
def playbook(request, runner):
    """Return the playbook for events that is shipped, or the one that the guide shows."""
    path = runner.home / "set_up_server.yml"
    path.write_text(read_files("events")["set_up/set_up_server.yml"])
    return SHIPPED if request.param == "shipped" else path


def set_up(source, host, server, *arguments, playbook=SHIPPED, limit=None, **options):
    """Run a playbook as ansible-rulebook does for an event, with its host as the limit."""
    options = {"compose": {"ansible_connection": "'local'"}, **options}
    path = source.file(**options)
    data = {"inventory_hostname": host, "server": {"id": server}}
    variables = json.dumps({"ansible_eda": {"event": {"server_management": data}}})
    command = ("-i", path, *arguments, "-e", variables)
    return play(source.runner, source.sandbox, playbook, *command, "--limit", limit or host)


def test_the_server_of_an_event_is_set_up_when_it_can_be_reached(source, tmp_path):
    ssh = write_program(tmp_path / "ssh", SSH_OF_A_NEW_SERVER)
    compose = {"ansible_ssh_executable": f"'{ssh}'", "ansible_pipelining": "true"}
    # If somebody starts it by hand with a wider limit, other servers are left out.
    result = set_up(source, "web-1", "srv_1", limit="all", compose=compose)
    result.ok().shows("web-1 (srv_1) is reachable")
    assert not result.contains("ok: [db-1]")


def test_the_reason_is_shown_if_a_server_cannot_be_reached(source, runner):
    text = read_files("events")["set_up/set_up_server.yml"]
    path = runner.home / "set_up_server.yml"
    path.write_text(text.replace("timeout: 300", "timeout: 1"))
    compose = {"ansible_connection": "'local'", "ansible_python_interpreter": "'/no/python'"}
    result = set_up(source, "web-1", "srv_1", playbook=path, compose=compose)
    assert result.rc == 2
    result.shows("/no/python")


def test_another_server_with_the_name_of_the_event_is_not_set_up(source, playbook):
    result = set_up(source, "web-1", "srv_4", playbook=playbook).ok()
    assert not result.contains("ok: [")


def test_an_event_with_the_name_of_a_group_fails(source, tmp_path, playbook):
    groups = tmp_path / "z-groups.yml"
    groups.write_text("web: {hosts: {web-1: , web-2: }}")
    result = set_up(source, "web", "srv_1", "-i", groups, playbook=playbook)
    assert result.rc != 0
    assert not result.contains("ok: [")


def test_an_event_fails_if_the_inventory_cannot_be_read(source, runner, playbook):
    message = "The inventory has no host db-1"
    if playbook == SHIPPED:
        runner.environment |= LENIENT
        message += ", so nothing was set up."
    result = set_up(source, "db-1", "srv_3", playbook=playbook, api_token="wrong")
    assert result.rc not in (0, 2)
    result.shows(message)


def test_a_host_without_an_id_fails_instead_of_being_skipped(source):
    result = set_up(source, "db-1", "srv_3", hostvars_prefix="vm_")
    assert result.rc == 2
    result.shows(
        "db-1 does not have the variable server_management_id, so it was not set up",
        "sets another hostvars_prefix, or another source has added the host",
    )


DECLARED = """\
# The servers of the account, written by server_management.cloud.declare_fleet.
---
fleet:
  - name: db-1
    plan: large
    region: eu-1
  - name: web-1
    plan: small
    region: eu-1
  - name: web-2
    plan: small
    region: eu-2
"""
# Names that YAML reads as something else, or that Ansible could read as a template.
NAMES = yaml.safe_load(r"""[
"yes", "null", "12", "1e3", "0x10", "2026-01-01", "a: b", "- a", "@a", "é漢", "😀", "a b ",
"=", "<<", "~", "no\n", "12\n", "2026-01-01\t10:00:00", "[1]", "{}", "null\n",
"#jinja2:variable_start_string:'['", "{1: 2}", "#jinja2: a\n{{ 1 }}", "!!python/none",
"{% if %}", "{# a", "\n", "a\nb", '"', "'", "!unsafe a", "&a",
"web", "web", "Web",
]""")
NAMES += [EXECUTE, f"a {EXECUTE}", "word " * 30 + "word"]


DECLARE = "server_management.cloud.declare_fleet"
CHECK = "server_management.cloud.check_fleet"


def test_what_it_writes_is_in_sync(runner, sandbox):
    play(runner, sandbox, DECLARE, "--diff").shows("+  - name: web-1")
    assert (runner.home / "fleet.yml").read_text() == DECLARED
    declared = yaml.safe_load(DECLARED)["fleet"]
    # Every field that a fleet declares and that does not change by itself.
    assert {*declared[0]} == {"name", *DECLARED_FIELDS} - {"status"}
    # A server that was starting when the file was written is in sync.
    sandbox.servers[0]["status"] = "made-up"
    result = play(runner, sandbox, CHECK).ok()
    result.shows("The account has exactly the servers of fleet.yml.")


def test_it_replaces_nothing_by_mistake(runner, sandbox):
    path = runner.home / "fleet.yml"
    path.write_text("mine\n")
    for arguments in ((), ("-e", "declare_fleet_replace=false")):
        result = play(runner, sandbox, DECLARE, *arguments)
        result.shows("fleet.yml exists, so nothing was changed")
        assert path.read_text() == "mine\n"
    variables = "declare_fleet_file=~ declare_fleet_replace=true"
    play(runner, sandbox, DECLARE, "-e", variables).shows("~ exists, so nothing was changed")
    play(runner, sandbox, DECLARE, "-e", "declare_fleet_file=~/other.yml").ok()
    assert path.with_name("other.yml").exists()
    sandbox.servers.clear()
    play(runner, sandbox, DECLARE, CHECK, "-e", "declare_fleet_replace=true").ok()


def test_differences_are_in_the_output_and_are_never_rendered(runner, sandbox):
    fleet = "fleet: [{name: db-1, plan: small}, {name: web-1}, {name: web-3}]\n"
    (runner.home / "declared.yml").write_text(fleet)
    sandbox.servers[1]["name"] = EXECUTE
    result = play(runner, sandbox, CHECK, "-e", "check_fleet_file=~/declared.yml")
    assert result.rc == 2
    result.shows(
        '"msg": ["db-1 has the plan large instead of small", "web-3 is missing", "',
        '(srv_2) is not declared" ]',
    )
    assert not list(runner.home.rglob(CANARY))


def test_an_account_that_cannot_be_read_has_no_missing_servers(runner, sandbox):
    (runner.home / "fleet.yml").write_text("fleet: [{name: web-3}]\n")
    sandbox.fail(Fault(has_more=True))
    result = play(runner, sandbox, CHECK)
    result.shows("has more servers", "Set check_fleet_pagination")
    assert result.rc == 2
    assert not result.contains("is missing")


# Files that declare no fleet, and a part of what the message says about them.
NO_FLEETS = yaml.safe_load(r"""
"fleet: {web-1: {plan: small}}\n": It does not have the list fleet, which declares the servers.
"- fleet: []\n": is not a declared fleet
"fleet: [\n": is not a declared fleet
"fleet: [name: web-1, web-2]\n": dictionary requested
"fleet: [{name: a, plann: 1}]\n": servers.plann
"fleet: [{name: web-1}, {name: web-1}]\n": web-1
""")


def test_a_file_that_is_missing_or_declares_no_fleet_is_named(runner, sandbox):
    play(runner, sandbox, CHECK).shows("fleet.yml is not a declared fleet", "It is not a file.")
    for text, message in NO_FLEETS.items():
        (runner.home / "fleet.yml").write_text(text)
        result = play(runner, sandbox, CHECK)
        assert result.rc == 2
        (shown,) = re.findall(r'fatal: .*"msg": "(.*?)"[,}]', result.stdout)
        assert "fleet.yml" in shown, text
        assert message in shown, text


def test_a_hostile_account_is_in_sync_with_its_declaration(runner):
    # Ansible gives such fields a meaning in the JSON of a module's result.
    servers = [case.server for case in CASES if "__ansible_" not in str(case.server)]
    for number, text in enumerate(NAMES):
        fields = dict.fromkeys(("name", "plan", "region"), text)
        servers.append({**SERVERS[0], **fields, "id": f"srv_name_{number}"})
    with Sandbox(servers=servers) as api:
        play(runner, api, DECLARE, CHECK).ok()
    text = (runner.home / "fleet.yml").read_text()
    for line in ("  - name: 'yes'", "  - name: é漢", '    plan: !unsafe "{% if %}"'):
        assert f"{line}\n" in text
    # A server whose name is not unique or not plain is declared by its id.
    assert not re.search(r'- name: ([Ww]eb\n|"|!unsafe)', text)
    assert not list(runner.home.rglob(CANARY))
