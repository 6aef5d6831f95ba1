# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Several accounts in one command: no host is lost, and nothing is shared."""

from support.fixtures import KNOWN, KNOWN_NAMES

from .conftest import members

# The second account has a server named as one of the first, and one of its own.
OTHERS = [
    {**KNOWN[0], "id": "srv_a", "ipv4": "198.51.100.1", "region": "us-1"},
    {**KNOWN[1], "id": "srv_b", "ipv4": "198.51.100.2", "name": "cache-1"},
]


def test_servers_of_two_accounts_with_one_name_are_two_hosts(source, sources):
    sources.add("first", source.sandbox, hosts=KNOWN_NAMES)
    other = sources.serve(servers=OTHERS, token="t0ken-of-the-0ther")
    renamed = "web-1 (srv_a) is web-1_srv_a. The host web-1 is another server, "
    sources.add("second", other, hosts=["cache-1", "web-1_srv_a"], warns=renamed)
    # An API that gives the same id to another server with the same name.
    again = sources.serve(servers=[{**KNOWN[0], "ipv4": "198.51.100.3"}])
    renamed = "web-1 (srv_1) is web-1_srv_1. The host web-1 is another server, "
    sources.add("third", again, hosts=["web-1_srv_1"], warns=renamed)
    # The faults of a source are only its own.
    sources.add("denied", other, fails="rejected the token", api_token="wrong")
    listing = sources.check().json()
    hostvars = listing["_meta"]["hostvars"]
    assert hostvars["web-1"]["ansible_host"] == "203.0.113.1"
    assert hostvars["web-1_srv_a"]["ansible_host"] == "198.51.100.1"
    assert hostvars["web-1_srv_1"]["ansible_host"] == "198.51.100.3"
    assert members(listing, "region_eu_1") == ["db-1", "web-1", "web-1_srv_1"]
    assert members(listing, "region_us_1") == ["web-1_srv_a"]
    (request,) = source.sandbox.requests
    assert request.headers["Authorization"] == f"Bearer {source.sandbox.token}"
    accepted, rejected = other.requests
    assert accepted.headers["Authorization"] == "Bearer t0ken-of-the-0ther"
    assert rejected.headers["Authorization"] == "Bearer wrong"


def test_one_account_in_two_files_is_one_fleet(source, sources):
    sandbox = source.sandbox
    url = f"http://localhost:{sandbox.port}"
    sources.add("first", sandbox, hosts=KNOWN_NAMES, base_url=url)
    url = f"http://LOCALHOST:{sandbox.port}/api/v1/"
    running = {"base_url": url, "statuses": ["running"], "hostvars_prefix": "up_"}
    sources.add("running", sandbox, hosts=["db-1", "web-1"], **running)
    hostvars = sources.check().json()["_meta"]["hostvars"]
    assert list(hostvars) == KNOWN_NAMES
    assert hostvars["web-1"]["server_management_id"] == "srv_1"
    assert hostvars["web-1"]["up_id"] == "srv_1"
