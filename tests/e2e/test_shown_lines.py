# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No message about an inventory file shows its lines, which may be next to a token."""

from support.run import write_inventory

from .conftest import as_arguments, failures

# At the end of each line of the files.
MARK = "shown-line"
# Mistakes in an expression, as YAML.
EXPRESSIONS = {
    "syntax": "server_management_name |",
    "undefined": "server_management_nope.x",
    "one_host": "none if server_management_name != 'web-1' else server_management_nope.x",
    "filter": "server_management_plan | nope",
    "braces": "'{{ server_management_plan != 1 }}'",  # deprecated, so Ansible shows its line
    "type": "server_management_plan | length",
    "date": "2026-01-01",
}
# The places of an expression in a file.
OPTIONS = {
    "compose": "compose:\n  a: {}",
    "groups": "groups:\n  a: {}",
    "key": "keyed_groups:\n  - key: {}",
    "parent": 'keyed_groups:\n  - key: server_management_plan\n    parent_group: "{{{{ {} }}}}"',
    "default": "keyed_groups:\n  - key: \"''\"\n    default_value: {}",
    "prefix": "keyed_groups:\n  - key: server_management_plan\n    prefix: {}",
    "hostnames": "hostnames:\n  - {}",
    "filters": "filters:\n  - include: {}\n  - exclude: true",
}


def write(source, name, *parts):
    """Write an inventory file with these parts, and the mark at the end of each line."""
    lines = "\n".join(("plugin: server_management.cloud.servers", *parts)).splitlines()
    content = "".join(f"{line}  # {MARK}\n" for line in lines)
    return write_inventory(source.folder, content, f"{name}.server_management.yml")


def test_no_failing_expression_shows_a_line_of_the_file(source):
    url = f"base_url: {source.sandbox.url}"
    token = f"api_token: {source.sandbox.token}"
    paths = []
    for place, option in OPTIONS.items():
        for mistake, expression in EXPRESSIONS.items():
            text = option.format(expression)
            name = f"{place}_{mistake}"
            paths.append(write(source, name, url, token, text))
            paths.append(write(source, f"{name}_strict", url, token, text, "strict: true"))
    result = source.runner.inventory(*as_arguments(paths), "--list", "-vvv").ok()
    assert MARK not in result.output
    assert result.stderr.count("[WARNING]") > len(paths) // 2


MISTAKES = ["''", "'{{ nope }}'", "'{{ 1 +'", "nope", "[nope]", "{nope: 1}", "null"]


def test_no_mistake_in_any_option_shows_a_token(source):
    name = "server_management.cloud.servers"
    shown = source.runner.doc("-t", "inventory", "--json", name).ok().json()
    options = shown[name]["doc"]["options"].keys() - {"plugin", "api_token"}
    token = f"api_token: {source.sandbox.token}"
    url = f"base_url: {source.sandbox.url}"
    paths = []
    for option in sorted(options):
        for number, mistake in enumerate(MISTAKES):
            parts = [url, token, f"{option}: {mistake}"]
            if option == "base_url":
                parts.remove(url)
            # Ansible shows the lines before and after an error.
            if number % 2:
                parts.reverse()
            paths.append(write(source, f"{option}_{number}", *parts))
    environment = {"ANSIBLE_VERBOSE_TO_STDERR": "1", "SERVER_MANAGEMENT_RETRIES": "0"}
    # The runner searches for the token.
    command = (*as_arguments(paths), "--list", "-vvvvvv")
    result = source.runner.inventory(*command, env=environment).ok()
    assert MARK not in result.output
    assert len(failures(result)) > len(paths) // 2
