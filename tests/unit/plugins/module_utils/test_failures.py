# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
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

from ansible_collections.server_management.cloud.plugins.module_utils._failures import (
    retry_after,
    shown_url,
    status_error,
    unusable_requests,
)
from ansible_collections.server_management.cloud.plugins.module_utils._http import transport_error
from ansible_collections.server_management.cloud.plugins.module_utils._request import (
    Request,
    Response,
    Route,
)

MISMATCH = ssl.SSLCertVerificationError(1, "certificate verify failed")
MISMATCH.verify_message = "IP address mismatch."
NO_CERTIFICATE = ssl.SSLError(1, "")
NO_CERTIFICATE.reason = "NO_CERTIFICATE_OR_CRL_FOUND"
REFUSED = ConnectionRefusedError(111, "Connection refused")
CLOSED = "the connection was closed before the end of the response"
CHECK_CONNECTION = "Check base_url (scheme, host and port), the network, and any firewall or proxy."
CHECK_TLS = (
    "Check base_url (scheme, host and port), any proxy, and the clock of this machine. For a "
    "private CA, set ca_path to its PEM bundle. Python 3.13 and later check certificates strictly."
)


REASONS = [
    (REFUSED, "connection refused"),
    (socket.gaierror(-2, "Name or service not known"), "the name does not resolve"),
    (OSError("Tunnel connection failed: 502 No"), "tunnel connection failed: 502 no"),
    (http.client.LineTooLong("header"), "the response is not valid HTTP"),
    (InvalidHeader("two lengths"), "the response is not valid HTTP"),
    (http.client.RemoteDisconnected("no response"), CLOSED),
    (http.client.IncompleteRead(b""), CLOSED),
    (ssl.SSLEOFError(8, "EOF occurred"), CLOSED),
    (ssl.SSLZeroReturnError(6, "closed"), CLOSED),
    (urllib3.exceptions.ProtocolError("Response ended prematurely"), CLOSED),
]


def failure_of(error):
    """Return the error for an exception, if a connection has 3 seconds and a response 9."""
    return transport_error(error, Route("https://h"), 3, 9)


@pytest.mark.parametrize(("cause", "reason"), REASONS)
def test_an_error_of_the_connection_is_named(cause, reason):
    error = failure_of(RuntimeError("pool", cause))
    assert error.code == "unreachable"
    assert str(error) == f"Cannot reach h:443: {reason}. {CHECK_CONNECTION}"


REFUSALS = [
    (ssl.SSLError(1, "[X] x\n(_ssl.c:1)"), "[X] x (_ssl.c:1)"),
    (MISMATCH, "IP address mismatch"),
    (NO_CERTIFICATE, "no certificate or crl found"),
    # What urllib3 before version 2 raises for a wrong host name.
    (urllib3.exceptions.SSLError(ValueError("'h' is not 'g'")), "'h' is not 'g'"),
]


@pytest.mark.parametrize(("cause", "reason"), REFUSALS)
def test_a_failure_of_tls_has_its_reason_and_all_that_can_be_checked(cause, reason):
    error = failure_of(RuntimeError("pool", cause))
    assert error.code == "tls"
    assert str(error) == f"TLS with h:443 failed: {reason}. {CHECK_TLS}"


TIMEOUTS = [
    (ConnectTimeout(TimeoutError()), "No connection to h:443 within 3 s."),
    (TimeoutError("The handshake operation timed out"), "No connection to h:443 within 3 s."),
    (TimeoutError(), "No complete response from h:443 within 9 s."),
]


