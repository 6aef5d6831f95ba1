# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures of the tests of module_utils: a client with a clock that tests move.

The collection is imported late: if pytest is started with this folder, it reads this file before
the collection can be imported.
"""

from __future__ import annotations

from typing import Any

import pytest

from sandbox import Sandbox

CLIENT = "ansible_collections.server_management.cloud.plugins.module_utils._client"


class Reader:
    """Read the listing of a sandbox, by default without retries, and keep the client's lines."""

    def __init__(self) -> None:
        self.client: Any = None
        self.warnings: list[str] = []
        self.waits: list[str] = []
        self.progress: list[str] = []
        self.trace: list[str] = []

    def __call__(self, sandbox: Sandbox, base_url: str = "", **options: Any) -> Any:
        from ansible_collections.server_management.cloud.plugins.module_utils import (
            _client,
            _options,
        )

        options = {"api_token": sandbox.token, "retries": 0, "timeout": 10.0, **options}
        self.client = _client.Client(
            _options.Connection(f"{base_url or sandbox.url}/api/v1", **options),
            self.warnings.append,
            wait=self.waits.append,
            progress=self.progress.append,
            trace=self.trace.append,
        )
        return self.client.list_servers()


class Clock:
    """The time of the client: only a test and the client's waits, which it keeps, move it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.waits: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.waits.append(seconds)


@pytest.fixture(autouse=True)
def _no_bundle_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def read() -> Reader:
    return Reader()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(f"{CLIENT}.time", clock)
    return clock
