# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find tokens in outputs and files."""

import sys

import pytest

from support.run import CommandError, Runner
from support.secrets import find_in_files, find_secret

TOKENS = ("sandbox-token", "t0ken-of-the-sandbox", "t0ken-of-the-0ther")


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_is_found(token):
    assert token in find_secret(f"error: Bearer {token}.")
    assert token in find_secret(f"\xff{token}")


def test_other_text_contains_no_token():
    assert find_secret("api_token: the token must be visible ASCII without spaces. [token]") == ""


def test_a_run_that_shows_a_token_fails(tmp_path):
    with pytest.raises(CommandError, match="a token was shown"):
        Runner(tmp_path).run(sys.executable, "-c", "print('sandbox-' + 'token')")


def test_files_are_searched_except_those_that_tests_write(tmp_path):
    for name in ("log", "ours.yml", "token"):
        (tmp_path / name).write_text(TOKENS[0])
    (tmp_path / "other").write_text("nothing")
    (found,) = find_in_files(tmp_path)
    assert found.startswith(f"{tmp_path / 'log'}: ")