@pytest.mark.parametrize(("cause", "message"), TIMEOUTS)
def test_a_timeout_has_its_limit(cause, message):
    error = failure_of(RuntimeError("pool", cause))
    assert error.code == "timeout"
    assert error.message == message


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
- ['', null]
- [soon, null]
- ['Sun, 99 Mar 2026 12:00:30 GMT', null]
- ['Sun, 01 Mar 99999999999 12:00:30 GMT', null]
- ['1 Mar 2026 +0000', null]
""")


@pytest.mark.parametrize(("value", "seconds"), RETRY_AFTER)
def test_retry_after_is_seconds_or_a_date(value, seconds, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 1_772_366_400.0)  # 12:00 UTC on 1 March 2026
    assert retry_after(value) == seconds


REQUEST = Request("GET", "/things", "things:read", "list of things", next_step="Look elsewhere.")
TOKEN = 'sk/live+"7\\q%&<>~aZ_longer-token=='


def error_of(status, body=b"", headers=None, token=TOKEN):
    """Return the error for a response; only 407 is from a proxy."""
    proxy = "proxy:80" if status == 407 else None
    response = Response(status, headers or {}, Route("https://h", proxy), body)
    return status_error(response, REQUEST, token, "api_token_file (/token)")


STATUSES = yaml.safe_load("""
- [299, unexpected_status,
   &unexpected 'The API returned an unexpected status (HTTP {}). Look elsewhere.']
- [400, unexpected_status, *unexpected]
- - 401
  - unauthorized
  - "The API rejected the token (HTTP 401). Check api_token_file (/token): the token may be
     misspelled, revoked or for another account."
- - 403
  - forbidden
  - "The API refuses the request (HTTP 403); the token may lack the scope things:read. Check the
     scopes of the token from api_token_file (/token) in the dashboard, and any firewall."
- [404, not_found, 'The API has no list of things at https://h/things (HTTP 404). Look elsewhere.']
- - 407
  - unexpected_status
  - "The proxy proxy:80 requires a user and a password (HTTP 407). Check the environment variables
     http_proxy, https_proxy and all_proxy: the form is http://user:password@host:port."
- [408, server_error, The API timed out waiting for the request (HTTP 408). Run again later.]
- [429, rate_limited, 'The API is throttling requests (HTTP 429). Run again later, or less often.']
- [500, server_error, &failing 'The API is failing (HTTP {}). Run again later.']
- [599, server_error, *failing]
- [600, unexpected_status, *unexpected]
""")


@pytest.mark.parametrize(("status", "code", "text"), STATUSES)
def test_each_status_has_its_error_and_its_next_step(status, code, text):
    error = error_of(status)
    assert error.status == status
    assert error.code == code
    assert str(error) == text.format(status)


def test_without_a_proxy_407_is_an_unexpected_status():
    error = status_error(Response(407, {}, Route("https://h")), REQUEST, TOKEN, "api_token")
    assert error.code == "unexpected_status"
    assert "proxy" not in str(error)
    assert error.next_step == "Look elsewhere."


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


@pytest.mark.parametrize(("location", "shown"), [("", "nowhere"), ("/a\tb\x1b[1m", '"/a b [1m"')])
def test_the_target_of_a_redirect_is_shown_on_one_line(location, shown):
    error = error_of(300, headers={"Location": location})
    assert error.message == f"The API redirects to {shown}, which is not followed (HTTP 300)."
    assert error.next_step == "Look elsewhere."


def test_a_quotation_is_redacted_before_it_is_cut():
    body = b"x" * 140 + TOKEN.encode()
    assert "sk/" not in error_of(400, body).message


def test_a_short_token_is_replaced_in_quotations_only():
    message = error_of(403, b"not for a read", token="read").message
    assert "the scope things:read. " in message
    assert message.endswith('The response is "not for a ********".')


def test_a_url_is_shown_with_its_query():
    request = REQUEST._replace(query=(("after", "a b"),))
    assert shown_url(request, "https://h") == "https://h/things?after=a+b"


EXECUTABLE = "/opt/env/bin/python"

PYTHONS = yaml.safe_load("""
- [/home/me/.local/share/pipx/venvs/ansible, /usr, true, true, '`pipx inject ansible {0}`']
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
    error = unusable_requests(ModuleNotFoundError(name="requests"))
    assert str(error) == (
        f"The Python library requests is not installed for {EXECUTABLE}. "
        f"Install it: {command.format('requests', 'python3-requests')}."
    )
