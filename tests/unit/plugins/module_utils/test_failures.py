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
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    TimedOut,
    TLSFailed,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._failures import (
    retry_after,
    status_error,
    transport_error,
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

CAUSES: list[tuple[BaseException, type[CloudError], str]] = [
    (socket.gaierror(-2, "Name or service not known"), Unreachable, "the name does not resolve"),
    (ConnectionRefusedError(111, "Connection refused"), Unreachable, "connection refused"),
    (OSError(113, "No route to host\x1b"), Unreachable, "no route to host"),
    (TimeoutError("timed out"), TimedOut, "within 2.5 s"),
    (TimeoutError(110, "Connection timed out"), TimedOut, "within 2.5 s"),
    (ssl.SSLError(1, "[SSL: TLSV1_ALERT_X] x (_ssl.c:1)"), TLSFailed, "x"),
    (VERIFICATION, TLSFailed, "failed: IP address mismatch."),
    (ssl.SSLEOFError(8, "EOF occurred"), Unreachable, "eof occurred"),
    (OSError("Tunnel connection failed: 407 No"), Unreachable, "tunnel connection failed: 407 no"),
    (OSError("no CA certificate bundle at /x"), TLSFailed, "no CA certificate bundle at /x"),
    (EOFError(), Unreachable, "closed before the end of the response"),
]


@pytest.mark.parametrize("how", ["argument", "reason", "cause", "context"])
@pytest.mark.parametrize(("cause", "kind", "words"), CAUSES, ids=[repr(c[0]) for c in CAUSES])
def test_the_cause_is_found_in_any_wrapping(
    cause: BaseException, kind: type[CloudError], words: str, how: str
) -> None:
    error = transport_error(_wrapped(cause, how), "https://h/x", 2.5, proxy=None, encrypted=False)
    assert error.__class__ is kind
    assert words in error.message
    assert "h:443" in error.message
    assert error.message.isprintable()
    assert error.next_step


def test_a_cycle_of_causes_is_handled() -> None:
    first, second = OSError(), RuntimeError()
    first.__context__, second.__context__ = second, first
    error = transport_error(first, "http://h", 1, proxy="proxy:8080", encrypted=False)
    assert "h:80 through the proxy proxy:8080: the connection was closed" in error.message


def test_a_reason_of_openssl_is_shown_as_words() -> None:
    cause = ssl.SSLError(1, "")
    cause.reason = "NO_CERTIFICATE_OR_CRL_FOUND"
    error = transport_error(cause, "https://h", 1, proxy=None, encrypted=True)
    assert "failed: no certificate or crl found." in error.message


def test_a_wrong_host_name_reported_by_urllib3_is_a_tls_error() -> None:
    cause = RuntimeError(ValueError("hostname 'h' doesn't match 'g'"))
    error = transport_error(cause, "https://h", 1, proxy=None, encrypted=True)
    assert isinstance(error, TLSFailed)
    assert "hostname 'h' doesn't match 'g'" in error.message


NOW = datetime(2026, 3, 1, 12, 0, tzinfo=timezone.utc)
RETRY_AFTER: list[tuple[str, Any]] = [
    ("0", 0),
    (" 120 ", 120),
    ("999999999999999999", 1e18),
    ("Sun, 01 Mar 2026 12:00:30 GMT", 30),
    ("Sunday, 01-Mar-26 12:00:30 GMT", 30),
    ("Sun Mar  1 12:00:30 2026", 30),
    ("Sun, 01 Mar 2026 13:00:30 +0100", 30),
    ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
    ("Fri, 31 Dec 9999 23:59:59 GMT", pytest.approx(251_612_999_999, rel=0.1)),
    ("", None),
    ("-5", None),
    ("1.5", None),
    ("٣", None),
    ("soon", None),
    ("Sun, 99 Mar 2026 12:00:30 GMT", None),
    ("1" * 19, 1e18),
    ("9" * 4000, 1e18),
    ("," * 100, None),
]


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland", "America/New_York"])
@pytest.mark.parametrize(("value", "seconds"), RETRY_AFTER)
def test_retry_after_is_seconds_or_a_date(
    monkeypatch: pytest.MonkeyPatch, value: str, seconds: float | None, zone: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        monkeypatch.setattr(time, "time", NOW.timestamp)
        assert retry_after(value) == seconds
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=40))
def test_any_retry_after_gives_none_or_seconds(value: str) -> None:
    seconds = retry_after(value)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize("status", range(100, 1000, 7))
def test_every_status_has_an_error(status: int) -> None:
    headers: dict[str, Any] = {"Retry-After": "9", "Content-Type": "text/plain"}
    error = status_error(status, headers, b"text", "https://h/x")
    assert error.status == status
    assert error.retry_after == 9
    assert error.message.endswith(" It asks to wait 9 s.")
    assert f"(HTTP {status})" in error.message
    assert error.next_step
    assert ('with the response "text".' in error.message) == (not 300 <= status < 400)


RESET = ConnectionResetError(104, "Connection reset by peer")
NOT_HTTP = http.client.BadStatusLine("\x15\x03\x03\x00\x02\x02F")


@pytest.mark.parametrize(
    ("cause", "url", "proxy", "hints"),
    [
        (NOT_HTTP, "http://h", None, True),
        (NOT_HTTP, "http://h", "proxy:80", False),
        (RESET, "http://h", None, True),
        (RESET, "https://h", None, False),
        (http.client.BadStatusLine("SSH-2.0"), "http://h", None, False),
    ],
)
def test_http_on_a_port_with_tls_hints_at_https(
    cause: Exception, url: str, proxy: str | None, hints: bool
) -> None:
    error = transport_error(cause, url, 1, proxy=proxy, encrypted=False)
    assert ("https" in error.next_step) == hints


@pytest.mark.parametrize(
    ("status", "body", "hints"),
    [
        (400, b"<h1>The plain HTTP request was sent to HTTPS port</h1>", True),
        (400, b"You're speaking plain HTTP to an SSL-enabled server port.", True),
        (400, b"Client sent an HTTP request to an HTTPS server.\n", True),
        (400, b"bad request", False),
        (404, b"https", False),
    ],
)
def test_a_web_server_that_requires_tls_is_recognized(
    status: int, body: bytes, hints: bool
) -> None:
    error = status_error(status, {"Content-Type": "text/html"}, body, "http://h/x")
    assert ("Write https" in error.next_step) == hints
    assert "Write https" not in status_error(status, {}, body, "https://h/x").next_step
