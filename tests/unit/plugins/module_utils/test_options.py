# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import os
import sys
from types import SimpleNamespace

import pytest
import yaml
from ansible.module_utils.parsing.convert_bool import BOOLEANS, BOOLEANS_TRUE

from ansible_collections.server_management.cloud.plugins.module_utils import _options
from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError

URL = "https://api.example.com"
TOKEN = "secret-t0ken"
TOKEN_VARIABLE = "SERVER_MANAGEMENT_API_TOKEN"
FILE_VARIABLE = "SERVER_MANAGEMENT_API_TOKEN_FILE"


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a token and a bundle of certificates."""
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "ca.pem").write_text("# A comment\n-----BEGIN CERTIFICATE-----\n")
    return tmp_path


def connect(written, folder=""):
    """Return the connection for options that a user has written, beside base_url."""
    options = _options.resolve_options({"base_url": URL, **written}, _options.RULES, str(folder))
    return _options.connection_from(options, "2.21.0")


def refusal(written, folder=""):
    """Return the message about options that can't be used."""
    with pytest.raises(OptionError) as caught:
        connect(written, folder)
    message = str(caught.value)
    assert TOKEN not in message
    return message


def test_the_defaults_make_a_connection():
    connection = connect({"api_token": TOKEN})
    assert (connection.base_url, connection.root_url) == (f"{URL}/api/v1", URL)
    assert (connection.api_token, connection.verify) == (TOKEN, True)
    assert connection.user_agent == f"server_management.cloud/{_options.VERSION} ansible/2.21.0"


WRITTEN = yaml.safe_load("""
{timeout: 0.5, retries: 0, pagination: last_id, pagination_parameter: page_after,
 allow_partial: true}
""")


def test_each_option_reaches_the_connection():
    default = connect({"api_token": TOKEN})
    connection = connect({"api_token": TOKEN, **WRITTEN})
    assert connection == default._replace(**WRITTEN)


PRECEDENCE = yaml.safe_load("""
- [{retries: '5'}, '7', 5, retries]
- [{retries: 0}, '7', 0, retries]
- [{retries: null}, '7', 7, SERVER_MANAGEMENT_RETRIES]
- [{}, '7', 7, SERVER_MANAGEMENT_RETRIES]
- [{}, ' ', 3, '']
""")


@pytest.mark.parametrize(("written", "in_environment", "value", "source"), PRECEDENCE)
def test_a_value_is_written_or_of_the_environment_or_the_default(
    written, in_environment, value, source, monkeypatch
):
    monkeypatch.setenv("SERVER_MANAGEMENT_RETRIES", in_environment)
    options = _options.resolve_options(written, _options.RULES)
    assert options.values["retries"] == value
    assert options.sources["retries"] == source


def test_an_invalid_value_of_the_environment_names_its_variable(monkeypatch):
    monkeypatch.setenv("SERVER_MANAGEMENT_TIMEOUT", "soon")
    assert refusal({}).startswith("SERVER_MANAGEMENT_TIMEOUT: ")


CONVERTED = yaml.safe_load(r"""
- [float, '0.5', 0.5]
- [float, 5, 5.0]
- [int, '3.0', 3]
- [bool, '1.0', true]
- [boolean, " No\n", false]
- [str, " 0123\t\n", '0123']
- [path, "a b\n", a b]
- [list, [" a\n", b], [a, b]]
""")


@pytest.mark.parametrize(("kind", "value", "converted"), CONVERTED)
def test_a_valid_value_is_converted(kind, value, converted):
    result = _options.convert("option", value, {"type": kind})
    assert result == converted
    assert type(result) is type(converted)


