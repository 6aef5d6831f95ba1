# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _errors
from ansible_collections.server_management.cloud.plugins.module_utils._errors import CloudError

CLASSES = [value for value in vars(_errors).values() if isinstance(value, type)]
# Not the classes that the file imports.
KINDS: list[Any] = [kind for kind in CLASSES if kind.__module__ == _errors.__name__]


def test_these_errors_mean_that_the_api_is_down() -> None:
    names = {kind.__name__ for kind in KINDS if kind.api_down}
    assert names == {"Unreachable", "TimedOut", "RateLimited", "ServerFailed"}


def test_each_error_has_a_unique_code() -> None:
    codes = [kind.code for kind in KINDS]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch("[a-z_]+", code) for code in codes)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_has_a_message_and_a_next_step(kind: type[CloudError]) -> None:
    error = kind("Wrong.", "Do this.", 418)
    assert str(error) == "Wrong. Do this."
    assert error.next_step == "Do this."
    assert error.as_result() == {"code": kind.code, "status": 418, "message": "Wrong."}
    assert str(kind("Wrong.")) == "Wrong."


def test_an_unsupported_python_is_reported_with_the_next_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 8, 18, "final", 0))
    text = Path(str(_errors.__file__)).read_text(encoding="utf-8")
    message = f"server_management.cloud requires Python 3.10 or later; {sys.executable} is 3.8. "
    # On the control node, these plugins are loaded; in a module, they are not.
    monkeypatch.setitem(sys.modules, "ansible.plugins", ModuleType("ansible.plugins"))
    with pytest.raises(RuntimeError, match=f"^{message}Install Ansible with a later Python"):
        exec(text, {})  # noqa: S102
    monkeypatch.delitem(sys.modules, "ansible.plugins")
    with pytest.raises(SystemExit):
        exec(text, {})  # noqa: S102
    result = json.loads(capsys.readouterr().out)
    assert result["failed"]
    assert result["msg"] == f"{message}Set ansible_python_interpreter."
