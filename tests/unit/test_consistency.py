# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Facts that are stated in several places are the same everywhere."""

import ast
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
from sandbox import Fault, Sandbox
from support import status_page
from support.collection import REPOSITORY
from support.modules import MODULES as PACKAGE
from support.modules import REQUIRED, run_module

COLLECTION = "server_management.cloud"
PLUGINS = REPOSITORY / "plugins"
MODULES = sorted(path.stem for path in PLUGINS.glob("modules/*.py"))
PLUGIN_NAMES = [("inventory", "servers"), *(("modules", name) for name in MODULES)]
BORROWED = ("ansible.builtin.constructed", "ansible.builtin.inventory_cache")

COMMON = ("changed", "msg")  # what Ansible documents for every module
TYPES = {"str": str, "int": int, "float": float, "bool": bool, "dict": dict, "list": list}


@lru_cache
def documentation(folder, name):
    """Return a plugin's documentation with its fragments, its examples and its return values."""
    path = PLUGINS / folder / f"{name}.py"
    is_module = folder == "modules"
    kind = "module" if is_module else folder
    doc, examples, returned, _metadata = get_docstring(
        str(path), fragment_loader, is_module=is_module, plugin_type=kind
    )
    return doc, examples, returned or {}


def own_options(name):
    module = import_module(f"{PACKAGE}.{name}")
    return getattr(module, "OPTIONS", {})  # some have none


def rules(option):
    """Return the rules of an option that documentation and argument spec have in common."""
    return {
        "type": option.get("type", "str"),
        "elements": option.get("elements"),
        "required": option.get("required", False),
        "default": option.get("default"),
        "choices": option.get("choices"),
    }


def environment_of(module):
    """Return the environment variables in the notes of a module, by option."""
    notes = "\n".join(documentation("modules", module)[0]["notes"])
    return dict(re.findall(r"O\((\w+)\) from\s+E\((SERVER_MANAGEMENT_[A-Z_]+)\)", notes))


@pytest.mark.parametrize("name", MODULES)
def test_the_options_of_a_module_are_documented(name):
    documented = documentation("modules", name)[0]["options"]
    spec = {**connection_argument_spec(), **own_options(name)}
    assert documented.keys() == spec.keys()
    for option, rule in spec.items():
        assert rules(documented[option]) == rules(rule)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_documents_its_environment_and_its_requirements(name):
    assert environment_of(name) == VARIABLES
    (python, library) = documentation("modules", name)[0]["requirements"]
    assert python.startswith("python >= 3.10")
    assert library.startswith("requests >= 2.28")


def test_the_inventory_plugin_has_the_connection_options_of_the_modules():
    plugin = documentation("inventory", "servers")[0]["options"]
    module = documentation("modules", "server_info")[0]["options"]
    for option in connection_argument_spec():
        assert rules(plugin[option]) == rules(module[option])
        assert plugin[option]["description"] == module[option]["description"]
    for option, variable in environment_of("server_info").items():
        assert plugin[option]["env"] == [{"name": variable}]


def unborrowed(folder, name):
    """Return the options of a plugin without those of Ansible's own fragments."""
    options = set(documentation(folder, name)[0]["options"])
    for fragment in BORROWED:
        text = fragment_loader.get(fragment).DOCUMENTATION
        options.difference_update(yaml.safe_load(text)["options"])
    return options


def test_the_inventory_plugin_groups_by_the_documented_fields():
    documented = documentation("inventory", "servers")[0]["options"]
    assert set(documented["group_by"]["choices"]) == set(GROUP_FIELDS)
    assert set(SELECTING_OPTIONS) <= documented.keys()


# The helpers of tests whose keyword arguments are options.
HELPERS = {
    "add", "add_with_prefix", "file", "list_silently", "parse", "read", "report", "run", "write",
}  # fmt: skip