# Each message is compared once.
INVALID = yaml.safe_load(r"""
- [bool, maybe, must be true or false.]
- [bool, 2, '']
- [float, soon, 'must be a number, but is soon.']
- [float, [5], '']
- [int, true, 'must be a whole number, but is True.']
- [int, 1.5, '']
- [int, '', '']
- [int, "1\e[2J\n", '.* but is "1\\u001b\[2J\\n".']
- [str, other, 'must be one of text, but is other.']
- [str, "text\u200b", '.* but is "text\\u200b".']
- [list, text, must be a list.]
- [str, [secret-t0ken], 'must be text, not a list or a mapping.']
- [path, {secret-t0ken: secret-t0ken}, '']
- [str, 42798, 'YAML reads this value as a number, a boolean, a date or null. Put it in quotes.']
""")


@pytest.mark.parametrize(("kind", "value", "problem"), INVALID)
def test_an_invalid_value_is_an_error_on_one_line(kind, value, problem):
    with pytest.raises(OptionError, match=f"^the_option: {problem}") as caught:
        _options.convert("the_option", value, {"type": kind, "choices": ["text"]})
    assert "secret" not in str(caught.value)


def test_flags_are_those_of_ansible():
    for value in BOOLEANS:
        flag = _options.convert("option", str(value), {"type": "bool"})
        assert flag is (value in BOOLEANS_TRUE)


TOKENS = yaml.safe_load(r"""
- [{api_token: " a\n"}, b, token, a, api_token]
- [{api_token_file: token}, b, other, secret-t0ken, api_token_file (token)]
- [{}, " b\n", token, b, SERVER_MANAGEMENT_API_TOKEN]
- [{}, ' ', token, secret-t0ken, SERVER_MANAGEMENT_API_TOKEN_FILE (token)]
""")


@pytest.mark.parametrize(("written", "variable", "file_variable", "token", "label"), TOKENS)
def test_the_most_specific_token_wins(
    written, variable, file_variable, token, label, folder, monkeypatch
):
    monkeypatch.chdir(folder)
    monkeypatch.setenv(TOKEN_VARIABLE, variable)
    monkeypatch.setenv(FILE_VARIABLE, file_variable)
    connection = connect(written)
    assert connection.api_token == token
    assert connection.token_label == label


EMPTY = yaml.safe_load("""
- [{api_token: ''}, api_token]
- [{api_token_file: ''}, api_token_file]
- [{api_token: null, api_token_file: /nowhere/file}, api_token]
- [{api_token: secret-t0ken, api_token_file: null}, api_token_file]
""")


@pytest.mark.parametrize(("written", "option"), EMPTY)
def test_an_empty_option_of_the_token_is_never_replaced(written, option, monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "other")
    assert refusal(written).startswith(f"{option}: ")


# Each message is compared once.
REFUSED = yaml.safe_load(r"""
- - {base_url: null}
  - "base_url: an address is required. Set it, or set SERVER_MANAGEMENT_BASE_URL in the
     environment, to http(s)://host[:port][/prefix]."
- - {}
  - "api_token: a token is required; set, but empty: SERVER_MANAGEMENT_API_TOKEN,
     SERVER_MANAGEMENT_API_TOKEN_FILE. Set it or api_token_file, or one of the environment
     variables SERVER_MANAGEMENT_API_TOKEN and SERVER_MANAGEMENT_API_TOKEN_FILE."
- - {api_token: " \n"}
  - "api_token: must not be empty. Check the template that it comes from, or leave the option out to
     use the environment."
- - {api_token: secret-t0ken, api_token_file: /nowhere/file}
  - 'api_token and api_token_file: both are set. Set only one of them.'
- [{timeout: 0}, 'timeout: must be a number of seconds greater than 0, but is 0.0.']
- [{timeout: nan}, 'timeout: ']
- [{pagination: link}, 'pagination: ']
- [{api_token: secret-t0ken, ca_path: nope.pem}, 'ca_path: nope.pem: no such file or directory.']
- - {api_token: secret-t0ken, ca_path: /}
  - 'ca_path: /: is a directory. Set it to one file with all certificates, which `cat
     DIRECTORY/*.pem > FILE` makes.'
""")


