# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a token is given, and that it is seen nowhere."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from sandbox import Fault

from .conftest import Source, hosts

THREE = ["db-1", "web-1", "web-2"]


def test_from_the_environment(source: Source) -> None:
    source.runner.environment["SERVER_MANAGEMENT_API_TOKEN"] = source.sandbox.token
    source.runner.environment["SERVER_MANAGEMENT_BASE_URL"] = source.sandbox.url
    assert hosts(source.list(api_token=None, base_url=None)) == THREE


def test_from_a_template(source: Source) -> None:
    source.runner.environment["PROD"] = source.sandbox.token
    assert hosts(source.list(api_token="{{ lookup('ansible.builtin.env', 'PROD') }}")) == THREE


def test_from_an_extra_var(source: Source) -> None:
    extra = f"token={source.sandbox.token} url={source.sandbox.url}"
    listing = source.list("-e", extra, api_token="{{ token }}", base_url="{{ url }}")
    assert hosts(listing) == THREE


@pytest.mark.parametrize("option", ["api_token_file", "environment"])
def test_from_a_file(source: Source, tmp_path: Path, option: str) -> None:
    path = tmp_path / "token"
    path.write_text(f"\n {source.sandbox.token} \n")
    if option == "environment":
        source.runner.environment["SERVER_MANAGEMENT_API_TOKEN_FILE"] = str(path)
        assert hosts(source.list(api_token=None)) == THREE
    else:
        assert hosts(source.list(api_token=None, api_token_file=str(path))) == THREE
        path.write_text("another")
        assert hosts(source.list(api_token_file=str(path))) == THREE


def test_from_a_vault(source: Source, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("secret")
    vault = ("--vault-password-file", password)
    encrypted = source.runner.vault(
        "encrypt_string",
        *vault,
        "--name",
        "api_token",
        "--stdin-name",
        "api_token",
        stdin=source.sandbox.token,
    ).ok()
    path = source.file(api_token=None)
    path.write_text(f"{path.read_text()}\n{encrypted.stdout}")
    listing = source.runner.inventory("-i", path, "--list", *vault).ok().json()
    assert hosts(listing) == THREE
    result = source.runner.inventory("-i", path, "--list")
    assert hosts(result.json()) == []
    assert result.says("api_token: ")


def test_the_token_is_seen_nowhere(source: Source, tmp_path: Path) -> None:
    token = source.sandbox.token
    log, cache = tmp_path / "ansible.log", tmp_path / "cache"
    loud = {"ANSIBLE_DEBUG": "1", "ANSIBLE_LOG_PATH": str(log)}
    options: dict[str, Any] = {
        "cache": True,
        "cache_plugin": "ansible.builtin.jsonfile",
        "cache_connection": str(cache),
    }
    path = source.file(**options)
    outputs = [source.runner.inventory("-i", path, "--list", "-vvvvvv", env=loud).output]
    source.sandbox.fail(Fault(status=500, body="you sent {token}"), times=None)
    outputs.append(source.flush(path, "-vvvvvv", env=loud).output)
    assert "[token]" in outputs[1]
    outputs += [log.read_text(), *(entry.name for entry in cache.iterdir())]
    outputs += [entry.read_text() for entry in cache.iterdir()]
    assert len(outputs) == 5
    for output in outputs:
        assert token not in output
        assert base64.b64encode(token.encode()).decode().rstrip("=") not in output
