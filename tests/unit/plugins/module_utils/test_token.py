# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    OptionError,
    TokenFileUnusable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._token import (
    read_file,
    register,
    token_in_file,
    token_in_text,
)

VAULT = "$ANSIBLE_VAULT;1.1;AES256\n6162\n"
ENCRYPTED = "encrypted with Ansible Vault: use `api_token: !vault`."
NOT_ASCII = "the token must be visible ASCII without spaces."
ONLY_THE_TOKEN = (
    "The file must contain only the token: no comment, no second line, and not the word Bearer."
)


@pytest.mark.parametrize("token", ["x", "~!", "a" * 5000, "{{}}"])
@pytest.mark.parametrize("around", ["{}", " {}", "{}\n", "\r\n\t{} \r\n"])
def test_a_token_is_visible_ascii_without_the_white_space_around_it(
    token: str, around: str, tmp_path: Path
) -> None:
    text = around.format(token)
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8-sig", newline="")
    assert token_in_text("api_token", text) == token
    assert token_in_file("api_token_file", str(file), "") == (token, str(file))


@pytest.mark.promise("secret")
@pytest.mark.parametrize(
    "text", ["Bearer s3cret", "# of the account\ns3cret", "s3cret\r\nX: y", "s3crét", "s3cret\x7f"]
)
def test_text_that_cannot_be_a_token_is_not_shown_and_its_origin_is_named(
    text: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(OptionError) as caught:
        token_in_text("THE_VARIABLE", text)
    assert str(caught.value) == (
        f"THE_VARIABLE: {NOT_ASCII} Give only the token, without the word Bearer."
    )
    with pytest.raises(TokenFileUnusable) as caught:
        token_in_file("THE_VARIABLE", str(file), "")
    assert str(caught.value) == f"THE_VARIABLE: {file}: {NOT_ASCII} {ONLY_THE_TOKEN}"


@pytest.mark.parametrize("text", [VAULT, f"\n{VAULT}"])
def test_a_token_that_ansible_vault_has_encrypted_is_recognized(text: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    with pytest.raises(OptionError) as caught:
        token_in_text("api_token", text)
    assert str(caught.value) == f"api_token: {ENCRYPTED}"
    with pytest.raises(TokenFileUnusable) as caught:
        token_in_file("api_token_file", str(file), "")
    assert str(caught.value) == f"api_token_file: {file}: {ENCRYPTED}"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b" \n\xa0", "the file is empty."),
        (b"\xef\xbb\xbf\n", "the file is empty."),
        ("token".encode("utf-16"), "the file is encoded in UTF-16. Save it as UTF-8."),
        (b"\xfe\xff\x00t", "the file is encoded in UTF-16. Save it as UTF-8."),
    ],
)
def test_a_file_without_a_token_is_refused(content: bytes, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(TokenFileUnusable) as caught:
        token_in_file("api_token_file", str(file), "")
    assert str(caught.value) == f"api_token_file: {file}: {problem}"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/nowhere/file", "/nowhere/file: no such file or directory."),
        ("/", "/: is a directory."),
        ("/nowhere/\x00\x1b[1m", "/nowhere/ [1m: not a path."),
    ],
)
def test_a_file_that_cannot_be_read_is_named(path: str, shown: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_file("ca_path", path, "")
    assert str(caught.value) == f"ca_path: {shown}"


@pytest.mark.promise("secret")
@pytest.mark.parametrize("token", ["s3cret", "/s3cret", "s3/cr/et", "~s3cret", "x" * 300])
def test_a_token_that_is_set_as_a_path_is_not_shown(token: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError) as caught:
        read_file("ca_path", token, str(tmp_path))
    message = str(caught.value)
    assert message.startswith("ca_path: ")
    assert message.endswith("The value is not shown, because it may be a token.")
    assert token not in message


def test_a_path_can_contain_variables_and_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("content")
    monkeypatch.setenv("NAME", "token")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_file("ca_path", "./$NAME", str(tmp_path)) == (f"{tmp_path}/./token", b"content")
    assert read_file("ca_path", "~/token", "/nowhere") == (f"{tmp_path}/token", b"content")


def test_a_token_is_registered_if_it_cannot_be_a_part_of_ordinary_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registered: list[str] = []
    module: Any = SimpleNamespace(register_secret=registered.append)
    monkeypatch.setitem(sys.modules, "ansible.module_utils.secrets", module)
    register("x" * 15)
    register("y" * 16)
    assert registered == ["y" * 16]
