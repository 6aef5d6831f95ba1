# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Facts that are stated in several places are the same everywhere."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.loader import fragment_loader
from ansible.utils.plugin_docs import get_docstring

from ansible_collections.server_management.cloud.plugins.module_utils import _client
from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    GROUP_FIELDS,
    SELECTING_OPTIONS,
)
from ansible_collections.server_management.cloud.plugins.module_utils._operations import OPERATIONS
from ansible_collections.server_management.cloud.plugins.module_utils._options import (
    VARIABLES,
    VERSION,
    connection_argument_spec,
)
from ansible_collections.server_management.cloud.plugins.module_utils._url import Request
from sandbox import Fault, Sandbox
from support import status_page
from support.collection import REPOSITORY, sources
from support.modules import MODULES as PACKAGE
from support.modules import REQUIRED, Outcome, run_module

COLLECTION = "server_management.cloud"
DESCRIPTION = yaml.safe_load((REPOSITORY / "docs/openapi.yaml").read_text(encoding="utf-8"))
REQUESTS = [value for value in vars(_client).values() if isinstance(value, Request)]
PLUGINS = REPOSITORY / "plugins"
MODULES = sorted(path.stem for path in PLUGINS.glob("modules/*.py"))
PLUGIN_NAMES = [("inventory", "servers"), *(("modules", name) for name in MODULES)]
BORROWED = ("ansible.builtin.constructed", "ansible.builtin.inventory_cache")

COMMON = ("changed", "msg")  # what Ansible documents for every module
TYPES = {"str": str, "int": int, "float": float, "bool": bool, "dict": dict, "list": list}


@lru_cache
def documentation(folder: str, name: str) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """Return a plugin's documentation with its fragments, its examples and its return values."""
    path = PLUGINS / folder / f"{name}.py"
    is_module = folder == "modules"
    kind = "module" if is_module else folder
    doc, examples, returned, _metadata = get_docstring(
        str(path), fragment_loader, is_module=is_module, plugin_type=kind
    )
    return doc, examples, returned or {}


def own_options(name: str) -> dict[str, dict[str, Any]]:
    module = import_module(f"{PACKAGE}.{name}")
    options: dict[str, dict[str, Any]] = getattr(module, "OPTIONS", {})  # some have none
    return options


def rules(option: dict[str, Any]) -> dict[str, Any]:
    """Return the rules of an option that documentation and argument spec have in common."""
    return {
        "type": option.get("type", "str"),
        "elements": option.get("elements"),
        "required": option.get("required", False),
        "default": option.get("default"),
        "choices": option.get("choices"),
    }


def environment_of(module: str) -> dict[str, str]:
    """Return the environment variables in the notes of a module, by option."""
    notes = "\n".join(documentation("modules", module)[0]["notes"])
    return dict(re.findall(r"O\((\w+)\) from\s+E\((SERVER_MANAGEMENT_[A-Z_]+)\)", notes))


@pytest.mark.parametrize("name", MODULES)
def test_the_options_of_a_module_are_documented(name: str) -> None:
    documented = documentation("modules", name)[0]["options"]
    spec = {**connection_argument_spec(), **own_options(name)}
    assert {option: rules(text) for option, text in documented.items()} == {
        option: rules(rule) for option, rule in spec.items()
    }
    assert environment_of(name) == VARIABLES
    (python, library) = documentation("modules", name)[0]["requirements"]
    assert python.startswith("python >= 3.10")
    assert library.startswith("requests >= 2.28")


def test_the_inventory_plugin_has_the_connection_options_of_the_modules() -> None:
    plugin = documentation("inventory", "servers")[0]["options"]
    module = documentation("modules", "server_info")[0]["options"]
    for option in connection_argument_spec():
        assert rules(plugin[option]) == rules(module[option])
        assert plugin[option]["description"] == module[option]["description"]
    declared = {
        option: entry["name"]
        for option, rule in plugin.items()
        for entry in rule.get("env", [])
        if option in module
    }
    assert declared == environment_of("server_info")


def unborrowed(folder: str, name: str) -> set[str]:
    """Return the options of a plugin without those of Ansible's own fragments."""
    texts = [fragment_loader.get(fragment).DOCUMENTATION for fragment in BORROWED]
    borrowed = {option for text in texts for option in yaml.safe_load(text)["options"]}
    return set(documentation(folder, name)[0]["options"]) - borrowed


