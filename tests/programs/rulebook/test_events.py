# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each kind of event, as a real ansible-rulebook gives it to rules."""

import json
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.plugin_utils._events import plain_value
from sandbox import Fault
from support import meanings
from support.collection import REPOSITORY
from tools.picture import read_picture

from .conftest import TOKEN

ATTACK = "{{ 1 }}"
# They use events in every way that renders templates.
ATTACKED = """\
- name: Use each event
  hosts: localhost
  sources: [{server_management.cloud.servers: {interval: 1, retries: 0}}]
  rules:
    - name: Use it
      condition: event.server_management is defined
      actions:
        - debug: {msg: "GOT {{ event.server_management }}"}
        - run_playbook: {name: use.yml, extra_vars: {copy: "{{ event.server_management }}"}}
"""
USE = """\
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: "USED {{ ansible_eda.event.server_management }} {{ copy }}"
    - ansible.builtin.debug:
        var: ansible_eda.event.server_management.server
    - ansible.builtin.shell: "echo {{ ansible_eda.event.server_management | quote }}"
"""


def about(event):
    content = event["server_management"]
    return event["meta"]["hosts"], *content.get("changed", ())


def test_every_kind_of_event_and_a_restart(rulebooks, account, polls):
    with rulebooks.run(initial=True) as rulebook:
        assert [about(rulebook.event("appeared")) for _server in account.servers] == [
            ("db-01",),
            ("web-01",),
        ]
        account.servers[0] = {**account.servers[0], "status": "stopped", "later": [1, ATTACK]}
        changed = rulebook.event("changed")
        assert about(changed) == ("web-01", "later", "status")
        assert changed["server_management"]["before"]["status"] == "running"
        assert changed["server_management"]["replaced"] == ["later"]
        account.servers.append({**account.servers[1], "id": "srv_new"})
        assert about(rulebook.event("changed"))[1:] == ("inventory_hostname",)
        assert about(rulebook.event("appeared")) == ("db-01_srv_new",)
        del account.servers[1:]
        gone = [rulebook.event("gone") for _server in range(2)]
        assert [about(event) for event in gone] == [
            (f"db-01_{event['server_management']['server']['id']}",) for event in gone
        ]
    with rulebooks.run() as rulebook:
        polls(2)
        account.servers.append({**account.servers[0], "id": "srv_2", "name": "new"})
        assert about(rulebook.event("appeared")) == ("new",)


def test_the_rulebook_continues_if_nothing_listens_at_first(rulebooks, account):
    account.stop()
    with rulebooks.run() as rulebook:
        failed = rulebook.event("failed")
        assert failed["server_management"]["error"]["code"] == "unreachable"
        account.start()
        rulebook.event("recovered")


# Each in a process, because what an earlier response has imported could hide a mistake.
@pytest.mark.parametrize(
    ("fault", "code"),
    [(Fault.hang(), "timeout"), (Fault(cut="start"), "unreachable")],
    ids=["timeout", "closed connection"],
)
def test_the_rulebook_continues_if_the_first_requests_fail(rulebooks, account, fault, code):
    account.fail(fault, times=2)
    with rulebooks.run(timeout=1) as rulebook:
        failed = rulebook.event("failed")
        assert failed["server_management"]["error"]["code"] == code
        rulebook.event("recovered")


def test_no_event_is_lost_or_altered_because_of_its_keys_and_values(rulebooks, account, polls):
    fields: dict[str, Any] = {
        "texts": {"texts": list(meanings.TEXTS), "keys": dict.fromkeys(meanings.TEXTS)},
        "top": dict.fromkeys(meanings.EVENT_TEXTS, 1),
        "numbers": {"numbers": [10**300, -(2**64), 1.5e300, -0.0, 5e-324, 1.0, True, None]},
        "long": {"key": {"k" * 10_000: 1}, "text": "x" * 1_000_000},
    }
    with rulebooks.run() as rulebook:
        polls(1)
        for title, content in fields.items():
            server = {**account.servers[0], **content, "id": f"srv_{title}", "name": title}
            account.servers.append(server)
            found = rulebook.event("appeared")
            assert found["meta"]["hosts"] == title
            assert found["server_management"]["server"] == plain_value(server)


def test_an_api_that_fails_for_several_polls_and_a_rotated_token(rulebooks, account, polls):
    token = rulebooks.folder / "token"
    with rulebooks.run(timeout=3600, min_servers=1) as rulebook:
        polls(1)
        account.fail(Fault(status=503), times=3)
        assert rulebook.event("failed")["server_management"]["error"]["status"] == 503
        rulebook.event("recovered")
        account.token = TOKEN[::-1]
        failed = rulebook.event("failed")
        assert failed["server_management"]["error"]["code"] == "unauthorized"
        polls(2)
        account.servers.pop()
        token.write_text(account.token)
        rulebook.event("recovered")
        rulebook.event("gone")
        servers = list(account.servers)
        account.servers.clear()
        failed = rulebook.event("failed")
        assert failed["server_management"]["error"]["code"] == "too_few_servers"
        polls(2)
        account.servers.extend(servers)
        rulebook.event("recovered")
        # It ends within the test's limit, although the request has an hour.
        account.fail(Fault.hang(), times=None)
        polls(1)


