# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.common.parameters import set_fallbacks

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._options import (
    VERSION,
    Connection,
    connection_argument_spec,
    connection_from,
)

TOKEN = "secret-t0ken"
TOKEN_VARIABLE = "SERVER_MANAGEMENT_API_TOKEN"
FILE_VARIABLE = "SERVER_MANAGEMENT_API_TOKEN_FILE"
PEM = "-----BEGIN CERTIFICATE-----\n"
OPTIONS: dict[str, Any] = {
    "base_url": "https://api.example.com",
    "api_token": TOKEN,
    "api_token_file": None,
    "validate_certs": True,
    "ca_path": None,
    "timeout": 30.0,
    "retries": 3,
    "pagination": "none",
    "pagination_parameter": None,
    "allow_partial": False,
}
IN_ENVIRONMENT = {"base_url", "validate_certs", "ca_path", "timeout", "retries"}


def _connect(**options: Any) -> Connection:
    return connection_from({**OPTIONS, **options}.__getitem__, "2.21.0")


def _refusal(**options: Any) -> OptionError:
    with pytest.raises(OptionError) as caught:
        _connect(**options)
    assert TOKEN not in str(caught.value)
    assert str(caught.value).isprintable()
    return caught.value


def test_the_options_make_a_connection() -> None:
    expected = Connection(
        "https://api.example.com/api/v1",
        TOKEN,
        user_agent=f"server_management.cloud/{VERSION} ansible/2.21.0",
    )
    assert _connect() == expected


def test_each_option_reaches_the_connection() -> None:
    connection = _connect(
        validate_certs=False,
        timeout=0.5,
        retries=0,
        pagination="page",
        pagination_parameter="p",
        allow_partial=True,
    )
    assert (connection.verify, connection.timeout, connection.retries) == (False, 0.5, 0)
    assert (connection.pagination, connection.pagination_parameter) == ("page", "p")
    assert connection.allow_partial
    assert _connect(pagination_parameter="").pagination_parameter is None


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://h", "https://h/api/v1"),
        ("https://h/", "https://h/api/v1"),
        ("https://h///", "https://h/api/v1"),
        ("https://h/api/v1", "https://h/api/v1"),
        ("https://h/api/v1/", "https://h/api/v1"),
        ("http://h:8080/prefix/", "http://h:8080/prefix/api/v1"),
        ("http://h/prefix/api/v1", "http://h/prefix/api/v1"),
        ("http://h/api", "http://h/api/api/v1"),
        ("http://h/xapi/v1", "http://h/xapi/v1/api/v1"),
        ("HTTPS://h", "HTTPS://h/api/v1"),
        ("http://[::1]:80", "http://[::1]:80/api/v1"),
        ("https://bücher.example", "https://bücher.example/api/v1"),
    ],
)
def test_the_path_of_the_api_is_added_if_it_is_missing(base_url: str, url: str) -> None:
    assert _connect(base_url=base_url).base_url == url


@pytest.mark.parametrize("base_url", ["", None])
def test_the_base_url_is_required(base_url: str | None) -> None:
    error = str(_refusal(base_url=base_url))
    assert error.startswith("base_url: is required.")
    assert "SERVER_MANAGEMENT_BASE_URL" in error


@pytest.mark.parametrize(
    ("base_url", "words"),
    [
        ("api.example.com", "not an http or https URL"),
        ("//api.example.com", "not an http or https URL"),
        ("ftp://h", "not an http or https URL"),
        ("file:///etc/passwd", "not an http or https URL"),
        ("https://", "not an http or https URL"),
        ("https:///path", "not an http or https URL"),
        ("https://:443", "not an http or https URL"),
        ("https://h:0", "not an http or https URL"),
        ("https://h:65536", "not an http or https URL"),
        ("https://h:port", "not an http or https URL"),
        ("https://[::1", "not an http or https URL"),
        ("https://user:secret@h", "a user or a password"),
        ("https://user@h", "a user or a password"),
        ("https://@h", "a user or a password"),
        ("https://h?a=b", "a query or a fragment"),
        ("https://h/?", "a query or a fragment"),
        ("https://h/#part", "a query or a fragment"),
        ("https://h/#", "a query or a fragment"),
        (" https://h", "a space, a backslash or a control character"),
        ("https://h\n", "a space, a backslash or a control character"),
        ("https://h/a b", "a space, a backslash or a control character"),
        ("https://h\\@other", "a space, a backslash or a control character"),
        ("https://h/\x1b[1m", "a space, a backslash or a control character"),
        ("https://h\u00a0", "a space, a backslash or a control character"),
    ],
)
def test_a_malformed_base_url_is_refused(base_url: str, words: str) -> None:
    error = str(_refusal(base_url=base_url))
    assert error.startswith("base_url: ")
    assert words in error
    assert "secret" not in error


