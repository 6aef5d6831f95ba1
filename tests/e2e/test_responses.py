# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Listings of several pages."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Cases, members


@pytest.mark.promise("whole")
def test_paging_gives_the_whole_account(cases: Cases) -> None:
    expected = {}
    for style in ("link", "cursor"):
        for count, pages in ((0, 1), (1, 1), (4, 1), (5, 2), (9, 3)):
            case = f"{style}_{count}"
            names = [f"{style}-{count}-{number}" for number in range(count)]
            api = cases.serve(*names, servers=[], pagination=style, page_size=4)
            cases.add(case, api, pagination=style)
            expected[case] = (api, names, pages)
    parameter: dict[str, Any] = {"pagination": "cursor", "pagination_parameter": "after"}
    api = cases.serve(*map(str, "abcde"), page_size=4, **parameter)
    cases.add("parameter", api, **parameter)
    expected["parameter"] = (api, list("abcde"), 2)
    listing = cases.list()
    for case, (api, names, requests) in expected.items():
        assert members(listing, case) == names, case
        assert len(api.requests) == requests, case
        assert len({request.connection for request in api.requests}) == 1, case
    assert api.requests[-1].query == {"after": "srv_4"}
