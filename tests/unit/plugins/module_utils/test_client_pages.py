# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Paging in each style, and responses that end it."""

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _client
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    IncompleteListing,
    MalformedResponse,
)
from sandbox import Fault, Sandbox
from support.fixtures import KNOWN


def paged(servers, style="cursor"):
    """Return an account with two servers on each page."""
    return Sandbox(servers=servers, pagination=style, page_size=2)


@pytest.mark.parametrize("style", ["link", "cursor"])
@pytest.mark.parametrize(("servers", "requests"), [(0, 1), (2, 1), (5, 3)])
def test_all_pages_are_read_over_one_connection(read, style, servers, requests):
    with paged(servers, style) as sandbox:
        listing = read(sandbox, pagination=style)
        assert [server.fields for server in listing] == sandbox.servers
        assert len(sandbox.requests) == requests
        assert sandbox.connections == 1
    assert read.warnings == []


def test_the_parameter_of_a_cursor_can_have_any_name(read):
    with Sandbox(KNOWN, pagination="cursor", pagination_parameter="after", page_size=2) as sandbox:
        read(sandbox, pagination="cursor", pagination_parameter="after")
        first, second = sandbox.requests
    assert first.query == {}
    assert second.query == {"after": "srv_2"}


def test_a_link_to_another_origin_is_refused(read):
    with paged(4, "link") as sandbox:
        sandbox.fail(Fault(link='<http://localhost:1/a>; rel="next"'))
        words = "leads to another origin: http://localhost:1/a. "
        with pytest.raises(MalformedResponse, match=words):
            read(sandbox, pagination="link", allow_partial=True)


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


@pytest.mark.parametrize(
    ("style", "page", "fault", "problem"),
    [
        ("none", 1, Fault(data=[], has_more=True), "^Page 1 of the listing is empty, but"),
        ("link", 2, Fault(data=[], has_more=True), "^Page 2 of the listing is empty, but"),
        ("cursor", 2, Fault(shift=2), "^Page 2 of the listing has no new server, but"),
    ],
)
def test_a_page_without_a_new_server_that_reports_more_is_refused(
    read, style, page, fault, problem
):
    with paged(6, style) as sandbox:
        sandbox.fail(fault, page=page)
        with pytest.raises(MalformedResponse, match=problem):
            read(sandbox, pagination=style, allow_partial=True)


def test_a_server_on_two_pages_is_kept_once(read):
    with paged(5) as sandbox:
        sandbox.fail(Fault(shift=1), page=2)
        listing = read(sandbox, pagination="cursor")
        assert [server.fields for server in listing] == sandbox.servers


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
