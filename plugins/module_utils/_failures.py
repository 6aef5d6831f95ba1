# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Failures of a request: what can't be sent, the error for a status, and those of a connection."""

from __future__ import annotations

import importlib.util
import os
import ssl
import sys
import sysconfig
import time
from datetime import timezone
from email.utils import parsedate_to_datetime

from ._errors import (
    URL_ADVICE,
    MissingLibrary,
    OptionError,
    StatusError,
    TimedOut,
    TLSFailed,
    Unreachable,
    class_for,
)
from ._request import Request, Response, Route
from ._text import as_word, excerpt, one_line, quoted, reason_of
from ._url import address_of

CLOSED = "the connection was closed before the end of the response"


def status_error(response: Response, request: Request, token: str, token_label: str) -> StatusError:
    """Make the error for a status but that of success; it quotes a body that is not HTML.

    ``token_label`` says where the token is from.
    """
    headers = response.headers
    route = response.route
    if response.status == 407 and route.proxy is not None:
        error = refused_by_proxy(route, 407)
    else:
        names = {
            "request": request,
            "status": response.status,
            "url": response.url,
            "target": as_word(quoted(headers.get("Location", "nowhere"), token)),
            "token_label": token_label,
        }
        error_class = class_for(response.status)
        problem = error_class.sentence.format(**names)
        next_step = error_class.next_step.format(**names)
        error = error_class(problem, next_step, response.status)
        if route.proxy is not None and route.base_url.startswith("http:"):
            error.problem += f" The response came through the proxy {route.proxy}."
    error.retry_after = retry_after(headers.get("Retry-After", ""))
    if error.retry_after is not None:
        error.problem += f" It asks to wait {error.retry_after:.0f} s."
    text = quoted(response.body.decode("utf-8", "replace"), token)
    if text and "html" not in headers.get("Content-Type", "").lower():
        error.problem += f' The response is "{text}".'
    return error


def refused_by_proxy(route: Route, status: int) -> StatusError:
    """Make the error for a proxy that requires a password, or does not allow a connection."""
    if status == 407:
        problem = "requires a user and a password"
        next_step = (
            "Check the environment variables http_proxy, https_proxy and all_proxy: the form is "
            "http://user:password@host:port."
        )
    else:
        problem = f"refuses to connect to {address_of(route.base_url)}"
        next_step = (
            "Check that https_proxy or all_proxy names a proxy that allows this address, or list "
            "the host in no_proxy."
        )
    return StatusError(f"The proxy {route.proxy} {problem} (HTTP {status}).", next_step, status)


def retry_after(value: str) -> float | None:
    """Read a Retry-After header, seconds or a date, as seconds from now; None if it is neither.

    A date without a zone is UTC: the form of asctime (RFC 9110, 5.6.7) has none.
    """
    value = value.strip()
    if value.isdecimal():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:
            date = date.replace(tzinfo=timezone.utc)
        return max(0.0, date.timestamp() - time.time())
    except (ValueError, OverflowError, IndexError):
        return None


def no_connection(route: Route, seconds: float) -> TimedOut:
    """Make the error for an address, or several of them, that did not accept a connection."""
    return TimedOut(f"No connection to {route.place} within {seconds:.3g} s.")


def no_response(route: Route, seconds: float) -> TimedOut:
    """Make the error for a response that does not arrive, or not completely, in time."""
    return TimedOut(
        f"No complete response from {route.place} within {seconds:.3g} s.",
        "Raise timeout, or check the network and any proxy.",
    )


def unreachable(route: Route, reason: str) -> Unreachable:
    """Make the error for a connection that can't be opened, or is interrupted."""
    return Unreachable(f"Cannot reach {route.place}: {reason}.")


def tls_failed(route: Route, error: BaseException) -> TLSFailed:
    """Make the error for a certificate or a handshake that was refused."""
    reason = getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        reason = "the server does not use TLS"
    if reason.isupper():  # the name of an OpenSSL constant
        reason = reason.replace("_", " ").lower()
    return TLSFailed(f"TLS with {route.place} failed: {excerpt(reason).rstrip('.')}.")


def no_socks(route: Route) -> MissingLibrary:
    """Make the error for a SOCKS proxy without the library that requests needs for it."""
    return MissingLibrary(
        f"Cannot reach {route.place}: the Python library PySocks is not installed.",
        f"Install it: {_how_to_install('PySocks', 'python3-socks')}, or use a proxy for HTTP.",
    )


def invalid_url(route: Route) -> OptionError:
    """Make the error for a URL that requests or urllib3 refuses."""
    if route.proxy is None:
        return OptionError(f"base_url: {route.place} is not a valid address.", URL_ADVICE)
    return OptionError(
        f"Cannot reach {route.place}: the URL of the proxy, or base_url, is not valid.",
        "Check the environment variables http_proxy, https_proxy and all_proxy.",
    )


def unusable_requests(error: Exception) -> MissingLibrary:
    """Make the error for an exception that the import of requests raised."""
    if isinstance(error, ModuleNotFoundError) and error.name == "requests":
        missing = MissingLibrary(
            f"The Python library requests is not installed for {sys.executable}.",
            f"Install it: {_how_to_install('requests', 'python3-requests')}.",
        )
        missing.library = "requests"
        return missing
    return MissingLibrary(
        "The Python library requests is installed, but can't be imported: "
        f"{type(error).__name__}: {reason_of(error)}.",
        f"Install it again where Ansible runs: {sys.executable} -m pip install --force-reinstall "
        "requests, or the system's package python3-requests.",
    )


def _how_to_install(library: str, package: str) -> str:
    """Return the command that adds a library to this Python, by the place where it is installed.

    ``package`` is the name of the library in Debian and Ubuntu.
    """
    parent, name = os.path.split(sys.prefix)
    if parent.endswith("/pipx/venvs"):
        return f"`pipx inject {name} {library}`"
    if parent.endswith("/uv/tools"):
        return f"`uv tool install --with {library} {name}`, with its other options --with, if any"
    has_pip = importlib.util.find_spec("pip") is not None
    if sys.prefix == sys.base_prefix:
        # With this file, pip refuses to install anything (PEP 668).
        marker = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
        if os.path.exists(marker) or not has_pip:
            return f"the system's package {package} (`apt install {package}`)"
    if has_pip:
        return f"`{sys.executable} -m pip install {library}`"
    return f"`uv pip install --python {sys.executable} {library}`"


def check_certificates(path: str, route: Route, is_default: bool) -> None:
    """Raise TLSFailed if a bundle of certificates, a file or a folder, can't be used.

    The content of the default one is not checked: that takes 30 ms.
    """
    problem = ""
    if not os.access(path, os.R_OK):
        problem = "does not exist or can't be read"
    elif os.path.isfile(path) and not is_default:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
        except ssl.SSLError:
            problem = "has no certificate in PEM format, or a damaged one"
    if problem:
        raise TLSFailed(
            f"TLS with {route.place} failed: the CA bundle {one_line(path)} {problem}.",
            "Check the file, and what names it: ca_path, the environment variable "
            "REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE, or else the Python library certifi.",
        )
