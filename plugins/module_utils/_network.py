# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where a URL leads, and which of the many ways to fail on the way there it was.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from ansible_collections.server_management.cloud.plugins.module_utils._answers import clean
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    TimedOut,
    TLSFailed,
    Unreachable,
)


def origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL; a user in it makes it an origin of its own."""
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    host = (parts.hostname or "") if parts.username is None else parts.netloc
    return parts.scheme, host, parts.port or default


def is_loopback(host: str) -> bool:
    """Tell whether traffic to a host stays on this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def timed_out(url: str, timeout: float) -> TimedOut:
    """Make the error for a request that took longer than ``timeout`` seconds."""
    return TimedOut(
        f"No whole answer from {where(url)} within {timeout:g} s.",
        "Raise timeout, or check the network and any proxy.",
    )


def transport_error(error: Exception, url: str, timeout: float, proxied: bool) -> CloudError:
    """Make the error that an exception of requests, urllib3 or a socket stands for.

    ``timeout`` is in seconds; ``proxied`` says that it was the proxy that could not be reached.
    """
    import ssl  # only now: a good share of the start-up, and a failure has time

    causes = list(_causes(error))
    closed = (ssl.SSLEOFError, ssl.SSLZeroReturnError)
    for cause in causes:
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, closed):
            reason = getattr(cause, "verify_message", "") or cause.reason or str(cause)
            return TLSFailed(
                f"TLS with {where(url)} failed: {clean(reason)}.",
                "If its certificate is from a CA of your own, name a PEM bundle in ca_path.",
            )
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return timed_out(url, timeout)
    through = " through the proxy" if proxied else ""
    return Unreachable(
        f"Cannot reach {where(url)}{through}: {_reason(causes)}.",
        "Check base_url, the network and any proxy.",
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all it wraps; requests and urllib3 do so in args and reason too."""
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
            return clean(cause.strerror).lower()
    if any(isinstance(cause, ValueError) for cause in causes):
        return "the address is not valid"
    return "the connection was closed before the end of the answer"


def where(url: str) -> str:
    """Name the host and the port that a URL leads to."""
    host, port = origin(url)[1:]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