@lru_cache
def options_in(path):
    """Return what a test gives as options: keys of mappings, and arguments of these helpers."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Dict):
            found.update(key.value for key in node.keys if isinstance(key, ast.Constant))
        elif isinstance(node, ast.Call):
            owner, _dot, function = ast.unparse(node.func).rpartition(".")
            if function in HELPERS and owner != "subprocess":
                found.update(keyword.arg for keyword in node.keywords)
    return frozenset(found)


def untested(options, word):
    """Return the options that no test with this word in its name or its text gives."""
    for path in (REPOSITORY / "tests").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name != Path(__file__).name and (word in path.stem or f'"{word}"' in text):
            options = options - options_in(path)
    return options


def test_each_option_of_the_inventory_plugin_has_a_test():
    options = unborrowed("inventory", "servers")
    for path in (REPOSITORY / "tests").rglob("test_*.py"):
        # Tests of modules have options with the same names.
        if path.parts[-2] in ("e2e", "inventory", "plugin_utils") and path.stem != "test_modules":
            options -= options_in(path)
    assert not options


@pytest.mark.parametrize("name", MODULES)
def test_each_option_of_a_module_has_a_test(name):
    assert not untested(set(own_options(name)), name)


def test_each_connection_option_of_modules_has_a_test():
    assert not untested(set(connection_argument_spec()), "options")


def matches_in_guides(pattern):
    found = set()
    for path in REPOSITORY.glob("docs/docsite/rst/guide_*.rst"):
        found.update(re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE))
    return found


@pytest.mark.parametrize(("folder", "name"), PLUGIN_NAMES)
def test_each_option_is_in_a_guide_or_an_example(folder, name):
    named = matches_in_guides(r"``(\w+)[`:]") | matches_in_guides(r"^[ -]*(\w+):")
    if folder == "modules":
        named.update(re.findall(r"(\w+):", documentation(folder, name)[1]))
    assert not unborrowed(folder, name) - named


@pytest.mark.parametrize("name", MODULES)
def test_examples_use_documented_options(name):
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


def outcomes(name, sandbox):
    """Run a module in all ways that differ in their return values."""
    given = {"base_url": sandbox.url, "api_token": sandbox.token, "retries": 0}
    tasks = TASKS.get(name, [REQUIRED.get(name, {})])
    found = []
    for task in tasks:
        found.append(run_module(name, {**given, **task}))
        found.append(run_module(name, {**given, **task}, check_mode=True))
    sandbox.fail(Fault(status=403, body=""))
    found.append(run_module(name, {**given, **tasks[0]}))
    return found


def check_values(documented, values, seen):
    """Compare values with their documentation, at all depths, and collect their names."""
    assert values.keys() <= documented.keys()
    for key, value in values.items():
        rule = documented[key]
        seen.add(key)
        if value is None:
            assert "null" in rule["description"].lower()
            continue
        assert value.__class__ is TYPES[rule["type"]]
        elements: Any = value if "elements" in rule else [value]
        if "elements" in rule:
            assert {element.__class__ for element in elements} <= {TYPES[rule["elements"]]}
        for element in elements:
            if "contains" in rule:
                check_values(rule["contains"], element, seen)


def all_keys(documented):
    keys = set(documented)
    for rule in documented.values():
        keys |= all_keys(rule.get("contains", {}))
    return keys


@pytest.mark.parametrize("name", MODULES)
def test_return_values_are_documented(name):
    documented = documentation("modules", name)[2]
    seen = set()
    with Sandbox(servers=5) as sandbox:
        sandbox.servers[4]["name"] = sandbox.servers[3]["name"]
        found = outcomes(name, sandbox)
    for outcome in found:
        for key in COMMON:
            outcome.result.pop(key, None)
        check_values(documented, outcome.result, seen)
        # A failure of the API is a result of api_info.
        assert name == "api_info" or outcome.failed == ("error" in outcome.result)
    assert seen == all_keys(documented)
    error = documented["error"]
    parts = {key: part["sample"] for key, part in error.get("contains", {}).items()}
    assert error.get("sample", parts) in [outcome.result.get("error") for outcome in found]


LABELS = {"full": [], "partial": ["Partly live"], "none": ["Not yet live"]}


@pytest.mark.parametrize("name", MODULES)
def test_the_documentation_states_what_is_live(name):
    doc = documentation("modules", name)[0]
    live = doc["attributes"]["live"]
    assert live["support"] == status_page.support(name)
    assert live["details"] == status_page.details(name)
    # ansible-doc --list cuts off the end of a short description.
    label = LABELS[live["support"]]
    assert re.findall(r"^(.* live): ", doc["short_description"]) == label
    assert re.findall(r"^(Not yet live|Partly live)\. ", doc["description"][0]) == label


def test_modules_that_are_not_live_are_documented_as_previews():
    sentence = "This module is a preview: its options may change until the operation is live."
    descriptions = {name: documentation("modules", name)[0]["description"] for name in MODULES}
    previews = [name for name, lines in descriptions.items() if sentence in lines]
    assert previews == status_page.modules_by_support("none")


@pytest.mark.parametrize("name", MODULES)
def test_a_module_declares_its_attributes(name):
    attributes = documentation("modules", name)[0]["attributes"]
    names = ["action_group", "check_mode", "diff_mode", "idempotent", "live", "platform"]
    assert sorted(attributes) == names
    predicts = name == "server" or attributes["live"]["support"] == "full"
    assert attributes["check_mode"]["support"] == ("full" if predicts else "N/A")
    assert attributes["action_group"]["membership"] == [f"{COLLECTION}.all"]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_documents_the_listing_options_that_it_ignores(name):
    options = documentation("modules", name)[0]["options"]
    texts = {key: " ".join(option["description"]) for key, option in options.items()}
    reads = name in ("server_info", "server", "fleet_info", "api_info")
    for option in ("pagination", "pagination_parameter", "allow_partial"):
        assert ("Has no effect yet" in texts[option]) is not reads
    ignores = "This module ignores the option" in texts["allow_partial"]
    assert ignores is (name in ("server", "fleet_info"))


def test_the_version_is_the_same_everywhere():
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


def test_the_action_group_has_the_modules():
    runtime = yaml.safe_load((REPOSITORY / "meta" / "runtime.yml").read_text(encoding="utf-8"))
    assert sorted(runtime["action_groups"]["all"]) == MODULES
    assert {module for row in OPERATIONS for module in row.modules} == set(MODULES)


def test_the_readme_lists_the_plugins_with_their_scopes():
    text = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)`( \(inventory\))? \| .* \| `(\S+)` \| (.+) \|$", text, re.M)
    inventory, *modules = rows
    assert inventory[0] == "servers"
    assert sorted(name for name, _kind, _scope, _live in modules) == MODULES
    words = {"full": "yes", "partial": "partly", "none": "not yet"}
    for name, _kind, scope, live in modules:
        assert {row.scope for row in OPERATIONS if name in row.modules} == {scope}
        assert live == words[status_page.support(name)]
