# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Failures of a connection: the error for an exception of requests, urllib3 or a socket.

This utility is private to the collection: it may change in any release. It is imported only after a
failure.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    TimedOut,
    TLSFailed,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._text import excerpt
from ansible_collections.server_management.cloud.plugins.module_utils._url import where


def timed_out(url: str, timeout: float) -> TimedOut:
    """Make the error for a request that took longer than ``timeout`` seconds."""
    return TimedOut(
        f"No complete response from {where(url)} within {timeout:g} s.",
        "Raise timeout, or check the network and any proxy.",
    )


def transport_error(
    error: Exception, url: str, timeout: float, *, proxied: bool, encrypted: bool
) -> CloudError:
    """Make the error for an exception of requests, urllib3 or a socket.

    ``timeout`` is in seconds. ``proxied``: the proxy failed; ``encrypted``: TLS failed.
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
        return timed_out(url, timeout)
    through = " through the proxy" if proxied else ""
    return Unreachable(
        f"Cannot reach {where(url)}{through}: {_reason(causes)}.",
        "Check base_url, the network and any proxy.",
    )


def _tls_failed(error: BaseException, url: str) -> TLSFailed:
    reason = getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return TLSFailed(
            f"TLS with {where(url)} failed: the server does not use TLS.",
            "Check the scheme and the port of base_url; for a private CA, set ca_path.",
        )
    if reason.isupper():  # the name of an OpenSSL constant
        reason = reason.replace("_", " ").lower()
    return TLSFailed(
        f"TLS with {where(url)} failed: {_reason_text(reason)}.",
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
    if any(isinstance(c, http.client.HTTPException) and not isinstance(c, ended) for c in causes):
        return "the response is not HTTP"
    if isinstance(causes[0], ValueError):
        return "the address, a proxy, or a header of the response is not valid"
    return "the connection was closed before the end of the response"


def _is_missing_bundle(cause: BaseException) -> bool:
    """Return whether requests did not find the CA bundle that the environment names."""
    return cause.__class__ is OSError and "CA certificate bundle" in str(cause)


def _reason_text(text: str) -> str:
    return excerpt(text).rstrip(".")
