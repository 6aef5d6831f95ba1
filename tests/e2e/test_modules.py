# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The modules in a playbook: those that are live, and those that are not yet live."""

from __future__ import annotations

import json
import re
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox import Fault, Sandbox
from sandbox.account import example_servers
from support.collection import REPOSITORY
from support.fixtures import KNOWN
from support.modules import MODULES
from support.run import Result, Runner

from .conftest import Source

COLLECTION = "server_management.cloud"
ALL = sorted(path.stem for path in REPOSITORY.glob("plugins/modules/*.py"))


def task(module: str, options: dict[str, Any], **keywords: Any) -> dict[str, Any]:
    return {f"{COLLECTION}.{module}": options, **keywords}


def play(source: Source, tasks: dict[str, dict[str, Any]]) -> tuple[dict[str, Any], Result]:
    """Run these tasks, all of them, and return their results by name, and the output.

    It is as much output as a user asks for who looks for an error, and is searched for the token.
    """
    kept = source.folder / "results.json"
    steps = [
        {"name": name, "register": name, "ignore_errors": True, **task}
        for name, task in tasks.items()
    ]
    copy = {"content": "{{ results | to_json }}", "dest": str(kept)}
    results = {name: f"{{{{ {name} }}}}" for name in tasks}
    keep = {"ansible.builtin.copy": copy, "vars": {"results": results}, "diff": False}
    api = source.sandbox
    connection = {"base_url": api.url, "api_token": api.token, "retries": 0}
    book = {
        "hosts": "localhost",
        "gather_facts": False,
        "module_defaults": {f"group/{COLLECTION}.all": connection},
        "tasks": [*steps, {**keep, "no_log": True}],
    }
    path = source.folder / "site.yml"
    path.write_text(yaml.safe_dump([book]), encoding="utf-8")
    environment = {"ANSIBLE_LOG_PATH": str(source.folder / "ansible.log")}
    if version("ansible-core") >= "2.19":
        environment["ANSIBLE_DISPLAY_TRACEBACK"] = "always"
    result = source.runner.playbook(path, "-vvvvvv", "--diff", env=environment).ok()
    return json.loads(kept.read_text(encoding="utf-8")), result


@pytest.mark.promise("honest", "secret")
def test_modules_read_predict_or_fail_and_change_nothing(source: Source) -> None:
    # Not beside the playbook: Ansible ignores that folder.
    library = source.folder / "broken" / "requests.py"
    library.parent.mkdir()
    library.write_text("raise ModuleNotFoundError(name='requests')\n", encoding="utf-8")
    without_library = {"environment": {"PYTHONPATH": str(library.parent)}}
    fleet = [
        {"name": "web-1\n", "plan": "large", "status": "{{ 'running' }}"},
        {"name": "web-2", "plan": "{{ undefined_plan | default(omit) }}"},
        {"name": "new", "plan": "small"},
    ]
    new = {"name": "new\n", "plan": "small", "region": "eu-1"}
    source.sandbox.fail(Fault(status=403, body="{token} is not enough"), times=2)
    results, shown = play(
        source,
        {
            "forbidden": task("server_info", {}),
            "check_fails": task("api_info", {}),
            "info": task("server_info", {}, check_mode=True),
            "fleet": task("fleet_info", {"servers": fleet}),
            "create": task("server", new),
            "create_check": task("server", new, check_mode=True),
            "resize_check": task("server", {"id": "srv_1 ", "plan": "large"}, check_mode=True),
            "volume": task("volume", {"name": "data", "size": 1, "region": "eu-1"}),
            "wallet": task("wallet_info", {}),
            "missing_library": task("server_info", {}, **without_library),
        },
    )
    states = {name: (result["failed"], result["changed"]) for name, result in results.items()}
    failed = ("forbidden", "create", "volume", "wallet", "missing_library")
    for name, state in states.items():
        assert state == (name in failed, name.endswith("_check")), name
    assert results["info"]["servers"] == KNOWN
    assert results["fleet"]["report"] == [
        "db-1 (srv_3) is not declared",
        "new is missing",
        "web-1 has the plan small instead of large",
    ]
    for name in ("create", "volume", "wallet"):
        assert (results[name]["live"], results[name]["error"]["code"]) == (False, "not_yet_live")
    assert results["forbidden"]["msg"].count("********") == 1
    assert "servers" not in results["forbidden"]
    assert not results["check_fails"]["works"]
    assert results["check_fails"]["error"]["code"] == "forbidden"
    assert results["missing_library"]["error"]["code"] == "missing_library"
    start = "Failed to import the required Python library (requests) on "
    assert results["missing_library"]["msg"].startswith(start)
    assert "with `delegate_to: localhost`" in results["missing_library"]["msg"]
    for lines in (
        '-    "plan": "small",\n+    "plan": "large",\n',
        "--- before: srv_1\n+++ after: srv_1\n",
        '+    "ipv4": "unknown",\n',
    ):
        assert lines in shown.stdout
    # Nothing is requested for what is not yet live, unless the task needs the listing.
    assert [request.method for request in source.sandbox.requests] == ["GET"] * 7


