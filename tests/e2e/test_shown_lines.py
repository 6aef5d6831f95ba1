# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No message about an inventory file shows its lines, which may be next to a token."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Cases, Source, failures

# At the end of each line of the files.
MARK = "shown-line"
EXPRESSIONS = {
    "syntax": "server_name |",
    "undefined": "server_nope.x",
    "one_host": "none if server_name != 'web-1' else server_nope.x",
    "conversion": "server_plan | from_json",
    "filter": "server_plan | nope",
    "lookup": "lookup('file', '/nowhere')",
    "braces": "{{ server_plan == 'small' }}",
    "type": "server_plan | length",
    "date": None,
}
OPTIONS: list[Callable[[Any], dict[str, Any]]] = [
    lambda text: {"compose": {"a": text}},
    lambda text: {"groups": {"a": text}},
    lambda text: {"keyed_groups": [{"key": text}]},
    lambda text: {"keyed_groups": [{"key": "server_plan", "parent_group": f"{{{{ {text} }}}}"}]},
    lambda text: {"keyed_groups": [{"key": "''", "default_value": text}]},
    lambda text: {"keyed_groups": [{"key": "server_plan", "prefix": text}]},
    lambda text: {"hostnames": [text]},
    lambda text: {"filters": [{"include": text}]},
    lambda text: {"filters": [{"exclude": text}]},
]


@pytest.mark.promise("secret")
def test_no_failing_expression_shows_a_line_of_the_file(source: Source, cases: Cases) -> None:
    for number, option in enumerate(OPTIONS):
        for name, text in EXPRESSIONS.items():
            for strict in (False, True):
                case = f"{number}_{name}_{strict}"
                cases.add(case, source.sandbox, **option(text), strict=strict)
                path = cases.paths[case]
                lines = path.read_text().replace("a: null", "a: 2026-01-01").splitlines()
                path.write_text("".join(f"{line}  # {MARK}\n" for line in lines))
    result = cases.run("-vvv")
    assert MARK not in result.output
    assert result.stderr.count("[WARNING]") > len(cases.paths) // 2


MISTAKES: list[Any] = ["", "{{ nope }}", "{{ 1 +", "nope", ["nope"], {"nope": 1}, None, -1, True]


@pytest.mark.promise("secret")
@pytest.mark.parametrize("level", ["", "-vvvvvv"])
def test_no_mistake_in_any_option_shows_a_token(source: Source, cases: Cases, level: str) -> None:
    name = "server_management.cloud.servers"
    shown = source.runner.doc("-t", "inventory", "--json", name).ok().json()
    options = shown[name]["doc"]["options"].keys() - {"plugin", "api_token"}
    mistakes = [(option, value) for option in sorted(options) for value in MISTAKES]
    for number, (option, value) in enumerate(mistakes):
        text = f"{option}: {json.dumps(value)}  # {MARK}"
        token = f"api_token: {source.sandbox.token}  # {MARK}"
        for position, lines in {"above": [token, text], "below": [text, token]}.items():
            given = ["plugin: server_management.cloud.servers", *lines]
            if option != "base_url":
                given.append(f"base_url: {source.sandbox.url}")
            cases.write(f"{option}_{number}_{position}", "\n".join(given) + "\n")
    environment = {"ANSIBLE_VERBOSE_TO_STDERR": "1", "SERVER_MANAGEMENT_RETRIES": "0"}
    result = cases.run(*filter(None, [level]), env=environment)  # which searches for the token
    assert MARK not in result.output
    assert len(failures(result)) > len(mistakes)
