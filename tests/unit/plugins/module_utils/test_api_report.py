# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import json
import time
from types import SimpleNamespace

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _api_report, _http
from sandbox import Fault, Sandbox
from support.modules import WEB, run_module

TOKEN = "t0ken-of-the-real-account"
SERVER = {**WEB, "id": "srv_0a1b2c3d", "name": "customer-database", "ipv4": "203.0.113.7"}
PRIVATE = ["srv_0a1b2c3d", "customer-database", "203.0.113.7", TOKEN, "127.0.0.1", "localhost"]


@pytest.fixture
def api():
    """Serve one documented server."""
    with Sandbox(servers=[dict(SERVER)], token=TOKEN) as sandbox:
        yield sandbox


def run(api, **options):
    """Return the result; check that the report is not private and that few requests were sent."""
    before = len(api.requests)
    given = {"base_url": api.url, "api_token": TOKEN, **options}
    outcome = run_module("api_info", given)
    result = outcome.result
    assert not outcome.failed
    assert result["works"] is ("error" not in result)
    assert result["works"] is ("msg" not in result)
    report = json.dumps(result["report"])
    for text in PRIVATE:
        assert text not in report
    assert str(api.port) not in report
    sent = api.requests[before:]
    assert {request.method for request in sent} == {"GET"}
    assert len(sent) == result["report"]["requests"] <= 3
    return result


def report(api, **options):
    """Return the report alone."""
    return run(api, **options)["report"]


def test_an_account_as_documented(api):
    found = report(api)
    assert found.pop("versions")["collection"]
    assert found.pop("milliseconds") >= 0
    assert abs(found.pop("clock_skew")) <= 1
    assert found == {
        "tls": "not used",
        "token": "accepted",
        "status": 200,
        "error_code": None,
        "requests": 1,
        "as_documented": True,
        "deviations": [],
        "further_fields": {},
        "servers": 1,
        "distinct": {"statuses": 1, "plans": 1, "regions": 1},
        "has_more": False,
        "link": "none",
        "headers": {},
    }


def test_values_are_shown_on_request(api):
    api.servers.append({**SERVER, "id": "srv_2", "plan": "large", "region": "a\nb"})
    assert "value_counts" not in report(api)
    assert report(api, show_values=True)["value_counts"] == {
        "statuses": {"running": 2},
        "plans": {"small": 1, "large": 1},
        "regions": {"eu": 1, "a b": 1},
    }


def test_further_fields_are_named_and_counted(api):
    api.servers[0] |= {"disk_gb": 20, "a\x1b[1m": 2}
    assert report(api)["further_fields"] == {"disk_gb": 1, "a [1m": 1}


def test_standard_headers_are_shown(api):
    shown = {
        "RateLimit": "1",
        "RateLimit-Policy": "2",
        "RateLimit-Limit": "3",
        "RateLimit-Remaining": "4",
        "RateLimit-Reset": "5",
        "X-RateLimit-Limit": "6",
        "X-RateLimit-Remaining": "7",
        "X-RateLimit-Reset": "8",
        "Deprecation": "9",
        "Sunset": "10",
        "Retry-After": "11",
    }
    others = {"X-RateLimit-Key": "customer-database", "X-Request-Id": "customer-database"}
    api.fail(Fault(headers={**shown, **others}))
    assert report(api)["headers"] == shown


def test_a_header_is_one_line_without_the_token(api):
    api.fail(Fault(headers={"ratelimit": f"1\t{TOKEN}"}))
    assert report(api)["headers"] == {"RateLimit": "1 ********"}


def test_three_pages_are_read_if_pagination_is_set():
    with Sandbox(servers=9, token=TOKEN, pagination="cursor", page_size=2) as paged:
        without = run(paged)
        found = report(paged, pagination="cursor")
    assert without["report"]["error_code"] == "incomplete_listing"
    assert without["report"]["as_documented"]
    assert found["requests"] == 3
    assert found["servers"] == 6
    assert found["has_more"]


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Fault(status=500, body="{token} customer-database"), 500),
        (Fault.reset(), None),
        (Fault.html(), 200),
    ],
)
def test_the_status_is_the_one_of_the_last_response(fault, status):
    with Sandbox(servers=3, token=TOKEN, pagination="link", page_size=2) as paged:
        paged.fail(fault, page=2)
        found = report(paged, pagination="link")
    assert found["requests"] == 2
    assert found["status"] == status