@pytest.mark.parametrize("token", ["x", "~!", "a" * 5000, "{{}}"])
@pytest.mark.parametrize("around", ["{}", " {}", "{}\n", "\r\n\t{} \n"])
def test_a_token_is_visible_ascii(token: str, around: str) -> None:
    assert _connect(api_token=around.format(token)).api_token == token


@pytest.mark.promise("secret")
@pytest.mark.parametrize("token", ["a b", "a\r\nX: y", "tokén", "a\x7f", "\ufeffa"])
def test_an_invalid_token_is_refused_and_not_shown(
    token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text(token, encoding="utf-8", newline="")
    refused = "the token must be visible ASCII without spaces."
    assert str(_refusal(api_token=token)) == f"api_token: {refused}"
    assert str(_refusal(api_token=None, api_token_file=str(file))) == f"api_token_file: {refused}"
    monkeypatch.setenv(FILE_VARIABLE, str(file))
    assert str(_refusal(api_token=None)) == f"{FILE_VARIABLE}: {refused}"
    monkeypatch.setenv(TOKEN_VARIABLE, token)
    assert str(_refusal(api_token=None)) == f"{TOKEN_VARIABLE}: {refused}"


@pytest.mark.parametrize("empty", [None, "", " \n"])
def test_a_token_is_required(empty: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (TOKEN_VARIABLE, FILE_VARIABLE):
        monkeypatch.setenv(variable, "")
    error = str(_refusal(api_token=empty, api_token_file=""))
    assert error == (
        "api_token: is required. Set it or api_token_file, or one of the environment variables "
        f"{TOKEN_VARIABLE} and {FILE_VARIABLE}."
    )


@pytest.mark.parametrize("content", [TOKEN, f"{TOKEN}\n", f" \r\n{TOKEN}\t\r\n"])
def test_white_space_around_the_token_in_a_file_is_ignored(content: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(content, encoding="ascii", newline="")
    assert _connect(api_token=None, api_token_file=str(file)).api_token == TOKEN


def test_a_token_and_a_file_are_an_error_that_names_both() -> None:
    error = str(_refusal(api_token_file="/nowhere/file"))
    assert error == "api_token and api_token_file: both are set. Set only one of them."


@pytest.mark.promise("home")
@pytest.mark.parametrize(
    ("options", "environment", "token"),
    [
        ({"api_token": "option"}, {TOKEN_VARIABLE: "other", FILE_VARIABLE: "{other}"}, "option"),
        ({"api_token_file": "{file}"}, {TOKEN_VARIABLE: "other"}, "of-the-file"),
        ({"api_token_file": "{file}"}, {FILE_VARIABLE: "{other}"}, "of-the-file"),
        ({"api_token_file": "{file}", "api_token": " "}, {TOKEN_VARIABLE: "other"}, "of-the-file"),
        ({}, {TOKEN_VARIABLE: " first\n", FILE_VARIABLE: "{other}"}, "first"),
        ({}, {TOKEN_VARIABLE: " ", FILE_VARIABLE: "{file}"}, "of-the-file"),
        ({}, {FILE_VARIABLE: "$FOLDER/file"}, "of-the-file"),
    ],
)
def test_the_most_specific_source_of_a_token_wins(
    options: dict[str, str],
    environment: dict[str, str],
    token: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "file").write_text("of-the-file\n")
    (tmp_path / "other").write_text("of-the-other-file\n")
    paths = {name: str(tmp_path / name) for name in ("file", "other")}
    monkeypatch.setenv("FOLDER", str(tmp_path))
    for name, value in environment.items():
        monkeypatch.setenv(name, value.format(**paths))
    given = {name: value.format(**paths) for name, value in options.items()}
    assert _connect(**{"api_token": None, **given}).api_token == token


def test_no_variable_replaces_a_file_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "other")
    error = str(_refusal(api_token=None, api_token_file="/nowhere/file"))
    assert error == "api_token_file: /nowhere/file: no such file or directory."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "expected a file that contains only a token"),
        (b" \n\xa0", "expected a file that contains only a token"),
        (b"a" * 20_000, "expected a file that contains only a token"),
        (b"first\nsecond", "visible ASCII without spaces"),
        (b"\xef\xbb\xbftoken", "visible ASCII without spaces"),
    ],
)
def test_a_file_without_a_token_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    error = str(_refusal(api_token="", api_token_file=str(file)))
    assert error.startswith("api_token_file: ")
    assert words in error


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/nowhere/file", "/nowhere/file: no such file or directory."),
        ("/", "/: is a directory."),
        ("/nowhere/\x00\x1b[1m", "/nowhere/ [1m: not a path."),
    ],
)
@pytest.mark.parametrize("option", ["api_token_file", "ca_path"])
def test_a_file_that_cannot_be_read_is_named(option: str, path: str, words: str) -> None:
    assert str(_refusal(**{"api_token": None, option: path, **_token(option)})) == (
        f"{option}: {words}"
    )


