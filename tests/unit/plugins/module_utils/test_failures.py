# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import http.client
import socket
import ssl
import time
from datetime import datetime, timezone
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _failures
from ansible_collections.server_management.cloud.plugins.module_utils._errors import StatusError
from ansible_collections.server_management.cloud.plugins.module_utils._failures import (
    retry_after,
    transport_error,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from ansible_collections.server_management.cloud.plugins.module_utils._url import (
    Request,
    Response,
    Route,
)


def _wrapped(cause: BaseException, how: str) -> Exception:
    """Wrap an exception as the libraries do: in its arguments, as a reason, or by raising."""
    if how == "argument":
        return RuntimeError(RuntimeError("pool", cause))
    outer = RuntimeError("pool")
    if how == "reason":
        outer.reason = cause  # type: ignore[attr-defined]
    elif how == "cause":
        outer.__cause__ = cause
    else:
        outer.__context__ = cause
    return RuntimeError(outer)


VERIFICATION = ssl.SSLCertVerificationError(1, "certificate verify failed")
VERIFICATION.verify_message = "IP address mismatch."

NO_CERTIFICATE = ssl.SSLError(1, "")
NO_CERTIFICATE.reason = "NO_CERTIFICATE_OR_CRL_FOUND"

CAUSES: list[tuple[BaseException, str, str]] = [
    (socket.gaierror(-2, "Name or service not known"), "unreachable", "the name does not resolve"),
    (ConnectionRefusedError(111, "Connection refused"), "unreachable", "connection refused"),
    (TimeoutError("timed out"), "timeout", "within 2.5 s"),
    (TimeoutError(110, "Connection timed out"), "timeout", "within 2.5 s"),
    (ssl.SSLError(1, "[SSL: TLSV1_ALERT_X] x (_ssl.c:1)"), "tls", "x"),
    (VERIFICATION, "tls", "failed: IP address mismatch."),
    (NO_CERTIFICATE, "tls", "failed: no certificate or crl found."),
    (ssl.SSLEOFError(8, "EOF occurred"), "unreachable", "the connection was closed"),
    (OSError("Tunnel connection failed: 502 No"), "unreachable", "tunnel connection failed: 502"),
    (OSError("Tunnel connection failed: 407 No"), "unexpected_status", "requires a user"),
    (http.client.LineTooLong("header"), "unreachable", "the response is not valid HTTP"),
    (http.client.IncompleteRead(b""), "unreachable", "closed before the end of the response"),
    (EOFError(), "unreachable", "closed before the end of the response"),
]


@pytest.mark.parametrize("how", ["argument", "reason", "cause", "context"])
@pytest.mark.parametrize(("cause", "code", "words"), CAUSES, ids=[repr(c[0]) for c in CAUSES])
def test_the_cause_is_found_in_any_wrapping(
    cause: BaseException, code: str, words: str, how: str
) -> None:
    error = transport_error(_wrapped(cause, how), Route("https://h/x"), 2.5, False)
    assert error.code == code
    assert words in error.message
    assert error.message.isprintable()
    assert error.next_step


@pytest.mark.parametrize(
    ("encrypted", "code", "words"),
    [
        # What urllib3 before version 2 raises for a wrong host name.
        (True, "tls", "hostname 'h' doesn't match 'g'"),
        (False, "unreachable", "the response is not valid HTTP"),
    ],
)
def test_an_invalid_value_is_a_tls_error_only_with_tls(
    encrypted: bool, code: str, words: str
) -> None:
    cause = ValueError("hostname 'h' doesn't match 'g'")
    error = transport_error(cause, Route("https://h"), 1, encrypted)
    assert error.code == code
    assert words in error.message


NOW = datetime(2026, 3, 1, 12, 0, tzinfo=timezone.utc)
RETRY_AFTER: list[tuple[str, Any]] = [
    ("0", 0),
    (" 120 ", 120),
    ("Sun, 01 Mar 2026 12:00:30 GMT", 30),
    ("Sunday, 01-Mar-26 12:00:30 GMT", 30),
    ("Sun Mar  1 12:00:30 2026", 30),
    ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
    ("Fri, 31 Dec 9999 23:59:59 GMT", pytest.approx(251_612_999_999, rel=0.1)),
    ("", None),
    ("٣", None),
    ("soon", None),
    ("Sun, 99 Mar 2026 12:00:30 GMT", None),
    ("9" * 4000, 1e18),
]


@pytest.mark.parametrize(("value", "seconds"), RETRY_AFTER)
def test_retry_after_is_seconds_or_a_date(
    monkeypatch: pytest.MonkeyPatch, value: str, seconds: float | None
) -> None:
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        monkeypatch.setattr(time, "time", NOW.timestamp)
        assert retry_after(value) == seconds
    finally:
        monkeypatch.undo()
        time.tzset()


REQUEST = Request("GET", "/things", "things:read", "list of things", next_step="Look elsewhere.")
TOKEN = 'sk/live+"7\\q%&<>~aZ_longer-token=='


def status_error(
    status: int, body: bytes = b"", token: str = TOKEN, base_url: str = "https://h", **headers: str
) -> StatusError:
    """Return the error for a status; underscores in the names of headers become hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection = Connection(base_url, token, token_origin="api_token_file", token_path="/token")
    route = Route(f"{base_url}/things", "proxy:80")
    response = Response(status, named, body, 0.1, route)
    return _failures.status_error(response, REQUEST, connection)


STATUSES = [
    (101, "unexpected_status", "The API returned an unexpected status (HTTP 101).", "elsewhere."),
    (300, "redirected", "The API redirects to nowhere, which is not followed", "base_url"),
    (400, "unexpected_status", "The API returned an unexpected status (HTTP 400).", "elsewhere."),
    (401, "unauthorized", "The API rejected the token (HTTP 401).", "api_token_file (/token)"),
    (403, "forbidden", "(HTTP 403); the token may lack the scope things:read.", "(/token)"),
    (404, "not_found", "has no list of things at https://h/things (HTTP 404).", "Look elsewhere."),
    (
        407,
        "unexpected_status",
        "The proxy proxy:80 requires a user",
        "http_proxy, https_proxy and all_pr",
    ),
    (429, "rate_limited", "The API is throttling requests (HTTP 429).", "Run again later"),
    (500, "server_error", "The API is failing (HTTP 500).", "Run again later"),
    (599, "server_error", "The API is failing (HTTP 599).", "Run again later"),
]


@pytest.mark.parametrize(("status", "code", "message", "next_step"), STATUSES)
def test_each_status_has_its_error(status: int, code: str, message: str, next_step: str) -> None:
    error = status_error(status)
    assert (error.code, error.status) == (code, status)
    assert message in error.message
    assert next_step in error.next_step


@pytest.mark.parametrize("status", [400, 403, 404, 429, 503])
def test_the_response_and_the_wait_are_quoted(status: int) -> None:
    error = status_error(status, b"over quota", Retry_After="9")
    assert error.retry_after == 9
    assert error.message.endswith(' It asks to wait 9 s. The response is "over quota".')
    html = status_error(status, b"<p>over quota", Content_Type="text/html; charset=utf-8")
    assert "quota" not in html.message


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"two\r\nlines\tand  more", "two lines and more"),
        (b"\xff\xfe latin", "\ufffd\ufffd latin"),
        (b"x" * 161, "x" * 157 + "..."),
        (b"x" * 160, "x" * 160),
    ],
)
def test_a_body_is_quoted_short_and_on_one_line(body: bytes, shown: str) -> None:
    assert f'The response is "{shown}".' in status_error(400, body).message


def test_the_target_of_a_redirect_is_shown() -> None:
    message = status_error(302, Location="/sch\xc3\xb6n\tb\x1b[1m" + "x" * 300).message
    assert message.startswith('The API redirects to "/schön b [1mx')
    assert len(message) < 250


@pytest.mark.promise("secret")
@pytest.mark.parametrize("before", [100, 140, 155, 160])
def test_a_quotation_is_redacted_before_it_is_cut(before: int) -> None:
    message = status_error(400, b"x" * before + TOKEN.encode() + b" and more").message
    assert not any(TOKEN[start : start + 4] in message for start in range(len(TOKEN) - 3))


@pytest.mark.promise("secret")
def test_a_short_token_is_replaced_in_quotations_only() -> None:
    message = status_error(403, b"not for a read", token="read").message
    assert "the scope things:read. " in message
    assert message.endswith('The response is "not for a ********".')


@pytest.mark.promise("secret")
def test_the_query_of_a_link_is_not_shown() -> None:
    connection = Connection("https://h", TOKEN)
    link = REQUEST._replace(link="https://h/x?secret=1")
    assert _failures.shown_url(link, connection) == "https://h/x?..."
    query = REQUEST._replace(query=(("after", "a b"), ("token", TOKEN)))
    assert _failures.shown_url(query, connection) == "https://h/things?after=a+b&token=********"


RESET = ConnectionResetError(104, "Connection reset by peer")
NOT_HTTP = http.client.BadStatusLine("\x15\x03\x03\x00\x02\x02F")


@pytest.mark.parametrize(
    ("cause", "url", "proxy", "hints"),
    [
        (NOT_HTTP, "http://h", None, True),
        (NOT_HTTP, "http://h", "proxy:80", False),
        (RESET, "http://h", None, True),
        (RESET, "https://h", None, False),
    ],
    ids=str,
)
def test_http_on_a_port_with_tls_hints_at_https(
    cause: Exception, url: str, proxy: str | None, hints: bool
) -> None:
    error = transport_error(cause, Route(url, proxy), 1, False)
    assert ("https" in error.next_step) == hints


@pytest.mark.parametrize(
    ("status", "body", "hints"),
    [
        (400, b"<h1>The plain HTTP request was sent to HTTPS port</h1>", True),
        (400, b"You're speaking plain HTTP to an SSL-enabled server port.", True),
        (400, b"bad request", False),
        (404, b"https", False),
    ],
)
def test_a_web_server_that_requires_tls_is_recognized(
    status: int, body: bytes, hints: bool
) -> None:
    error = status_error(status, body, base_url="http://h", Content_Type="text/html")
    assert ("Write https" in error.next_step) == hints
    assert "Write https" not in status_error(status, body).next_step