def test_the_inventory_plugin_groups_by_the_documented_fields() -> None:
    documented = documentation("inventory", "servers")[0]["options"]
    assert set(documented["group_by"]["choices"]) == set(GROUP_FIELDS)
    assert set(SELECTING_OPTIONS) <= documented.keys()


@lru_cache
def words_with(pattern: str, markup: str) -> frozenset[str]:
    """Return the words with this markup in these files, but not in this one."""
    paths = [path for path in REPOSITORY.glob(pattern) if path.name != Path(__file__).name]
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    return frozenset(match[1] for match in re.finditer(markup, text, re.MULTILINE))


@pytest.mark.parametrize(("folder", "name"), PLUGIN_NAMES)
def test_each_option_has_a_test_and_a_mention_in_a_guide(folder: str, name: str) -> None:
    options = unborrowed(folder, name)
    arguments = words_with("tests/**/test_*.py", r"[(,{ ](\w+)=")
    keys = words_with("tests/**/test_*.py", r"\"(\w+)\":")
    assert not options - arguments - keys, "no test uses these options"
    shown = words_with("docs/docsite/rst/guide_*.rst", r"``(\w+)[`:]")
    used = words_with("docs/docsite/rst/guide_*.rst", r"^[ -]*(\w+):")
    if folder == "modules":
        used |= set(re.findall(r"(\w+):", documentation(folder, name)[1]))
    assert not options - shown - used, "no guide and no example names these options"


@pytest.mark.parametrize("name", MODULES)
def test_examples_use_documented_options(name: str) -> None:
    tasks = yaml.safe_load(documentation("modules", name)[1])
    used = 0
    for task in tasks:
        assert task["name"]
        (action,) = [key for key in task if "." in key]
        assert action.startswith((f"{COLLECTION}.", "ansible.builtin."))
        if action == f"{COLLECTION}.{name}":
            used += 1
            given = {"base_url": "http://127.0.0.1:9", **(task[action] or {})}
            spec = {**connection_argument_spec(), **own_options(name)}
            assert ArgumentSpecValidator(spec).validate(given).error_messages == []
    assert used


NEW = {"name": "new", "plan": "small", "region": "eu"}
DECLARED = [{**NEW, "status": "running"}, {"name": "web-01", "plan": "other"}]
# Tasks that together give all return values of a module.
TASKS: dict[str, list[dict[str, Any]]] = {
    "server": [
        {"name": "web-01"},
        {"name": "web-01", "plan": "other"},
        NEW,
        {"name": "web-01", "state": "absent"},
        {"name": "new", "state": "absent"},
    ],
    "fleet_info": [{"servers": [*DECLARED, {"name": "app-01"}, {"id": "srv_0"}]}],
    "api_info": [{"show_values": True}],
}


def outcomes(name: str, sandbox: Sandbox) -> list[Outcome]:
    """Run a module in all ways that differ in their return values."""
    given = {"base_url": sandbox.url, "api_token": sandbox.token, "retries": 0}
    tasks = TASKS.get(name, [REQUIRED.get(name, {})])
    found = [
        run_module(name, {**given, **task}, check_mode=check_mode)
        for task in tasks
        for check_mode in (False, True)
    ]
    sandbox.fail(Fault(status=403, body=""))
    found.append(run_module(name, {**given, **tasks[0]}))
    return found


def check_values(documented: dict[str, Any], values: dict[str, Any], seen: set[str]) -> None:
    """Compare values with their documentation, at all depths, and collect their names."""
    assert values.keys() <= documented.keys()
    for key, value in values.items():
        rule = documented[key]
        seen.add(key)
        if value is None:
            assert "null" in rule["description"].lower()
            continue
        assert value.__class__ is TYPES[rule["type"]]
        for element in value if isinstance(value, list) else [value]:
            assert "elements" not in rule or element.__class__ is TYPES[rule["elements"]]
            if isinstance(element, dict) and "contains" in rule:
                check_values(rule["contains"], element, seen)


def all_keys(documented: dict[str, Any]) -> set[str]:
    inner = [all_keys(rule.get("contains", {})) for rule in documented.values()]
    return set(documented).union(*inner)


