# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Failures of a request: the error for a status, or for an exception of requests or a socket."""

from __future__ import annotations

import http.client
import re
import socket
import ssl
import sys
import time
from collections.abc import Mapping
from datetime import timezone
from email.utils import parsedate_to_datetime
from urllib.parse import urlencode

from ._envelope import CHECK_URL
from ._errors import (
    CloudError,
    Forbidden,
    MissingLibrary,
    NotFound,
    OptionError,
    RateLimited,
    Redirected,
    ServerFailed,
    StatusError,
    TimedOut,
    TLSFailed,
    Unauthorized,
    Unreachable,
)
from ._options import Connection
from ._text import excerpt, header_text, one_line, reason_of, redact
from ._url import Request, Route

_USE_HTTPS = "Write https instead of http in base_url: the port requires TLS."
# The responses of nginx, Apache and Go to plain HTTP on such a port do.
_mentions_tls = re.compile(rb"(?i)\b(https|ssl)\b").search

# For each status: the error, what it means in HTTP, and the next step. ``{source}`` is the option
# or variable that the token is from.
_STATUS = {
    401: (
        Unauthorized,
        "The API rejected the token (HTTP 401)",
        "Check {source}: the token may be misspelled, revoked or for another account.",
    ),
    403: (
        Forbidden,
        "The API refuses the request (HTTP 403); the token may lack the scope {scope}",
        "Check the scopes of the token from {source} in the dashboard, and any firewall.",
    ),
    404: (NotFound, "The API has no {subject} at {url} (HTTP 404)", "{next_step}"),
    407: (
        StatusError,
        "The proxy{proxy} requires a user and a password (HTTP 407)",
        "Check the environment variables http_proxy and all_proxy: the form is "
        "http://user:password@host:port.",
    ),
    429: (
        RateLimited,
        "The API is throttling requests (HTTP 429)",
        "Run again later, or less often.",
    ),
}
_OTHERS = {
    3: (
        Redirected,
        "The API redirects to {target}, which is not followed (HTTP {status})",
        "If the API is there, set base_url to it.",
    ),
    5: (ServerFailed, "The API is failing (HTTP {status})", "Run again later."),
}
_UNEXPECTED = (
    StatusError,
    "The API returned an unexpected status (HTTP {status})",
    "{next_step}",
)

_SET_CA_PATH = "If the certificate is from a private CA, set ca_path to a PEM bundle."
# Values of verify_code, which OpenSSL calls X509_V_ERR_CERT_NOT_YET_VALID and so on.
_EXPIRED = (9, 10)
_OTHER_HOST = (62, 64)  # another name, another address


def shown_url(request: Request, connection: Connection) -> str:
    """Return the URL of a request for a message; of its query, only the parameters that we add."""
    url, mark, _query = request.url(connection.base_url).partition("?")
    shown = redact(one_line(url), connection.api_token)
    if request.query:
        parameters = [(name, connection.quote(value)) for name, value in request.query]
        query = urlencode(parameters, safe="*")  # MASK stays readable
        return f"{shown}?{query}"
    if mark:
        return f"{shown}?..."
    return shown