def test_hostile_text_of_an_event_is_not_executed(rulebooks, account, polls):
    marker = rulebooks.folder / "executed"
    attack = f"{{{{ lookup('pipe', 'touch {marker}') }}}}"
    (rulebooks.folder / "use.yml").write_text(USE)
    (rulebooks.folder / "attacked.yml").write_text(ATTACKED)
    inventory = rulebooks.folder / "hosts.ini"
    inventory.write_text("localhost ansible_connection=local\nnew ansible_connection=local\n")
    with rulebooks.run("-i", inventory, name=str(rulebooks.folder / "attacked.yml")) as rulebook:
        polls(1)
        hostile = {**account.servers[0], "id": "srv_2", "name": "new", "status": attack}
        later = {"list": [attack], attack: attack}
        account.servers.append({**hostile, "ipv4": attack, "later": later, attack: 1})
        rulebook.wait_for("USED")
        rulebook.wait_for("PLAY RECAP")
        account.fail(Fault(status=500, body=attack))
        rulebook.wait_for("USED")
        rulebook.wait_for("PLAY RECAP")
    assert not marker.exists(), rulebook.output
    assert "lookup(" not in rulebook.output


def lines_of(rulebook, *starts):
    return [line for line in rulebook.lines if line.startswith(starts)]


# What the picture of the guide shows of another server.
SHOWN = (
    "web-99 is running, and is set up now",
    "TASK [Print what was set up]",
    "web-99 changed: status",
    "web-99 is gone",
)


def shipped_rulebook(folder):
    """Return a copy of the shipped rulebook that repeats playbooks after a second."""
    shipped = REPOSITORY / "extensions" / "eda" / "rulebooks" / "set_up_new_servers.yml"
    text = shipped.read_text(encoding="utf-8")
    path = folder / "set_up.yml"
    path.write_text(text.replace("delay: 60\n", "delay: 1\n"), encoding="utf-8")
    return str(path)


def test_a_server_is_set_up_although_the_api_failed_while_the_playbook_read_it(
    rulebooks, account, polls
):
    path = rulebooks.folder / "inventory.server_management.yml"
    local = "compose: {ansible_connection: \"'local'\"}"
    path.write_text(f"plugin: server_management.cloud.servers\nretries: 0\n{local}\n")
    variables = rulebooks.folder / "variables.yml"
    variables.write_text("interval: 3\n")
    name = shipped_rulebook(rulebooks.folder)
    with rulebooks.run("-i", path, "-e", variables, name=name) as rulebook:
        polls(1)
        # The next poll finds the server, and all requests after it fail.
        account.servers.append({**account.servers[0], "id": "srv_2", "name": "new-01"})
        account.fail(Fault(status=429), times=None, after=1)
        rulebook.wait_for("The inventory has no host new-01, so nothing was set up.")
        account.recover()
        rulebook.wait_for("Previous run_playbook failed. Retry 1 of 1")
        rulebook.wait_for("new-01 (srv_2) is reachable")


def test_the_shipped_rulebook_sets_up_new_servers_and_no_group_with_the_name_of_one(
    rulebooks, account, polls
):
    inventory = rulebooks.folder / "inventory"
    inventory.mkdir()
    local = {"ansible_connection": "'local'"}
    lines = ["plugin: server_management.cloud.servers", f"compose: {local}"]
    (inventory / "20-prod.server_management.yml").write_text("\n".join(lines))
    static = {"prod": {"hosts": {"static-1": {"ansible_connection": "local"}}}}
    (inventory / "10-static.yml").write_text(json.dumps(static))
    variables = rulebooks.folder / "variables.yml"
    variables.write_text("interval: 1\n")
    name = shipped_rulebook(rulebooks.folder)
    with rulebooks.run("-i", inventory, "-e", variables, name=name) as rulebook:
        polls(2)
        account.servers.append({**account.servers[0], "id": "srv_2", "name": "new-01"})
        rulebook.wait_for("new-01 is running, and is set up now")
        rulebook.wait_for("new-01 (srv_2) is reachable")
        account.servers.append({**account.servers[0], "id": "srv_3", "name": "prod"})
        rulebook.wait_for("prod is running, and is set up now")
        address = account.servers[0]["ipv4"]
        starting = {**account.servers[0], "id": "srv_4", "name": "new-02", "status": "starting"}
        del starting["ipv4"]
        account.servers.append(starting)
        rulebook.wait_for("new-02 appeared, and is set up when it is running and has an address")
        account.servers[-1] = {**starting, "status": "running"}
        rulebook.wait_for("new-02 changed: status")
        account.servers[-1] = {**starting, "status": "running", "ipv4": ""}
        rulebook.wait_for("new-02 changed: ipv4")
        account.servers[-1] = {**starting, "status": "running", "ipv4": address}
        rulebook.wait_for("new-02 is running, and is set up now")
        rulebook.wait_for("new-02 (srv_4) is reachable")
        account.servers[-1] = {**account.servers[-1], "plan": "large"}
        rulebook.wait_for("new-02 changed: plan")
        account.servers.pop()
        rulebook.wait_for("new-02 is gone")
        account.servers.append({**account.servers[0], "id": "srv#5", "name": "new-03"})
        rulebook.wait_for('with characters in the id that events can\'t have: "srv#5".')
        account.fail(Fault(status=403), times=2)
        rulebook.wait_for("The servers can't be listed: ")
        rulebook.wait_for("The servers can be listed again")
    results = lines_of(rulebook, "ok:", "changed:", "fatal:", "failed:", "unreachable:")
    hosts = [line.partition("[")[2].partition("]")[0] for line in results]
    assert hosts == ["new-01"] * 3 + ["new-02"] * 3, results
    picture = read_picture("event")
    for text in SHOWN:
        assert text in picture
        assert text.replace("web-99", "new-02") in rulebook.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"base_url": ""}, "base_url: an address is required"),
        ({"intervall": 5}, "intervall: is not an argument of this event source. Did you mean"),
    ],
)
def test_an_invalid_argument_ends_the_rulebook_before_any_request(
    rulebooks, account, arguments, message
):
    with rulebooks.run(**arguments) as rulebook:
        assert rulebook.end() == 1
    assert message in rulebook.output
    assert account.requests == []
