# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The modules in a playbook: those that are live, and those that are not yet live."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils._operations import operation
from sandbox import Fault, Sandbox
from sandbox.account import example_servers
from support.modules import MODULES
from support.run import Runner
from support.secrets import find_in_files
from support.status_page import support

from .conftest import KNOWN

COLLECTION = "server_management.cloud"
NOT_YET_LIVE: dict[str, dict[str, Any]] = {
    "volume": {"name": "data", "size": 1, "region": "eu-1"},
    "volume_attachment": {"volume": "data", "server": "web-1"},
    **{module: {} for module in ("wallet_info", "usage_info", "invoice_info")},
}
NOT_YET_LIVE = {name: task for name, task in NOT_YET_LIVE.items() if support(name) == "none"}
CHANGES: dict[str, dict[str, Any]] = {
    "create": {"name": "new", "plan": "small", "region": "eu-1"},
    "resize": {"id": "srv_1", "plan": "large"},
    "reinstall": {"name": "web-1", "state": "reinstalled"},
    "delete": {"name": "db-1", "state": "absent"},
}
CHANGES = {name: task for name, task in CHANGES.items() if not operation("server", name).live}
PREDICTED = ("create", "resize")
ALL = ("server_info", "fleet_info", "api_info", "server", *NOT_YET_LIVE)
FLEET = [
    {"name": "web-1", "plan": "small", "region": "eu-1", "status": "running"},
    {"id": "srv_2"},
    {"id": "srv_3", "plan": "large"},
]
FINDINGS = [
    {"name": "web-1", "plan": "large", "status": "{{ 'running' }}"},
    {"name": "web-2", "plan": "{{ undefined_plan | default(omit) }}"},
    {"name": "new", "plan": "small"},
]
FAULTS = {
    "forbidden": Fault(status=403, body="{token} is not enough"),
    "unreachable": Fault.reset(),
}
STARTING = Fault(data=[{**KNOWN[0], "status": "starting"}])
DOWN = [Fault(status=503), Fault.reset(), Fault(status=429, retry_after=0)]
# The faults before the last response of each loop.
WAITING = {
    "waited": [*DOWN, STARTING],
    "rejected": [*DOWN, Fault(status=401)],
    "more": [STARTING, Fault(has_more=True)],
}
TEMPLATE = "{{ 1 + 1 }}\n{{ lookup('pipe', 'false') }}"

# Keys that Ansible removes from results, and one for which it fails the task.
RESERVED = {"_ansible_no_log": True, "__ansible_type": "a", "x": [{"__ansible_vault": "b"}]}


class Book:
    """One playbook for all tests; connection options are the module group's defaults.

    After the run, ``results`` has the result of each task by its name.
    """

    def __init__(self, runner: Runner, stack: ExitStack) -> None:
        self.results: dict[str, Any] = {}
        self.sandboxes: dict[str, Sandbox] = {}
        self.output = ""
        self._runner = runner
        self._stack = stack
        self._plays: list[dict[str, Any]] = []

    def play(self, title: str, *faults: Fault, servers: Any = KNOWN, **defaults: Any) -> None:
        """Begin a play whose tasks use a new sandbox."""
        api = Sandbox(servers=[dict(server) for server in servers], token="t0ken-of-the-sandbox")
        self._stack.enter_context(api)
        for fault in faults:
            api.fail(fault)
        self.sandboxes[title] = api
        connection = {"base_url": api.url, "api_token": api.token, "retries": 0}
        group = f"group/{COLLECTION}.all"
        self._plays.append(
            {
                "name": title,
                "hosts": "localhost",
                "gather_facts": False,
                "module_defaults": {group: {**connection, **defaults}},
                "tasks": [],
            }
        )

    def add(self, name: str, module: str, options: dict[str, Any], **keywords: Any) -> None:
        """Add a task whose result is kept; the play continues if it fails."""
        module = module if "." in module else f"{COLLECTION}.{module}"
        task = {"name": name, module: options, "register": name, "ignore_errors": True, **keywords}
        self._plays[-1]["tasks"].append(task)
        self.results[name] = f"{{{{ {name} }}}}"

    def run(self) -> None:
        """Run all plays, with as much output as a user who looks for an error."""
        path, kept = self._runner.home / "site.yml", self._runner.home / "results.json"
        copy = {"content": "{{ results | to_json }}", "dest": str(kept)}
        keep = {"ansible.builtin.copy": copy, "vars": {"results": self.results}}
        self._plays[-1]["tasks"].append({**keep, "diff": False, "no_log": True})
        path.write_text(yaml.safe_dump(self._plays), encoding="utf-8")
        self.output = self._runner.playbook(path, "-vvv", "--diff").ok().output
        self.results = json.loads(kept.read_text(encoding="utf-8"))
        kept.unlink()


