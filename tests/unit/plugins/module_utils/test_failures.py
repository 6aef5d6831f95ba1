# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import http.client
import socket
import ssl
import time
from datetime import datetime, timezone

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._failures import (
    retry_after,
    shown_url,
    status_error,
    transport_error,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from ansible_collections.server_management.cloud.plugins.module_utils._url import (
    Request,
    Response,
    Route,
)

# Exceptions of a request.


def wrap(cause, how):
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


MISMATCH = ssl.SSLCertVerificationError(1, "certificate verify failed")
MISMATCH.verify_message = "IP address mismatch."
NO_CERTIFICATE = ssl.SSLError(1, "")
NO_CERTIFICATE.reason = "NO_CERTIFICATE_OR_CRL_FOUND"
CLOSED = "the connection was closed before the end of the response"
CAUSES = [
    (socket.gaierror(-2, "Name or service not known"), "unreachable", "the name does not resolve"),
    (ConnectionRefusedError(111, "Connection refused"), "unreachable", "connection refused"),
    (TimeoutError("timed out"), "timeout", "within 2.5 s"),
    (ssl.SSLError(1, "[SSL: TLSV1_ALERT_X] x (_ssl.c:1)"), "tls", "x"),
    (MISMATCH, "tls", "failed: IP address mismatch."),
    (NO_CERTIFICATE, "tls", "failed: no certificate or crl found."),
    (ssl.SSLEOFError(8, "EOF occurred"), "unreachable", CLOSED),
    (OSError("Tunnel connection failed: 502 No"), "unreachable", "tunnel connection failed: 502"),
    (OSError("Tunnel connection failed: 407 No"), "unexpected_status", "requires a user"),
    (http.client.LineTooLong("header"), "unreachable", "the response is not valid HTTP"),
    (http.client.IncompleteRead(b""), "unreachable", CLOSED),
    (EOFError(), "unreachable", CLOSED),
]


@pytest.mark.parametrize("how", ["argument", "reason", "cause", "context"])
@pytest.mark.parametrize(("cause", "code", "words"), CAUSES)
def test_the_cause_is_found_in_any_wrapping(cause, code, words, how):
    error = transport_error(wrap(cause, how), Route("https://h/x"), 2.5)
    assert error.code == code
    assert words in error.message
    assert error.message.isprintable()
    assert error.next_step


@pytest.mark.parametrize(
    ("is_tls", "message"),
    [
        # What urllib3 before version 2 raises for a wrong host name.
        (True, "TLS with h:443 failed: hostname 'h' doesn't match 'g'."),
        (False, "Cannot reach h:443: the response is not valid HTTP."),
    ],
)
def test_an_invalid_value_is_a_tls_error_only_with_tls(is_tls, message):
    cause = ValueError("hostname 'h' doesn't match 'g'")
    assert transport_error(cause, Route("https://h"), 1, is_tls).message == message


RESET = ConnectionResetError(104, "Connection reset by peer")
NOT_HTTP = http.client.BadStatusLine("\x15\x03\x03\x00\x02\x02F")


@pytest.mark.parametrize(
    ("cause", "url", "proxy", "advises"),
    [
        (NOT_HTTP, "http://h", None, True),
        (NOT_HTTP, "http://h", "proxy:80", False),
        (RESET, "http://h", None, True),
        (RESET, "https://h", None, False),
    ],
)
def test_http_on_a_port_with_tls_advises_https(cause, url, proxy, advises):
    error = transport_error(cause, Route(url, proxy), 1)
    assert ("write https in base_url" in error.next_step) is advises


# Responses.


RETRY_AFTER = [
    ("0", 0.0),
    (" 120 ", 120.0),
    ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
    ("Sunday, 01-Mar-26 12:00:30 GMT", 30.0),
    ("Sun Mar  1 12:00:30 2026", 30.0),
    ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
    ("", None),
    ("٣", None),
    ("soon", None),
    ("Sun, 99 Mar 2026 12:00:30 GMT", None),
    ("9" * 4000, 1e18),
]


@pytest.mark.parametrize(("value", "seconds"), RETRY_AFTER)
def test_retry_after_is_seconds_or_a_date(monkeypatch, value, seconds):
    noon = datetime(2026, 3, 1, 12, 0, tzinfo=timezone.utc)
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    try:
        monkeypatch.setattr(time, "time", noon.timestamp)
        assert retry_after(value) == seconds
    finally:
        monkeypatch.undo()
        time.tzset()


REQUEST = Request("GET", "/things", "things:read", "list of things", next_step="Look elsewhere.")
TOKEN = 'sk/live+"7\\q%&<>~aZ_longer-token=='
CONNECTION = Connection("https://h", TOKEN, token_origin="api_token_file", token_path="/token")


def error_of(status, body=b"", headers=None, url="https://h/things", connection=CONNECTION):
    """Return the error for a response through a proxy."""
    response = Response(status, headers or {}, body, 0.1, Route(url, "proxy:80"))
    return status_error(response, REQUEST, connection)


STATUSES = [
    (101, "unexpected_status", "returned an unexpected status (HTTP 101).", "Look elsewhere."),
    (300, "redirected", "redirects to nowhere, which is not followed (HTTP 300).", "base_url"),
    (400, "unexpected_status", "returned an unexpected status (HTTP 400).", "Look elsewhere."),
    (401, "unauthorized", "rejected the token (HTTP 401).", "Check api_token_file (/token)"),
    (403, "forbidden", "(HTTP 403); the token may lack the scope things:read.", "(/token)"),
    (404, "not_found", "has no list of things at https://h/things (HTTP 404).", "Look elsewhere."),
    (407, "unexpected_status", "The proxy proxy:80 requires a user", "http_proxy, https_proxy and"),
    (429, "rate_limited", "is throttling requests (HTTP 429).", "Run again later"),
    (500, "server_error", "is failing (HTTP 500).", "Run again later"),
    (599, "server_error", "is failing (HTTP 599).", "Run again later"),
    (600, "unexpected_status", "returned an unexpected status (HTTP 600).", "Look elsewhere."),
]


@pytest.mark.parametrize(("status", "code", "message", "next_step"), STATUSES)
def test_each_status_has_its_error(status, code, message, next_step):
    error = error_of(status)
    assert error.status == status
    assert error.code == code
    assert message in error.message
    assert next_step in error.next_step


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 407, 429, 503])
def test_the_response_and_the_wait_are_quoted(status):
    error = error_of(status, b"over quota", {"Retry-After": "9"})
    assert error.retry_after == 9
    assert error.message.endswith(' It asks to wait 9 s. The response is "over quota".')


