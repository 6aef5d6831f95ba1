# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import http.client
import importlib.util
import socket
import ssl
import sys
import sysconfig
import time

import pytest
import urllib3
import yaml
from requests.exceptions import ConnectTimeout, InvalidHeader

from ansible_collections.server_management.cloud.plugins.module_utils import _failures, _request
from ansible_collections.server_management.cloud.plugins.module_utils._http import (
    CLOSED,
    transport_error,
)
from support.modules import connection_to

MISMATCH = ssl.SSLCertVerificationError(1, "certificate verify failed")
MISMATCH.verify_message = "IP address mismatch."
NO_CERTIFICATE = ssl.SSLError(1, "")
NO_CERTIFICATE.reason = "NO_CERTIFICATE_OR_CRL_FOUND"
REFUSED = ConnectionRefusedError(111, "Connection refused")
CAUSES = [
    (REFUSED, "unreachable", ": connection refused"),
    (socket.gaierror(-2, "Name or service not known"), "unreachable", "does not resolve"),
    (OSError("Tunnel connection failed: 502 No"), "unreachable", "connection failed: 502 no"),
    (OSError("Tunnel connection failed: 403"), "proxy_refused", "connection failed: 403"),
    (http.client.LineTooLong("header"), "unreachable", "not valid HTTP"),
    (InvalidHeader("two lengths"), "unreachable", "not valid HTTP"),
    (http.client.RemoteDisconnected("no response"), "unreachable", CLOSED),
    (http.client.IncompleteRead(b""), "unreachable", CLOSED),
    (ssl.SSLEOFError(8, "EOF occurred"), "unreachable", CLOSED),
    (ssl.SSLZeroReturnError(6, "closed"), "unreachable", CLOSED),
    (urllib3.exceptions.ProtocolError("Response ended prematurely"), "unreachable", CLOSED),
    (ssl.SSLError(1, "[X] x\n(_ssl.c:1)"), "tls", ": [X] x (_ssl.c:1)"),
    (NO_CERTIFICATE, "tls", ": no certificate or crl found"),
    # What urllib3 before version 2 raises for a wrong host name.
    (urllib3.exceptions.SSLError(ValueError("'h' is not 'g'")), "tls", ": 'h' is not 'g'"),
    (ConnectTimeout(TimeoutError()), "timeout", " within 3 s"),
    (TimeoutError("The handshake operation timed out"), "timeout", " within 3 s"),
    (TimeoutError(), "timeout", " within 9 s"),
]


def failure_of(error):
    """Return the error for an exception, if a connection has 3 seconds and a response 9."""
    return transport_error(error, "[::1]:81 through the proxy p:80", 3, 9)


@pytest.mark.parametrize(("cause", "code", "end"), CAUSES)
def test_a_cause_has_its_error_which_ends_with_it(cause, code, end):
    error = failure_of(RuntimeError("pool", cause))
    assert error.code == code
    assert error.message.endswith(f"{end}.")


FAILURES = [
    (
        http.client.IncompleteRead(b""),
        "Cannot reach [::1]:81 through the proxy p:80: the connection was closed before the end of "
        "the response. Check base_url (scheme, host and port), the network, and any firewall or "
        "proxy.",
    ),
    (
        MISMATCH,
        "TLS with [::1]:81 through the proxy p:80 failed: IP address mismatch. Check base_url "
        "(scheme, host and port), any proxy, and the clock of this machine. For a private CA, set "
        "ca_path to its PEM bundle. Python 3.13 and later check certificates strictly.",
    ),
    (
        TimeoutError(),
        "No complete response from [::1]:81 through the proxy p:80 within 9 s. Raise timeout, or "
        "check the network and any proxy.",
    ),
]


@pytest.mark.parametrize(("cause", "text"), FAILURES)
def test_a_failure_names_the_host_the_proxy_and_all_that_can_be_checked(cause, text):
    assert str(failure_of(cause)) == text


@pytest.mark.parametrize("attribute", ["reason", "__cause__", "__context__"])
def test_the_cause_is_found_where_libraries_keep_it(attribute):
    wrapped = RuntimeError("pool")
    setattr(wrapped, attribute, REFUSED)
    REFUSED.__context__ = wrapped  # a circle
    assert "connection refused" in failure_of(RuntimeError(wrapped)).message


def test_a_context_that_a_library_suppresses_is_no_cause():
    error = urllib3.exceptions.ProtocolError("Response ended prematurely")
    error.__context__ = ValueError("invalid literal for int()")
    error.__suppress_context__ = True
    assert CLOSED in failure_of(error).message


RETRY_AFTER = yaml.safe_load("""
- ['0', 0]
- [' 120 ', 120]
- ['Sun, 01 Mar 2026 12:00:30 GMT', 30]
- ['Sunday, 01-Mar-26 12:00:30 GMT', 30]
- ['Sun, 01 Mar 2026 11:00:00 GMT', 0]
- ['Sun, 01 Mar 2026 13:00:30 +0100', 30]
- ['Sun, 01 Mar 2026 12:00:30', 30]
- ['Sun, 01 Mar 2026 12:00:30 -0000', 30]
- ['Sun Mar  1 12:00:30 2026', 30]
- ['', null]
- [soon, null]
- ['Sun, 99 Mar 2026 12:00:30 GMT', null]
- ['Sun, 01 Mar 99999999999 12:00:30 GMT', null]
- ['1 Mar 2026 +0000', null]
""")


