# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find tokens in outputs and files, where no command may leave them."""

import sys

import pytest

from support.run import CommandError, Runner, find_in_files


def test_a_run_that_shows_a_token_fails(tmp_path):
    with pytest.raises(CommandError, match="a token was shown"):
        Runner(tmp_path).run(sys.executable, "-c", "print('sandbox-' + 'token')")


def test_files_are_searched_except_those_that_tests_write(tmp_path):
    for name in ("found", "ours.yml", "token"):
        (tmp_path / name).write_bytes(b"\xff Bearer t0ken-of-the-0ther.")
    (tmp_path / "other").write_text("api_token: the token must be visible. [token]")
    (found,) = find_in_files(tmp_path)
    assert found.startswith(f"{tmp_path / 'found'}: ")
