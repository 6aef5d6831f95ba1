# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import sys
from types import SimpleNamespace

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

ENCRYPTED = "encrypted with Ansible Vault: use `api_token: !vault`."
NOT_ASCII = (
    "the token must be visible ASCII without spaces. Give only the token, without the word Bearer."
)
NOT_ASCII_IN_FILE = (
    "the token must be visible ASCII without spaces. The file must contain only the token: no "
    "comment, no second line, and not the word Bearer."
)


@pytest.mark.parametrize("token", ["x", "~!", "a" * 5000, "{{}}"])
@pytest.mark.parametrize("around", ["{}", " {}", "{}\n", "\r\n\t{} \r\n"])
def test_a_token_is_visible_ascii_without_the_white_space_around_it(token, around, tmp_path):
    text = around.format(token)
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8-sig", newline="")
    assert token_in_text("api_token", text) == token
    assert token_in_file("api_token_file", str(file), "") == (token, str(file))


def refusal(read, *arguments):
    """Return the message about a token or a file that can't be used."""
    with pytest.raises(OptionError) as caught:
        read(*arguments)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem_of_text", "problem_of_file"),
    [
        ("Bearer s3cret", NOT_ASCII, NOT_ASCII_IN_FILE),
        ("# of the account\ns3cret", NOT_ASCII, NOT_ASCII_IN_FILE),
        ("s3cret\r\nX: y", NOT_ASCII, NOT_ASCII_IN_FILE),
        ("s3crét", NOT_ASCII, NOT_ASCII_IN_FILE),
        ("s3cret\x7f", NOT_ASCII, NOT_ASCII_IN_FILE),
        ("$ANSIBLE_VAULT;1.1;AES256\n6162\n", ENCRYPTED, ENCRYPTED),
        ("\n$ANSIBLE_VAULT;1.1;AES256\n6162\n", ENCRYPTED, ENCRYPTED),
    ],
)
def test_text_that_cannot_be_a_token_is_not_shown_and_its_origin_is_named(
    text, problem_of_text, problem_of_file, tmp_path
):
    file = tmp_path / "token"
    file.write_text(text, encoding="utf-8", newline="")
    assert refusal(token_in_text, "ORIGIN", text) == f"ORIGIN: {problem_of_text}"
    assert refusal(token_in_file, "ORIGIN", str(file), "") == f"ORIGIN: {file}: {problem_of_file}"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b" \n\xa0", "the file is empty."),
        (b"\xef\xbb\xbf\n", "the file is empty."),
        (b"\xff\xfet\x00", "the file is encoded in UTF-16. Save it as UTF-8."),
        (b"\xfe\xff\x00t", "the file is encoded in UTF-16. Save it as UTF-8."),
    ],
)
def test_a_file_without_a_token_is_refused(content, problem, tmp_path):
    file = tmp_path / "token"
    file.write_bytes(content)
    assert refusal(token_in_file, "ORIGIN", str(file), "") == f"ORIGIN: {file}: {problem}"


@pytest.mark.parametrize("name", ["missing", "empty", "wrong"])
def test_a_token_file_may_be_unusable_for_a_while(name, tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "wrong").write_text("two words")
    with pytest.raises(TokenFileUnusable):
        token_in_file("api_token_file", name, str(tmp_path))


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/nowhere/file", "/nowhere/file: no such file or directory."),
        ("/", "/: is a directory."),
        ("/nowhere/\x00\x1b[1m", "/nowhere/ [1m: not a path."),
    ],
)
def test_a_file_that_cannot_be_read_is_named(path, shown):
    assert refusal(read_file, "ca_path", path, "") == f"ca_path: {shown}"


@pytest.mark.parametrize("token", ["s3cret", "/s3cret", "s3/cr/et", "~s3cret", "x" * 300])
def test_a_token_that_is_set_as_a_path_is_not_shown(token, tmp_path):
    message = refusal(read_file, "ca_path", token, str(tmp_path))
    assert message.endswith("The value is not shown, because it may be a token.")
    assert token not in message


def test_a_path_can_contain_variables_and_the_home(tmp_path, monkeypatch):
    (tmp_path / "token").write_text("content")
    monkeypatch.setenv("NAME", "token")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_file("ca_path", "./$NAME", str(tmp_path)) == (f"{tmp_path}/./token", b"content")
    assert read_file("ca_path", "~/token", "/nowhere") == (f"{tmp_path}/token", b"content")


def test_a_token_is_registered_if_it_cannot_be_a_part_of_ordinary_text(monkeypatch):
    registered = []
    module = SimpleNamespace(register_secret=registered.append)
    monkeypatch.setitem(sys.modules, "ansible.module_utils.secrets", module)
    register("x" * 15)
    register("y" * 16)
    assert registered == ["y" * 16]
