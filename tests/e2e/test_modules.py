# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The modules in a playbook: those that are live, and those that are not yet live."""

import json
import re
from base64 import b64decode
from importlib import import_module

import yaml

from sandbox import Fault
from sandbox.account import example_servers
from support.fixtures import SERVERS
from support.modules import MODULES
from support.places import NAMES, USABLE

COLLECTION = "server_management.cloud"
WEB, STOPPED, _DB = SERVERS
LOUD = {"ANSIBLE_DISPLAY_TRACEBACK": "always"}


def run_playbook(source, tasks, *arguments, env, **keywords):
    play = {"hosts": "localhost", "gather_facts": False, "tasks": tasks, **keywords}
    text = yaml.safe_dump([play])
    path = source.folder / "site.yml"
    text = text.replace("https://api.example.com", source.sandbox.url)
    path.write_text(text)
    command = (path, "--diff", *arguments)
    return source.runner.playbook(*command, env=env).ok()


def run_tasks(source, tasks, **variables):
    """Run these tasks, all of them, and return their results by name.

    There is as much output as a user asks for who looks for an error; it is searched for the token.
    """
    steps = []
    results = {}
    for name, task in tasks.items():
        step = {"name": name, "register": name, "ignore_errors": True, **task}
        steps.append(step)
        results[name] = f"{{{{ {step['register']} }}}}"
    # The module copy would take a second.
    text = "{{ results | to_json | b64encode }}"
    steps.append({"ansible.builtin.debug": {"msg": text}})
    api = source.sandbox
    connection = {"base_url": api.url, "api_token": api.token, "retries": 0}
    defaults = {f"group/{COLLECTION}.all": connection}
    play = {"module_defaults": defaults, "vars": {"results": results, **variables}}
    result = run_playbook(source, steps, "-vvvvvv", env=LOUD, **play)
    encoded = re.findall(r'"msg": "([\w+/=]+)"', result.stdout)[-1]
    return json.loads(b64decode(encoded))


TASKS = yaml.safe_load(r"""
forbidden: {server_management.cloud.server_info: {}}
check_fails: {server_management.cloud.api_info: {}}
info: {server_management.cloud.server_info: {statuses: [stopped], regions: [eu-2, ap]}}
fleet:
  server_management.cloud.fleet_info:
    servers:
      - {name: "web-1\n", plan: large, status: "{{ 'running' }}"}
      - {name: web-2, plan: "{{ undefined_plan | default(omit) }}"}
      - {name: new, plan: small}
create: {server_management.cloud.server: {name: "new\n", plan: small}, check_mode: true}
missing_library:
  server_management.cloud.server_info: {}
  environment: {PYTHONPATH: "{{ broken }}"}
""")


CODES = yaml.safe_load("""
forbidden: forbidden
create: not_yet_live
missing_library: missing_library
check_fails: forbidden
""")
FAILING = CODES.keys() - {"check_fails"}


def test_modules_read_or_fail_and_change_nothing(source, tmp_path, sandbox):
    # Not beside the playbook: Ansible ignores that folder.
    library = tmp_path / "broken" / "requests.py"
    library.parent.mkdir()
    library.write_text("raise ModuleNotFoundError('gone', name='requests')\n")
    sandbox.fail(Fault(status=403, body="{token} is not enough"), times=2)
    results = run_tasks(source, TASKS, broken=str(library.parent))
    for name, result in results.items():
        assert not result["changed"]
        assert result["failed"] is (name in FAILING)
        error = result.get("error", {})
        assert error.get("code") == CODES.get(name)
    assert "********" in results["forbidden"]["msg"]
    python = '`ansible_python_interpreter: "{{ ansible_playbook_python }}"`'
    assert python in results["missing_library"]["msg"]

    info = results["info"]
    assert info["servers"] == [STOPPED]
    (warning,) = info["warnings"]
    assert warning.startswith("regions: ")
    # The plan of web-1 is different, new is missing, and db-1 is unexpected.
    assert len(results["fleet"]["report"]) == 3
    # Two tasks fail before a request; the others list the servers once.
    assert len(sandbox.requests) == len(TASKS) - 2


READING = yaml.safe_load("""
found: {server_management.cloud.server_info: {id: srv_1}}
fleet: {server_management.cloud.fleet_info: {servers: [{id: srv_2, plan: small}]}}
used: {ansible.builtin.set_fact: {lines: "{{ fleet.report }}"}}
""")
HOSTILE = {**WEB, "name": "{{ 1 + 1 }}\n{{ lookup('pipe', 'false') }}"}
REPORT = [
    'web-2 (srv_2) has the plan "{% raw %}" instead of small',
    r""""{{ 1 + 1 }}\n{{ lookup('pipe', 'false') }}" (srv_1) is not declared""",
]


def test_text_of_the_api_is_never_rendered(source, sandbox):
    sandbox.servers = [HOSTILE, {**STOPPED, "plan": "{% raw %}"}]
    results = run_tasks(source, READING)
    plan = {"expected": "small", "actual": "{% raw %}"}
    fleet = results["fleet"]
    (different,) = fleet["different"]
    assert different["differences"] == {"plan": plan}
    assert fleet["unexpected"] == [HOSTILE]
    assert results["found"]["servers"] == [HOSTILE]
    assert results["used"]["ansible_facts"] == {"lines": REPORT}


def examples(module):
    text = import_module(f"{MODULES}.{module}").EXAMPLES
    return yaml.safe_load(text)


def test_the_documented_loop_waits_for_the_server_and_not_after_a_lasting_error(source, sandbox):
    loop = examples("server_info")[-1]
    loop[f"{COLLECTION}.server_info"]["name"] = "web-1"
    loop["delay"] = 0
    starting = {**WEB, "status": "starting"}
    sandbox.fail(Fault(status=503))
    sandbox.fail(Fault(data=[starting]))
    sandbox.fail(Fault())
    sandbox.fail(Fault.reset())
    sandbox.fail(Fault(status=401))
    kept = {"ansible.builtin.set_fact": {"running": "{{ web }}"}}
    results = run_tasks(source, {"first": loop, "kept": kept, "web": loop})
    running = results["kept"]["ansible_facts"]["running"]
    assert running["attempts"] == 3
    assert running["servers"] == [WEB]
    failed = results["web"]
    assert failed["attempts"] == 2
    assert failed["error"]["code"] == "unauthorized"


def test_every_example_runs(source, sandbox):
    sandbox.servers = example_servers("documentation")
    tasks = []
    for module in USABLE:
        tasks += examples(module)
    # The others only fail: one is enough, if all have the same condition for that.
    for module in NAMES["previews"]:
        for task in examples(module):
            name = task["register"]
            expected = f"{name} is failed and {name}.live | default(true)"
            assert task["failed_when"] == expected
    tasks.append(task)
    account = sandbox.environment
    variables = {"api_token": sandbox.token}
    result = run_playbook(source, tasks, "--check", env=account, vars=variables)
    result.shows("failed=0")
    assert result.stdout.count("\nTASK [") == len(tasks)
