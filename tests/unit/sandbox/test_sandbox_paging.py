# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check each paging style, and the ways in which paging can go wrong."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from sandbox import Fault, Sandbox, paging
from sandbox.paging import PARAMETERS

PATH = "/api/v1/servers"


def next_target(style: str, parameter: str, response: Any, number: int, count: int) -> str:
    """Return the target of the page after the one with `number`, when `count` servers are known."""
    if style == "link":
        match = re.fullmatch(r'<http://[^/>]+(/[^>]+)>; rel="next"', response.headers["Link"])
        assert match
        return match[1]
    values = {"cursor": response.json["data"][-1]["id"], "page": number + 1, "offset": count}
    return f"{PATH}?{parameter}={values[style]}"


@pytest.mark.parametrize("style", ["link", "cursor", "page", "offset"])
@pytest.mark.parametrize(("count", "pages"), [(0, 1), (1, 1), (5, 1), (6, 2), (13, 3)])
def test_each_style_gives_the_whole_listing(
    fetch: Callable[..., Any], style: str, count: int, pages: int
) -> None:
    with Sandbox(count, pagination=style, page_size=5) as sandbox:
        servers: list[Any] = []
        target = PATH
        for number in range(1, pages + 1):
            response = fetch(sandbox, target)
            servers += response.json["data"]
            assert response.json["has_more"] is (number < pages)
            if number < pages:
                target = next_target(style, PARAMETERS[style], response, number, len(servers))
        assert "Link" not in response.headers
        assert servers == sandbox.servers


@pytest.mark.parametrize("style", ["cursor", "page", "offset"])
def test_the_parameters_name_can_be_chosen(fetch: Callable[..., Any], style: str) -> None:
    with Sandbox(4, pagination=style, pagination_parameter="p", page_size=2) as sandbox:
        first = fetch(sandbox)
        second = fetch(sandbox, next_target(style, "p", first, 1, 2))
        assert second.json["data"] == sandbox.servers[2:]


def test_without_paging_no_parameter_counts(fetch: Callable[..., Any]) -> None:
    with Sandbox(4, page_size=2) as sandbox:
        response = fetch(sandbox, f"{PATH}?page=2&offset=2&starting_after=none")
        assert response.json == {"data": sandbox.servers, "has_more": False}


@pytest.mark.parametrize(
    ("style", "value"),
    [("page", "0"), ("page", "two"), ("offset", "-1"), ("offset", ""), ("cursor", "srv_none")],
)
def test_a_senseless_parameter_is_refused(
    fetch: Callable[..., Any], style: str, value: str
) -> None:
    with Sandbox(pagination=style) as sandbox:
        assert fetch(sandbox, f"{PATH}?{PARAMETERS[style]}={value}").status == 400


def test_a_cursor_holds_when_the_listing_moves(fetch: Callable[..., Any]) -> None:
    with Sandbox(6, pagination="cursor", page_size=2) as sandbox:
        last = fetch(sandbox).json["data"][-1]["id"]
        sandbox.servers.insert(0, {"id": "srv_new"})
        response = fetch(sandbox, f"{PATH}?starting_after={last}")
        assert response.json["data"] == sandbox.servers[3:5]


def test_a_link_names_the_host_as_the_client_does(fetch: Callable[..., Any]) -> None:
    with Sandbox(2, pagination="link", page_size=1) as sandbox:
        response = fetch(sandbox, headers={"Host": "localhost:1"})
        assert response.headers["Link"] == f'<http://localhost:1{PATH}?resume=1>; rel="next"'


def test_more_is_claimed_than_there_is(fetch: Callable[..., Any]) -> None:
    with Sandbox(3) as sandbox:
        sandbox.fail(Fault(has_more=True))
        assert fetch(sandbox).json == {"data": sandbox.servers, "has_more": True}


def test_an_empty_page_claims_more(fetch: Callable[..., Any]) -> None:
    with Sandbox(4, pagination="page", page_size=2) as sandbox:
        sandbox.fail(Fault(data=[], has_more=True), page=2)
        assert fetch(sandbox).json["data"] == sandbox.servers[:2]
        assert fetch(sandbox, f"{PATH}?page=2").json == {"data": [], "has_more": True}


def test_a_page_repeats(fetch: Callable[..., Any]) -> None:
    with Sandbox(6, pagination="page", page_size=2) as sandbox:
        sandbox.fail(Fault(shift=2), page=2)
        response = fetch(sandbox, f"{PATH}?page=2")
        assert response.json == {"data": sandbox.servers[:2], "has_more": True}


def test_the_listing_moves_between_pages(fetch: Callable[..., Any]) -> None:
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


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        (
            '<{origin}/api/v1/servers>; rel="next"',
            '<http://127.0.0.1:{port}/api/v1/servers>; rel="next"',
        ),
        ('<{next}>; rel="next"', '</api/v1/servers?resume=1>; rel="next"'),
        (
            "<http://localhost:9{next}>; rel=next",
            "<http://localhost:9/api/v1/servers?resume=1>; rel=next",
        ),
        ("no link at all", "no link at all"),
    ],
)
def test_the_link_of_a_page_can_be_replaced(
    fetch: Callable[..., Any], link: str, expected: str
) -> None:
    with Sandbox(2, pagination="link", page_size=1) as sandbox:
        sandbox.fail(Fault(link=link))
        assert fetch(sandbox).headers["Link"] == expected.replace("{port}", str(sandbox.port))


@pytest.mark.parametrize("style", ["link", "cursor", "page", "offset"])
def test_a_listing_fails_midway(fetch: Callable[..., Any], style: str) -> None:
    with Sandbox(4, pagination=style, page_size=2) as sandbox:
        sandbox.fail(Fault(status=500), page=2, times=None)
        response = fetch(sandbox)
        target = next_target(style, PARAMETERS[style], response, 1, 2)
        assert [response.status, fetch(sandbox, target).status, fetch(sandbox).status] == [
            200,
            500,
            200,
        ]


def test_a_cursor_is_not_searched_for_in_the_whole_account(
    fetch: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[object] = []
    identity = paging._identity

    def counting_identity(server: object) -> str:
        looked_at.append(server)
        return identity(server)

    monkeypatch.setattr(paging, "_identity", counting_identity)
    with Sandbox(5_000, pagination="cursor", page_size=100) as sandbox:
        target = PATH
        for number in range(20):
            target = next_target("cursor", "starting_after", fetch(sandbox, target), number, 0)
    assert len(looked_at) < 100


@pytest.mark.parametrize("options", [{"pagination": "scroll"}, {"page_size": 0}])
def test_senseless_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Sandbox(**options)
