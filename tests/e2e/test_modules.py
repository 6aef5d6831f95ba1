# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The modules in a playbook: those that are live, and those that are not yet live."""

import json
from importlib import import_module
from importlib.metadata import version

import yaml

from sandbox import Fault, Sandbox
from sandbox.account import example_servers
from support.collection import REPOSITORY
from support.fixtures import KNOWN
from support.modules import MODULES

COLLECTION = "server_management.cloud"
ALL = sorted(path.stem for path in REPOSITORY.glob("plugins/modules/*.py"))


def task(module, options, **keywords):
    return {f"{COLLECTION}.{module}": options, **keywords}


def play(source, tasks):
    """Run these tasks, all of them, and return their results by name, and the output.

    It is as much output as a user asks for who looks for an error, and is searched for the token.
    """
    steps = []
    for name, step in tasks.items():
        steps.append({"name": name, "register": name, "ignore_errors": True, **step})
    kept = source.folder / "results.json"
    copy = {"content": "{{ results | to_json }}", "dest": str(kept)}
    results = {name: f"{{{{ {name} }}}}" for name in tasks}
    keep = {"ansible.builtin.copy": copy, "vars": {"results": results}}
    steps.append({**keep, "diff": False, "no_log": True})
    api = source.sandbox
    connection = {"base_url": api.url, "api_token": api.token, "retries": 0}
    book = {
        "hosts": "localhost",
        "gather_facts": False,
        "module_defaults": {f"group/{COLLECTION}.all": connection},
        "tasks": steps,
    }
    path = source.folder / "site.yml"
    path.write_text(yaml.safe_dump([book]), encoding="utf-8")
    environment = {"ANSIBLE_LOG_PATH": str(source.folder / "ansible.log")}
    if version("ansible-core") >= "2.19":
        environment["ANSIBLE_DISPLAY_TRACEBACK"] = "always"
    result = source.runner.playbook(path, "-vvvvvv", "--diff", env=environment).ok()
    return json.loads(kept.read_text(encoding="utf-8")), result


def code_of(result):
    return result["error"]["code"]


def test_modules_read_predict_or_fail_and_change_nothing(source):
    # Not beside the playbook: Ansible ignores that folder.
    library = source.folder / "broken" / "requests.py"
    library.parent.mkdir()
    library.write_text("raise ModuleNotFoundError('gone', name='requests')\n", encoding="utf-8")
    environment = {"PYTHONPATH": str(library.parent)}
    fleet = [
        {"name": "web-1\n", "plan": "large", "status": "{{ 'running' }}"},
        {"name": "web-2", "plan": "{{ undefined_plan | default(omit) }}"},
        {"name": "new", "plan": "small"},
    ]
    new = {"name": "new\n", "plan": "small", "region": "eu-1"}
    large = {"id": "srv_1 ", "plan": "large"}
    tasks = {
        "forbidden": task("server_info", {}),
        "check_fails": task("api_info", {}),
        "info": task("server_info", {"statuses": ["Running", "stopped"]}, check_mode=True),
        "fleet": task("fleet_info", {"servers": fleet}),
        "create": task("server", new),
        "create_check": task("server", new, check_mode=True),
        "resize_check": task("server", large, check_mode=True),
        "wallet": task("wallet_info", {}),
        "missing_library": task("server_info", {}, environment=environment),
    }
    source.sandbox.fail(Fault(status=403, body="{token} is not enough"), times=2)
    results, shown = play(source, tasks)

    failed = [name for name in tasks if results[name]["failed"]]
    assert failed == ["forbidden", "create", "wallet", "missing_library"]
    changed = [name for name in tasks if results[name]["changed"]]
    assert changed == ["create_check", "resize_check"]

    assert code_of(results["forbidden"]) == "forbidden"
    assert results["forbidden"]["msg"].count("********") == 1
    assert code_of(results["check_fails"]) == "forbidden"
    assert code_of(results["create"]) == "not_yet_live"
    assert code_of(results["wallet"]) == "not_yet_live"
    assert code_of(results["missing_library"]) == "missing_library"
    message = results["missing_library"]["msg"]
    assert message.startswith("Failed to import the required Python library (requests) on ")
    assert "with `delegate_to: localhost`" in message

    assert results["info"]["servers"] == [KNOWN[1]]
    warning = "statuses: no server has Running; the account has running (2), stopped (1)."
    assert results["info"]["warnings"] == [warning]
    assert results["fleet"]["report"] == [
        "db-1 (srv_3) is not declared",
        "new is missing",
        "web-1 has the plan small instead of large",
    ]
    assert '-    "plan": "small",\n+    "plan": "large",\n' in shown.stdout
    assert "--- before: srv_1\n+++ after: srv_1\n" in shown.stdout
    # Nothing is requested for what is not yet live, unless the task needs the listing.
    assert [request.method for request in source.sandbox.requests] == ["GET"] * 7


