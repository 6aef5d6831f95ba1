# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _errors
from ansible_collections.server_management.cloud.plugins.module_utils._errors import CloudError


def every_error():
    found = vars(_errors).values()
    return [value for value in found if isinstance(value, type) and issubclass(value, CloudError)]


def test_these_errors_mean_that_the_api_is_down():
    names = {kind.__name__ for kind in every_error() if kind.api_down}
    assert names == {"Unreachable", "TimedOut", "RateLimited", "ServerFailed"}


def test_each_error_has_a_unique_code():
    codes = [kind.code for kind in every_error()]
    assert len(codes) > 10
    assert len(set(codes)) == len(codes)


def test_an_error_has_a_message_and_a_next_step():
    error = CloudError("Wrong.", "Do this.", 418)
    assert str(error) == "Wrong. Do this."
    assert error.as_result() == {"code": "error", "status": 418, "message": "Wrong."}
    assert str(CloudError("Wrong.")) == "Wrong."


def test_an_error_counts_several_attempts():
    error = CloudError("Wrong.", "Do this.")
    error.attempts = 3
    assert str(error) == "Wrong. Tried 3 times. Do this."
    assert error.as_result()["message"] == "Wrong. Tried 3 times."


def test_an_unsupported_python_is_reported_with_the_next_step(monkeypatch, capsys):
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