def test_a_web_page_is_not_quoted():
    page = error_of(403, b"<p>over quota", {"Content-Type": "text/HTML; charset=utf-8"})
    assert "quota" not in page.message


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"two\r\nlines\tand  more", "two lines and more"),
        (b"\xff\xfe latin", "\ufffd\ufffd latin"),
        (b"x" * 161, "x" * 157 + "..."),
        (b"x" * 160, "x" * 160),
    ],
)
def test_a_body_is_quoted_short_and_on_one_line(body, shown):
    assert f'The response is "{shown}".' in error_of(400, body).message


def test_the_target_of_a_redirect_is_shown():
    message = error_of(302, headers={"Location": "/sch\xc3\xb6n\tb\x1b[1m" + "x" * 300}).message
    assert message.startswith('The API redirects to "/schön b [1mx')
    assert len(message) < 250


@pytest.mark.parametrize("before", [100, 140, 155, 160])
def test_a_quotation_is_redacted_before_it_is_cut(before):
    message = error_of(400, b"x" * before + TOKEN.encode() + b" and more").message
    assert "sk/l" not in message
    assert "oken" not in message


def test_a_short_token_is_replaced_in_quotations_only():
    connection = CONNECTION._replace(api_token="read")
    message = error_of(403, b"not for a read", connection=connection).message
    assert "the scope things:read. " in message
    assert message.endswith('The response is "not for a ********".')


def test_the_query_of_a_link_is_not_shown():
    link = REQUEST._replace(link="https://h/x?secret=1")
    assert shown_url(link, CONNECTION) == "https://h/x?..."
    query = REQUEST._replace(query=(("after", "a b"), ("token", TOKEN)))
    assert shown_url(query, CONNECTION) == "https://h/things?after=a+b&token=********"


PLAIN_HTTP = b"<h1>The plain HTTP request was sent to HTTPS port</h1>"


@pytest.mark.parametrize(
    ("status", "url", "body", "advises"),
    [
        (400, "http://h", PLAIN_HTTP, True),
        (400, "http://h", b"You're speaking plain HTTP to an SSL-enabled server port.", True),
        (400, "http://h", b"bad request", False),
        (404, "http://h", PLAIN_HTTP, False),
        (400, "https://h", PLAIN_HTTP, False),
    ],
)
def test_a_web_server_that_requires_tls_is_recognized(status, url, body, advises):
    error = error_of(status, body, url=url)
    assert error.next_step.startswith("Write https instead of http") is advises
