# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures of the tests of module_utils: a client with a clock that tests move.

The collection is imported late: if pytest is started with this folder, it reads this file before
the collection can be imported.
"""

import pytest

MODULE_UTILS = "ansible_collections.server_management.cloud.plugins.module_utils"


class Reader:
    """Read the listing of a sandbox, by default without retries, and keep the client's lines."""

    def __init__(self):
        self.client = None
        self.warning = []
        self.wait = []
        self.progress = []
        self.trace = []
        self.shown = ""

    def __call__(self, sandbox, base_url="", **options):
        from ansible_collections.server_management.cloud.plugins.module_utils import _client
        from support.modules import connection_to

        options = {"api_token": sandbox.token, "retries": 0, "timeout": 10.0, **options}
        connection = connection_to(base_url or sandbox.url, **options)
        self.client = _client.Client(connection, self._report)
        return self.client.list_servers()

    def _report(self, level, text):
        self.shown += text
        lines = getattr(self, level)
        lines.append(text)


class Clock:
    """The time of the client: only a test and the client's waits, which it keeps, move it."""

    def __init__(self):
        self.now = 1000.0
        self.waits = []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        self.waits.append(seconds)

    def delay(self, sandbox, seconds):
        """Let a sandbox take this long before each response."""

        def apply(_servers):
            self.now += seconds

        sandbox.schedule.apply = apply


@pytest.fixture
def read():
    return Reader()


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(f"{MODULE_UTILS}._client.time", clock)
    monkeypatch.setattr(f"{MODULE_UTILS}._http.time", clock)
    return clock
