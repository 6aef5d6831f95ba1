# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The modules in a playbook: those that are live, and those that are not yet live."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox import Fault, Sandbox
from support.run import Result, Runner

from .conftest import KNOWN

COLLECTION = "server_management.cloud"
NOT_YET_LIVE: dict[str, tuple[dict[str, Any], str, str]] = {
    "volume": ({"name": "data", "size": 1, "region": "eu-1"}, "provision", "storage:write"),
    "volume_attachment": ({"volume": "data", "server": "web-1"}, "attach", "storage:write"),
    "wallet_info": ({}, "read", "billing:read"),
    "usage_info": ({}, "read", "billing:read"),
    "invoice_info": ({}, "read", "billing:read"),
}
SERVER: dict[str, dict[str, Any]] = {
    "converged": {"name": "web-1", "plan": "small", "region": "eu-1"},
    "gone": {"name": "gone", "state": "absent"},
    "create": {"name": "new", "plan": "small", "region": "eu-1"},
    "resize": {"id": "srv_1", "plan": "large"},
    "reinstall": {"name": "web-1", "state": "reinstalled"},
    "delete": {"name": "db-1", "state": "absent"},
    "moved": {"name": "web-1", "region": "eu-2"},
    "incomplete": {"name": "new", "plan": "small"},
}
NEW = {
    "id": "unknown",
    "name": "new",
    "status": "unknown",
    "plan": "small",
    "region": "eu-1",
    "ipv4": "unknown",
    "created_at": "unknown",
}
ALL = ("server_info", "fleet_info", "server", *NOT_YET_LIVE)
FLEET = [
    {"name": "web-1", "plan": "small", "region": "eu-1", "status": "running"},
    {"id": "srv_2"},
    {"id": "srv_3", "plan": "large"},
]


class Book:
    """A playbook against the sandbox; its connection options are the module group's defaults."""

    def __init__(self, runner: Runner, sandbox: Sandbox, folder: Path) -> None:
        self.defaults: dict[str, Any] = {
            "base_url": sandbox.url,
            "api_token": sandbox.token,
            "retries": 0,
        }
        self.tasks: list[dict[str, Any]] = []
        self._runner = runner
        self._folder = folder

    def add(self, register: str, module: str, **options: Any) -> None:
        """Add a task whose result is kept; the play goes on where it fails."""
        task = {f"{COLLECTION}.{module}": options, "register": register, "ignore_errors": True}
        self.tasks.append({"name": register, **task})

    def run(self, *arguments: str, **keywords: Any) -> tuple[Result, dict[str, Any]]:
        """Run all tasks, and return what was printed and each task's result."""
        path, results = self._folder / "site.yml", self._folder / "results.json"
        kept = {task["register"]: f"{{{{ {task['register']} }}}}" for task in self.tasks}
        keep = {
            "name": "Keep the results",
            "ansible.builtin.copy": {"content": "{{ kept | to_json }}", "dest": str(results)},
            "vars": {"kept": kept},
            "check_mode": False,
            "diff": False,
            "no_log": True,
        }
        play = {
            "hosts": "localhost",
            "gather_facts": False,
            "module_defaults": {f"group/{COLLECTION}.all": self.defaults},
            "tasks": [*self.tasks, keep],
            **keywords,
        }
        path.write_text(yaml.safe_dump([play]), encoding="utf-8")
        result = self._runner.playbook(path, *arguments).ok()
        return result, json.loads(results.read_text(encoding="utf-8"))


@pytest.fixture
def book(runner: Runner, sandbox: Sandbox, tmp_path: Path) -> Book:
    return Book(runner, sandbox, tmp_path)


def add_all(book: Book) -> None:
    book.add("fleet", "fleet_info", servers=FLEET)
    book.add("info", "server_info")
    book.add("some", "server_info", statuses=["running"], regions=["eu-1"], plans=["large"])
    for name, options in SERVER.items():
        book.add(name, "server", **options)
    for module, (options, _operation, _scope) in NOT_YET_LIVE.items():
        book.add(module, module, **options)