@pytest.mark.parametrize(("written", "message"), REFUSED)
def test_a_value_that_is_missing_or_cannot_be_used_is_refused(written, message, monkeypatch):
    monkeypatch.setenv(TOKEN_VARIABLE, "")
    monkeypatch.setenv(FILE_VARIABLE, " \n")
    assert refusal(written).startswith(message)


# Pipelines have secrets of the kind "file", whose variable is a path.
def test_a_token_that_is_the_path_of_a_file_names_the_option_for_files(folder, monkeypatch):
    monkeypatch.setenv("FOLDER", str(folder))
    assert refusal({"api_token": "$FOLDER/token"}) == (
        "api_token: the value is the path of a file, and not a token. Set api_token_file "
        "(SERVER_MANAGEMENT_API_TOKEN_FILE in the environment) instead."
    )
    assert refusal({"api_token": "token"}, folder).startswith("api_token: ")
    monkeypatch.setenv(TOKEN_VARIABLE, f"{folder}/token")
    assert refusal({}).startswith(f"{TOKEN_VARIABLE}: ")


def test_a_token_that_cannot_be_a_part_of_ordinary_text_is_registered(folder, monkeypatch):
    registered = []
    module = SimpleNamespace(register_secret=registered.append)
    monkeypatch.setitem(sys.modules, "ansible.module_utils.secrets", module)
    connect({"api_token": "x" * 15})
    connect({"api_token": "y" * 16})
    (folder / "token").write_text("z" * 16)
    connect({"api_token_file": "token"}, folder)
    assert registered == ["y" * 16, "z" * 16]


def test_a_token_can_be_called_like_a_folder(folder):
    (folder / TOKEN).mkdir()
    assert connect({"api_token": TOKEN}, folder).api_token == TOKEN


def test_written_paths_are_relative_to_the_given_folder(folder):
    connection = connect({"api_token_file": "token", "ca_path": "ca.pem"}, folder)
    assert connection.token_path == f"{folder}/token"
    assert connection.verify == f"{folder}/ca.pem"


def test_a_path_can_contain_variables_and_the_home(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("NAME", folder.name)
    connection = connect({"api_token_file": "~/$NAME/token"}, "/nowhere")
    assert connection.token_path == f"{folder}/token"


def test_paths_of_the_environment_are_relative_to_the_working_directory(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv(FILE_VARIABLE, "token")
    monkeypatch.setenv("SERVER_MANAGEMENT_CA_PATH", "ca.pem")
    connection = connect({}, "/nowhere")
    assert connection.token_path == "token"
    assert connection.verify == "ca.pem"


def test_a_token_can_be_read_from_a_pipe_once(monkeypatch):
    read, write = os.pipe()
    os.write(write, TOKEN.encode())
    os.close(write)
    monkeypatch.setenv(FILE_VARIABLE, f"/dev/fd/{read}")
    assert connect({}).api_token == TOKEN
    with pytest.raises(OptionError):
        connect({})
    os.close(read)


def test_a_bundle_is_not_used_without_validation(folder):
    written = {"api_token": TOKEN, "ca_path": "ca.pem", "validate_certs": False}
    connection = connect(written, folder)
    assert connection.verify is False


def test_a_bundle_must_have_a_certificate_also_if_it_is_not_used(folder):
    bundle = folder / "ca.pem"
    bundle.write_bytes(b"\x30\x82\n-----BEGIN X-----\n")
    written = {"api_token": TOKEN, "ca_path": str(bundle), "validate_certs": False}
    assert refusal(written) == (
        f"ca_path: {bundle}: the file has no certificate in PEM format (-----BEGIN CERTIFICATE"
        "-----). To trust the usual certificate authorities, leave ca_path out."
    )


def test_a_long_timeout_is_limited_to_what_sockets_can_wait():
    connection = connect({"api_token": TOKEN, "timeout": 1e300})
    assert connection.timeout == 2e6


def test_the_token_has_no_log():
    assert _options.RULES["api_token"]["no_log"] is True