@pytest.mark.promise("data")
def test_text_of_the_api_is_never_rendered(source: Source) -> None:
    name = "{{ 1 + 1 }}\n{{ lookup('pipe', 'false') }}"
    # Keys that Ansible removes from results, and one for which it fails the task.
    reserved = {"_ansible_no_log": True, "__ansible_type": "a", "x": [{"__ansible_vault": "b"}]}
    source.sandbox.servers = [
        {**KNOWN[0], "name": name, "labels": reserved},
        {**KNOWN[1], "plan": "{% raw %}"},
        KNOWN[2],
    ]
    declared = [{"id": "srv_2", "plan": "small"}, {"id": "srv_3"}]
    results, _shown = play(
        source,
        {
            "found": task("server_info", {"id": "srv_1"}),
            "fleet": task("fleet_info", {"servers": declared}),
            "used": {"ansible.builtin.set_fact": {"lines": "{{ fleet.report }}"}},
        },
    )
    server = {**KNOWN[0], "name": name, "labels": {"x": [{}]}}
    assert results["found"]["servers"] == results["fleet"]["unexpected"] == [server]
    (warning,) = results["found"]["warnings"]
    assert warning.endswith("left out: __ansible_type, __ansible_vault, _ansible_no_log.")
    expected = {"plan": {"expected": "small", "actual": "{% raw %}"}}
    assert results["fleet"]["different"][0]["differences"] == expected
    report = results["fleet"]["report"]
    assert results["used"]["ansible_facts"]["lines"] == report
    assert report == [
        'web-2 (srv_2) has the plan "{% raw %}" instead of small',
        "\"{{ 1 + 1 }} {{ lookup('pipe', 'false') }}\" (srv_1) is not declared",
    ]


@pytest.mark.parametrize(
    ("faults", "attempts", "code"),
    [
        ([Fault(status=503), Fault(data=[{**KNOWN[0], "status": "starting"}])], 3, None),
        ([Fault.reset(), Fault(status=401)], 2, "unauthorized"),
    ],
    ids=["until the server runs", "until an error that waiting cannot fix"],
)
def test_the_documented_loop_waits(
    source: Source, faults: list[Fault], attempts: int, code: str | None
) -> None:
    documented = yaml.safe_load(import_module(f"{MODULES}.server_info").EXAMPLES)[-1]
    options = {**documented.pop(f"{COLLECTION}.server_info"), "name": "web-1"}
    loop = {key: documented[key] for key in ("until", "retries", "vars")}
    for fault in faults:
        source.sandbox.fail(fault)
    results, _shown = play(source, {"web": task("server_info", options, **loop, delay=0)})
    assert results["web"]["attempts"] == attempts
    assert results["web"].get("error", {}).get("code") == code


def test_every_example_runs(runner: Runner, tmp_path: Path) -> None:
    names = [f"{COLLECTION}.{module}" for module in ALL]
    found = runner.doc("-t", "module", "-j", *names).ok().json()
    tasks = [task for name in names for task in yaml.safe_load(found[name]["examples"])]
    book = yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}])
    with Sandbox(servers=example_servers("documentation")) as sandbox:
        runner.environment |= sandbox.environment
        path = tmp_path / "site.yml"
        path.write_text(book.replace("https://api.example.com", sandbox.url), encoding="utf-8")
        result = runner.playbook(path, "--check", "--diff", "-e", f"api_token={sandbox.token}").ok()
    result.shows("failed=0", "--- before: web-01 +++ after: web-01")
    assert len(re.findall(r"^TASK \[", result.stdout, re.MULTILINE)) >= 16
