# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check what the tests of the client's paging, which run against the sandbox, do not show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox import Fault, Sandbox, paging
from sandbox.paging import PARAMETERS

PATH = "/api/v1/servers"


def test_without_paging_parameters_are_ignored(fetch: Callable[..., Any]) -> None:
    with Sandbox(4, page_size=2) as sandbox:
        response = fetch(sandbox, f"{PATH}?page=2&offset=2&starting_after=none")
        assert response.json == {"data": sandbox.servers, "has_more": False}


@pytest.mark.parametrize(
    ("style", "value"),
    [("page", "0"), ("page", "two"), ("offset", "-1"), ("offset", ""), ("cursor", "srv_none")],
)
def test_an_invalid_parameter_is_refused(fetch: Callable[..., Any], style: str, value: str) -> None:
    with Sandbox(pagination=style) as sandbox:
        assert fetch(sandbox, f"{PATH}?{PARAMETERS[style]}={value}").status == 400


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


def test_a_shifted_listing_repeats_servers_on_the_next_page(fetch: Callable[..., Any]) -> None:
    with Sandbox(4, pagination="offset", page_size=2) as sandbox:
        sandbox.fail(Fault(shift=1), times=None)
        targets = [PATH, f"{PATH}?offset=2", f"{PATH}?offset=4"]
        responses = [fetch(sandbox, target).json for target in targets]
        first, second, third, fourth = sandbox.servers
        assert [response["data"] for response in responses] == [
            [first, second],
            [second, third],
            [fourth],
        ]
        assert [response["has_more"] for response in responses] == [True, True, False]


def test_a_cursor_is_found_without_a_search_through_the_account(
    fetch: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[object] = []
    identity = paging._identity

    def counting_identity(server: object) -> str:
        compared.append(server)
        return identity(server)

    monkeypatch.setattr(paging, "_identity", counting_identity)
    with Sandbox(5_000, pagination="cursor", page_size=100) as sandbox:
        target = PATH
        for _page in range(20):
            last = fetch(sandbox, target).json["data"][-1]["id"]
            target = f"{PATH}?starting_after={last}"
    assert len(compared) < 100


@pytest.mark.parametrize("options", [{"pagination": "scroll"}, {"page_size": 0}])
def test_invalid_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Sandbox(**options)
