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
from urllib.parse import urljoin, urlsplit

from ansible_collections.server_management.cloud.plugins.module_utils._answers import clean
from ansible_collections.server_management.cloud.plugins.module_utils._connection import (
    is_ambiguous,
)
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    TimedOut,
    TLSFailed,
    Unreachable,
)

_QUOTED = 160  # characters


def origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL; a user in it makes it an origin of its own."""
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    host = (parts.hostname or "") if parts.username is None else parts.netloc
    return parts.scheme, host, parts.port or default


def resolve(url: str, reference: str) -> str | None:
    """Return the address that a reference on the page ``url`` means, if of the same origin."""
    try:
        target = urljoin(url, reference)
        is_ours = origin(target) == origin(url) and not is_ambiguous(reference)
    except ValueError:
        return None
    return target if is_ours else None


def is_loopback(host: str) -> bool:
    """Tell whether traffic to a host stays on this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def where(url: str) -> str:
    """Name the host and the port that a URL leads to."""
    host, port = origin(url)[1:]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def timed_out(url: str, timeout: float) -> TimedOut:
    """Make the error for a request that took longer than ``timeout`` seconds."""
    return TimedOut(
        f"No whole answer from {where(url)} within {timeout:g} s.",
        "Raise timeout, or check the network and any proxy.",
    )


def transport_error(
    error: Exception, url: str, timeout: float, *, proxied: bool, encrypted: bool
) -> CloudError:
    """Make the error that an exception of requests, urllib3 or a socket stands for.

    ``timeout`` is in seconds; ``proxied`` and ``encrypted`` say that it was the proxy that failed,
    or TLS.
    """
    import ssl  # only now: a good share of the start-up, and a failure has time

    causes = list(_causes(error))
    is_closed = any(isinstance(c, (ssl.SSLEOFError, ssl.SSLZeroReturnError)) for c in causes)
    if not is_closed:
        # A wrong host name is a ValueError where urllib3 before 2 has to find it out by itself.
        kinds = (ssl.SSLError, ValueError) if encrypted else ssl.SSLError
        refusals = [cause for cause in causes if isinstance(cause, kinds) or _is_no_bundle(cause)]
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
            f"TLS with {where(url)} failed: what answers there does not speak it.",
            "Check the scheme and the port of base_url; a CA of your own would go into ca_path.",
        )
    if reason.isupper():  # OpenSSL's name for it
        reason = reason.replace("_", " ").lower()
    return TLSFailed(
        f"TLS with {where(url)} failed: {_shown(reason)}.",
        "If its certificate is from a CA of your own, name a PEM bundle in ca_path.",
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
    import http.client

    for cause in causes:
        if isinstance(cause, socket.gaierror):
            return "the name does not resolve"
        if isinstance(cause, OSError) and cause.strerror:
            return _shown(cause.strerror).lower()
        if cause.__class__ is OSError and cause.args:  # a proxy that refuses a tunnel
            return _shown(str(cause)).lower()
    ended = (http.client.IncompleteRead, http.client.RemoteDisconnected)
    if any(isinstance(c, http.client.HTTPException) and not isinstance(c, ended) for c in causes):
        return "the answer is not HTTP"
    if isinstance(causes[0], ValueError):
        return "its address, that of a proxy, or a header of the answer is not valid"
    return "the connection was closed before the end of the answer"


def _is_no_bundle(cause: BaseException) -> bool:
    """Tell whether requests did not find a CA bundle that the environment names."""
    return cause.__class__ is OSError and "CA certificate bundle" in str(cause)


def _shown(text: str) -> str:
    return clean(text)[:_QUOTED].rstrip(".")