def add_all(book: Book) -> None:
    book.play("all modules")
    book.add("info", "server_info", {}, check_mode=True)
    book.add("fleet", "fleet_info", {"servers": FLEET}, check_mode=True)
    book.add("api", "api_info", {}, check_mode=True)
    book.add("converged", "server", {"name": "web-1", "plan": "small", "region": "eu-1"})
    book.add("gone", "server", {"name": "gone", "state": "absent"})
    for name, options in CHANGES.items():
        book.add(name, "server", options)
    for name in PREDICTED:
        book.add(f"{name}_check", "server", CHANGES[name], check_mode=True)
    for module, options in NOT_YET_LIVE.items():
        # The unit tests run each module in both modes.
        book.add(module, module, options, check_mode=module in ("volume", "wallet_info"))


def add_findings(book: Book) -> None:
    book.play("findings")
    book.add("differs", "fleet_info", {"servers": FINDINGS})
    book.add("empty", "fleet_info", {"servers": [{"name": "web-1", "plan": "{{ '' }}"}]})


def add_hostile(book: Book) -> None:
    servers = [{**KNOWN[0], "name": TEMPLATE}, {**KNOWN[1], "plan": "{% raw %}"}, KNOWN[2]]
    book.play("hostile", servers=servers)
    book.add("hostile", "server_info", {"id": "srv_1"})
    declared = [{"id": "srv_2", "plan": "small"}, {"id": "srv_3"}]
    book.add("hostile_fleet", "fleet_info", {"servers": declared})
    book.play("reserved", servers=[{**KNOWN[0], "labels": RESERVED}])
    book.add("reserved", "server_info", {})
    book.add("used", "ansible.builtin.set_fact", {"lines": "{{ hostile_fleet.report }}"})


def add_waiting(book: Book) -> None:
    """Add the loop of the documentation, once until the server runs and twice until an error."""
    documented = import_module(f"{MODULES}.server_info").EXAMPLES
    task = {**yaml.safe_load(documented)[-1], "delay": 0}
    options = {**task.pop(f"{COLLECTION}.server_info"), "name": "web-1"}
    for name, faults in WAITING.items():
        book.play(name, *faults)
        until = task["until"].replace("web.", f"{name}.").replace("web is", f"{name} is")
        keywords = {"until": until, **{key: task[key] for key in ("retries", "delay", "vars")}}
        book.add(name, "server_info", options, **keywords)


