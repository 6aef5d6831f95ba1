# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Paging in each style, and responses that end it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    IncompleteListing,
    MalformedResponse,
    Unauthorized,
)
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


def test_the_parameter_of_a_cursor_can_have_another_name(read: Any) -> None:
    account = [{**server, "id": f"srv_{n}"} for n, server in enumerate(make_servers(5), 1)]
    options: dict[str, Any] = {"pagination": "cursor", "pagination_parameter": "after"}
    with Sandbox(account, **options, page_size=2) as sandbox:
        assert len(read(sandbox, **options)) == 5
        queries = [request.query for request in sandbox.requests]
    assert queries == [{}, {"after": "srv_2"}, {"after": "srv_4"}]


def test_a_parameter_or_an_id_cannot_add_to_the_request(read: Any) -> None:
    hostile = "a b\r\nX-Injected: yes&page=9#"
    account = [{**server, "id": f"{hostile}{n}"} for n, server in enumerate(make_servers(3))]
    with Sandbox(
        account, pagination="cursor", pagination_parameter=hostile, page_size=2
    ) as sandbox:
        servers = read(sandbox, pagination="cursor", pagination_parameter=hostile)
        assert len(servers) == 3
        assert sandbox.requests[1].query == {hostile: f"{hostile}1"}
        assert "X-Injected" not in sandbox.requests[1].headers


FOREIGN = [
    "http://localhost:{port}/api/v1/servers",
    "http://{host}:{port}@other.invalid/",
    "http://{host}:{port}/\ta",
    "javascript:alert(1)",
]


@pytest.mark.promise("home")
@pytest.mark.parametrize("target", FOREIGN)
def test_a_link_to_another_origin_is_refused(read: Any, target: str) -> None:
    with Sandbox(servers=4, pagination="link", page_size=2) as sandbox:
        address = target.format(host=sandbox.host, port=sandbox.port)
        sandbox.fail(Fault(link=f'<{address}>; rel="next"'), page=1)
        with pytest.raises(MalformedResponse, match="leads to another origin") as caught:
            read(sandbox, pagination="link", allow_partial=True)
        assert len(sandbox.requests) == 1
    assert " ".join(address.split()) in str(caught.value)


@pytest.mark.promise("whole")
def test_more_results_without_a_way_to_request_them_are_an_error(
    read: Any, sandbox: Sandbox
) -> None:
    sandbox.fail(Fault(has_more=True))
    with pytest.raises(
        IncompleteListing, match="more servers than the 3 that were received"
    ) as caught:
        read(sandbox)
    assert "pagination" in caught.value.next_step
    assert "allow_partial" in caught.value.next_step


@pytest.mark.promise("whole")
@pytest.mark.parametrize("link", [None, "</x>; rel=prev", "<>; rel=next", "garbage <"])
def test_the_style_link_requires_a_next_link(read: Any, sandbox: Sandbox, link: str | None) -> None:
    sandbox.fail(Fault(has_more=True, link=link))
    with pytest.raises(IncompleteListing, match="no Link header to the next page"):
        read(sandbox, pagination="link")


@pytest.mark.promise("whole")
@pytest.mark.parametrize("style", ["none", "link"])
def test_a_partial_listing_causes_a_warning_if_it_is_allowed(
    read: Any, sandbox: Sandbox, style: str
) -> None:
    sandbox.fail(Fault(has_more=True))
    assert len(read(sandbox, pagination=style, allow_partial=True)) == 3
    (warning,) = read.warnings
    assert "more servers than the 3" in warning
    assert "allow_partial" in warning


@pytest.mark.promise("whole")
@pytest.mark.parametrize("allow_partial", [False, True])
@pytest.mark.parametrize("style", ["none", *STYLES])
@pytest.mark.parametrize("page", [1, 2])
def test_an_empty_page_that_claims_more_is_refused(
    read: Any, style: str, page: int, allow_partial: bool
) -> None:
    with Sandbox(servers=4, pagination=style, page_size=2) as sandbox:
        sandbox.fail(Fault(data=[], has_more=True), after=page - 1)
        if page == 2 and style == "none":
            assert len(read(sandbox)) == 4
            return
        with pytest.raises(MalformedResponse, match=f"Page {page} of the listing is empty"):
            read(sandbox, pagination=style, allow_partial=allow_partial)


@pytest.mark.promise("bounded")
@pytest.mark.parametrize("style", STYLES)
def test_a_repeated_page_is_refused(read: Any, style: str) -> None:
    with Sandbox(servers=6, pagination=style, page_size=2) as sandbox:
        sandbox.fail(Fault(shift=2), after=1)
        with pytest.raises(MalformedResponse, match="Page 2 of the listing has no new server"):
            read(sandbox, pagination=style)
        assert len(sandbox.requests) == 2


@pytest.mark.promise("whole")
@pytest.mark.parametrize("style", STYLES)
def test_a_server_on_two_pages_is_kept_once(read: Any, style: str) -> None:
    with Sandbox(servers=6, pagination=style, page_size=3) as sandbox:
        sandbox.fail(Fault(shift=1), times=None, after=1)
        servers = read(sandbox, pagination=style)
        assert len({server.id for server in servers}) == len(servers) == 6


LATER_FAULTS: list[tuple[Fault, type[CloudError]]] = [
    (Fault(status=401), Unauthorized),
    (Fault(body="{}"), MalformedResponse),
    (Fault(data=[{"id": 5}]), MalformedResponse),
]


@pytest.mark.promise("whole")
@pytest.mark.parametrize(("fault", "kind"), LATER_FAULTS, ids=repr)
@pytest.mark.parametrize("page", [2, 3])
def test_no_partial_listing_is_returned_if_a_later_page_fails(
    read: Any, page: int, fault: Fault, kind: type[CloudError]
) -> None:
    with Sandbox(servers=5, pagination="cursor", page_size=2) as sandbox:
        sandbox.fail(fault, page=page)
        with pytest.raises(kind):
            read(sandbox, pagination="cursor", allow_partial=True)


@pytest.mark.promise("bounded")
@pytest.mark.parametrize(
    ("name", "limit", "words"), [("_MAX_PAGES", 3, "more than 3 pages"), ("LIMIT", 1000, "larger")]
)
def test_the_pages_and_all_their_bytes_are_bounded(
    read: Any, client: Any, monkeypatch: pytest.MonkeyPatch, name: str, limit: int, words: str
) -> None:
    with Sandbox(servers=8, pagination="cursor", page_size=2) as sandbox:
        assert len(read(sandbox, pagination="cursor")) == 8
        monkeypatch.setattr(client, name, limit)
        with pytest.raises(MalformedResponse, match=words):
            read(sandbox, pagination="cursor")
        assert len(sandbox.requests) == 4 + 3
