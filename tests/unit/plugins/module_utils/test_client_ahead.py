# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pages asked for ahead: the same listing, the same errors, in fewer round trips."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._ahead import Ahead
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedAnswer,
    ServerFailed,
    Unreachable,
)
from sandbox import Fault, Sandbox

WIDE = {"pagination_concurrency": 4}


@pytest.mark.promise("whole")
@pytest.mark.parametrize("style", ["page", "offset"])
@pytest.mark.parametrize("count", [0, 1, 4, 5, 12, 33])
def test_the_whole_listing_comes_in_the_same_order(read: Any, style: str, count: int) -> None:
    with Sandbox(servers=count, pagination=style, page_size=4) as sandbox:
        one = read(sandbox, pagination=style)
        assert read(sandbox, pagination=style, **WIDE) == one
        assert len(one) == count


@pytest.mark.parametrize("style", ["page", "offset"])
def test_several_requests_are_on_their_way_at_once(read: Any, style: str) -> None:
    with Sandbox(servers=40, pagination=style, page_size=4, latency=0.2) as sandbox:
        read(sandbox, pagination=style, **WIDE)
        received = [request.received for request in sandbox.requests]
    # The second page is asked for after the first has come, and three more with it.
    assert received[1] - received[0] >= 0.2
    assert received[4] - received[1] < 0.2


@pytest.mark.parametrize("style", ["link", "cursor", "none"])
def test_where_nothing_tells_the_next_page_nothing_is_foreseen(read: Any, style: str) -> None:
    with Sandbox(servers=9, pagination=style, page_size=3) as sandbox:
        assert len(read(sandbox, pagination=style, **WIDE)) == 9
        assert len({request.connection for request in sandbox.requests}) == 1


def test_one_at_a_time_uses_one_connection(read: Any) -> None:
    with Sandbox(servers=9, pagination="page", page_size=3) as sandbox:
        read(sandbox, pagination="page")
        assert [request.query for request in sandbox.requests] == [{}, {"page": "2"}, {"page": "3"}]
        assert len({request.connection for request in sandbox.requests}) == 1


def test_a_shorter_page_moves_what_was_foreseen(read: Any) -> None:
    with Sandbox(servers=12, pagination="offset", page_size=4) as sandbox:
        sandbox.fail(Fault(data=sandbox.servers[4:6], has_more=True), page=2)
        found = read(sandbox, pagination="offset", **WIDE)
        assert {server.id for server in found} == {server["id"] for server in sandbox.servers}


@pytest.mark.promise("whole")
@pytest.mark.parametrize("page", [2, 3])
def test_a_page_that_fails_fails_the_listing(read: Any, page: int) -> None:
    with Sandbox(servers=20, pagination="page", page_size=4) as sandbox:
        sandbox.fail(Fault(status=500), page=page, times=None)
        with pytest.raises(ServerFailed):
            read(sandbox, pagination="page", **WIDE)


def test_a_page_behind_the_last_one_may_fail(read: Any) -> None:
    with Sandbox(servers=8, pagination="page", page_size=4) as sandbox:
        sandbox.fail(Fault(status=404), page=3, times=None)
        assert len(read(sandbox, pagination="page", **WIDE)) == 8


@pytest.mark.promise("whole")
def test_a_page_that_repeats_is_refused(read: Any) -> None:
    with Sandbox(servers=20, pagination="page", page_size=4) as sandbox:
        sandbox.fail(Fault(shift=4), page=3, times=None)
        with pytest.raises(MalformedAnswer, match="brings no new server"):
            read(sandbox, pagination="page", **WIDE)


def test_what_is_foreseen_is_asked_for_once_and_what_is_not_needed_is_forgotten() -> None:
    asked: list[str] = []
    gate = threading.Event()

    def get(request: str) -> str:
        asked.append(request)
        gate.wait(10)
        if request == "broken":
            raise Unreachable("broken")
        return request.upper()

    ahead = Ahead(get)
    ahead.foresee(["a", "broken"])
    ahead.foresee(["a", "broken", "b"])
    gate.set()
    assert ahead.get("a") == "A"
    with pytest.raises(Unreachable, match="broken"):
        ahead.get("broken")
    ahead.foresee([])
    assert ahead.get("b") == "B"
    assert sorted(asked) == ["a", "b", "b", "broken"]