@pytest.mark.parametrize("name", MODULES)
def test_return_values_are_documented(name: str) -> None:
    documented = documentation("modules", name)[2]
    seen: set[str] = set()
    with Sandbox(servers=5) as sandbox:
        sandbox.servers[4]["name"] = sandbox.servers[3]["name"]
        found = outcomes(name, sandbox)
    for outcome in found:
        own = {key: value for key, value in outcome.result.items() if key not in COMMON}
        check_values(documented, own, seen)
        # A failure of the API is a result of api_info.
        assert name == "api_info" or outcome.failed == ("error" in outcome.result)
    assert seen == all_keys(documented)
    error = documented["error"]
    parts = {key: part["sample"] for key, part in error.get("contains", {}).items()}
    assert error.get("sample", parts) in [outcome.result.get("error") for outcome in found]


@pytest.mark.parametrize("name", MODULES)
def test_the_documentation_states_what_is_live(name: str) -> None:
    doc = documentation("modules", name)[0]
    live = doc["attributes"]["live"]
    assert live["support"] == status_page.support(name)
    assert live["details"] == status_page.details(name)
    label = {"full": None, "partial": "Partly live", "none": "Not yet live"}[live["support"]]
    # ansible-doc --list cuts off the end of a short description.
    for text, end in ((doc["description"][0], ". "), (doc["short_description"], ": ")):
        found = re.match(rf"((?:Not yet|Partly) live){re.escape(end)}", text)
        assert (found[1] if found else None) == label


def test_modules_that_are_not_live_are_documented_as_previews() -> None:
    sentence = "This module is a preview: its options may change until the operation is live."
    descriptions = {name: documentation("modules", name)[0]["description"] for name in MODULES}
    previews = [name for name, lines in descriptions.items() if sentence in lines]
    assert previews == status_page.modules_by_support("none")


@pytest.mark.parametrize("name", MODULES)
def test_a_module_declares_its_attributes(name: str) -> None:
    attributes = documentation("modules", name)[0]["attributes"]
    names = ["action_group", "check_mode", "diff_mode", "idempotent", "live", "platform"]
    assert sorted(attributes) == names
    predicts = name == "server" or attributes["live"]["support"] == "full"
    assert attributes["check_mode"]["support"] == ("full" if predicts else "N/A")
    assert attributes["action_group"]["membership"] == [f"{COLLECTION}.all"]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_documents_the_listing_options_that_it_ignores(name: str) -> None:
    options = documentation("modules", name)[0]["options"]
    texts = {key: " ".join(option["description"]) for key, option in options.items()}
    reads = name in ("server_info", "server", "fleet_info", "api_info")
    for option in ("pagination", "pagination_parameter", "allow_partial"):
        assert ("Has no effect yet" in texts[option]) is not reads
    ignores = "This module ignores the option" in texts["allow_partial"]
    assert ignores is (name in ("server", "fleet_info"))


def test_the_version_is_the_same_everywhere() -> None:
    galaxy = yaml.safe_load((REPOSITORY / "galaxy.yml").read_text(encoding="utf-8"))
    assert galaxy["version"] == VERSION
    pages = [*REPOSITORY.glob("docs/docsite/rst/*.rst"), REPOSITORY / "README.md"]
    text = "".join(path.read_text(encoding="utf-8") for path in pages)
    installed = re.findall(r"(?:cloud:==|cloud-| version: \W*)(\d+\.\d+\.\d+)", text)
    assert len(installed) >= 3
    assert set(installed) == {VERSION}
    files = [*PLUGINS.rglob("*.py"), *REPOSITORY.glob("extensions/**/*.py")]
    code = "".join(path.read_text(encoding="utf-8") for path in files)
    for added in re.findall(r"version_added: *(.*)", code):
        assert tuple(map(int, added.split("."))) <= tuple(map(int, VERSION.split(".")))


def test_the_action_group_has_the_modules() -> None:
    runtime = yaml.safe_load((REPOSITORY / "meta" / "runtime.yml").read_text(encoding="utf-8"))
    assert sorted(runtime["action_groups"]["all"]) == MODULES
    assert {module for row in OPERATIONS for module in row.modules} == set(MODULES)


