# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Paging in each style, and responses that end it."""

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _client
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    IncompleteListing,
    MalformedResponse,
)
from sandbox import Fault, Sandbox
from support.fixtures import KNOWN


def paged(servers):
    """Return an account with two servers on each page."""
    return Sandbox(servers=servers, page_size=2)


# The last one has a server on two pages.
ACCOUNTS = yaml.safe_load("[[0, 1, {}], [2, 1, {}], [5, 3, {}], [5, 3, {shift: 1}]]")


@pytest.mark.parametrize(("servers", "requests", "fault"), ACCOUNTS)
def test_all_pages_are_read_over_one_connection(read, servers, requests, fault):
    with paged(servers) as sandbox:
        sandbox.fail(Fault(**fault), page=2)
        listing = read(sandbox, pagination="last_id")
        assert [server.fields for server in listing] == sandbox.servers
        assert len(sandbox.requests) == requests
        assert sandbox.connections == 1
    assert read.warning == []


def test_the_parameter_can_have_any_name(read):
    with Sandbox(KNOWN, page_size=2, pagination_parameter="after") as sandbox:
        read(sandbox, pagination="last_id", pagination_parameter="after")
        first, second = sandbox.requests
    assert first.query == {}
    assert second.query == {"after": "srv_2"}


def test_more_results_are_an_error_unless_allowed_and_no_link_is_followed(read, sandbox):
    sandbox.fail(Fault(has_more=True, link='</api/v1/servers?page=2>; rel="next"'), times=2)
    with pytest.raises(IncompleteListing) as caught:
        read(sandbox)
    problem = "The API has more servers than the 3 received"
    assert str(caught.value) == (
        f"{problem}. Set pagination to last_id if the API can list the servers after an id, or set "
        "allow_partial to true."
    )
    assert len(read(sandbox, allow_partial=True)) == 3
    assert len(sandbox.requests) == 2
    assert read.client.is_partial
    assert read.warning == [
        f"{problem}. Continuing without the others: allow_partial is set.",
    ]


NOTHING_NEW = yaml.safe_load("""
- - none
  - 1
  - {data: [], has_more: true}
  - "Page 1 of the listing has no new server, but the API reports more. Check pagination and
     pagination_parameter: they must match the API."
- [last_id, 2, {data: [], has_more: true}, 'Page 2 ']
- [last_id, 2, {shift: 2}, 'Page 2 ']
""")


@pytest.mark.parametrize(("style", "page", "fault", "words"), NOTHING_NEW)
def test_a_page_without_a_new_server_that_reports_more_is_refused(read, style, page, fault, words):
    with paged(6) as sandbox:
        sandbox.fail(Fault(**fault), page=page)
        with pytest.raises(MalformedResponse, match=f"^{words}"):
            read(sandbox, pagination=style, allow_partial=True)


def test_no_partial_listing_is_returned_if_a_later_page_fails(read):
    with paged(5) as sandbox:
        sandbox.fail(Fault(status=401), page=3)
        with pytest.raises(CloudError):
            read(sandbox, pagination="last_id", allow_partial=True)


def test_the_bytes_of_all_pages_are_bounded(read, monkeypatch):
    monkeypatch.setattr(_client, "LIMIT", 1000)
    with paged(8) as sandbox:
        with pytest.raises(MalformedResponse, match=r"^The listing is larger than 32 MiB, the"):
            read(sandbox, pagination="last_id")
        assert len(sandbox.requests) == 3


def test_the_number_of_pages_is_bounded(read, monkeypatch):
    assert _client._MAX_PAGES == 10_000
    monkeypatch.setattr(_client, "_MAX_PAGES", 2)
    words = r"^The listing has more than 2 pages, the limit\. Check pagination and "
    with paged(6) as sandbox:
        with pytest.raises(MalformedResponse, match=words):
            read(sandbox, pagination="last_id")
        assert len(sandbox.requests) == 2
