# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a client reports while it reads."""

from __future__ import annotations

import time
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import (
    _client,
    _transport,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from sandbox import Fault, Sandbox


def reports(sandbox: Sandbox, **options: Any) -> dict[str, list[str]]:
    """Return what a client reports, by kind."""
    said: dict[str, list[str]] = {"wait": [], "progress": [], "trace": []}
    connection = Connection(f"{sandbox.url}/api/v1", sandbox.token, **options)
    show = {kind: lines.append for kind, lines in said.items()}
    _client.Client(connection, print, **show).list_servers()
    return said


def test_a_wait_of_more_than_five_seconds_is_reported(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    for after in (40, 5, 0):
        sandbox.fail(Fault(status=429, retry_after=after))
    assert reports(sandbox)["wait"] == [
        "waiting 40 s, as the API asks (HTTP 429)",
        "waiting 5 s, as the API asks (HTTP 429)",  # the jitter is added
    ]
    sandbox.fail(Fault(status=503), times=6)
    waits = reports(sandbox, retries=6)["wait"]
    assert 1 <= len(waits) <= 2
    assert waits[-1].endswith(
        " s, before retry 6 of 6: The API is failing (HTTP 503), "
        'with the response "{"error": "Service Unavailable"}".'
    )


def test_the_progress_of_a_long_listing_is_reported(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_transport, "_TICK", 0.05)
    monkeypatch.setattr(_client, "_REPORT_INTERVAL", 0.3)
    assert reports(sandbox)["progress"] == []
    sandbox.fail(Fault(delay=0.5))
    assert reports(sandbox)["progress"] == ["page 1, 0 servers so far"]
    with Sandbox(servers=1001, pagination="cursor", page_size=1000) as paged:
        paged.fail(Fault(delay=0.4), after=1)
        assert reports(paged, pagination="cursor")["progress"] == ["page 2, 1,000 servers so far"]