@pytest.fixture
def _in_new_york(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_in_new_york")
@pytest.mark.parametrize(("value", "seconds"), RETRY_AFTER)
def test_retry_after_is_seconds_or_a_date_which_is_utc_without_a_zone(value, seconds, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1_772_366_400.0)  # 12:00 UTC on 1 March 2026
    assert _failures.retry_after(value) == seconds


REQUEST = _request.Request("GET", "/things", "things:read", "list of things")
TOKEN = 'sk/live+"7\\q%&<>~aZ_longer-token=='


def error_of(status, body=b"", headers=None, token=TOKEN):
    """Return the error for a response."""
    response = _request.Response(status, headers or {}, "https://h/things", "", body)
    label = "api_token_file (/token)"
    connection = connection_to("https://h", token, token_label=label)
    return _failures.status_error(response, REQUEST, connection)


# Each message is compared once.
STATUSES = yaml.safe_load("""
- [299, unexpected_status, '']
- - 400
  - unexpected_status
  - 'The API returned an unexpected status (HTTP 400). Check base_url: the address of the API,
     without /api/v1.'
- - 401
  - unauthorized
  - "The API rejected the token (HTTP 401). Check api_token_file (/token): the token may be
     misspelled, revoked or for another account."
- - 403
  - forbidden
  - "The API refuses the request (HTTP 403); the token may lack the scope things:read. Check the
     scopes of the token from api_token_file (/token) in the dashboard, and any firewall."
- [404, not_found, 'The API has no list of things at https://h/things (HTTP 404). Check base_url']
- [407, proxy_refused, 'A proxy ']
- - 408
  - server_error
  - The API could not complete the request (HTTP 408). Run again later.
- [429, rate_limited, 'The API is throttling requests (HTTP 429). Run again later, or less often.']
- [500, server_error, '']
- [599, server_error, '']
- [600, unexpected_status, '']
""")


@pytest.mark.parametrize(("status", "code", "text"), STATUSES)
def test_each_status_has_its_error_and_its_next_step(status, code, text):
    error = error_of(status)
    assert error.status == status
    assert error.code == code
    assert str(error).startswith(text)


def test_the_response_and_the_wait_are_quoted():
    error = error_of(403, b"over quota", {"Retry-After": "9"})
    assert error.retry_after == 9
    assert error.message.endswith(' It asks to wait 9 s. The response is "over quota".')


def test_a_web_page_is_not_quoted():
    page = error_of(403, b"<p>over quota", {"Content-Type": "text/HTML; charset=utf-8"})
    assert "quota" not in page.message


def test_a_body_is_quoted_short_and_on_one_line():
    body = b"two\r\nlines\tand \xff" + b"x" * 160
    shown = f"two lines and \ufffd{'x' * 142}..."
    assert f'The response is "{shown}".' in error_of(400, body).message


def test_the_target_of_a_redirect_is_shown_on_one_line():
    error = error_of(300, headers={"Location": "/a\tb\x1b[1m"})
    assert str(error) == (
        'The API redirects to "/a b [1m", which is not followed (HTTP 300). Check base_url: the '
        "address of the API, without /api/v1."
    )
    assert " to nowhere, " in error_of(300).message


def test_a_quotation_is_redacted_before_it_is_cut():
    body = b"x" * 140 + TOKEN.encode()
    assert "sk/" not in error_of(400, body).message


def test_a_short_token_is_replaced_in_quotations_only():
    message = error_of(403, b"not for a read", token="read").message
    assert "the scope things:read. " in message
    assert message.endswith('The response is "not for a ********".')


EXECUTABLE = "/opt/env/bin/python"

PYTHONS = yaml.safe_load("""
- [/opt/pipx/venvs/ansible, /usr, true, true, '`pipx inject ansible {0}`']
- - /home/me/.local/share/uv/tools/ansible-core
  - /usr
  - false
  - true
  - "`uv tool install --with {0} ansible-core`, with its other options --with, if any"
- [/opt/env, /usr, true, true, '`/opt/env/bin/python -m pip install {0}`']
- [/opt/env, /usr, false, true, '`uv pip install --python /opt/env/bin/python {0}`']
- [/usr, /usr, true, true, &system "the system's package {1} (`apt install {1}`)"]
- [/usr, /usr, false, false, *system]
- [/usr, /usr, true, false, '`/opt/env/bin/python -m pip install {0}`']
""")


@pytest.mark.parametrize(("prefix", "base", "pip", "marker", "command"), PYTHONS)
def test_a_missing_library_names_the_command_for_the_python_that_lacks_it(
    prefix, base, pip, marker, command, tmp_path, monkeypatch
):
    if marker:
        (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr(sys, "base_prefix", base)
    monkeypatch.setattr(sys, "executable", EXECUTABLE)
    monkeypatch.setattr(sysconfig, "get_path", {"stdlib": str(tmp_path)}.get)
    found = {"pip": sys} if pip else {}
    monkeypatch.setattr(importlib.util, "find_spec", found.get)
    error = _failures.unusable_requests(ModuleNotFoundError(name="requests"))
    assert EXECUTABLE in error.message
    shown = command.format("requests", "python3-requests")
    assert error.next_step == f"Install it: {shown}."
