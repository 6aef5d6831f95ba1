# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import json
import sys

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils._options import VERSION
from sandbox import Fault, Sandbox
from sandbox.account import make_servers
from support.modules import WEB, run, run_module

TOKEN = "t0ken-of-the-real-account"
SERVER = {**WEB, "id": "srv_0a1b2c3d", "name": "customer-database", "ipv4": "203.0.113.7"}
PRIVATE = f"srv_0a1b2c3d customer-database 203.0.113.7 {TOKEN} 127.0.0.1 localhost".split()


@pytest.fixture
def api():
    """Serve one documented server."""
    with Sandbox(servers=[dict(SERVER)], token=TOKEN) as sandbox:
        yield sandbox


@pytest.fixture
def paged():
    """Serve three servers in two pages."""
    with Sandbox(servers=3, token=TOKEN, page_size=2) as sandbox:
        yield sandbox


def check(api, **options):
    """Return the result, which is never a failure and has a report with nothing private."""
    outcome = run("api_info", api, **options)
    assert not outcome.failed
    assert len(api.requests) <= 3
    text = json.dumps(outcome.result["report"])
    assert not [private for private in PRIVATE if private in text]
    return outcome.result


def report(api, **options):
    """Return the report alone."""
    return check(api, **options)["report"]


AS_DOCUMENTED = yaml.safe_load("""
token: accepted
status: 200
error_code: null
as_documented: true
deviations: []
further_fields: {}
servers: 1
has_more: false
headers: {}
""")


def test_an_account_as_documented(api):
    result = check(api)
    found = result["report"]
    versions = found.pop("versions")
    assert versions["collection"] == VERSION
    assert versions["ansible"] == "2.0"
    assert result == {"works": True, "report": AS_DOCUMENTED}


def test_at_most_20_further_fields_are_named_and_counted(api):
    api.servers[0] |= dict.fromkeys(["a\x1b[1m", *"abcdefghijklmnopqrstuvwxyz"])
    found = report(api)["further_fields"]
    assert found["a [1m"] == 1
    assert len(found) == 20


HEADERS = """
RateLimit RateLimit-Policy RateLimit-Limit RateLimit-Remaining RateLimit-Reset X-RateLimit-Limit
X-RateLimit-Remaining X-RateLimit-Reset Deprecation Sunset Retry-After
"""


@pytest.mark.parametrize("name", HEADERS.split())
def test_a_standard_header_is_shown_on_one_line_without_the_token(api, name):
    headers = {name.lower(): f"1\t{TOKEN}", "X-RateLimit-Key": "customer-database"}
    api.fail(Fault(headers=headers))
    assert report(api)["headers"] == {name: "1 ********"}


def test_a_token_that_ansible_does_not_mask_is_not_in_the_report(api, monkeypatch):
    monkeypatch.setenv("SERVER_MANAGEMENT_API_TOKEN", "t0k")
    api.fail(Fault(headers={"Sunset": "t0k"}))
    result = run_module("api_info", {"base_url": api.url}).result
    assert result["report"]["headers"] == {"Sunset": "********"}


def test_at_most_three_pages_are_read(paged):
    paged.servers = make_servers(9)
    found = report(paged, pagination="last_id")
    assert found["servers"] == 6
    assert found["has_more"] is True


TWO_PAGES = yaml.safe_load("""
- [none, {}, {error_code: incomplete_listing, as_documented: true, has_more: true}]
- [last_id, {}, {error_code: null, servers: 3, has_more: false}]
# The status is that of the last response, and the token was accepted.
- - last_id
  - {status: 500, body: '{token} customer-database'}
  - {token: accepted, status: 500}
- [last_id, {cut: start}, {token: accepted, status: null}]
- [last_id, {body: <p>}, {token: accepted, status: 200}]
""")


@pytest.mark.parametrize(("pagination", "on_page_2", "expected"), TWO_PAGES)
def test_an_account_of_two_pages(paged, pagination, on_page_2, expected):
    paged.fail(Fault(**on_page_2), page=2)
    found = report(paged, pagination=pagination)
    assert {**found, **expected} == found


FAILURES = yaml.safe_load("""
- [{status: 401}, {error_code: unauthorized, status: 401, token: rejected}]
- [{status: 403}, {error_code: forbidden, token: 'may lack the scope servers:read'}]
- - {status: 429, retry_after: 9}
  - {error_code: rate_limited, as_documented: null, headers: {Retry-After: '9'}}
- [{cut: start}, {error_code: unreachable, token: not known, has_more: null, servers: null}]
- [{data: [customer-database]}, {error_code: malformed_response, as_documented: false}]
""")


@pytest.mark.parametrize(("fault", "expected"), FAILURES)
def test_a_failure_is_a_result(api, fault, expected):
    api.fail(Fault(**fault))
    result = check(api)
    found = result["report"]
    assert result["works"] is False
    assert result["msg"].startswith(result["error"]["message"])
    assert result["error"]["code"] == found["error_code"]
    assert {**found, **expected} == found


DEVIATIONS = yaml.safe_load("""
- created_at does not have the documented form (1)
- ipv4 does not have the documented form (2)
- region is missing (1)
- status is not text (2)
""")


def test_deviations_are_counted_without_values(api):
    odd = {**SERVER, "ipv4": "customer-database", "status": ["customer-database"]}
    later = {**odd, "id": "srv_2", "created_at": "2026-01-15T09:30:00Z."}
    del later["region"]
    api.servers = [odd, later]
    found = report(api)
    assert found["as_documented"] is False
    assert found["deviations"] == DEVIATIONS


def test_deviations_are_reported_although_the_listing_fails(api):
    del api.servers[0]["id"]
    found = report(api)
    assert found["error_code"] == "malformed_response"
    assert found["deviations"] == ["id is missing (1)"]


LINKS = yaml.safe_load("""
- ['<http://localhost:9/a?starting_after=srv_0a1b2c3d&limit=9>; rel="next"',
   'next (starting_after, limit)']
- ['</a>; rel=next, </b?page=1>; title="a, b"; rel="prev first"', 'next, prev first (page)']
- ['</a?srv_0a1b2c3d>; rel="next"', next]
- ['</a?t0ken-of-the-real-account=1>; rel="next"', next (********)]
- ['</a>; rel="https://localhost/srv_0a1b2c3d"', '']
- [customer-database, '']
""")
# A pattern that is not linear takes half a minute for 64,000 signs.
SIGNS = pytest.param("<" * 64_000, "", id="signs", marks=pytest.mark.timeout(10))
LONG = pytest.param(f"</a>; rel=next, </{'a' * 5_000}>; rel=prev", "next", id="cut")
LINKS += [SIGNS, LONG]


@pytest.mark.parametrize(("header", "link"), LINKS)
def test_a_link_is_described_without_its_values(api, header, link):
    api.fail(Fault(link=header))
    assert report(api)["headers"] == {"Link": link}


def test_without_the_library_requests_the_report_names_it(api, monkeypatch):
    monkeypatch.setitem(sys.modules, "requests", None)
    assert report(api)["error_code"] == "missing_library"
