# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _errors
from ansible_collections.server_management.cloud.plugins.module_utils._errors import CloudError

KINDS: list[Any] = [kind for kind in vars(_errors).values() if isinstance(kind, type)]


def _drawn() -> list[tuple[int, str, bool]]:
    """Return depth and name of each class in the tree of the docstring, and if it is marked."""
    tree = []
    for line in str(_errors.__doc__).splitlines():
        match = re.match(r"    ([│ ]*)(?:[├└]── )?([A-Z]\w+)", line)
        if match:
            depth = (match.start(2) - 4) // 4
            tree.append((depth, match[2], "(api_down)" in line))
    return tree


def _built(kind: type[CloudError] = CloudError, depth: int = 0) -> list[tuple[int, str, bool]]:
    tree = [(depth, kind.__name__, kind.api_down)]
    for child in kind.__subclasses__():
        if child.__module__ == _errors.__name__:
            tree += _built(child, depth + 1)
    return tree


def test_the_tree_is_as_it_is_drawn() -> None:
    drawn = _drawn()
    # What is under something that stands for the API being down does so too.
    expected = [
        (depth, name, marked or (name == "TimedOut" and ("Unreachable", True) in _names(drawn)))
        for depth, name, marked in drawn
    ]
    assert sorted(expected) == sorted(_built())
    assert len(drawn) == len(KINDS)


def _names(tree: list[tuple[int, str, bool]]) -> list[tuple[str, bool]]:
    return [(name, marked) for depth, name, marked in tree]


def test_each_kind_has_a_code_of_its_own() -> None:
    codes = [kind.code for kind in KINDS]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch("[a-z_]+", code) for code in codes)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_says_what_was_wrong_and_what_to_do(kind: type[CloudError]) -> None:
    error = kind("Wrong.", "Do this.", 418)
    assert str(error) == "Wrong. Do this."
    assert (error.message, error.next_step, error.status) == ("Wrong.", "Do this.", 418)
    assert str(kind("Wrong.")) == "Wrong."
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301


def test_an_older_python_is_an_error_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 8, 18, "final", 0))
    with pytest.raises(SystemExit):
        exec(Path(str(_errors.__file__)).read_text(encoding="utf-8"), {})  # noqa: S102
    result = json.loads(capsys.readouterr().out)
    assert result["failed"]
    assert "requires Python 3.10 or later" in result["msg"]
    assert f"{sys.executable} is 3.8. Set ansible_python_interpreter." in result["msg"]
