# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check what the tests of the client's paging, which run against the sandbox, do not show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox import Sandbox

PATH = "/api/v1/servers"


def test_without_paging_parameters_are_ignored(fetch: Callable[..., Any]) -> None:
    with Sandbox(4, page_size=2) as sandbox:
        response = fetch(sandbox, f"{PATH}?resume=2&starting_after=none")
        assert response.json == {"data": sandbox.servers, "has_more": False}


def test_an_unknown_cursor_is_refused(fetch: Callable[..., Any]) -> None:
    with Sandbox(pagination="cursor") as sandbox:
        assert fetch(sandbox, f"{PATH}?starting_after=srv_none").status == 400


def test_a_cursor_stays_valid_when_servers_are_added(fetch: Callable[..., Any]) -> None:
    with Sandbox(6, pagination="cursor", page_size=2) as sandbox:
        last = fetch(sandbox).json["data"][-1]["id"]
        sandbox.servers.insert(0, {"id": "srv_new"})
        response = fetch(sandbox, f"{PATH}?starting_after={last}")
        assert response.json["data"] == sandbox.servers[3:5]


def test_a_link_contains_the_host_that_the_client_sent(fetch: Callable[..., Any]) -> None:
    with Sandbox(2, pagination="link", page_size=1) as sandbox:
        response = fetch(sandbox, headers={"Host": "localhost:1"})
        assert response.headers["Link"] == f'<http://localhost:1{PATH}?resume=1>; rel="next"'


@pytest.mark.parametrize("options", [{"pagination": "scroll"}, {"page_size": 0}])
def test_invalid_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Sandbox(**options)
