# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox import Fault, Sandbox
from support.modules import WEB, run_module

TOKEN = "t0ken-of-the-real-account"
SERVER = {**WEB, "id": "srv_0a1b2c3d", "name": "customer-database", "ipv4": "203.0.113.7"}
PRIVATE = ("srv_0a1b2c3d", "customer-database", "203.0.113.7", TOKEN, "127.0.0.1", "localhost")


@pytest.fixture
def api() -> Iterator[Sandbox]:
    """Serve one documented server."""
    with Sandbox(servers=[dict(SERVER)], token=TOKEN) as sandbox:
        yield sandbox


def run(api: Sandbox, **options: Any) -> dict[str, Any]:
    """Return the result; check that the report is not private and that few requests were sent."""
    before = len(api.requests)
    given = {"base_url": api.url, "api_token": TOKEN, **options}
    outcome = run_module("api_info", given)
    result = outcome.result
    assert not outcome.failed
    assert result["works"] is ("error" not in result)
    assert result["works"] is ("msg" not in result)
    report = json.dumps(result["report"])
    assert not [text for text in (*PRIVATE, str(api.port)) if text in report]
    sent = api.requests[before:]
    assert {request.method for request in sent} == {"GET"}
    assert len(sent) == result["report"]["requests"] <= 3
    return result


def test_an_account_as_documented(api: Sandbox) -> None:
    report = run(api)["report"]
    assert report.pop("versions")["collection"]
    assert report.pop("milliseconds") >= 0
    assert abs(report.pop("clock_skew")) <= 1
    assert report == {
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


def test_values_are_shown_on_request(api: Sandbox) -> None:
    api.servers.append({**SERVER, "id": "srv_2", "plan": "large", "region": "a\nb"})
    assert "value_counts" not in run(api)["report"]
    counts = run(api, show_values=True)["report"]["value_counts"]
    assert counts["statuses"] == {"running": 2}
    assert counts["plans"] == {"small": 1, "large": 1}
    assert counts["regions"] == {"eu": 1, "a b": 1}


HEADERS = (
    *("RateLimit", "RateLimit-Policy", "Deprecation", "Sunset"),
    *("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"),
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
)


def test_further_fields_and_standard_headers_are_shown(api: Sandbox) -> None:
    api.servers[0] |= {"disk_gb": 20, "a\x1b[1m": 2}
    private = dict.fromkeys(("X-RateLimit-Key", "X-Request-Id"), "customer-database")
    shown = {name.lower(): f"1\t{name}" for name in HEADERS}
    api.fail(Fault(headers={**shown, **private, "Retry-After": api.token}))
    report = run(api)["report"]
    assert report["further_fields"] == {"disk_gb": 1, "a [1m": 1}
    headers = {name: f"1 {name}" for name in HEADERS}
    assert report["headers"] == {**headers, "Retry-After": "********"}


@pytest.mark.parametrize("style", ["link", "cursor"])
def test_three_pages_are_read_if_pagination_is_set(style: str) -> None:
    with Sandbox(servers=9, token=TOKEN, pagination=style, page_size=2) as api:
        without, result = run(api), run(api, pagination=style)
    assert without["error"]["code"] == without["report"]["error_code"] == "incomplete_listing"
    assert without["report"]["as_documented"]
    assert result["works"]
    report = result["report"]
    assert (report["requests"], report["servers"], report["has_more"]) == (3, 6, True)
    assert report["link"] == ('rel="next" to the same origin' if style == "link" else "none")


@pytest.mark.parametrize(
    ("fault", "status"), [(Fault(status=500), 500), (Fault.reset(), None), (Fault.html(), 200)]
)
def test_the_status_is_the_one_of_the_last_response(fault: Fault, status: int | None) -> None:
    with Sandbox(servers=3, token=TOKEN, pagination="link", page_size=2) as api:
        api.fail(fault, page=2)
        report = run(api, pagination="link")["report"]
    assert (report["requests"], report["status"]) == (2, status)


@pytest.mark.parametrize(
    ("fault", "code", "expected"),
    [
        (Fault(status=401), "unauthorized", {"status": 401, "token": "rejected"}),
        (Fault(status=403), "forbidden", {"token": "may lack the scope servers:read"}),
        (Fault(status=404), "not_found", {"status": 404, "token": "not known"}),
        (
            Fault(status=429, retry_after=5),
            "rate_limited",
            {"headers": {"Retry-After": "5"}, "requests": 1, "as_documented": None},
        ),
        (Fault(status=500, body="{token} customer-database"), "server_error", {"status": 500}),
        (Fault(status=302, location="http://localhost:9/x"), "redirected", {"status": 302}),
        (Fault.html(), "malformed_response", {"status": 200, "token": "not known"}),
        (Fault.hang(), "timeout", {"status": None, "has_more": None, "servers": None}),
        (Fault(has_more="no"), "malformed_response", {"has_more": None}),
        (Fault(data=["customer-database"]), "malformed_response", {"as_documented": False}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_failure_is_a_result(
    api: Sandbox, fault: Fault, code: str, expected: dict[str, Any]
) -> None:
    api.fail(fault, times=None)
    result = run(api, timeout=1 if code == "timeout" else 30)
    assert result["error"]["code"] == result["report"]["error_code"] == code
    assert result["error"]["message"] in result["msg"]
    assert {key: result["report"][key] for key in expected} == expected


def test_deviations_are_counted_without_values(api: Sandbox) -> None:
    odd = {**SERVER, "ipv4": "customer-database", "status": ["customer-database"]}
    api.fail(Fault(data=[odd, {**odd, "id": "srv_2", "created_at": "now"}, {"id": "srv_3"}]))
    result = run(api)
    assert result["works"]
    assert not result["report"]["as_documented"]
    assert set(result["report"]["deviations"]) == {
        *(f"{field} is missing (1)" for field in SERVER if field != "id"),
        "created_at does not have the documented form (1)",
        "ipv4 does not have the documented form (2)",
        "status is not text (2)",
    }


@pytest.mark.parametrize(
    ("fault", "link"),
    [
        (Fault(link='<http://localhost:9/a>; rel="next"'), 'rel="next" to another origin'),
        (Fault(link='</a>; rel="last"'), 'without rel="next"'),
    ],
)
def test_a_link_is_described_without_its_address(api: Sandbox, fault: Fault, link: str) -> None:
    api.fail(fault)
    assert run(api)["report"]["link"] == link


@pytest.mark.parametrize(("validate", "tls"), [(True, "verified"), (False, "not verified")])
def test_the_report_says_whether_tls_is_verified(validate: bool, tls: str) -> None:
    connection = {"base_url": "https://127.0.0.1:9", "api_token": TOKEN}
    result = run_module("api_info", {**connection, "validate_certs": validate}).result
    assert result["report"]["tls"] == tls
    assert result["error"]["code"] == "unreachable"
