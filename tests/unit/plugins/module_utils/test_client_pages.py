# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Paging in each style, and responses that end it."""

from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _client
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    IncompleteListing,
    MalformedResponse,
)
from sandbox import Fault, Sandbox
from sandbox.account import make_servers

STYLES = ["link", "cursor"]


def paged(servers, style="cursor"):
    """Return an account with two servers on each page."""
    return Sandbox(servers=servers, pagination=style, page_size=2)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("servers", "requests"), [(0, 1), (2, 1), (3, 2), (5, 3)])
def test_all_pages_are_read_over_one_connection(read, style, servers, requests):
    with paged(servers, style) as sandbox:
        listing = read(sandbox, pagination=style)
        assert [server.fields for server in listing] == sandbox.servers
        assert len(sandbox.requests) == requests
        assert sandbox.connections == 1
        for request in sandbox.requests:
            assert request.headers["Authorization"] == "Bearer sandbox-token"
    assert read.warnings == []


def test_a_cursor_is_added_to_the_query_under_any_name(read, monkeypatch):
    first = _client.LIST_SERVERS._replace(query=(("of", "2026"),))
    monkeypatch.setattr(_client, "LIST_SERVERS", first)
    options: Any = {"pagination": "cursor", "pagination_parameter": "after"}
    with Sandbox(make_servers(5), **options, page_size=2) as sandbox:
        second, fourth = sandbox.servers[1]["id"], sandbox.servers[3]["id"]
        assert len(read(sandbox, **options)) == 5
        queries = [request.query for request in sandbox.requests]
    assert queries == [
        {"of": "2026"},
        {"of": "2026", "after": second},
        {"of": "2026", "after": fourth},
    ]


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("http://localhost:1/api/v1/servers", "http://localhost:1/api/v1/servers"),
        ("/a\tb", "/a b"),
    ],
)
def test_a_link_to_another_origin_is_refused(read, link, shown):
    with paged(4, "link") as sandbox:
        sandbox.fail(Fault(link=f'<{link}>; rel="next"'), page=1)
        with pytest.raises(MalformedResponse, match=f"leads to another origin: {shown}"):
            read(sandbox, pagination="link", allow_partial=True)
        assert len(sandbox.requests) == 1


MORE = "The API has more servers than the 3 that were received"


@pytest.mark.parametrize(
    ("style", "link", "problem"),
    [
        ("none", None, MORE),
        ("none", "</x>; rel=next", MORE),
        ("link", None, f"{MORE}, but sends no Link header to the next page"),
    ],
)
def test_more_results_without_a_way_to_request_them_are_an_error_unless_allowed(
    read, sandbox, style, link, problem
):
    sandbox.fail(Fault(has_more=True, link=link), times=2)
    with pytest.raises(IncompleteListing, match=rf"^{problem}\. Set pagination .* allow_partial"):
        read(sandbox, pagination=style)
    assert len(read(sandbox, pagination=style, allow_partial=True)) == 3
    assert read.client.is_partial
    assert read.warnings == [
        f"{problem}. Continuing without the others, because allow_partial is set."
    ]


@pytest.mark.parametrize(("style", "page"), [("none", 1), ("link", 2), ("cursor", 1)])
def test_an_empty_page_that_claims_more_is_refused(read, style, page):
    with paged(4, style) as sandbox:
        sandbox.fail(Fault(data=[], has_more=True), after=page - 1)
        with pytest.raises(MalformedResponse, match=f"Page {page} of the listing is empty"):
            read(sandbox, pagination=style, allow_partial=True)


@pytest.mark.parametrize("style", STYLES)
def test_a_repeated_page_is_refused(read, style):
    with paged(6, style) as sandbox:
        sandbox.fail(Fault(shift=2), after=1)
        with pytest.raises(MalformedResponse, match=r"^Page 2 .* has no new server"):
            read(sandbox, pagination=style)
        assert len(sandbox.requests) == 2


@pytest.mark.parametrize("style", STYLES)
def test_a_server_on_two_pages_is_kept_once(read, style):
    with paged(6, style) as sandbox:
        sandbox.fail(Fault(shift=1), times=None, after=1)
        listing = read(sandbox, pagination=style)
        ids = sorted(server.id for server in listing)
        assert ids == sorted(str(server["id"]) for server in sandbox.servers)


@pytest.mark.parametrize("fault", [Fault(status=401), Fault(body="{}")], ids=repr)
def test_no_partial_listing_is_returned_if_a_later_page_fails(read, fault):
    with paged(5) as sandbox:
        sandbox.fail(fault, page=3)
        with pytest.raises(CloudError):
            read(sandbox, pagination="cursor", allow_partial=True)


@pytest.mark.parametrize(
    ("name", "limit", "words"), [("_MAX_PAGES", 3, "more than 3 pages"), ("LIMIT", 1000, "larger")]
)
def test_the_pages_and_all_their_bytes_are_bounded(read, monkeypatch, name, limit, words):
    monkeypatch.setattr(_client, name, limit)
    with paged(8) as sandbox:
        with pytest.raises(MalformedResponse, match=words):
            read(sandbox, pagination="cursor")
        assert len(sandbox.requests) == 3
