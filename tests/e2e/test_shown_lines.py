# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No message about an inventory file shows its lines, which may be next to a token."""

from ansible.plugins.loader import inventory_loader

from support.run import without_white_space, write_inventory

from .conftest import as_arguments

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