def status_error(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    request: Request,
    route: Route,
    connection: Connection,
) -> StatusError:
    """Make the error for a status but that of success; it quotes a body that is not HTML."""
    quote = connection.quote
    kind, message, next_step = _STATUS.get(status) or _OTHERS.get(status // 100, _UNEXPECTED)
    if status == 400 and connection.base_url.startswith("http:") and _mentions_tls(body):
        next_step = _USE_HTTPS
    location = quote(header_text(headers.get("Location", "")))
    target = f'"{location}"' if location else "nowhere"
    proxy = f" {route.proxy}" if route.proxy else ""
    names = {
        "scope": request.scope,
        "subject": request.subject,
        "url": shown_url(request, connection),
        "source": connection.token_label,
        "target": target,
        "next_step": request.next_step,
        "proxy": proxy,
    }
    message = f"{message.format(status=status, **names)}."
    wait = retry_after(headers.get("Retry-After", ""))
    if wait is not None:
        message += f" It asks to wait {wait:.0f} s."
    text = quote(body.decode("utf-8", "replace"))
    if text and "html" not in headers.get("Content-Type", "").lower():
        message += f' The response is "{text}".'
    error = kind(message, next_step.format(**names), status)
    error.retry_after = wait
    return error


def retry_after(value: str) -> float | None:
    """Read a Retry-After header, seconds or a date, as seconds from now; None if it is neither."""
    value = value.strip()
    if re.fullmatch(r"[0-9]+", value):
        return min(float(value), 1e18)  # it can be too large for a float
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:  # as in one of the three formats of HTTP, which are all in UTC
            date = date.replace(tzinfo=timezone.utc)
        return max(0.0, date.timestamp() - time.time())
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def no_connection(route: Route, seconds: float) -> TimedOut:
    """Make the error for an address, or several of them, that did not accept a connection."""
    return TimedOut(
        f"No connection to {route.place} within {seconds:.3g} s.",
        "Check base_url, the network, and any firewall or proxy.",
    )


def no_socks(route: Route) -> MissingLibrary:
    """Make the error for a SOCKS proxy without the library that requests needs for it."""
    error = MissingLibrary(
        f"Cannot reach {route.place}: the Python library PySocks is not installed.",
        f"Install it where Ansible runs: {sys.executable} -m pip install PySocks, or use a proxy "
        "for HTTP.",
    )
    error.library = "PySocks"
    return error


def invalid_url(route: Route) -> OptionError:
    """Make the error for a URL that requests or urllib3 refuses."""
    if route.proxy is None:
        return OptionError(f"base_url: {route.place} is not a valid address.", CHECK_URL)
    return OptionError(
        f"Cannot reach {route.place}: the URL of the proxy, or base_url, is not valid.",
        "Check the environment variables http_proxy, https_proxy and all_proxy.",
    )


def no_bundle(route: Route, path: str) -> TLSFailed:
    """Make the error for a missing bundle of certificates, which the environment names."""
    return TLSFailed(
        f"TLS with {route.place} failed: the CA bundle {one_line(path)} does not exist.",
        "Check the environment variable REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE, or set ca_path.",
    )


def transport_error(error: Exception, route: Route, timeout: float, is_tls: bool) -> CloudError:
    """Make the error for an exception of requests, urllib3 or a socket.

    ``timeout`` is the option; ``is_tls``: TLS failed.
    """
    causes = _causes(error)
    # These two mean that the connection was closed.
    if not _find(causes, ssl.SSLEOFError, ssl.SSLZeroReturnError):
        refusal = _find(causes, ssl.SSLError)
        if is_tls and not refusal:
            # If urllib3 before 2 checks the host name itself, a wrong one is a ValueError.
            refusal = _find(causes, ValueError)
        if refusal:
            return _tls_failed(refusal, route.place)
    if _find(causes, TimeoutError):
        return TimedOut(
            f"No complete response from {route.place} within {timeout:.3g} s.",
            "Raise timeout, or check the network and any proxy.",
        )
    next_step = "Check base_url, the network and any proxy."
    # What servers do with plain HTTP on a port for TLS: they send an alert of TLS, or nothing.
    ended = _find(causes, ConnectionResetError, http.client.BadStatusLine)
    if ended and route.proxy is None and not route.is_encrypted:
        next_step += " If the port requires TLS, write https in base_url."
    return Unreachable(f"Cannot reach {route.place}: {_what_failed(causes)}.", next_step)


def _tls_failed(error: BaseException, place: str) -> TLSFailed:
    reason = getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return TLSFailed(
            f"TLS with {place} failed: the server does not use TLS.",
            "Check scheme and port of base_url and of any proxy; for a private CA, set ca_path.",
        )
    if reason.isupper():  # the name of an OpenSSL constant
        reason = reason.replace("_", " ").lower()
    next_step = _SET_CA_PATH
    code = getattr(error, "verify_code", None)
    if code in _EXPIRED:
        next_step = f"Check the clock of this machine and the dates of the certificate. {next_step}"
    elif code in _OTHER_HOST or not isinstance(error, ssl.SSLError):
        next_step = f"Check the host in base_url, and any proxy. {next_step}"
    return TLSFailed(f"TLS with {place} failed: {excerpt(reason).rstrip('.')}.", next_step)


def _causes(error: BaseException) -> list[BaseException]:
    """Return an exception and all that it wraps; requests and urllib3 also use args and reason."""
    causes: list[BaseException] = []
    pending: list[object] = [error]
    while pending:
        cause = pending.pop(0)
        if isinstance(cause, BaseException) and cause not in causes:
            causes.append(cause)
            inner = getattr(cause, "reason", None)
            pending += [*cause.args, inner, cause.__cause__, cause.__context__]
    return causes


def _find(causes: list[BaseException], *kinds: type[BaseException]) -> BaseException | None:
    """Return the first cause of one of these kinds."""
    for cause in causes:
        if isinstance(cause, kinds):
            return cause
    return None


def _what_failed(causes: list[BaseException]) -> str:
    for cause in causes:
        if isinstance(cause, socket.gaierror):
            return "the name does not resolve"
        if isinstance(cause, OSError) and cause.strerror and not isinstance(cause, ssl.SSLError):
            return reason_of(cause)
        if cause.__class__ is OSError and cause.args:  # a proxy that refuses a tunnel
            return reason_of(cause).lower()
    ended = (http.client.IncompleteRead, http.client.RemoteDisconnected)
    for cause in causes:
        if isinstance(cause, http.client.HTTPException) and not isinstance(cause, ended):
            return "the response is not valid HTTP"
    if isinstance(causes[0], ValueError):  # for example, two different values of Content-Length
        return "the response is not valid HTTP"
    return "the connection was closed before the end of the response"
