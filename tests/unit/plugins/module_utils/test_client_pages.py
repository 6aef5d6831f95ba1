# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Paging in each style, and responses that end it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _client, _errors
from sandbox import Fault, Sandbox
from sandbox.account import make_servers

STYLES = ("link", "cursor")


@pytest.mark.promise("whole")
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("count", "requests"), [(0, 1), (1, 1), (3, 1), (4, 2), (6, 2), (7, 3)])
def test_all_pages_are_read_over_one_connection(
    read: Any, style: str, count: int, requests: int
) -> None:
    with Sandbox(servers=count, pagination=style, page_size=3) as sandbox:
        servers = read(sandbox, pagination=style)
        assert [server.fields for server in servers] == sandbox.servers
        assert len(sandbox.requests) == requests
        assert sandbox.connections == 1
        tokens = {request.headers["Authorization"] for request in sandbox.requests}
    assert tokens == {"Bearer sandbox-token"}
    assert read.warnings == []


def test_a_cursor_is_added_to_the_query_of_a_listing_under_any_name(
    read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _client.LIST_SERVERS._replace(query=(("of", "2026"),))
    monkeypatch.setattr(_client, "LIST_SERVERS", first)
    account = [{**server, "id": f"srv_{n}"} for n, server in enumerate(make_servers(5), 1)]
    options: dict[str, Any] = {"pagination": "cursor", "pagination_parameter": "after"}
    with Sandbox(account, **options, page_size=2) as sandbox:
        assert len(read(sandbox, **options)) == 5
        queries = [request.query for request in sandbox.requests]
    cursors: list[dict[str, str]] = [{}, {"after": "srv_2"}, {"after": "srv_4"}]
    assert queries == [{"of": "2026", **cursor} for cursor in cursors]


@pytest.mark.promise("home")
@pytest.mark.parametrize("target", ["http://localhost:1/api/v1/servers", "/a\tb"])
def test_a_link_to_another_origin_is_refused(read: Any, target: str) -> None:
    with Sandbox(servers=4, pagination="link", page_size=2) as sandbox:
        sandbox.fail(Fault(link=f'<{target}>; rel="next"'), page=1)
        with pytest.raises(_errors.MalformedResponse, match="leads to another origin") as caught:
            read(sandbox, pagination="link", allow_partial=True)
        assert len(sandbox.requests) == 1
    assert " ".join(target.split()) in str(caught.value)


NO_NEXT = "has more servers than the 3 that were received, but sends no Link header"


@pytest.mark.promise("whole")
@pytest.mark.parametrize(
    ("style", "link", "words"),
    [
        ("none", None, r"has more servers than the 3 that were received\."),
        ("link", None, NO_NEXT),
        ("link", "</x>; rel=prev", NO_NEXT),
        ("link", "<>; rel=next", NO_NEXT),
        ("link", "garbage <", NO_NEXT),
    ],
)
def test_more_results_without_a_way_to_request_them_are_an_error_unless_allowed(
    read: Any, sandbox: Sandbox, style: str, link: str | None, words: str
) -> None:
    sandbox.fail(Fault(has_more=True, link=link), times=2)
    with pytest.raises(_errors.IncompleteListing, match=words) as caught:
        read(sandbox, pagination=style)
    assert "pagination" in caught.value.next_step
    assert "allow_partial" in caught.value.next_step
    assert len(read(sandbox, pagination=style, allow_partial=True)) == 3
    assert read.client.is_partial
    (warning,) = read.warnings
    assert re.search(words, warning)
    assert warning.endswith("because allow_partial is set.")


@pytest.mark.promise("whole")
@pytest.mark.parametrize(
    ("style", "page"), [("none", 1), ("link", 1), ("link", 2), ("cursor", 1), ("cursor", 2)]
)
def test_an_empty_page_that_claims_more_is_refused(read: Any, style: str, page: int) -> None:
    with Sandbox(servers=4, pagination=style, page_size=2) as sandbox:
        sandbox.fail(Fault(data=[], has_more=True), after=page - 1)
        with pytest.raises(_errors.MalformedResponse, match=f"Page {page} of the listing is empty"):
            read(sandbox, pagination=style, allow_partial=True)


@pytest.mark.promise("bounded")
@pytest.mark.parametrize("style", STYLES)
def test_a_repeated_page_is_refused(read: Any, style: str) -> None:
    with Sandbox(servers=6, pagination=style, page_size=2) as sandbox:
        sandbox.fail(Fault(shift=2), after=1)
        with pytest.raises(_errors.MalformedResponse, match=r"^Page 2 .* has no new server"):
            read(sandbox, pagination=style)
        assert len(sandbox.requests) == 2


@pytest.mark.promise("whole")
@pytest.mark.parametrize("style", STYLES)
def test_a_server_on_two_pages_is_kept_once(read: Any, style: str) -> None:
    with Sandbox(servers=6, pagination=style, page_size=3) as sandbox:
        sandbox.fail(Fault(shift=1), times=None, after=1)
        servers = read(sandbox, pagination=style)
        assert len({server.id for server in servers}) == len(servers) == 6


@pytest.mark.promise("whole")
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(status=401), "unauthorized"),
        (Fault(body="{}"), "malformed_response"),
        (Fault(data=[{"id": 5}]), "malformed_response"),
    ],
    ids=["status", "envelope", "element"],
)
@pytest.mark.parametrize("page", [2, 3])
def test_no_partial_listing_is_returned_if_a_later_page_fails(
    read: Any, page: int, fault: Fault, code: str
) -> None:
    with Sandbox(servers=5, pagination="cursor", page_size=2) as sandbox:
        sandbox.fail(fault, page=page)
        with pytest.raises(_errors.CloudError) as caught:
            read(sandbox, pagination="cursor", allow_partial=True)
    assert caught.value.code == code


@pytest.mark.promise("bounded")
@pytest.mark.parametrize(
    ("name", "limit", "words"), [("_MAX_PAGES", 3, "more than 3 pages"), ("LIMIT", 1000, "larger")]
)
def test_the_pages_and_all_their_bytes_are_bounded(
    read: Any, monkeypatch: pytest.MonkeyPatch, name: str, limit: int, words: str
) -> None:
    with Sandbox(servers=8, pagination="cursor", page_size=2) as sandbox:
        assert len(read(sandbox, pagination="cursor")) == 8
        monkeypatch.setattr(_client, name, limit)
        with pytest.raises(_errors.MalformedResponse, match=words):
            read(sandbox, pagination="cursor")
        assert len(sandbox.requests) == 4 + 3
