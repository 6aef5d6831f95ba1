# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Facts that are stated in several places are the same everywhere."""

import re
from importlib import import_module
from inspect import Parameter, signature

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.filter.openssh_hosts import (
    EXAMPLES,
    openssh_hosts,
)
from ansible_collections.server_management.cloud.plugins.inventory.servers import InventoryModule
from ansible_collections.server_management.cloud.plugins.module_utils import _operations, _options
from ansible_collections.server_management.cloud.plugins.plugin_utils._polling import ARGUMENTS
from sandbox import Fault, Sandbox
from sandbox.account import example_servers
from support import places
from support.collection import REPOSITORY, read, read_yaml
from support.modules import MODULES as PACKAGE
from support.modules import REQUIRED, run_module

MODULES = sorted(path.stem for path in REPOSITORY.glob("plugins/modules/*.py"))
# The plugins, with their kinds; Ansible itself has none for an event source.
PLUGINS = {
    "inventory/servers": "inventory",
    "filter/openssh_hosts": "filter",
    "../extensions/eda/plugins/event_source/servers": "module",
    **{f"modules/{name}": "module" for name in MODULES},
}
# What Ansible documents for every module.
COMMON = {"changed": {"type": "bool"}, "msg": {"type": "str"}}


def documentation(path, kind="module"):
    return places.documentation(f"plugins/{path}.py", kind)


def module_called(name):
    return import_module(f"{PACKAGE}.{name}")


@pytest.fixture
def account():
    """Serve the account of the documents, with two servers of the same name."""
    servers = example_servers()
    servers.append({**servers[-1], "id": "srv_2"})
    with Sandbox(servers) as sandbox:
        yield sandbox


def run(account, name, options, *, check_mode=False):
    connection = {"base_url": account.url, "api_token": account.token}
    return run_module(name, {**options, **connection}, check_mode=check_mode)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_documents_the_environment_variables_that_it_reads(name):
    notes = documentation(f"modules/{name}")["notes"]
    documented = re.findall(r"O\((\w+)\) from E\((\w+)\)", "\n".join(notes))
    assert dict(documented) == _options.VARIABLES


COMPARED = ("type", "default", "choices", "required", "elements")


def rules_of(options, nested):
    """Return what documentation and an argument spec both state; ``nested``: key of suboptions."""
    rules = {}
    for option, given in options.items():
        rules[option] = {key: given.get(key) for key in COMPARED}
        if nested in given:
            rules[option]["suboptions"] = rules_of(given[nested], nested)
    return rules


@pytest.mark.parametrize("path", [path for path in PLUGINS if PLUGINS[path] == "module"])
def test_a_plugin_documents_its_argument_spec(path):
    spec = ARGUMENTS
    if path.startswith("modules/"):
        module = module_called(path.removeprefix("modules/"))
        spec = {**_options.RULES, **getattr(module, "OPTIONS", {})}
    documented = documentation(path)["options"]
    assert rules_of(documented, "suboptions") == rules_of(spec, "options")


def test_the_inventory_plugin_documents_the_same_options_and_variables():
    options = documentation("inventory/servers", "inventory")["options"]
    of_modules = documentation("modules/server_info")["options"]
    for option, variable in _options.VARIABLES.items():
        environment = {"env": [{"name": variable}]}
        assert options[option] == {**of_modules[option], **environment}
    assert options["min_servers"]["default"] == ARGUMENTS["min_servers"]["default"]
    assert options["plugin"]["choices"] == [InventoryModule.NAME]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_accepts_its_examples(account, name):
    action = f"server_management.cloud.{name}"
    tasks = yaml.safe_load(module_called(name).EXAMPLES)
    examples = [task[action] for task in tasks if action in task]
    assert examples
    for options in examples:
        outcome = run(account, name, options or {}, check_mode=True)
        if outcome.failed:
            # If Ansible itself rejects an option, there is no error of ours.
            assert outcome.result["error"]["code"] == "not_yet_live"


# Tasks that together give all return values of a module.
TASKS = yaml.safe_load("""
fleet_info: [{servers: [{name: new}, {name: web-02, plan: other}, {name: db-01}]}]
""")


def check(documented, values, seen):
    """Compare values with their documentation, at all depths, and collect their names."""
    for name, value in values.items():
        seen.add(name)
        rule = documented[name]
        if value is None:
            assert "null" in str(rule["description"])
        elif rule["type"] == "list":
            assert isinstance(value, list)
            for element in value:
                check_value(rule, rule["elements"], element, seen)
        else:
            check_value(rule, rule["type"], value, seen)