def test_the_readme_lists_the_plugins_with_their_scopes() -> None:
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)`( \(inventory\))? \| .* \| `(\S+)` \| (.+) \|$", text, re.M)
    listed = {(name, "inventory" if kind else "modules") for name, kind, _scope, _live in rows}
    assert listed == {(name, folder) for folder, name in PLUGIN_NAMES}
    for name, kind, scope, live in rows:
        if not kind:
            assert {row.scope for row in OPERATIONS if name in row.modules} == {scope}
            words = {"full": "yes", "partial": "partly", "none": "not yet"}
            assert live == words[status_page.support(name)]


def test_the_scopes_of_what_is_live_are_documented() -> None:
    guide = (REPOSITORY / "docs/docsite/rst/guide_trust.rst").read_text(encoding="utf-8")
    sentence = re.search(r"^  The scopes?\s([^.]*)\s(?:is|are)\ssufficient for", guide, re.M)
    assert sentence
    live = {row.scope for row in OPERATIONS if row.live}
    assert set(re.findall(r"``(.*?)``", sentence[1])) == live


def test_the_client_sends_the_described_requests() -> None:
    described = []
    for path, methods in DESCRIPTION["paths"].items():
        for method, operation in methods.items():
            (scope,) = operation.get("security", DESCRIPTION["security"])[0]["bearer"]
            (success,) = [status for status in operation["responses"] if status.startswith("2")]
            described.append((method.upper(), path, scope, success))
    sent = [(r.method, r.path, r.scope, str(r.success)) for r in REQUESTS]
    assert sorted(sent) == sorted(described)
    assert {r.scope for r in REQUESTS} == {row.scope for row in OPERATIONS if row.live}


def test_documents_name_what_is_live() -> None:
    methods = r"\b[Oo]nly\s((?:``[A-Z]+``,?\s+(?:and\s+)?)+)requests"
    statuses = r"\bstatus\s+other\s+than\s+(\d+(?:,?(?:\s+or)?\s+\d+)*)"
    facts = {
        methods: {request.method for request in REQUESTS},
        statuses: {str(request.success) for request in REQUESTS},
    }
    titles = "|".join(row.title for row in OPERATIONS if row.live)
    naming = set()
    outdated = []
    for path in [*(REPOSITORY / "docs").rglob("*.rst"), REPOSITORY / "README.md"]:
        text = path.read_text(encoding="utf-8")
        for sentence, expected in facts.items():
            for found in re.finditer(sentence, text):
                naming.add((path.stem, sentence))
                if set(re.findall("[A-Z]+|[0-9]+", found[1])) != expected:
                    outdated.append((path.name, found[0]))
        refused = re.findall(rf"(?:{titles}) is not yet live", text)
        outdated += [(path.name, message) for message in refused]
    assert ("guide_trust", methods) in naming
    assert not outdated
    (live,) = re.findall(r"([^.]+) (?:is|are) live\.", DESCRIPTION["info"]["description"])
    for row in OPERATIONS:
        assert (row.title.lower() in live.lower()) is row.live


def test_no_endpoint_is_invented() -> None:
    (server,) = DESCRIPTION["servers"]
    prefix = server["url"].removeprefix("{base_url}")
    described = {f"{prefix}/{path.split('/')[1]}" for path in DESCRIPTION["paths"]}
    methods = {method.upper() for path in DESCRIPTION["paths"].values() for method in path}
    # What users read or run: everything but tests and tools; also the sandbox.
    published = [
        name for name in sources() if not name.startswith(("tests/", "tools/", ".", "LIC"))
    ]
    sandbox = [name for name in sources() if name.startswith("tests/sandbox/")]
    assert {"README.md", "playbooks/check_api.yml"} < set(published)
    for name in [*published, *sandbox]:
        text = (REPOSITORY / name).read_text(encoding="utf-8")
        assert set(re.findall(r"/api/v\w+", text)) <= {prefix}, name
        assert set(re.findall(rf"{prefix}/\w+", text)) <= described, name
        assert set(re.findall(r"\b(?:POST|PUT|PATCH|DELETE)\b", text)) <= methods, name


def test_each_promise_of_the_development_guide_has_tests() -> None:
    guide = (REPOSITORY / "docs/docsite/rst/guide_development.rst").read_text(encoding="utf-8")
    named = re.findall(r"^``(\w+)``\n  ", guide, re.MULTILINE)
    marked = {
        key
        for path in (REPOSITORY / "tests").rglob("test_*.py")
        for keys in re.findall(r"mark\.promise\((.*?)\)", path.read_text(encoding="utf-8"))
        for key in re.findall(r"\"(\w*)\"", keys)
    }
    assert named
    assert marked == set(named)
