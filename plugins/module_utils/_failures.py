# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Failures of a request: the error for a status, or for an exception of requests or a socket."""

from __future__ import annotations

import http.client
import re
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from datetime import timezone
from email.utils import parsedate_to_datetime

from ._envelope import CHECK_URL
from ._errors import (
    CloudError,
    Forbidden,
    NotFound,
    RateLimited,
    Redirected,
    ServerFailed,
    StatusError,
    TimedOut,
    TLSFailed,
    Unauthorized,
    Unreachable,
)
from ._text import Quote, excerpt, header_text
from ._url import host_and_port

_FOREVER = 1e18  # seconds; the number in a Retry-After can be too large for a float

_USE_HTTPS = "Write https instead of http in base_url: the port requires TLS."
# The responses of nginx, Apache and Go to plain HTTP on such a port do.
_mentions_tls = re.compile(rb"(?i)\b(https|ssl)\b").search
_TLS_ALERT = "\x15\x03"  # the start of what other servers send

_STATUS = {
    401: (
        Unauthorized,
        "The API rejected the token",
        "Check {source}: the token may be misspelled, revoked or for another account.",
    ),
    403: (
        Forbidden,
        "The token lacks the scope servers:read",
        "Create a token with this scope in the dashboard, and replace the one in {source}.",
    ),
    404: (NotFound, "The API has no list of servers", CHECK_URL),
    429: (RateLimited, "The API is throttling requests", "Run again later, or less often."),
}


def status_error(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    url: str,
    quote: Quote = excerpt,
    source: str = "api_token",
) -> StatusError:
    """Make the error for a status other than 200; it quotes a body that is not HTML.

    ``url`` is the one that was requested, as it can be shown; ``source`` is what the user has to
    change if the token is wrong.
    """
    is_html = "html" in headers.get("Content-Type", "").lower()
    text = "" if is_html else quote(body.decode("utf-8", "replace"))
    if status in _STATUS:
        kind, message, next_step = _STATUS[status]
        message += f" at {url}" if status == 404 else ""
    elif 300 <= status < 400:
        kind, text = Redirected, ""
        location = quote(header_text(headers.get("Location", "")))
        target = f'"{location}"' if location else "nowhere"
        message = f"The API redirects to {target}, which is not followed"
        next_step = "If the API is there, set base_url to it."
    elif status >= 500:
        kind, message, next_step = ServerFailed, "The API is failing", "Run again later."
    else:
        kind, message, next_step = StatusError, "The API returned an unexpected status", CHECK_URL
        if status == 400 and url.startswith("http:") and _mentions_tls(body):
            next_step = _USE_HTTPS
    message += f" (HTTP {status})" + (f', with the response "{text}".' if text else ".")
    error = kind(message, next_step.replace("{source}", source), status)
    error.retry_after = retry_after(headers.get("Retry-After", ""))
    if error.retry_after is not None:
        error.message += f" It asks to wait {error.retry_after:.0f} s."
    return error


def retry_after(value: str) -> float | None:
    """Read a Retry-After header, seconds or a date, as seconds from now; None if it is neither."""
    value = value.strip()
    if re.fullmatch(r"[0-9]+", value):
        return min(float(value), _FOREVER)
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:  # as in one of the three formats of HTTP, which are all in UTC
            date = date.replace(tzinfo=timezone.utc)
        return max(0.0, date.timestamp() - time.time())
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def timed_out(url: str, timeout: float, proxy: str | None = None) -> TimedOut:
    """Make the error for a request that took longer than ``timeout`` seconds."""
    return TimedOut(
        f"No complete response from {host_and_port(url)}{_through(proxy)} within {timeout:g} s.",
        "Raise timeout, or check the network and any proxy.",
    )


def transport_error(
    error: Exception, url: str, timeout: float, *, proxy: str | None, encrypted: bool
) -> CloudError:
    """Make the error for an exception of requests, urllib3 or a socket.

    ``timeout`` is in seconds. ``proxy`` is the address of the proxy that was used, "" if its URL is
    malformed, None without one; ``encrypted``: TLS failed.
    """
    causes = list(_causes(error))
    is_closed = any(isinstance(c, (ssl.SSLEOFError, ssl.SSLZeroReturnError)) for c in causes)
    if not is_closed:
        # If urllib3 before 2 checks the host name itself, a wrong one is a ValueError.
        kinds = (ssl.SSLError, ValueError) if encrypted else ssl.SSLError
        refusals = [
            cause for cause in causes if isinstance(cause, kinds) or _is_missing_bundle(cause)
        ]
        if refusals:
            return _tls_failed(refusals[0], url)
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return timed_out(url, timeout, proxy)
    next_step = "Check base_url, the network and any proxy."
    if url.startswith("http:") and proxy is None:
        if any(_TLS_ALERT in str(c) for c in causes if isinstance(c, http.client.BadStatusLine)):
            return Unreachable(f"Cannot reach {host_and_port(url)} without TLS.", _USE_HTTPS)
        if any(isinstance(cause, ConnectionResetError) for cause in causes):
            next_step += " If the port requires TLS, write https in base_url."
    return Unreachable(
        f"Cannot reach {host_and_port(url)}{_through(proxy)}: {_reason(causes)}.", next_step
    )


def _through(proxy: str | None) -> str:
    return "" if proxy is None else f" through the proxy {proxy}".rstrip()


def _tls_failed(error: BaseException, url: str) -> TLSFailed:
    reason = getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return TLSFailed(
            f"TLS with {host_and_port(url)} failed: the server does not use TLS.",
            "Check the scheme and the port of base_url; for a private CA, set ca_path.",
        )
    if reason.isupper():  # the name of an OpenSSL constant
        reason = reason.replace("_", " ").lower()
    return TLSFailed(
        f"TLS with {host_and_port(url)} failed: {_reason_text(reason)}.",
        "If the certificate is from a private CA, set ca_path to a PEM bundle.",
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all that it wraps; requests and urllib3 also use args and reason."""
    pending: list[object] = [error]
    seen: set[int] = set()
    while pending:
        cause = pending.pop(0)
        if isinstance(cause, BaseException) and id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            inner = getattr(cause, "reason", None)
            pending += [*cause.args, inner, cause.__cause__, cause.__context__]


def _reason(causes: list[BaseException]) -> str:
    for cause in causes:
        if isinstance(cause, socket.gaierror):
            return "the name does not resolve"
        if isinstance(cause, OSError) and cause.strerror:
            return _reason_text(cause.strerror).lower()
        if cause.__class__ is OSError and cause.args:  # a proxy that refuses a tunnel
            return _reason_text(str(cause)).lower()
    ended = (http.client.IncompleteRead, http.client.RemoteDisconnected)
    for cause in causes:
        if isinstance(cause, http.client.HTTPException) and not isinstance(cause, ended):
            return _http_reason(cause)
    if isinstance(causes[0], ValueError):
        return "the address, a proxy, or a header of the response is not valid"
    return "the connection was closed before the end of the response"


def _http_reason(error: http.client.HTTPException) -> str:
    # http.client has no class for too many headers.
    is_long = error.__class__ in (http.client.HTTPException, http.client.LineTooLong)
    if is_long and "header" in str(error):
        return "the response has too many headers, or one that is too long"
    return "the response is not HTTP"


def _is_missing_bundle(cause: BaseException) -> bool:
    """Return whether requests did not find the CA bundle that the environment names."""
    return cause.__class__ is OSError and "CA certificate bundle" in str(cause)


def _reason_text(text: str) -> str:
    return excerpt(text).rstrip(".")
