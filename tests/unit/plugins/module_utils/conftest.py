# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures of the tests of module_utils: a client for a sandbox, and retries without waiting.

The collection is imported late: if pytest is started with this folder, it reads this file before
the collection can be imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from sandbox import Sandbox
from support.http_meanings import VARIABLES


class Reader:
    """Read the listing of a sandbox; ``warnings`` contains the client's warnings."""

    def __init__(self, client: ModuleType) -> None:
        self.warnings: list[str] = []
        self._client = client

    def __call__(self, sandbox: Sandbox, base_url: str = "", **options: Any) -> Any:
        options = {"api_token": sandbox.token, "retries": 0, "timeout": 10.0, **options}
        connection = self._client.Connection(f"{base_url or sandbox.url}/api/v1", **options)
        return self._client.Client(connection, self.warnings.append).list_servers()


@pytest.fixture
def client() -> ModuleType:
    """Return the module under test."""
    from ansible_collections.server_management.cloud.plugins.module_utils import _client

    return _client


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv("HOME", os.devnull)


@pytest.fixture
def read(client: ModuleType) -> Reader:
    """Return a reader of the listing, by default without retries."""
    return Reader(client)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """Return a sandbox with three servers."""
    with Sandbox(servers=3) as running:
        yield running


@pytest.fixture
def waits(client: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the seconds that the client would have waited, and skip the waiting."""
    seconds: list[float] = []
    wait = client._delay

    def note(error: Any, attempt: int) -> float | None:
        needed = wait(error, attempt)
        if needed is None:
            return None
        seconds.append(needed)
        return 0.0

    monkeypatch.setattr(client, "_delay", note)
    return seconds
