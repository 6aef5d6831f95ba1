# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.parsing.convert_bool import BOOLEANS_FALSE, BOOLEANS_TRUE

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._options import (
    TYPES,
    VERSION,
    Connection,
    connection_argument_spec,
    connection_from,
    variable,
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
# A text in the environment, and the value of the option.
ENVIRONMENT: dict[str, tuple[str, object]] = {
    "base_url": ("http://127.0.0.1:9", "http://127.0.0.1:9"),
    "validate_certs": ("false", False),
    "ca_path": ("/a/bundle", "/a/bundle"),
    "timeout": ("1.5", 1.5),
    "retries": ("7", 7),
}


def _connect(folder: Path | str = "", **options: Any) -> Connection:
    return connection_from({**OPTIONS, **options}.__getitem__, "2.21.0", str(folder))


def _refusal(**options: Any) -> str:
    with pytest.raises(OptionError) as caught:
        _connect(**options)
    message = str(caught.value)
    assert TOKEN not in message
    assert message.isprintable()
    return message


def test_the_options_make_a_connection() -> None:
    expected = Connection(
        "https://api.example.com/api/v1",
        TOKEN,
        user_agent=f"server_management.cloud/{VERSION} ansible/2.21.0",
    )
    assert _connect() == expected
    assert expected.root_url == "https://api.example.com"


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


@pytest.mark.parametrize("token", ["x", "~!", "a" * 5000, "{{}}"])
@pytest.mark.parametrize("around", ["{}", " {}", "{}\n", "\r\n\t{} \r\n"])
def test_a_token_is_visible_ascii(token: str, around: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(around.format(token), encoding="utf-8-sig", newline="")
    assert _connect(api_token=around.format(token)).api_token == token
    assert _connect(api_token=None, api_token_file=str(file)).api_token == token


VAULT = "$ANSIBLE_VAULT;1.1;AES256\n6162\n"
UTF_16 = "the file is encoded in UTF-16. Save it as UTF-8."
ASCII = "the token must be visible ASCII without spaces."
NOT_ASCII = (
    f"{ASCII} Give only the token, without the word Bearer.",
    f"{ASCII} The file must contain only the token: no comment, no second line, and not the word "
    "Bearer.",
)
ENCRYPTED = "encrypted with Ansible Vault: use `api_token: !vault`."


@pytest.mark.promise("secret")
@pytest.mark.parametrize(
    ("token", "problems"),
    [
        ("Bearer a", NOT_ASCII),
        ("# of the account\na", NOT_ASCII),
        ("a\r\nX: y", NOT_ASCII),
        ("tokén", NOT_ASCII),
        ("a\x7f", NOT_ASCII),
        (VAULT, (ENCRYPTED, ENCRYPTED)),
        (f"\n{VAULT}", (ENCRYPTED, ENCRYPTED)),
    ],
)
def test_a_token_that_cannot_be_one_is_not_shown_and_its_source_is_named(
    token: str, problems: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "token"
    file.write_text(token, encoding="utf-8", newline="")
    of_option, of_file = problems
    assert _refusal(api_token=token) == f"api_token: {of_option}"
    refused = _refusal(api_token=None, api_token_file=str(file))
    assert refused == f"api_token_file: {file}: {of_file}"
    monkeypatch.setenv(FILE_VARIABLE, str(file))
    assert _refusal(api_token=None) == f"{FILE_VARIABLE}: {file}: {of_file}"
    monkeypatch.setenv(TOKEN_VARIABLE, token)
    assert _refusal(api_token=None) == f"{TOKEN_VARIABLE}: {of_option}"


@pytest.mark.parametrize("empty", ["", " \n"])
def test_a_token_is_required(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (TOKEN_VARIABLE, FILE_VARIABLE):
        monkeypatch.setenv(name, empty)
    error = _refusal(api_token=None)
    assert error.startswith("api_token: is required. Set it or api_token_file, or ")
    assert f"{TOKEN_VARIABLE} and {FILE_VARIABLE}" in error
    both = "api_token and api_token_file: both are set."
    assert _refusal(api_token_file="/nowhere/file").startswith(both)


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
    assert _refusal(**values).startswith(f"{option}: is empty. Check the template")


@pytest.mark.promise("home")
@pytest.mark.parametrize(
    ("options", "environment", "token", "source"),
    [
        ({"api_token": "a"}, {TOKEN_VARIABLE: "b", FILE_VARIABLE: "b"}, "a", "api_token"),
        ({"api_token_file": "./file"}, {TOKEN_VARIABLE: "b"}, "c", "api_token_file (./file)"),
        ({"api_token_file": "./file"}, {FILE_VARIABLE: "b"}, "c", "api_token_file (./file)"),
        ({}, {TOKEN_VARIABLE: " b\n", FILE_VARIABLE: "file"}, "b", TOKEN_VARIABLE),
        ({}, {TOKEN_VARIABLE: " ", FILE_VARIABLE: "file"}, "c", f"{FILE_VARIABLE} (file)"),
        ({}, {FILE_VARIABLE: "$FOLDER/file"}, "c", f"{FILE_VARIABLE} (./file)"),
    ],
)
def test_the_most_specific_source_of_a_token_wins(
    options: dict[str, str],
    environment: dict[str, str],
    token: str,
    source: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "file").write_text("c\n")
    monkeypatch.chdir(tmp_path)
    for name, value in {"FOLDER": ".", **environment}.items():
        monkeypatch.setenv(name, value)
    given: dict[str, Any] = {"api_token": None, **options}
    connection = _connect(**given)
    assert (connection.api_token, connection.source) == (token, source)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b" \n\xa0", "the file is empty."),
        (b"\xef\xbb\xbf\n", "the file is empty."),
        (TOKEN.encode("utf-16"), UTF_16),
        (b"\xfe\xff" + TOKEN.encode("utf-16-be"), UTF_16),
    ],
)
def test_a_file_without_a_token_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    error = _refusal(api_token=None, api_token_file=str(file))
    assert error == f"api_token_file: {file}: {words}"


def test_relative_paths_are_relative_to_the_folder_except_those_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "ca.pem").write_text(PEM)
    monkeypatch.setenv("NAME", "token")
    connection = _connect(tmp_path, api_token=None, api_token_file="./$NAME", ca_path="ca.pem")
    assert (connection.api_token, connection.verify) == (TOKEN, str(tmp_path / "ca.pem"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(FILE_VARIABLE, "token")
    monkeypatch.setenv("SERVER_MANAGEMENT_CA_PATH", "ca.pem")
    connection = _connect("/nowhere", api_token=None)
    assert (connection.api_token, connection.verify) == (TOKEN, "ca.pem")


@pytest.mark.promise("secret")
@pytest.mark.parametrize("token", [TOKEN, "/s3cr3t-token", "s3cr3t/to/ken", "~s3cr3t", "x" * 300])
@pytest.mark.parametrize("option", ["api_token_file", "ca_path"])
def test_a_token_that_is_set_as_a_path_is_not_shown(
    option: str, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"api_token": "other" if option == "ca_path" else None}
    error = _refusal(folder=tmp_path, **given, **{option: token})
    assert error.startswith(f"{option}: ")
    assert error.endswith("The value is not shown, because it may be a token.")
    assert token not in error
    monkeypatch.setenv(variable(option), token)
    assert token not in _refusal(folder=tmp_path, **given)


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
    assert _refusal(**{"api_token": None, option: path}) == f"{option}: {words}"


@pytest.mark.parametrize("validate", [False, True])
@pytest.mark.parametrize("content", [b" \n", b"\x30\x82\x01", b"-----BEGIN X-----\n"])
def test_a_bundle_must_have_a_certificate_and_is_used_for_validation(
    content: bytes, validate: bool, tmp_path: Path
) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_bytes(content)
    error = _refusal(validate_certs=validate, ca_path=str(bundle))
    assert error.startswith(f"ca_path: {bundle}: the file has no certificate in PEM format")
    assert error.endswith("To trust the usual certificate authorities, leave ca_path out.")
    bundle.write_text(f"# A comment\n{PEM}", encoding="ascii")
    connection = _connect(validate_certs=validate, ca_path=str(bundle))
    assert connection.verify == (str(bundle) if validate else False)


@pytest.mark.parametrize("timeout", [0.0, -1.0, float("nan"), float("inf"), float("-inf")])
def test_an_invalid_number_is_refused(timeout: float) -> None:
    words = "timeout: must be a number of seconds greater than 0"
    assert _refusal(timeout=timeout).startswith(words)
    assert _refusal(retries=-1).startswith("retries: must be 0 or more, but is -1")


def test_a_long_timeout_is_limited_to_what_sockets_accept() -> None:
    import socket

    with socket.socket() as any_socket:
        any_socket.settimeout(_connect(timeout=1e300).timeout)


@pytest.mark.parametrize("empty", ["", " "])
def test_an_environment_variable_is_used_unless_it_is_empty(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def validated() -> dict[str, Any]:
        result = ArgumentSpecValidator(connection_argument_spec()).validate({"api_token": TOKEN})
        assert result.error_messages == []
        return {option: result.validated_parameters[option] for option in ENVIRONMENT}

    for option in ENVIRONMENT:
        monkeypatch.setenv(variable(option), empty)
    assert validated() == {**{option: OPTIONS[option] for option in ENVIRONMENT}, "base_url": ""}
    assert _connect().verify is True
    for option, (text, _value) in ENVIRONMENT.items():
        monkeypatch.setenv(variable(option), text)
    assert validated() == {option: value for option, (_text, value) in ENVIRONMENT.items()}


def test_a_token_is_registered_if_it_cannot_be_a_part_of_ordinary_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registered: list[str] = []
    module: Any = SimpleNamespace(register_secret=registered.append)
    monkeypatch.setitem(sys.modules, "ansible.module_utils.secrets", module)
    for token in ("x" * 15, "y" * 16):
        _connect(api_token=token)
    assert registered == ["y" * 16]


def test_ansible_hides_the_token_and_nothing_else() -> None:
    spec = connection_argument_spec()
    hidden = {option: rules["no_log"] for option, rules in spec.items() if "no_log" in rules}
    assert hidden == {"api_token": True, "api_token_file": False}


def test_flags_are_those_of_ansible() -> None:
    to_flag, _expected = TYPES["bool"]
    for is_set, texts in ((True, BOOLEANS_TRUE), (False, BOOLEANS_FALSE)):
        assert {to_flag(text) for text in texts} == {is_set}
        assert to_flag(f" {is_set}\n") is is_set
    assert to_flag("maybe") is None
