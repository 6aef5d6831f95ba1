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
from email.utils import parsedate_to_datetime
from urllib.parse import urlencode

from ._errors import (
    CHECK_URL,
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
from ._request import Request, Response, Route
from ._text import excerpt, one_line, quoted, reason_of

CLOSED = "the connection was closed before the end of the response"
_CHECK_CONNECTION = (
    "Check base_url (scheme, host and port), the network, and any firewall or proxy."
)
_CHECK_TLS = (
    "Check base_url (scheme, host and port), any proxy, and the clock of this machine. For a "
    "private CA, set ca_path to its PEM bundle. Python 3.13 and later check certificates strictly."
)


def shown_url(request: Request, base_url: str) -> str:
    """Return the URL of a request, with its query, for a message."""
    url = base_url + request.path
    if request.query:
        url = f"{url}?{urlencode(request.query)}"
    return one_line(url)


def status_error(response: Response, request: Request, token: str, token_label: str) -> StatusError:
    """Make the error for a status but that of success; it quotes a body that is not HTML.

    ``token_label`` says where the token is from.
    """
    details = ""
    wait = retry_after(response.headers.get("Retry-After", ""))
    if wait is not None:
        details += f" It asks to wait {wait:.0f} s."
    text = quoted(response.body.decode("utf-8", "replace"), token)
    if text and "html" not in response.headers.get("Content-Type", "").lower():
        details += f' The response is "{text}".'
    error = _error_of_status(response, request, token, token_label)
    error.problem += details
    error.retry_after = wait
    return error


def _error_of_status(
    response: Response, request: Request, token: str, token_label: str
) -> StatusError:
    """Make the error for a status, without what the response adds."""
    status = response.status
    if status == 401:
        return Unauthorized(
            "The API rejected the token (HTTP 401).",
            f"Check {token_label}: the token may be misspelled, revoked or for another account.",
            status,
        )
    if status == 403:
        return Forbidden(
            "The API refuses the request (HTTP 403); the token may lack the scope "
            f"{request.scope}.",
            f"Check the scopes of the token from {token_label} in the dashboard, and any firewall.",
            status,
        )
    if status == 404:
        url = shown_url(request, response.route.base_url)
        problem = f"The API has no {request.subject} at {url} (HTTP 404)."
        return NotFound(problem, request.next_step, status)
    if status == 407 and response.route.proxy is not None:
        return no_access_to_proxy(response.route)
    if status == 429:
        problem = "The API is throttling requests (HTTP 429)."
        return RateLimited(problem, "Run again later, or less often.", status)
    if 300 <= status < 400:
        location = response.headers.get("Location", "")
        target = f'"{quoted(location, token)}"' if location else "nowhere"
        problem = f"The API redirects to {target}, which is not followed (HTTP {status})."
        return Redirected(problem, request.next_step, status)
    if status == 408 or 500 <= status < 600:
        what = "timed out waiting for the request" if status == 408 else "is failing"
        problem = f"The API {what} (HTTP {status})."
        return ServerFailed(problem, "Run again later.", status)
    problem = f"The API returned an unexpected status (HTTP {status})."
    return StatusError(problem, request.next_step, status)


def no_access_to_proxy(route: Route) -> StatusError:
    """Make the error for a proxy that requires a password, or another one."""
    return StatusError(
        f"The proxy {route.proxy} requires a user and a password (HTTP 407).",
        "Check the environment variables http_proxy, https_proxy and all_proxy: the form is "
        "http://user:password@host:port.",
        407,
    )


def retry_after(value: str) -> float | None:
    """Read a Retry-After header, seconds or a date, as seconds from now; None if it is neither."""
    value = value.strip()
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError, IndexError):
        return None


def no_connection(route: Route, seconds: float) -> TimedOut:
    """Make the error for an address, or several of them, that did not accept a connection."""
    return TimedOut(f"No connection to {route.place} within {seconds:.3g} s.", _CHECK_CONNECTION)


def no_response(route: Route, seconds: float) -> TimedOut:
    """Make the error for a response that does not arrive, or not completely, in time."""
    return TimedOut(
        f"No complete response from {route.place} within {seconds:.3g} s.",
        "Raise timeout, or check the network and any proxy.",
    )


def unreachable(route: Route, reason: str) -> Unreachable:
    """Make the error for a connection that can't be opened, or is interrupted."""
    return Unreachable(f"Cannot reach {route.place}: {reason}.", _CHECK_CONNECTION)


def tls_failed(route: Route, error: BaseException) -> TLSFailed:
    """Make the error for a certificate or a handshake that was refused."""
    reason = getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        reason = "the server does not use TLS"
    if reason.isupper():  # the name of an OpenSSL constant
        reason = reason.replace("_", " ").lower()
    return TLSFailed(f"TLS with {route.place} failed: {excerpt(reason).rstrip('.')}.", _CHECK_TLS)


def no_socks(route: Route) -> MissingLibrary:
    """Make the error for a SOCKS proxy without the library that requests needs for it."""
    return MissingLibrary(
        f"Cannot reach {route.place}: the Python library PySocks is not installed.",
        f"Install it: {_how_to_install('PySocks', 'python3-socks')}, or use a proxy for HTTP.",
    )


def invalid_url(route: Route) -> OptionError:
    """Make the error for a URL that requests or urllib3 refuses."""
    if route.proxy is None:
        return OptionError(f"base_url: {route.place} is not a valid address.", CHECK_URL)
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
