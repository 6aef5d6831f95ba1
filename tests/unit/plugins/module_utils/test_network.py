# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import socket
import ssl

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    TimedOut,
    TLSFailed,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._network import (
    is_loopback,
    origin,
    resolve,
    transport_error,
    where,
)

PAGE = "http://h/api/v1/servers?page=1"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h", ("http", "h", 80)),
        ("HTTPS://H/x", ("https", "h", 443)),
        ("https://h:8443", ("https", "h", 8443)),
        ("http://h:", ("http", "h", 80)),
        ("http://[::1]:8080/", ("http", "::1", 8080)),
        ("http://user@h", ("http", "user@h", 80)),
        ("ftp://h", ("ftp", "h", None)),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, expected: tuple[str, str, int | None]) -> None:
    assert origin(url) == expected


@pytest.mark.promise("home")
@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("?page=2", "http://h/api/v1/servers?page=2"),
        ("servers?page=2", "http://h/api/v1/servers?page=2"),
        ("/other", "http://h/other"),
        ("//h:80/x", "http://h:80/x"),
        ("http://H/x", "http://H/x"),
        ("https://h/x", None),
        ("//h:81/x", None),
        ("//other/x", None),
        ("http://user@h/x", None),
        ("http://@h/x", None),
        ("http://h:99999/", None),
        ("http://h:x/", None),
        ("http://[::1/", None),
        ("file:///etc/passwd", None),
        ("http://h\\@other/", None),
        ("\\\\other/x", None),
        ("/a b", None),
        ("/a\nb", None),
        ("\x00/a", None),
    ],
)
def test_a_reference_is_followed_within_its_origin_alone(
    reference: str, target: str | None
) -> None:
    assert resolve(PAGE, reference) == target


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("api.localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost.example.com", False),
        ("notlocalhost", False),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("", False),
    ],
)
def test_loopback_is_this_machine(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_where_names_host_and_port() -> None:
    assert where("https://h/x") == "h:443"
    assert where("http://[::1]:81") == "[::1]:81"


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
    (EOFError(), Unreachable, "closed before the end of the answer"),
]


@pytest.mark.parametrize("how", ["argument", "reason", "cause", "context"])
@pytest.mark.parametrize(("cause", "kind", "words"), CAUSES, ids=[repr(c[0]) for c in CAUSES])
def test_the_cause_is_found_however_it_is_wrapped(
    cause: BaseException, kind: type[CloudError], words: str, how: str
) -> None:
    error = transport_error(
        _wrapped(cause, how), "https://h/x", 2.5, proxied=False, encrypted=False
    )
    assert error.__class__ is kind
    assert words in error.message
    assert "h:443" in error.message
    assert error.message.isprintable()
    assert error.next_step


def test_a_circle_of_causes_has_an_end() -> None:
    first, second = OSError(), RuntimeError()
    first.__context__, second.__context__ = second, first
    error = transport_error(first, "http://h", 1, proxied=True, encrypted=False)
    assert "h:80 through the proxy: the connection was closed" in error.message


def test_the_name_that_openssl_has_for_it_reads_as_words() -> None:
    cause = ssl.SSLError(1, "")
    cause.reason = "NO_CERTIFICATE_OR_CRL_FOUND"
    error = transport_error(cause, "https://h", 1, proxied=False, encrypted=True)
    assert "failed: no certificate or crl found." in error.message


def test_a_host_name_that_urllib3_finds_wrong_is_a_failure_of_tls() -> None:
    cause = RuntimeError(ValueError("hostname 'h' doesn't match 'g'"))
    error = transport_error(cause, "https://h", 1, proxied=False, encrypted=True)
    assert isinstance(error, TLSFailed)
    assert "hostname 'h' doesn't match 'g'" in error.message