def check_not_yet_live(results: dict[str, Any]) -> None:
    for module, (_options, operation, scope) in NOT_YET_LIVE.items():
        result = results[module]
        assert (result["failed"], result["changed"]) == (True, False)
        assert (result["operation"], result["scope"]) == (operation, scope)
        assert result["live"] is False
        assert result["error"]["code"] == "not_yet_live"
        pattern = (
            rf"[A-Z].* is not yet live: it needs the scope `{scope}`, "
            r"which the API has announced .*; nothing was changed\."
        )
        assert re.fullmatch(pattern, result["msg"])


def check_reading(results: dict[str, Any]) -> None:
    """Check what is the same in check mode and without it."""
    assert results["info"]["servers"] == KNOWN
    assert [server["id"] for server in results["some"]["servers"]] == ["srv_3"]
    assert results["fleet"]["in_sync"] is True
    assert results["fleet"]["report"] == []
    for name in ("info", "some", "fleet", "converged", "gone"):
        assert (results[name]["failed"], results[name]["changed"]) == (False, False)
    assert results["converged"]["server"] == KNOWN[0]
    assert "server" not in results["gone"]
    for name, option in (("moved", "region"), ("incomplete", "region")):
        assert (results[name]["failed"], results[name]["changed"]) == (True, False)
        assert results[name]["msg"].startswith(f"{option}: ")


@pytest.mark.promise("honest")
def test_a_playbook_with_all_modules_changes_nothing(book: Book, sandbox: Sandbox) -> None:
    add_all(book)
    results = book.run()[1]
    check_reading(results)
    check_not_yet_live(results)
    for operation in ("create", "resize", "reinstall", "delete"):
        result = results[operation]
        assert (result["failed"], result["changed"]) == (True, False)
        assert (result["operation"], result["scope"]) == (operation, "servers:write")
        assert result["live"] is False
        assert "is not yet live: it needs the scope `servers:write`" in result["msg"]
        assert result["msg"].endswith("; nothing was changed.")
        assert "diff" not in result
    assert {request.method for request in sandbox.requests} == {"GET"}
    assert len(sandbox.requests) == 3 + len(SERVER)


@pytest.mark.promise("honest")
def test_check_mode_predicts_and_prints_a_diff(book: Book, sandbox: Sandbox) -> None:
    add_all(book)
    printed, results = book.run("--check", "--diff")
    check_reading(results)
    check_not_yet_live(results)
    web, database = KNOWN[0], KNOWN[2]
    expected: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "create": ({}, NEW),
        "resize": (web, {**web, "plan": "large"}),
        "reinstall": (web, {**web, "status": "unknown"}),
        "delete": (database, {}),
    }
    for operation, (before, after) in expected.items():
        result = results[operation]
        assert (result["failed"], result["changed"]) == (False, True)
        assert (result["operation"], result["live"]) == (operation, False)
        assert (result["diff"]["before"], result["diff"]["after"]) == (before, after)
        (warning,) = result["warnings"]
        assert "is not yet live: it needs the scope `servers:write`" in warning
    assert '-    "plan": "small",\n+    "plan": "large",\n' in printed.stdout
    assert "--- before: srv_1\n+++ after: srv_1\n" in printed.stdout
    assert '+    "ipv4": "unknown",\n' in printed.stdout
    assert '-    "status": "running"\n+    "status": "unknown"\n' in printed.stdout
    assert {request.method for request in sandbox.requests} == {"GET"}


def test_the_defaults_of_the_group_reach_every_module(book: Book, sandbox: Sandbox) -> None:
    book.defaults["retries"] = -1
    required: dict[str, dict[str, Any]] = {
        "server": {"name": "web-1"},
        "fleet_info": {"servers": FLEET},
        **{name: case[0] for name, case in NOT_YET_LIVE.items()},
    }
    for module in ALL:
        book.add(module, module, **required.get(module, {}))
    results = book.run()[1]
    assert {results[module]["msg"] for module in ALL} == {"retries: must be 0 or more, but is -1."}
    assert sandbox.requests == []