def test_text_of_the_api_is_never_rendered(source):
    # Keys that Ansible removes from results, and one for which it fails the task.
    reserved = {"_ansible_no_log": True, "__ansible_type": "a", "x": [{"__ansible_vault": "b"}]}
    hostile = {**KNOWN[0], "name": "{{ 1 + 1 }}\n{{ lookup('pipe', 'false') }}"}
    raw = {**KNOWN[1], "plan": "{% raw %}"}
    source.sandbox.servers = [{**hostile, "labels": reserved}, raw, KNOWN[2]]
    declared = [{"id": "srv_2", "plan": "small"}, {"id": "srv_3"}]
    tasks = {
        "found": task("server_info", {"id": "srv_1"}),
        "fleet": task("fleet_info", {"servers": declared}),
        "used": {"ansible.builtin.set_fact": {"lines": "{{ fleet.report }}"}},
    }
    results, _shown = play(source, tasks)
    kept = [{**hostile, "labels": {"x": [{}]}}]
    assert results["found"]["servers"] == kept
    assert results["fleet"]["unexpected"] == kept
    (warning,) = results["found"]["warnings"]
    assert warning.endswith("left out: __ansible_type, __ansible_vault, _ansible_no_log.")
    (different,) = results["fleet"]["different"]
    assert different["differences"]["plan"]["actual"] == "{% raw %}"
    report = [
        'web-2 (srv_2) has the plan "{% raw %}" instead of small',
        "\"{{ 1 + 1 }} {{ lookup('pipe', 'false') }}\" (srv_1) is not declared",
    ]
    assert results["fleet"]["report"] == report
    assert results["used"]["ansible_facts"]["lines"] == report


def documented_loop():
    """Return the task that waits in a loop, of the examples of server_info, without its pauses."""
    examples = import_module(f"{MODULES}.server_info").EXAMPLES
    waiting = yaml.safe_load(examples)[-1]
    waiting[f"{COLLECTION}.server_info"]["name"] = "web-1"
    del waiting["name"], waiting["register"]
    return {**waiting, "delay": 0}


def test_the_documented_loop_waits_until_the_server_runs(source):
    source.sandbox.fail(Fault(status=503))
    source.sandbox.fail(Fault(data=[{**KNOWN[0], "status": "starting"}]))
    results, _shown = play(source, {"web": documented_loop()})
    assert results["web"]["attempts"] == 3
    assert results["web"]["servers"] == [KNOWN[0]]


def test_the_documented_loop_ends_with_an_error_that_waiting_cannot_fix(source):
    source.sandbox.fail(Fault.reset())
    source.sandbox.fail(Fault(status=401))
    results, _shown = play(source, {"web": documented_loop()})
    assert results["web"]["attempts"] == 2
    assert code_of(results["web"]) == "unauthorized"


def test_every_example_runs(runner, tmp_path):
    names = [f"{COLLECTION}.{module}" for module in ALL]
    documented = runner.doc("-t", "module", "-j", *names).ok().json()
    tasks = []
    for name in names:
        tasks += yaml.safe_load(documented[name]["examples"])
    book = yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}])
    path = tmp_path / "site.yml"
    with Sandbox(servers=example_servers("documentation")) as account:
        runner.environment |= account.environment
        path.write_text(book.replace("https://api.example.com", account.url), encoding="utf-8")
        token = f"api_token={account.token}"
        result = runner.playbook(path, "--check", "--diff", "-e", token).ok()
    result.shows("failed=0", "--- before: web-01 +++ after: web-01")
    assert result.stdout.count("\nTASK [") >= 16
