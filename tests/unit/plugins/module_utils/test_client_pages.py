# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Paging in each style, and responses that end it."""

from itertools import count

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _client, _http
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    IncompleteListing,
    MalformedResponse,
)
from ansible_collections.server_management.cloud.plugins.module_utils._request import (
    Response,
    Route,
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
        with pytest.raises(MalformedResponse) as caught:
            read(sandbox, pagination="link", allow_partial=True)
    assert str(caught.value) == (
        "The link to the next page leads to another origin: http://localhost:1/a. The token stays "
        "at the origin of base_url: check that this is the API's own."
    )


CHECK_PAGINATION = "Check pagination and pagination_parameter: they must match the API."
MORE = yaml.safe_load("""
- [none, null, &more 'The API has more servers than the 3 that were received']
- [none, </x>; rel=next, *more]
- - link
  - null
  - The API has more servers than the 3 that were received, but sends no Link header to the next
    page
""")


@pytest.mark.parametrize(("style", "link", "problem"), MORE)
def test_more_results_without_a_way_to_request_them_are_an_error_unless_allowed(
    read, sandbox, style, link, problem
):
    sandbox.fail(Fault(has_more=True, link=link), times=2)
    with pytest.raises(IncompleteListing) as caught:
        read(sandbox, pagination=style)
    assert str(caught.value) == (
        f"{problem}. Set pagination to the method that the API uses, or allow_partial to true."
    )
    assert len(read(sandbox, pagination=style, allow_partial=True)) == 3
    assert read.client.is_partial
    assert read.warnings == [
        f"{problem}. Continuing without the others, because allow_partial is set."
    ]


NOTHING_NEW = yaml.safe_load("""
- [none, 1, {data: [], has_more: true}, Page 1 of the listing is empty]
- [link, 2, {data: [], has_more: true}, Page 2 of the listing is empty]
- [cursor, 2, {shift: 2}, Page 2 of the listing has no new server]
""")


@pytest.mark.parametrize(("style", "page", "fault", "problem"), NOTHING_NEW)
def test_a_page_without_a_new_server_that_reports_more_is_refused(
    read, style, page, fault, problem
):
    with paged(6, style) as sandbox:
        sandbox.fail(Fault(**fault), page=page)
        with pytest.raises(MalformedResponse) as caught:
            read(sandbox, pagination=style, allow_partial=True)
    text = f"{problem}, but the API reports more servers. {CHECK_PAGINATION}"
    assert str(caught.value) == text


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


def test_the_bytes_of_all_pages_are_bounded(read, monkeypatch):
    monkeypatch.setattr(_client, "LIMIT", 1000)
    with paged(8) as sandbox:
        with pytest.raises(MalformedResponse, match="larger"):
            read(sandbox, pagination="cursor")
        assert len(sandbox.requests) == 3


def test_a_listing_has_at_most_ten_thousand_pages(read, sandbox, monkeypatch):
    numbers = count(1)

    def send(_http, request, _limit):
        body = b'{"data": [{"id": "srv_%d"}], "has_more": true}' % next(numbers)
        return Response(200, {}, body, Route(sandbox.url))

    monkeypatch.setattr(_http.Http, "send", send)
    with pytest.raises(MalformedResponse) as caught:
        read(sandbox, pagination="cursor")
    problem = "The listing has more than 10,000 pages, the limit."
    assert str(caught.value) == f"{problem} {CHECK_PAGINATION}"
    assert next(numbers) == 10_001
