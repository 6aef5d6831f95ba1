# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

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
    "pagination_parameter": "starting_after",
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
        pagination="cursor",
        pagination_parameter="p",
        allow_partial=True,
    )
    assert (connection.verify, connection.timeout, connection.retries) == (False, 0.5, 0)
    assert (connection.pagination, connection.pagination_parameter) == ("cursor", "p")
    assert connection.allow_partial
    assert _connect(pagination_parameter="").pagination_parameter == "starting_after"


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://h", "https://h/api/v1"),
        ("https://h///", "https://h/api/v1"),
        ("https://h/api/v1/", "https://h/api/v1"),
        ("http://h:8080/prefix/", "http://h:8080/prefix/api/v1"),
        ("http://h/prefix/api/v1", "http://h/prefix/api/v1"),
        ("http://h/xapi/v1", "http://h/xapi/v1/api/v1"),
        ("http://[::1]:80", "http://[::1]:80/api/v1"),
    ],
)
def test_the_path_of_the_api_is_added_if_it_is_missing(base_url: str, url: str) -> None:
    assert _connect(base_url=base_url).base_url == url


@pytest.mark.parametrize("base_url", ["", None])
def test_the_base_url_is_required(base_url: str | None) -> None:
    error = str(_refusal(base_url=base_url))
    assert error.startswith("base_url: is required.")
    assert "SERVER_MANAGEMENT_BASE_URL" in error


MALFORMED = {
    "not an http or https URL": (
        *("api.example.com", "//api.example.com", "ftp://h", "file:///etc/passwd"),
        *("https://", "https:///path", "https://:443", "https://[::1"),
        *("https://h:0", "https://h:65536", "https://h:port"),
    ),
    "a user or a password": ("https://user:secret@h", "https://user@h", "https://@h"),
    "a query or a fragment": ("https://h?a=b", "https://h/?", "https://h/#part", "https://h/#"),
    "a space, a backslash or a control character": (
        *(" https://h", "https://h\n", "https://h/a b", "https://h\u00a0"),
        *("https://h\\@other", "https://h/\x1b[1m"),
    ),
}


@pytest.mark.parametrize(
    ("base_url", "words"), [(url, words) for words, urls in MALFORMED.items() for url in urls]
)
def test_a_malformed_base_url_is_refused(base_url: str, words: str) -> None:
    error = str(_refusal(base_url=base_url))
    assert error.startswith("base_url: ")
    assert words in error
    assert "secret" not in error


