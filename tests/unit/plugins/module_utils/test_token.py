# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _errors, _token


@pytest.fixture
def file(tmp_path):
    return tmp_path / "token"


@pytest.mark.parametrize("text", ["!~", " !~", "!~\n", "\r\n\t!~ \r\n"])
def test_a_token_is_visible_ascii_without_the_white_space_around_it(text, file):
    file.write_text(text, encoding="utf-8-sig", newline="")
    path = str(file)
    assert _token.token_in_text("api_token", text, text) == "!~"
    assert _token.token_in_file("api_token_file", path, path) == "!~"


# Each message is compared once.
NO_TOKENS = yaml.safe_load(r"""
- - Bearer s3cret
  - 'the token must be visible ASCII without spaces. Give only the token: no comment, no second
     line, and not the word Bearer.'
- ["s3cret\r\nX: y", '']
- [s3crét, '']
- ["s3cret\x7f", '']
- ["\n$ANSIBLE_VAULT;1.1;AES256\n6162\n", 'encrypted with Ansible Vault: use `api_token: !vault`.']
""")


@pytest.mark.parametrize(("text", "problem"), NO_TOKENS)
def test_text_that_cannot_be_a_token_is_not_shown_and_its_source_is_named(text, problem):
    with pytest.raises(_errors.OptionError, match=f"^SOURCE: {problem}") as caught:
        _token.token_in_text("SOURCE", text, text)
    assert "s3cr" not in str(caught.value)


NO_TOKENS_IN_FILES = yaml.safe_load(r"""
- ["# A comment\ns3cret\n", 'and not the word Bearer.']
- ["s3cret\n# A comment\n", 'and not the word Bearer.']
- ["s3cr\xe9t", '']
- ["\xff\xfes\03\0", '']
- ["$ANSIBLE_VAULT;1.1;AES256\n6162\n", '']
- [" \n", the file is empty.]
- ["\xef\xbb\xbf\n", '']
""")


@pytest.mark.parametrize(("content", "words"), NO_TOKENS_IN_FILES)
def test_a_file_without_a_token_is_named_and_unusable_for_now(content, words, file):
    file.write_text(content, encoding="latin-1")
    with pytest.raises(_errors.TokenFileUnusable, match=f"^SOURCE: {file}: .*{words}$") as caught:
        _token.token_in_file("SOURCE", "token", str(file))
    assert "s3cr" not in str(caught.value)


UNREADABLE = yaml.safe_load(r"""
- [/nowhere/file, '/nowhere/file: no such file or directory.']
- [/, '/: is a directory.']
- [./nowhere/file, './nowhere/file: no such file or directory.']
- ["/nowhere/\0\e[1m", '"/nowhere/\u0000\u001b[1m": not a path.']
""")


@pytest.mark.parametrize(("path", "shown"), UNREADABLE)
def test_a_file_that_cannot_be_read_is_named_and_unusable_for_now(path, shown):
    with pytest.raises(_errors.TokenFileUnusable) as caught:
        _token.token_in_file("SOURCE", path, path)
    assert str(caught.value) == f"SOURCE: {shown}"


NOT_PATHS = yaml.safe_load("""
- [s3cret, s3cret]
- [~s3cret, ~s3cret]
- [/s3cret, /s3cret]
- [s3/cr/et, s3/cr/et]
- [$TOKEN, s3/cr/et]
""")


@pytest.mark.parametrize(("given", "expanded_path"), NOT_PATHS)
def test_a_token_that_is_set_as_a_path_is_not_shown(given, expanded_path, tmp_path):
    with pytest.raises(_errors.TokenFileUnusable) as caught:
        _token.token_in_file("api_token_file", given, str(tmp_path / expanded_path))
    assert str(caught.value) == (
        "api_token_file: no such file. In an inventory file, a path is relative to that file, "
        "elsewhere to the working directory. The value is not shown, because it may be a token."
    )
