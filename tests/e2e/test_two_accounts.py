# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Several accounts in one command: no host is lost, and nothing is shared."""

from .conftest import addresses, members, tokens_sent


def test_servers_of_two_accounts_with_one_name_are_two_hosts(source, sources):
    api = source.sandbox
    sources.add("first", api)
    # An API that gives the same id to another server with the same name.
    other = sources.serve("web-1", "cache-1", token="t0ken-of-the-0ther")
    other.servers[0].update(region="us-1", ipv4="198.51.100.1")
    renamed = (
        "because servers of other inventory files have the same name: web-1 (srv_1) is "
        "web-1_srv_1. Put a prefix before it with hostnames, or use the files in separate commands "
        "(-i)."
    )
    names = ["cache-1", "web-1_srv_1"]
    sources.add("second", other, hosts=names, warns=renamed)
    # A wrong token fails only its own source.
    sources.add("denied", other, fails="rejected the token", api_token="wrong")
    listing = sources.check().json()
    found = addresses(listing)
    assert found["web-1"] == "203.0.113.1"
    assert found["web-1_srv_1"] == "198.51.100.1"
    assert members(listing, "region_eu_1") == ["db-1", "web-1", "cache-1"]
    assert members(listing, "region_us_1") == ["web-1_srv_1"]
    assert tokens_sent(api) == [api.token]
    assert tokens_sent(other) == ["t0ken-of-the-0ther", "wrong"]
