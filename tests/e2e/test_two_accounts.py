# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Several accounts in one command: no host is lost, and nothing is shared."""

from __future__ import annotations

from typing import Any

import pytest

from support.fixtures import KNOWN, KNOWN_NAMES

from .conftest import Source, Sources, members

# The second account has a server named as one of the first, and one of its own.
OTHERS = [
    {**KNOWN[0], "id": "srv_a", "ipv4": "198.51.100.1", "region": "us-1"},
    {**KNOWN[1], "id": "srv_b", "ipv4": "198.51.100.2", "name": "cache-1"},
]


@pytest.mark.promise("lost")
def test_no_host_is_lost(source: Source, sources: Sources) -> None:
    other = sources.serve(servers=OTHERS, token="t0ken-of-the-0ther")
    # An API that gives the same id to another server with the same name.
    again = sources.serve(servers=[{**KNOWN[0], "ipv4": "198.51.100.3"}])
    sources.add("first", source.sandbox, hosts=KNOWN_NAMES)
    # The same account in another file is the same fleet.
    url = f"{source.sandbox.url}/api/v1/"
    running: dict[str, Any] = {"statuses": ["running"], "hostvars_prefix": "up_"}
    sources.add("running", source.sandbox, hosts=["db-1", "web-1"], base_url=url, **running)
    text = "because hosts of other sources have the same name: "
    another = "The host web-1 is another server, from another inventory file."
    warns = f"{text}web-1 (srv_a) is web-1_srv_a. {another}"
    sources.add(
        "second", other, hosts=["cache-1", "web-1_srv_a"], warns=warns, hostvars_prefix="vm_"
    )
    sources.add(
        "third",
        again,
        hosts=["web-1_srv_1"],
        warns=f"{text}web-1 (srv_1) is web-1_srv_1. {another}",
    )
    # Its faults and its options are only its own.
    sources.add("denied", other, fails="rejected the token", api_token="wrong")
    result = sources.check()
    listing = result.json()
    hostvars = listing["_meta"]["hostvars"]
    assert {name: variables["ansible_host"] for name, variables in hostvars.items()} == {
        **{server["name"]: server["ipv4"] for server in KNOWN},
        "cache-1": OTHERS[1]["ipv4"],
        "web-1_srv_a": OTHERS[0]["ipv4"],
        "web-1_srv_1": "198.51.100.3",
    }
    assert members(listing, "region_eu_1") == ["db-1", "web-1", "web-1_srv_1"]
    assert members(listing, "region_us_1") == ["web-1_srv_a"]
    assert hostvars["web-1"]["server_management_id"] == hostvars["web-1"]["up_id"] == "srv_1"
    assert hostvars["web-1_srv_a"]["vm_id"] == "srv_a"
    for api, tokens in (
        (source.sandbox, [source.sandbox.token] * 2),
        (other, [other.token, "wrong"]),
    ):
        sent = [request.headers["Authorization"] for request in api.requests]
        assert sent == [f"Bearer {token}" for token in tokens]
