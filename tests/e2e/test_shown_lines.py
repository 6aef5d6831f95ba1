# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No message about an inventory file shows its lines, which may be next to a token."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from support.run import write_inventory

from .conftest import Source, as_arguments, failures

# At the end of each line of the files.
MARK = "shown-line"
EXPRESSIONS = {
    "syntax": "server_management_name |",
    "undefined": "server_management_nope.x",
    "one_host": "none if server_management_name != 'web-1' else server_management_nope.x",
    "filter": "server_management_plan | nope",
    "braces": "{{ server_management_plan == 'small' }}",
    "type": "server_management_plan | length",
    "date": None,
}
OPTIONS: list[Callable[[Any], dict[str, Any]]] = [
    lambda text: {"compose": {"a": text}},
    lambda text: {"groups": {"a": text}},
    lambda text: {"keyed_groups": [{"key": text}]},
    lambda text: {
        "keyed_groups": [{"key": "server_management_plan", "parent_group": f"{{{{ {text} }}}}"}]
    },
    lambda text: {"keyed_groups": [{"key": "''", "default_value": text}]},
    lambda text: {"keyed_groups": [{"key": "server_management_plan", "prefix": text}]},
    lambda text: {"hostnames": [text]},
    lambda text: {"filters": [{"include": text}, {"exclude": "true"}]},
]


@pytest.mark.promise("secret")
def test_no_failing_expression_shows_a_line_of_the_file(source: Source) -> None:
    paths = []
    for number, option in enumerate(OPTIONS):
        for name, text in EXPRESSIONS.items():
            for strict in (False, True):
                file = f"{number}_{name}_{strict}.server_management.yml"
                path = source.file(file, **option(text), strict=strict)
                lines = path.read_text().replace("a: null", "a: 2026-01-01").splitlines()
                path.write_text("".join(f"{line}  # {MARK}\n" for line in lines))
                paths.append(path)
    result = source.runner.inventory(*as_arguments(paths), "--list", "-vvv").ok()
    assert MARK not in result.output
    assert result.stderr.count("[WARNING]") > len(paths) // 2


MISTAKES: list[Any] = ["", "{{ nope }}", "{{ 1 +", "nope", ["nope"], {"nope": 1}, None]


@pytest.mark.promise("secret")
def test_no_mistake_in_any_option_shows_a_token(source: Source) -> None:
    name = "server_management.cloud.servers"
    shown = source.runner.doc("-t", "inventory", "--json", name).ok().json()
    options = shown[name]["doc"]["options"].keys() - {"plugin", "api_token"}
    mistakes = [(option, value) for option in sorted(options) for value in MISTAKES]
    paths = []
    for number, (option, value) in enumerate(mistakes):
        text = f"{option}: {json.dumps(value)}  # {MARK}"
        token = f"api_token: {source.sandbox.token}  # {MARK}"
        # Ansible shows the lines before and after an error.
        lines = [token, text] if number % 2 else [text, token]
        given = [f"plugin: {name}", *lines]
        if option != "base_url":
            given.append(f"base_url: {source.sandbox.url}")
        file = f"{option}_{number}.server_management.yml"
        paths.append(write_inventory(source.folder, "\n".join(given) + "\n", file))
    environment = {"ANSIBLE_VERBOSE_TO_STDERR": "1", "SERVER_MANAGEMENT_RETRIES": "0"}
    # The runner searches for the token.
    command = (*as_arguments(paths), "--list", "-vvvvvv")
    result = source.runner.inventory(*command, env=environment).ok()
    assert MARK not in result.output
    assert len(failures(result)) > len(mistakes) // 2