@pytest.mark.promise("secret")
def test_faults_fail_the_task_and_keep_the_token(book: Book, sandbox: Sandbox) -> None:
    sandbox.fail(Fault(status=403, body="{token} is not enough"))
    sandbox.fail(Fault(has_more=True))
    sandbox.fail(Fault.reset())
    for name in ("forbidden", "incomplete_listing", "unreachable", "invalid_option"):
        book.add(name, "server_info", **({"timeout": 0} if name == "invalid_option" else {}))
    printed, results = book.run("-vvv")
    for name, result in results.items():
        assert (result["failed"], result["changed"]) == (True, False)
        assert result["error"]["code"] == name
        assert result["error"]["status"] == (403 if name == "forbidden" else None)
        assert "servers" not in result
    assert sandbox.token not in printed.output
    assert "Traceback" not in printed.output


@pytest.mark.promise("data")
def test_text_of_the_api_is_never_rendered(book: Book, sandbox: Sandbox) -> None:
    name = sandbox.servers[0]["name"] = "{{ 1 + 1 }}\n{{ lookup('pipe', 'false') }}"
    plan = sandbox.servers[1]["plan"] = "{% raw %}"
    book.add("info", "server_info", id="srv_1")
    book.add("fleet", "fleet_info", servers=[{"id": "srv_2", "plan": "small"}, {"id": "srv_3"}])
    book.tasks.append(
        {
            "name": "Use the report",
            "register": "used",
            "ansible.builtin.set_fact": {"lines": "{{ fleet.report }}"},
        }
    )
    results = book.run()[1]
    assert results["info"]["servers"] == [{**KNOWN[0], "name": name}]
    fleet = results["fleet"]
    assert fleet["unexpected"] == [{**KNOWN[0], "name": name}]
    assert fleet["different"][0]["differences"] == {"plan": {"expected": "small", "actual": plan}}
    assert fleet["report"] == [
        'web-2 (srv_2) has the plan "{% raw %}" instead of small',
        "\"{{ 1 + 1 }} {{ lookup('pipe', 'false') }}\" (srv_1) is not declared",
    ]
    assert results["used"]["ansible_facts"]["lines"] == fleet["report"]


FINDINGS = [
    {"name": "web-1", "plan": "large", "status": "{{ 'running' }}"},
    {"name": "web-2", "plan": "{{ undefined_plan | default(omit) }}"},
    {"name": "new", "plan": "small"},
]
ENTRIES: dict[str, tuple[list[Any], str]] = {
    "by_name": (
        [{"name": "web-1"}, {"name": "web-1"}],
        "entry 2 (web-1) declares the same name as",
    ),
    "by_id": (
        [{"id": "srv_1"}, {"id": "srv_1"}],
        "entry 2 (srv_1) declares the same id as entry 1.",
    ),
    "by_both": (
        [{"name": "web-1"}, {"id": "srv_1"}],
        "entry 2 (srv_1) declares the same server as",
    ),
    "both": ([{"name": "web-1", "id": "srv_1"}], "entry 1 (web-1) has both name and id."),
    "neither": ([{"plan": "small"}], "entry 1 has neither name nor id."),
    "unknown": ([{"name": "web-1", "plna": "small"}], "entry 1 (web-1) has the unknown key plna."),
    "empty": ([{"name": "web-1", "plan": "{{ '' }}"}], "entry 1 (web-1): plan must not be empty."),
}


@pytest.mark.parametrize("mode", [(), ("--check", "--diff")])
def test_a_fleet_that_differs_is_reported_and_errors_name_the_entry(
    book: Book, sandbox: Sandbox, mode: tuple[str, ...]
) -> None:
    book.defaults["allow_partial"] = True
    book.add("fleet", "fleet_info", servers=FINDINGS)
    book.add("some", "fleet_info", servers=FINDINGS[1:2], allow_unexpected=True)
    for name, (entries, _message) in ENTRIES.items():
        book.add(name, "fleet_info", servers=entries)
    results = book.run(*mode)[1]
    assert results["fleet"]["report"] == [
        "db-1 (srv_3) is not declared",
        "new is missing",
        "web-1 has the plan small instead of large",
    ]
    assert results["fleet"]["missing"] == [{"name": "new", "plan": "small"}]
    assert results["fleet"]["unexpected"] == KNOWN[2:]
    assert results["some"]["in_sync"] is True
    for name in ("fleet", "some"):
        assert (results[name]["failed"], results[name]["changed"]) == (False, False)
    for name, (_entries, message) in ENTRIES.items():
        assert results[name]["msg"].startswith(f"servers: {message}")
        assert results[name]["error"]["code"] == "invalid_option"
    assert len(sandbox.requests) == 3


