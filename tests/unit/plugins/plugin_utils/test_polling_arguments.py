# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._options import (
    RULES,
    VARIABLES,
    connection_argument_spec,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._polling import read_arguments

URL = "http://127.0.0.1:9"


def test_the_connection_has_the_defaults_of_the_modules() -> None:
    assert read_arguments({}) == {
        **{name: rules.get("default") for name, rules in connection_argument_spec().items()},
        "interval": 60.0,
        "hosts": "name",
        "initial": False,
    }


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("interval", 1, 1.0),
        ("interval", "2.5", 2.5),
        ("interval", None, 60.0),
        ("initial", True, True),
        ("initial", "Yes", True),
        ("initial", 0, False),
        ("validate_certs", "off", False),
        ("retries", "4", 4),
        ("retries", 4.0, 4),
        ("timeout", 3, 3.0),
        ("hosts", "id", "id"),
        ("pagination", "link", "link"),
        ("base_url", URL, URL),
        ("ca_path", "~/bundle", "~/bundle"),
    ],
)
def test_values_are_converted(name: str, given: object, value: object) -> None:
    read = read_arguments({name: given})[name]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"interval": 0.5}, "interval: must be a number of seconds, at least 1"),
        ({"interval": float("nan")}, "interval: "),
        ({"interval": float("inf")}, "interval: "),
        ({"interval": 10**400}, "interval: must be a number"),
        ({"interval": True}, "interval: must be a number"),
        ({"interval": "soon"}, "interval: must be a number"),
        ({"interval": [1]}, "interval: must be a number"),
        ({"initial": "maybe"}, "initial: must be true or false"),
        ({"initial": 2}, "initial: must be true or false"),
        ({"hosts": "ip"}, "hosts: must be one of name, id"),
        ({"hosts": ["id"]}, "hosts: must be text"),
        ({"pagination": "pages"}, "pagination: must be one of none, link"),
        ({"retries": 1.5}, "retries: must be a whole number"),
        ({"base_url": 5}, "base_url: must be text"),
        ({"api_token": 12345678}, "api_token: must be text; quote a value"),
        ({"api_token_file": {}}, "api_token_file: must be text, the path of a file"),
        (
            {"base_ulr": URL},
            "base_ulr: is not an argument of this event source. Did you mean base_url",
        ),
        ({"feedback": True}, "feedback: is not an argument"),
        ({5: 1}, "5: is not an argument"),
    ],
)
def test_an_invalid_argument_is_named(given: dict[Any, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_arguments(given)
    assert str(caught.value).startswith(message)


def test_a_missing_space_after_a_name_does_not_show_the_token() -> None:
    with pytest.raises(OptionError) as caught:
        read_arguments({"api_token:s3cret-t0ken": None})
    assert "s3cret" not in str(caught.value)


def test_the_environment_is_used_for_arguments_that_are_not_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SERVER_MANAGEMENT_BASE_URL", URL)
    monkeypatch.setenv("SERVER_MANAGEMENT_RETRIES", "5")
    monkeypatch.setenv("SERVER_MANAGEMENT_TIMEOUT", "7")
    monkeypatch.setenv("SERVER_MANAGEMENT_VALIDATE_CERTS", "no")
    monkeypatch.setenv("SERVER_MANAGEMENT_API_TOKEN", "of-the-environment")
    read = read_arguments({"timeout": 8, "retries": None})
    assert (read["base_url"], read["retries"], read["timeout"]) == (URL, 5, 8.0)
    assert read["validate_certs"] is False
    # The connection reads it, so that it never replaces a token file of the rulebook.
    assert read["api_token"] is None


def test_an_empty_environment_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, variable in VARIABLES.items():
        monkeypatch.setenv(variable, "")
        assert read_arguments({})[name] == RULES[name].get("default")


@pytest.mark.parametrize("name", ["api_token", "api_token_file"])
def test_a_null_token_is_given_and_empty(name: str) -> None:
    assert read_arguments({name: None})[name] == ""
