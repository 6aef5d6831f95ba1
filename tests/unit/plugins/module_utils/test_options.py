# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import socket

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.parsing.convert_bool import BOOLEANS_FALSE, BOOLEANS_TRUE

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._options import (
    RULES,
    VERSION,
    Connection,
    connection_argument_spec,
    connection_from,
    convert,
    resolve,
)

URL = "https://api.example.com"
TOKEN = "secret-t0ken"
TOKEN_VARIABLE = "SERVER_MANAGEMENT_API_TOKEN"
FILE_VARIABLE = "SERVER_MANAGEMENT_API_TOKEN_FILE"
PEM = "-----BEGIN CERTIFICATE-----\n"


def connect(written, folder=""):
    """Return the connection for options that a user has written, beside base_url."""
    options = resolve({"base_url": URL, **written}, RULES)
    return connection_from(options, "2.21.0", str(folder))


def refusal(written, folder=""):
    """Return the message about options that can't be used."""
    with pytest.raises(OptionError) as caught:
        connect(written, folder)
    message = str(caught.value)
    assert TOKEN not in message
    assert message.isprintable()
    return message


def test_the_defaults_make_a_connection():
    connection = connect({"api_token": TOKEN})
    assert connection == Connection(
        f"{URL}/api/v1",
        TOKEN,
        user_agent=f"server_management.cloud/{VERSION} ansible/2.21.0",
    )
    assert connection.root_url == URL


def test_each_option_reaches_the_connection():
    same = {
        "timeout": 0.5,
        "retries": 0,
        "pagination": "cursor",
        "pagination_parameter": "p",
        "allow_partial": True,
    }
    connection = connect({"api_token": TOKEN, "validate_certs": False, **same})
    assert connection == connect({"api_token": TOKEN})._replace(verify=False, **same)


@pytest.mark.parametrize(
    ("written", "in_environment", "value", "origin"),
    [
        ({"retries": "5"}, "7", 5, "retries"),
        ({"retries": 0}, "7", 0, "retries"),
        ({"retries": None}, "7", 7, "SERVER_MANAGEMENT_RETRIES"),
        ({}, "7", 7, "SERVER_MANAGEMENT_RETRIES"),
        ({}, " ", 3, ""),
        ({}, "", 3, ""),
    ],
)
def test_a_value_is_written_or_of_the_environment_or_the_default(
    written, in_environment, value, origin, monkeypatch
):
    monkeypatch.setenv("SERVER_MANAGEMENT_RETRIES", in_environment)
    options = resolve(written, RULES)
    assert options.values["retries"] == value
    assert options.origins["retries"] == origin


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("base_url", URL, URL),
        ("api_token", TOKEN, TOKEN),
        ("api_token_file", "/a/token", "/a/token"),
        ("validate_certs", "false", False),
        ("ca_path", "/a/bundle", "/a/bundle"),
        ("timeout", "1.5", 1.5),
        ("retries", "7", 7),
    ],
)
def test_an_option_of_the_connection_has_a_variable(option, text, value, monkeypatch):
    monkeypatch.setenv(f"SERVER_MANAGEMENT_{option.upper()}", text)
    assert resolve({}, RULES).values[option] == value


def test_an_invalid_value_of_the_environment_names_its_variable(monkeypatch):
    monkeypatch.setenv("SERVER_MANAGEMENT_TIMEOUT", "soon")
    message = refusal({"api_token": TOKEN})
    assert message == "timeout (SERVER_MANAGEMENT_TIMEOUT): must be a number, but is soon."


@pytest.mark.parametrize(
    ("kind", "value", "converted"),
    [
        ("float", "0.5", 0.5),
        ("float", 5, 5.0),
        ("int", "3.0", 3),
        ("bool", "1.0", True),
        ("boolean", " No\n", False),
        ("str", " 0123 ", " 0123 "),
    ],
)
def test_a_valid_value_is_converted(kind, value, converted):
    result = convert("option", value, {"type": kind})
    assert result == converted
    assert type(result) is type(converted)


QUOTES = "YAML reads this value as a number, a boolean or a date. Put it in quotes."


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        ("bool", "maybe", "must be true or false."),
        ("bool", "", "must be true or false."),
        ("bool", 2, "must be true or false."),
        ("bool", [True], "must be true or false."),
        ("float", "soon", "must be a number, but is soon."),
        ("float", [5], "must be a number, but is [5]."),
        ("float", 10**400, "must be a number, but is 1000"),
        ("int", True, "must be a whole number, but is True."),
        ("int", "1\x1b[2J\n" * 100, "must be a whole number, but is 1 [2J 1 [2J"),
        ("int", 1.5, "must be a whole number, but is 1.5."),
        ("int", float("inf"), "must be a whole number, but is inf."),
        ("int", "", "must be a whole number, but is empty."),
        ("str", "other", "must be one of text, but is other."),
        ("str", [TOKEN], "must be text, not a list or a mapping."),
        ("path", {TOKEN: TOKEN}, "must be text, not a list or a mapping."),
        ("str", 42798, QUOTES),
        ("path", True, QUOTES),
    ],
)
def test_an_invalid_value_names_its_option(kind, value, problem):
    with pytest.raises(OptionError) as caught:
        convert("the_option", value, {"type": kind, "choices": ["text"]})
    message = str(caught.value)
    assert message.startswith(f"the_option: {problem}")
    assert message.isprintable()
    assert len(message) < 120


def test_flags_are_those_of_ansible():
    rule = {"type": "bool"}
    assert {convert("option", text, rule) for text in BOOLEANS_TRUE} == {True}
    assert {convert("option", text, rule) for text in BOOLEANS_FALSE} == {False}