@pytest.mark.promise("whole")
def test_modules_that_need_the_whole_account_ignore_allow_partial(
    book: Book, sandbox: Sandbox
) -> None:
    sandbox.fail(Fault(has_more=True), times=2)
    book.defaults["allow_partial"] = True
    book.add("fleet", "fleet_info", servers=FLEET)
    book.add("server", "server", name="beyond", state="absent")
    for result in book.run()[1].values():
        assert (result["failed"], result["changed"]) == (True, False)
        assert result["error"]["code"] == "incomplete_listing"
        assert "has more servers" in result["msg"]
        assert "ignores allow_partial" in result["msg"]


def test_a_choice_that_matches_no_server_causes_a_warning(book: Book) -> None:
    book.add("regions", "server_info", regions=["eu-centrla"])
    book.add("waiting", "server_info", statuses=["booting"])
    book.add("empty", "server_info", plans=["{{ '' }}"])
    results = book.run()[1]
    (warning,) = results["regions"]["warnings"]
    assert warning.startswith(
        "regions: no server has eu-centrla; the account has eu-1 (2), eu-2 (1)"
    )
    assert "warnings" not in results["waiting"]
    assert results["empty"]["msg"].startswith("plans: has an empty value.")


def test_a_missing_library_is_named(book: Book, tmp_path: Path) -> None:
    (tmp_path / "requests.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    book.add("info", "server_info")
    results = book.run(environment={"PYTHONPATH": str(tmp_path)})[1]
    assert results["info"]["msg"].startswith("Failed to import the required Python library (requ")
    assert results["info"]["error"]["code"] == "missing_library"


@pytest.mark.promise("honest")
def test_the_documentation_begins_with_what_is_not_yet_live(runner: Runner) -> None:
    names = [f"{COLLECTION}.{module}" for module in ALL]
    shown = runner.doc(*names, env={"COLUMNS": "80"}).ok().stdout
    assert "#stq=" not in shown
    pages = re.split(r"^> .*\n", shown, flags=re.MULTILINE)[1:]
    for module, page in zip(ALL, pages, strict=True):
        assert page.strip().startswith("Not yet live.") is not module.endswith(
            ("server_info", "fleet_info")
        )


def examples(runner: Runner) -> list[dict[str, Any]]:
    """Return a play of each module's examples."""
    names = [f"{COLLECTION}.{module}" for module in ALL]
    found = runner.doc("-t", "module", "-j", *names).ok().json()
    plays = []
    for name in names:
        tasks = yaml.safe_load(found[name]["examples"])
        plays.append({"name": name, "hosts": "localhost", "gather_facts": False, "tasks": tasks})
    return plays


def test_every_example_runs(runner: Runner, tmp_path: Path) -> None:
    servers = [
        {**KNOWN[0], "id": identifier, "name": name, "plan": plan, "region": region}
        for identifier, name, plan, region in [
            ("srv_4f2a91c07d", "web-01", "small", "eu-1"),
            ("srv_8c1d20e94b", "web-02", "medium", "eu-1"),
            ("srv_b7035fa612", "db-01", "large", "eu-2"),
        ]
    ]
    with Sandbox(servers=servers) as sandbox:
        runner.environment["SERVER_MANAGEMENT_BASE_URL"] = sandbox.url
        runner.environment["SERVER_MANAGEMENT_API_TOKEN"] = sandbox.token
        book = yaml.safe_dump(examples(runner))
        path = tmp_path / "site.yml"
        path.write_text(book.replace("https://api.example.com", sandbox.url), encoding="utf-8")
        result = runner.playbook(path, "--check", "--diff", "-e", f"api_token={sandbox.token}").ok()
    assert result.says("failed=0")
    assert len(re.findall(r"^TASK \[", result.stdout, re.MULTILINE)) >= 16
    assert result.says("--- before: web-01 +++ after: web-01")
