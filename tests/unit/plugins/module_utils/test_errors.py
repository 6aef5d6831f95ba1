# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import json
import sys
from importlib import reload
from types import ModuleType

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _errors
from ansible_collections.server_management.cloud.plugins.module_utils._errors import CloudError


@pytest.mark.parametrize(("attempts", "message"), [(1, "Wrong."), (3, "Wrong. Tried 3 times.")])
def test_an_error_has_a_message_and_a_next_step(attempts, message):
    error = CloudError("Wrong.", "Do this.", 418)
    error.attempts = attempts
    assert str(error) == f"{message} Do this."
    assert error.as_result() == {"code": "error", "status": 418, "message": message}


@pytest.fixture
def kinds():
    """Return each class of the exception tree."""
    return [kind for kind in vars(_errors).values() if hasattr(kind, "is_temporary")]


def test_these_errors_mean_that_the_api_is_down(kinds):
    names = [kind.__name__ for kind in kinds if kind.is_temporary]
    assert names == ["Unreachable", "TimedOut", "RateLimited", "ServerFailed"]


def test_each_error_has_a_unique_code(kinds):
    codes = [kind.code for kind in kinds]
    assert sorted(codes) == sorted(set(codes))


def test_an_unsupported_python_of_a_module_is_a_failure_of_its_task(monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    monkeypatch.delitem(sys.modules, "ansible.plugins", raising=False)
    with pytest.raises(SystemExit):
        reload(_errors)
    result = json.loads(capsys.readouterr().out)
    assert result["failed"]
    assert result["msg"] == (
        f"server_management.cloud requires Python 3.10 or later; {sys.executable} is 3.9. "
        "Set ansible_python_interpreter."
    )


def test_an_unsupported_python_of_an_inventory_is_an_error(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    monkeypatch.setitem(sys.modules, "ansible.plugins", ModuleType("ansible.plugins"))
    words = f"{sys.executable} is 3.9. Install Ansible or ansible-rulebook with a later Python"
    with pytest.raises(RuntimeError, match=words):
        reload(_errors)
