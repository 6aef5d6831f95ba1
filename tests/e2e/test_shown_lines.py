# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""No message about an inventory file shows its lines, which may be next to a token."""

from __future__ import annotations

import json
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
OPTIONS: dict[str, Any] = {
    "compose": lambda text: {"a": text},
    "groups": lambda text: {"a": text},
    "key": lambda text: [{"key": text}],
    "parent": lambda text: [{"key": "server_plan", "parent_group": "{{ " + str(text) + " }}"}],
    "default": lambda text: [{"key": "''", "default_value": text}],
    "prefix": lambda text: [{"key": "server_plan", "prefix": text}],
    "hostnames": lambda text: [text],
    "include": lambda text: [{"include": text}],
    "exclude": lambda text: [{"exclude": text}],
}
NAMES = dict.fromkeys(("key", "parent", "default", "prefix"), "keyed_groups")
NAMES |= dict.fromkeys(("include", "exclude"), "filters")
# Options that Ansible renders once, with values that can't be used.
OTHERS: dict[str, Any] = {
    "group": ["{{ nope }}", "{{", "", ["a"]],
    "statuses": ["{{ nope }}", ["{{ 'a' | nope }}"], ["nope"], [1], {"a": 1}],
    "group_by": [["nope"], "{{ ['x'] }}"],
    "hostvars_prefix": ["ansible_", "{{ 1 }}", "a-b"],
    "timeout": ["x", "{{ 'x' }}", 0],
    "strict": ["maybe"],
    "min_servers": [-1, 99, "x"],
    "pagination": ["nope"],
    "cache_plugin": ["{{ nope }}"],
    "ca_path": ["{{ lookup('file', '/nowhere') }}", "/nowhere"],
    "base_url": ["{{ nope }}", "ftp://x", 1],
    "compose": ["{{ nope }}", ["a"], {"a-b": "1"}],
    "keyed_groups": [{"key": "a"}, [{"prefix": "x"}], ["a"]],
    "nope": ["x"],
}


@pytest.mark.promise("secret")
@pytest.mark.parametrize("level", ["", "-vvv"])
def test_no_line_of_the_file_is_shown(source: Source, cases: Cases, level: str) -> None:
    files: dict[str, dict[str, Any]] = {}
    for strict in (False, True):
        for option, value in OPTIONS.items():
            for expression, text in EXPRESSIONS.items():
                chosen = {NAMES.get(option, option): value(text), "strict": strict}
                files[f"{option}_{expression}_{strict}"] = chosen
    for option, values in OTHERS.items():
        for number, value in enumerate(values):
            files[f"only_{option}_{number}"] = {option: value}
    for case, options in files.items():
        cases.add(case, source.sandbox, **options)
        path = cases.paths[case]
        lines = path.read_text().replace("a: null", "a: 2026-01-01").splitlines()
        path.write_text("".join(f"{line}  # {MARK}\n" for line in lines))
    result = cases.run(*filter(None, [level]))
    assert MARK not in result.output
    assert result.stderr.count("[WARNING]") > len(files) // 2


# Values that hardly any option can have.
MISTAKES: list[Any] = [
    "",
    " ",
    "{{ nope }}",
    "{{ 1 +",
    "nope",
    ["nope"],
    {"nope": 1},
    None,
    -1,
    True,
]


@pytest.mark.promise("secret")
@pytest.mark.parametrize("level", ["", "-vvv", "-vvvvvv"])
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