@pytest.fixture(scope="module")
def book(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Book, None, None]:
    """Return the playbook after its run."""
    folder = tmp_path_factory.mktemp("modules")
    runner = Runner(folder / "home", installed)
    (folder / "requests.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    with ExitStack() as stack:
        runner.environment["TMPDIR"] = stack.enter_context(TemporaryDirectory(prefix="sm"))
        # One process less for each task.
        runner.environment["ANSIBLE_PIPELINING"] = "true"
        book = Book(runner, stack)
        add_all(book)
        add_findings(book)
        environment = {"PYTHONPATH": str(folder)}
        book.add("missing_library", "server_info", {}, environment=environment)
        add_hostile(book)
        add_waiting(book)
        book.play("faults", *FAULTS.values())
        for name in FAULTS:
            book.add(name, "server_info", {})
        book.play("the API fails", FAULTS["forbidden"])
        book.add("api_fails", "api_info", {})
        book.run()
        yield book
        assert find_in_files(folder, Path(runner.environment["TMPDIR"])) == []


def check_states(results: dict[str, Any], failed: bool, changed: bool, *names: str) -> None:
    for name in names:
        assert (results[name]["failed"], results[name]["changed"]) == (failed, changed), name


@pytest.mark.promise("honest")
def test_modules_that_read_change_nothing(book: Book) -> None:
    results = book.results
    check_states(results, False, False, "info", "fleet", "converged", "gone", "differs")
    assert results["info"]["servers"] == KNOWN
    assert results["fleet"]["in_sync"] is True
    assert results["fleet"]["report"] == []
    assert results["converged"]["server"] == KNOWN[0]
    assert "server" not in results["gone"]


@pytest.mark.promise("honest")
@pytest.mark.parametrize("name", [*NOT_YET_LIVE, *CHANGES])
def test_what_is_not_yet_live_fails(book: Book, name: str) -> None:
    result = book.results[name]
    check_states(book.results, True, False, name)
    assert (result["live"], result["error"]["code"]) == (False, "not_yet_live")
    assert " is not yet live: it needs the scope `" in result["msg"]
    assert result["msg"].endswith("; nothing was changed.") is not name.endswith("_info")
    assert "diff" not in result


def test_check_mode_prints_a_diff(book: Book) -> None:
    for lines in (
        '-    "plan": "small",\n+    "plan": "large",\n',
        "--- before: srv_1\n+++ after: srv_1\n",
        '+    "ipv4": "unknown",\n',
    ):
        assert lines in book.output, lines


@pytest.mark.promise("honest")
def test_only_get_is_sent_and_nothing_for_what_is_not_yet_live(book: Book) -> None:
    for title, api in book.sandboxes.items():
        assert {request.method for request in api.requests} <= {"GET"}, title
    live = ("info", "fleet", "api", "converged", "gone", *CHANGES, *PREDICTED)
    assert len(book.sandboxes["all modules"].requests) == len(live)


@pytest.mark.promise("secret")
def test_faults_fail_the_task_and_keep_the_token(book: Book) -> None:
    for name in FAULTS:
        result = book.results[name]
        check_states(book.results, True, False, name)
        assert result["error"]["code"] == name
        assert result["error"]["status"] == (403 if name == "forbidden" else None)
        assert "servers" not in result
    assert book.sandboxes["faults"].token not in book.output
    assert "Traceback" not in book.output


@pytest.mark.promise("data")
def test_text_of_the_api_is_never_rendered(book: Book) -> None:
    server = {**KNOWN[0], "name": TEMPLATE}
    assert book.results["hostile"]["servers"] == [server]
    fleet = book.results["hostile_fleet"]
    assert fleet["unexpected"] == [server]
    expected = {"plan": {"expected": "small", "actual": "{% raw %}"}}
    assert fleet["different"][0]["differences"] == expected
    assert fleet["report"] == [
        'web-2 (srv_2) has the plan "{% raw %}" instead of small',
        "\"{{ 1 + 1 }} {{ lookup('pipe', 'false') }}\" (srv_1) is not declared",
    ]
    assert book.results["used"]["ansible_facts"]["lines"] == fleet["report"]


@pytest.mark.promise("secret")
def test_a_failure_of_the_api_is_a_result_of_the_check(book: Book) -> None:
    works, fails = book.results["api"], book.results["api_fails"]
    assert works["works"]
    assert works["report"]["servers"] == len(KNOWN)
    assert not fails["failed"]
    assert not fails["works"]
    assert fails["error"]["code"] == fails["report"]["error_code"] == "forbidden"
    assert "servers:read" in fails["msg"]


def test_keys_that_ansible_reserves_are_left_out(book: Book) -> None:
    result = book.results["reserved"]
    assert result["servers"] == [{**KNOWN[0], "labels": {"x": [{}]}}]
    (warning,) = result["warnings"]
    assert warning.endswith("left out: __ansible_type, __ansible_vault, _ansible_no_log.")


def test_templates_in_a_declaration_are_rendered(book: Book) -> None:
    assert book.results["differs"]["report"] == [
        "db-1 (srv_3) is not declared",
        "new is missing",
        "web-1 has the plan small instead of large",
    ]
    assert book.results["differs"]["missing"] == [{"name": "new", "plan": "small"}]
    assert book.results["differs"]["unexpected"] == KNOWN[2:]
    empty = book.results["empty"]
    assert empty["msg"].startswith("servers: entry 1 (web-1): plan must not be empty.")
    assert empty["error"]["code"] == "invalid_option"


def test_a_loop_ends_at_errors_that_waiting_cannot_fix(book: Book) -> None:
    waited, rejected, more = (book.results[name] for name in WAITING)
    assert (waited["failed"], waited["attempts"]) == (False, 5)
    assert (rejected["error"]["code"], rejected["attempts"]) == ("unauthorized", 4)
    assert (more["error"]["code"], more["attempts"]) == ("incomplete_listing", 2)


def test_a_missing_library_is_named(book: Book) -> None:
    result = book.results["missing_library"]
    start = "Failed to import the required Python library (requests) on "
    assert result["msg"].startswith(start)
    assert result["error"]["code"] == "missing_library"


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
    with Sandbox(servers=example_servers("documentation")) as sandbox:
        runner.environment["SERVER_MANAGEMENT_BASE_URL"] = sandbox.url
        runner.environment["SERVER_MANAGEMENT_API_TOKEN"] = sandbox.token
        book = yaml.safe_dump(examples(runner))
        path = tmp_path / "site.yml"
        path.write_text(book.replace("https://api.example.com", sandbox.url), encoding="utf-8")
        result = runner.playbook(path, "--check", "--diff", "-e", f"api_token={sandbox.token}").ok()
    assert result.says("failed=0")
    assert len(re.findall(r"^TASK \[", result.stdout, re.MULTILINE)) >= 16
    assert result.says("--- before: web-01 +++ after: web-01")