def check_value(rule, kind, value, seen):
    assert type(value).__name__ == kind
    if "contains" in rule:
        check(rule["contains"], value, seen)


def names_in(documented):
    names = set(documented)
    for rule in documented.values():
        names |= names_in(rule.get("contains", {}))
    return names


def results_of(account, name):
    """Run a module in all ways that differ in their return values."""
    results = []
    for task in TASKS.get(name, [REQUIRED.get(name, {})]):
        results.append(run(account, name, task).result)
        results.append(run(account, name, task, check_mode=True).result)
    account.fail(Fault(status=403, body=""))
    results.append(run(account, name, task).result)
    return results


@pytest.mark.parametrize("name", MODULES)
def test_return_values_are_documented(account, name):
    returned = yaml.safe_load(module_called(name).RETURN)
    documented = {**COMMON, **returned}
    seen = set()
    results = results_of(account, name)
    for result in results:
        check(documented, result, seen)
    assert seen == names_in(documented)
    if "scope" in documented:
        sample = _operations.operation(name, documented["operation"]["sample"])
        assert documented["scope"]["sample"] == sample.scope
    error = documented["error"]
    if "sample" in error:
        assert error["sample"] in [result.get("error") for result in results]


LABELS = {"full": [], "partial": ["Partly live"], "none": ["Not yet live"]}


@pytest.mark.parametrize("name", MODULES)
def test_the_documentation_states_what_is_live(name):
    doc = documentation(f"modules/{name}")
    live = doc["attributes"]["live"]
    assert live["support"] == places.support(name)
    scopes = {row.scope for row in _operations.OPERATIONS if name in row.modules}
    assert set(re.findall(r"C\((\w+:\w+)\)", " ".join(live["details"]))) == scopes
    # ansible-doc --list cuts off the end of a short description.
    assert re.findall(r"^(.* live): ", doc["short_description"]) == LABELS[live["support"]]
    # Other modules only check their options.
    predicts = doc["attributes"]["check_mode"]["support"] != "N/A"
    assert predicts is (live["support"] != "none")


# The modules that read an option of listings; the documentation of others says that they do not.
READ = {
    "pagination": ["api_info", "fleet_info", "server_info"],
    "allow_partial": ["api_info", "server_info"],
}


@pytest.mark.parametrize("option", READ)
def test_modules_document_the_listing_options_that_they_ignore(option):
    read = documentation("inventory/servers", "inventory")["options"][option]["description"]
    for name in MODULES:
        found = documentation(f"modules/{name}")["options"][option]["description"]
        assert (found == read) is (name in READ[option]), name


@pytest.mark.parametrize(("path", "kind"), PLUGINS.items())
def test_a_plugin_has_its_first_release_and_its_requirements(path, kind):
    doc = documentation(path, kind)
    assert doc["version_added"] == "1.0.0"
    requirements = doc.get("requirements", [])
    needed = [text.split()[0] for text in requirements]
    has_needs = path.startswith(("inventory/", "modules/"))
    assert needed == (["python", "requests"] if has_needs else [])


def test_the_filter_documents_its_arguments():
    doc = documentation("filter/openssh_hosts", "filter")
    _names, *arguments = signature(openssh_hosts).parameters.values()
    defaults = {argument.name: argument.default for argument in arguments}
    documented = {}
    for option, given in doc["options"].items():
        documented[option] = given.get("default", Parameter.empty)
    assert documented == {"_input": Parameter.empty, **defaults}
    assert doc["positional"] == ", ".join(defaults)
    result = openssh_hosts([], {})
    for example in re.findall(r"(?:\bservers|\))\.(\w+)", EXAMPLES):
        assert example in result


def test_the_action_group_has_the_modules():
    runtime = read_yaml("meta/runtime.yml")
    assert sorted(runtime["action_groups"]["all"]) == MODULES


# What the README lists, apart from modules.
LISTED = ("plugins/inventory", "plugins/filter", "playbooks", "extensions/eda/**")


def test_the_readme_lists_what_can_be_used():
    names = set(places.USABLE)
    for folder in LISTED:
        for path in REPOSITORY.glob(f"{folder}/*.*"):
            names.add(path.stem)
    _before, content = read("README.md").split("Live, with the scope")
    live, _previews = content.split("Not live yet")
    assert set(re.findall(r"`(\w+)`", live)) == names