def _token(option: str) -> dict[str, str]:
    return {"api_token": TOKEN} if option == "ca_path" else {}


@pytest.mark.parametrize("validate", [False, True])
def test_a_bundle_is_used_if_certificates_are_validated(validate: bool, tmp_path: Path) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_text(f"# A comment\n{PEM}", encoding="ascii")
    connection = _connect(validate_certs=validate, ca_path=str(bundle))
    assert connection.verify == (str(bundle) if validate else False)


@pytest.mark.parametrize("validate", [False, True])
def test_a_bundle_without_a_certificate_is_refused(validate: bool, tmp_path: Path) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_bytes(b"\x30\x82\x01")
    error = str(_refusal(validate_certs=validate, ca_path=str(bundle)))
    assert error == f"ca_path: {bundle}: expected a file of PEM certificates."


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan"), float("inf"), float("-inf")])
def test_an_invalid_timeout_is_refused(timeout: float) -> None:
    assert str(_refusal(timeout=timeout)).startswith(
        "timeout: must be a number of seconds greater than 0"
    )


def test_a_long_timeout_is_limited_to_what_sockets_accept() -> None:
    import socket

    with socket.socket() as any_socket:
        any_socket.settimeout(_connect(timeout=1e300).timeout)


def test_a_negative_number_of_retries_is_refused() -> None:
    assert str(_refusal(retries=-1)) == "retries: must be 0 or more, but is -1."
    assert _connect(retries=10**30).retries == 10**30


def test_the_argument_spec_has_each_option_with_its_default() -> None:
    spec = connection_argument_spec()
    assert list(spec) == list(OPTIONS)
    defaults = {name: rules.get("default") for name, rules in spec.items()}
    assert defaults == {**OPTIONS, "base_url": None, "api_token": None}
    assert [name for name, rules in spec.items() if rules.get("required")] == ["base_url"]
    assert [name for name, rules in spec.items() if rules.get("no_log")] == ["api_token"]
    assert spec["api_token_file"]["no_log"] is False


def test_other_options_are_not_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for option in set(OPTIONS) - IN_ENVIRONMENT:
        monkeypatch.setenv(f"SERVER_MANAGEMENT_{option.upper()}", "1")
    parameters: dict[str, Any] = {}
    set_fallbacks(connection_argument_spec(), parameters)
    assert parameters == {"base_url": ""}


def test_arguments_converted_by_ansible_are_accepted() -> None:
    arguments = {"base_url": "http://h", "api_token": TOKEN, "timeout": "2.5", "retries": "1"}
    result = ArgumentSpecValidator(connection_argument_spec()).validate(arguments)
    assert result.error_messages == []
    connection = connection_from(result.validated_parameters.get, "2.21.0")
    assert (connection.timeout, connection.retries, connection.verify) == (2.5, 1, True)