def test_whether_there_are_more_servers_is_in_the_last_response():
    with Sandbox(servers=3, token=TOKEN, pagination="link", page_size=2) as paged:
        found = report(paged, pagination="link")
    assert found["requests"] == 2
    assert found["has_more"] is False


def test_a_token_is_accepted_if_only_a_later_page_fails():
    with Sandbox(servers=3, token=TOKEN, pagination="link", page_size=2) as paged:
        paged.fail(Fault(status=500), page=2)
        found = report(paged, pagination="link")
    assert found["token"] == "accepted"


def test_the_duration_is_the_one_of_the_last_request(clock, monkeypatch):
    def slow_pieces(raw):
        clock.now += 5
        yield raw.read(decode_content=True)

    monkeypatch.setattr(_http, "time", clock)
    monkeypatch.setattr(_http, "_pieces", slow_pieces)
    with Sandbox(servers=3, token=TOKEN, pagination="link", page_size=2) as paged:
        found = report(paged, pagination="link")
    assert found["requests"] == 2
    assert found["milliseconds"] == 5000


def test_the_skew_is_positive_if_the_clock_of_the_api_is_ahead(api, monkeypatch):
    an_hour_ago = SimpleNamespace(time=lambda: time.time() - 3600)
    monkeypatch.setattr(_api_report, "time", an_hour_ago)
    assert report(api)["clock_skew"] == pytest.approx(3600, abs=2)


@pytest.mark.parametrize(
    ("fault", "code", "expected"),
    [
        (Fault(status=401), "unauthorized", {"status": 401, "token": "rejected"}),
        (Fault(status=403), "forbidden", {"token": "may lack the scope servers:read"}),
        (
            Fault(status=429, retry_after=5),
            "rate_limited",
            {"headers": {"Retry-After": "5"}, "requests": 1, "as_documented": None},
        ),
        (Fault.reset(), "unreachable", {"token": "not known", "has_more": None, "servers": None}),
        (Fault(data=["customer-database"]), "malformed_response", {"as_documented": False}),
    ],
    ids=["token", "scope", "limit", "connection", "element"],
)
def test_a_failure_is_a_result(api, fault, code, expected):
    api.fail(fault)
    result = run(api)
    found = result["report"]
    assert result["error"]["code"] == code
    assert result["error"]["message"] in result["msg"]
    assert found["error_code"] == code
    assert {**found, **expected} == found


def test_deviations_are_counted_without_values(api):
    odd = {**SERVER, "ipv4": "customer-database", "status": ["customer-database"]}
    api.fail(Fault(data=[odd, {**odd, "id": "srv_2", "created_at": "now"}, {"id": "srv_3"}]))
    found = report(api)
    assert not found["as_documented"]
    assert found["deviations"] == [
        "created_at does not have the documented form (1)",
        "created_at is missing (1)",
        "ipv4 does not have the documented form (2)",
        "ipv4 is missing (1)",
        "name is missing (1)",
        "plan is missing (1)",
        "region is missing (1)",
        "status is missing (1)",
        "status is not text (2)",
    ]


@pytest.mark.parametrize(
    ("header", "link"),
    [
        ('<http://localhost:9/a>; rel="next"', 'rel="next" to another origin'),
        ('</a>; rel="next"', 'rel="next" to the same origin'),
        ('</a>; rel="last"', 'without rel="next"'),
    ],
)
def test_a_link_is_described_without_its_address(api, header, link):
    api.fail(Fault(link=header))
    assert report(api)["link"] == link


@pytest.mark.parametrize(("validate", "tls"), [(True, "verified"), (False, "not verified")])
def test_the_report_says_whether_tls_is_verified(validate, tls):
    connection = {"base_url": "https://127.0.0.1:9", "api_token": TOKEN}
    result = run_module("api_info", {**connection, "validate_certs": validate}).result
    assert result["report"]["tls"] == tls
    assert result["error"]["code"] == "unreachable"