@pytest.mark.parametrize(
    ("written", "environment", "token", "label"),
    [
        ({"api_token": " a\n"}, {TOKEN_VARIABLE: "b", FILE_VARIABLE: "b"}, "a", "api_token"),
        ({"api_token_file": "file"}, {TOKEN_VARIABLE: "b"}, "c", "api_token_file (file)"),
        ({"api_token_file": "file"}, {FILE_VARIABLE: "b"}, "c", "api_token_file (file)"),
        ({}, {TOKEN_VARIABLE: " b\n", FILE_VARIABLE: "file"}, "b", TOKEN_VARIABLE),
        ({}, {TOKEN_VARIABLE: " ", FILE_VARIABLE: "file"}, "c", f"{FILE_VARIABLE} (file)"),
    ],
)
def test_the_most_specific_token_wins(written, environment, token, label, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("c\n")
    monkeypatch.chdir(tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    connection = connect(written)
    assert connection.api_token == token
    assert connection.token_label == label


@pytest.mark.parametrize("empty", [None, "", " \n"])
@pytest.mark.parametrize(
    ("option", "other"),
    [
        ("api_token", {}),
        ("api_token", {"api_token_file": "/nowhere/file"}),
        ("api_token_file", {}),
        ("api_token_file", {"api_token": "x"}),
    ],
)
def test_an_empty_option_of_the_token_is_never_replaced(option, other, empty, monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "other")
    message = refusal({**other, option: empty})
    assert message.startswith(f"{option}: the value is empty. Check the template")


def test_a_token_is_required_once(monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, " \n")
    monkeypatch.setenv(FILE_VARIABLE, "")
    assert refusal({}) == (
        "api_token: a token is required. Set it or api_token_file, or one of the environment "
        f"variables {TOKEN_VARIABLE} and {FILE_VARIABLE}."
    )
    message = refusal({"api_token": TOKEN, "api_token_file": "/nowhere/file"})
    assert message == "api_token and api_token_file: both are set. Set only one of them."


def test_a_required_option_that_is_missing_can_be_set_in_several_places():
    places = " in the task or in module_defaults"
    with pytest.raises(OptionError) as caught:
        connection_from(resolve({}, RULES), "2.21.0", places=places)
    assert str(caught.value) == (
        "base_url: an address is required. Set it in the task or in module_defaults, or set "
        "SERVER_MANAGEMENT_BASE_URL in the environment, to http(s)://host[:port][/prefix]."
    )
    with pytest.raises(OptionError, match=r"^api_token: .+ api_token_file in the task or in mod"):
        connection_from(resolve({"base_url": URL}, RULES), "2.21.0", places=places)


def test_paths_are_relative_to_the_folder_except_those_of_the_environment(tmp_path, monkeypatch):
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "ca.pem").write_text(PEM)

    connection = connect({"api_token_file": "token", "ca_path": "ca.pem"}, tmp_path)
    assert connection.token_path == str(tmp_path / "token")
    assert connection.verify == str(tmp_path / "ca.pem")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(FILE_VARIABLE, "token")
    monkeypatch.setenv("SERVER_MANAGEMENT_CA_PATH", "ca.pem")
    connection = connect({}, "/nowhere")
    assert connection.token_path == "token"
    assert connection.verify == "ca.pem"


def test_a_bundle_is_used_only_for_validation(tmp_path):
    bundle = tmp_path / "ca.pem"
    bundle.write_text(f"# A comment\n{PEM}")
    written = {"api_token": TOKEN, "ca_path": str(bundle)}
    assert connect(written).verify == str(bundle)
    assert connect({**written, "validate_certs": False}).verify is False


@pytest.mark.parametrize("validate", [False, True])
@pytest.mark.parametrize("content", [b" \n", b"\x30\x82\x01", b"-----BEGIN X-----\n"])
def test_a_bundle_must_have_a_certificate(content, validate, tmp_path):
    bundle = tmp_path / "ca.pem"
    bundle.write_bytes(content)
    message = refusal({"api_token": TOKEN, "ca_path": str(bundle), "validate_certs": validate})
    assert message.startswith(f"ca_path: {bundle}: the file has no certificate in PEM format")
    assert message.endswith("To trust the usual certificate authorities, leave ca_path out.")


SECONDS = "timeout: must be a number of seconds greater than 0, but is"


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("timeout", 0, f"{SECONDS} 0.0."),
        ("timeout", -1, f"{SECONDS} -1.0."),
        ("timeout", float("nan"), f"{SECONDS} nan."),
        ("timeout", float("inf"), f"{SECONDS} inf."),
        ("retries", -1, "retries: must be 0 or more, but is -1."),
        ("pagination_parameter", "", "pagination_parameter: must not be empty."),
    ],
)
def test_a_value_that_cannot_be_used_is_refused(option, value, message):
    assert refusal({"api_token": TOKEN, option: value}) == message


def test_a_long_timeout_is_limited_to_what_sockets_accept():
    connection = connect({"api_token": TOKEN, "timeout": 1e300})
    with socket.socket() as any_socket:
        any_socket.settimeout(connection.timeout)


def test_ansible_lets_a_module_explain_a_missing_base_url():
    result = ArgumentSpecValidator(connection_argument_spec()).validate({})
    assert result.error_messages == []
    assert result.validated_parameters["base_url"] == ""


def test_ansible_hides_the_token_and_nothing_else():
    spec = connection_argument_spec()
    assert spec.pop("api_token")["no_log"] is True
    assert spec.pop("api_token_file")["no_log"] is False  # or Ansible warns of the name
    assert not [option for option, rule in spec.items() if "no_log" in rule]
