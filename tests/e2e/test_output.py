# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the commands show, and where, and that no message shows the lines of an inventory file."""

import re

import pytest
from ansible.plugins.loader import inventory_loader

from sandbox import Fault
from support.collection import REPOSITORY
from support.guides import read_files
from support.run import without_white_space, write_inventory

from .conftest import as_arguments

PATHS = sorted(REPOSITORY.glob("plugins/modules/*.py"))
MODULES = [f"server_management.cloud.{path.stem}" for path in PATHS]

# Ansible's own lines are on standard error, too, so that standard output is JSON.
TO_STDERR = {"ANSIBLE_VERBOSE_TO_STDERR": "1"}


def ours(text):
    """Return our lines, with N for times."""
    # Up to 2.18, Ansible may break a line before the long path of the file.
    joined = text.replace("[WARNING]:\n", "[WARNING]: ")
    measured = re.sub(r"\d+\.\d s|\d+ ms", "N", joined)
    return re.findall(r"(?m)^[^:\n]*test\.server_management\.yml: (.*)$", measured)


def test_each_level_shows_more_and_always_on_standard_error(source, tmp_path, runner, sandbox):
    url = sandbox.url
    token = sandbox.token
    (tmp_path / "token").write_text(token)
    path = source.file(api_token=None, api_token_file="token", regions=["eu-1", token])
    regions = "regions: no server has ********; the account has eu-1 (2), eu-2 (1)."
    summary = f"3 servers from {url} in N (1 request); 2 hosts"

    once = runner.inventory("-i", path, "--list", "-v")
    assert ours(once.stdout) == []
    assert ours(once.stderr) == [regions, summary]

    command = ("-i", path, "--list", "-vvvv")
    verbose = runner.inventory(*command, env=TO_STDERR, cwd=tmp_path)
    assert verbose.json()
    origin = f"token: api_token_file ({tmp_path}/token)"
    request = f"GET {url}/api/v1/servers: HTTP 200, N"
    servers = [
        "db-1 (srv_3) is db-1",
        "web-1 (srv_1) is web-1",
        "web-2 (srv_2) is left out by regions",
    ]
    assert ours(verbose.stderr) == [origin, request, regions, summary, *servers]


def test_an_inventory_in_yaml_has_no_warnings(source):
    result = source.run("--yaml")
    assert result.stderr == ""
    result.shows("server_management_id: srv_1")


def test_ansible_doc_shows_the_plugins_without_warnings(runner):
    inventory = runner.doc("-t", "inventory", "server_management.cloud.servers")
    modules = runner.doc(*MODULES)
    assert inventory.stderr + modules.stderr == ""
    # What a link macro becomes if ansible-doc can't read it.
    assert "#stq=" not in inventory.stdout + modules.stdout


# At the end of each line of the files.
MARK = "shown-line"
# Mistakes in an expression, as YAML.
EXPRESSIONS = [
    "server_management_name |",
    "server_management_nope.x",
    "none if server_management_name != 'web-1' else server_management_nope.x",
    "server_management_plan | nope",
    "'{{ server_management_plan != 1 }}'",  # deprecated, so Ansible shows its line
    "server_management_plan | length",
    "2026-01-01",
]
# The places of an expression in a file.
PLACES = [
    "compose:\n  a: {}",
    "compose:\n  a b: {}",
    "compose:\n  environment: {}",
    "groups:\n  a: {}",
    "keyed_groups:\n  - key: {}",
    'keyed_groups:\n  - key: server_management_plan\n    parent_group: "{{{{ {} }}}}"',
    "keyed_groups:\n  - key: \"''\"\n    default_value: {}",
    "keyed_groups:\n  - key: server_management_plan\n    prefix: {}",
    "hostnames:\n  - {}",
    "filters:\n  - include: {}\n  - exclude: true",
]
# Mistakes in an option.
VALUES = ["''", "'{{ nope }}'", "'{{ 1 +'", "nope", "[nope]", "{nope: 1}", "null"]


def list_files(source, options):
    """List a file with each of these options, as verbosely as possible."""
    paths = []
    for number, option in enumerate(options):
        token = f"api_token: {source.sandbox.token}"
        content = f"plugin: server_management.cloud.servers\n{token}\n{option}\n"
        marked = content.replace("\n", f"  # {MARK}\n")
        name = f"{number}.server_management.yml"
        paths.append(write_inventory(source.folder, marked, name))
    environment = {"ANSIBLE_VERBOSE_TO_STDERR": "1", "SERVER_MANAGEMENT_RETRIES": "0"}
    environment["SERVER_MANAGEMENT_BASE_URL"] = source.sandbox.url
    # The runner searches for the token.
    command = (*as_arguments(paths), "--list", "-vvvvvv")
    return source.runner.inventory(*command, env=environment).ok()


def test_no_failing_expression_shows_a_line_of_the_file(source):
    options = []
    for place in PLACES:
        for expression in EXPRESSIONS:
            option = place.format(expression)
            options += [option, f"{option}\nstrict: true"]
    result = list_files(source, options)
    assert MARK not in result.output
    assert result.stderr.count("[WARNING]") > len(options) // 2  # most of them failed


def test_no_mistake_in_any_option_shows_a_token_or_a_line(source):
    plugin = inventory_loader.get("server_management.cloud.servers")
    options = []
    for name in sorted(plugin.option_definitions.keys() - {"plugin", "api_token"}):
        options += [f"{name}: {value}" for value in VALUES]
    result = list_files(source, options)
    assert MARK not in result.output
    failed = without_white_space(result.stderr).count("asaninventorysource")
    assert failed > len(options) // 2  # most of them are mistakes


# Pages with settings, and the plugins that read a failing file again.
READERS = {"production": set(), "quickstart": {"ini", "yaml"}}


@pytest.mark.parametrize("page", READERS)
def test_with_the_settings_of_a_guide_a_failing_file_ends_the_command(page, source, sandbox):
    (source.folder / "ansible.cfg").write_text(read_files(page)["ansible.cfg"])
    sandbox.fail(Fault(status=401))
    paths = [source.file(), source.file("second.server_management.yml")]
    result = source.runner.inventory(*as_arguments(paths), "--list", cwd=source.folder)
    assert result.rc != 0
    readers = re.findall(r"(yaml|ini)'?plugin", without_white_space(result.output))
    assert {*readers} == READERS[page]