@pytest.mark.parametrize("token", ["x", "~!", "a" * 5000, "{{}}"])
@pytest.mark.parametrize("around", ["{}", " {}", "{}\n", "\r\n\t{} \r\n"])
def test_a_token_is_visible_ascii(token: str, around: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(around.format(token), encoding="utf-8-sig", newline="")
    assert _connect(api_token=around.format(token)).api_token == token
    assert _connect(api_token=None, api_token_file=str(file)).api_token == token


VAULT = "$ANSIBLE_VAULT;1.1;AES256\n6162\n"
ASCII = "the token must be visible ASCII without spaces."
ENCRYPTED = "encrypted with Ansible Vault: use `api_token: !vault`."


@pytest.mark.promise("secret")
@pytest.mark.parametrize(
    ("token", "problem"),
    [
        *((token, ASCII) for token in ("a b", "a\r\nX: y", "tokén", "a\x7f")),
        (VAULT, ENCRYPTED),
        (f"\n{VAULT}", ENCRYPTED),
    ],
)
def test_a_token_that_cannot_be_one_is_not_shown_and_its_source_is_named(
    token: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text(token, encoding="utf-8", newline="")
    assert str(_refusal(api_token=token)) == f"api_token: {problem}"
    refused = str(_refusal(api_token=None, api_token_file=str(file)))
    assert refused == f"api_token_file: {file}: {problem}"
    monkeypatch.setenv(FILE_VARIABLE, str(file))
    assert str(_refusal(api_token=None)) == f"{FILE_VARIABLE}: {file}: {problem}"
    monkeypatch.setenv(TOKEN_VARIABLE, token)
    assert str(_refusal(api_token=None)) == f"{TOKEN_VARIABLE}: {problem}"


@pytest.mark.parametrize("empty", [None, "", " \n"])
def test_a_token_is_required(empty: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (TOKEN_VARIABLE, FILE_VARIABLE):
        if empty is not None:
            monkeypatch.setenv(variable, empty)
    error = str(_refusal(api_token=None))
    assert error.startswith("api_token: is required. Set it or api_token_file, or ")
    assert f"{TOKEN_VARIABLE} and {FILE_VARIABLE}" in error
    both = "api_token and api_token_file: both are set."
    assert str(_refusal(api_token_file="/nowhere/file")).startswith(both)


@pytest.mark.promise("home")
@pytest.mark.parametrize("empty", ["", " \n"])
@pytest.mark.parametrize(
    ("option", "other"),
    [
        ("api_token", None),
        ("api_token", "/nowhere/file"),
        ("api_token_file", None),
        ("api_token_file", "x"),
    ],
)
def test_an_empty_option_of_the_token_is_never_replaced(
    option: str, other: str | None, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "other")
    values = {"api_token": other, "api_token_file": other, option: empty}
    assert str(_refusal(**values)).startswith(f"{option}: is empty. Check the template")


@pytest.mark.promise("home")
@pytest.mark.parametrize(
    ("options", "environment", "token"),
    [
        ({"api_token": "option"}, {TOKEN_VARIABLE: "other", FILE_VARIABLE: "{other}"}, "option"),
        ({"api_token_file": "{file}"}, {TOKEN_VARIABLE: "other"}, "of-the-file"),
        ({"api_token_file": "{file}"}, {FILE_VARIABLE: "{other}"}, "of-the-file"),
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
    connection = _connect(**{"api_token": None, **given})
    assert connection.api_token == token
    name, _space, path = connection.source.partition(" ")
    assert name in (given or environment)
    assert path == ("" if token != "of-the-file" else f"({tmp_path / 'file'})")


UTF_16 = "the file is encoded in UTF-16. Save it as UTF-8."


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b" \n\xa0", "the file is empty."),
        (b"first\nsecond", ASCII),
        (b"\xef\xbb\xbf\n", "the file is empty."),
        (TOKEN.encode("utf-16"), UTF_16),
        (b"\xfe\xff" + TOKEN.encode("utf-16-be"), UTF_16),
    ],
)
def test_a_file_without_a_token_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    error = str(_refusal(api_token=None, api_token_file=str(file)))
    assert error == f"api_token_file: {file}: {words}"


def test_relative_paths_are_relative_to_the_folder_except_those_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "ca.pem").write_text(PEM)
    monkeypatch.setenv("NAME", "token")
    options = {**OPTIONS, "api_token": None, "api_token_file": "./$NAME", "ca_path": "ca.pem"}
    connection = connection_from(options.__getitem__, "2.21.0", str(tmp_path))
    assert (connection.api_token, connection.verify) == (TOKEN, str(tmp_path / "ca.pem"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(FILE_VARIABLE, "token")
    monkeypatch.setenv("SERVER_MANAGEMENT_CA_PATH", "ca.pem")
    options = {**OPTIONS, "api_token": None}
    connection = connection_from(options.__getitem__, "2.21.0", "/nowhere")
    assert (connection.api_token, connection.verify) == (TOKEN, "ca.pem")


@pytest.mark.promise("secret")
@pytest.mark.parametrize("token", [TOKEN, "/s3cr3t-token", "s3cr3t/to/ken", "~s3cr3t", "x" * 300])
@pytest.mark.parametrize("option", ["api_token_file", "ca_path"])
def test_a_token_that_is_set_as_a_path_is_not_shown(
    option: str, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**OPTIONS, "api_token": None, option: token}
    if option == "ca_path":
        options["api_token"] = "other"
    with pytest.raises(OptionError) as caught:
        connection_from(options.__getitem__, "2.21.0", str(tmp_path))
    assert str(caught.value).startswith(f"{option}: ")
    assert str(caught.value).endswith("The value is not shown, because it may be a token.")
    assert token not in str(caught.value)
    monkeypatch.setenv(f"SERVER_MANAGEMENT_{option.upper()}", token)
    with pytest.raises(OptionError) as caught:
        connection_from({**options, option: None}.__getitem__, "2.21.0", str(tmp_path))
    assert token not in str(caught.value)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/nowhere/file", "/nowhere/file: no such file or directory."),
        ("/", "/: is a directory."),
        ("/nowhere/\x00\x1b[1m", "/nowhere/ [1m: not a path."),
    ],
)
@pytest.mark.parametrize("option", ["api_token_file", "ca_path"])
def test_a_file_that_cannot_be_read_is_named_and_not_replaced(
    option: str, path: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, "other")
    assert str(_refusal(**{"api_token": None, option: path})) == f"{option}: {words}"


@pytest.mark.parametrize("validate", [False, True])
@pytest.mark.parametrize("content", [b"", b" \n", b"\x30\x82\x01"])
def test_a_bundle_must_have_a_certificate_and_is_used_for_validation(
    content: bytes, validate: bool, tmp_path: Path
) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_bytes(content)
    error = str(_refusal(validate_certs=validate, ca_path=str(bundle)))
    assert error.startswith(f"ca_path: {bundle}: the file has no certificate in PEM format")
    bundle.write_text(f"# A comment\n{PEM}", encoding="ascii")
    connection = _connect(validate_certs=validate, ca_path=str(bundle))
    assert connection.verify == (str(bundle) if validate else False)


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan"), float("inf"), float("-inf")])
def test_an_invalid_number_is_refused(timeout: float) -> None:
    words = "timeout: must be a number of seconds greater than 0"
    assert str(_refusal(timeout=timeout)).startswith(words)
    assert str(_refusal(retries=-1)).startswith("retries: must be 0 or more, but is -1")


def test_a_long_timeout_is_limited_to_what_sockets_accept() -> None:
    import socket

    with socket.socket() as any_socket:
        any_socket.settimeout(_connect(timeout=1e300).timeout)


def test_the_argument_spec_has_each_option_with_its_default() -> None:
    spec = connection_argument_spec()
    assert list(spec) == list(OPTIONS)
    defaults = {name: rules.get("default") for name, rules in spec.items()}
    assert defaults == {**OPTIONS, "base_url": None, "api_token": None}
    assert [name for name, rules in spec.items() if rules.get("required")] == ["base_url"]
    tokens = {"api_token", "api_token_file"}
    assert {name for name, rules in spec.items() if "fallback" in rules} == IN_ENVIRONMENT | tokens
    assert [name for name, rules in spec.items() if rules.get("no_log")] == ["api_token"]
    assert spec["api_token_file"]["no_log"] is False


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_variable_counts_as_not_set(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for option in IN_ENVIRONMENT:
        monkeypatch.setenv(f"SERVER_MANAGEMENT_{option.upper()}", empty)
    parameters: dict[str, Any] = {"api_token": TOKEN}
    result = ArgumentSpecValidator(connection_argument_spec()).validate(parameters)
    assert result.error_messages == []
    values = result.validated_parameters
    assert {option: values[option] for option in IN_ENVIRONMENT} == {
        option: OPTIONS[option] if option != "base_url" else "" for option in IN_ENVIRONMENT
    }
    assert _connect().verify is True
