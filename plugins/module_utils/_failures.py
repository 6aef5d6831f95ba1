# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Failures of a request: what can't be sent, the error for a status, and those of a connection."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
import time
from datetime import timezone
from email.utils import parsedate_to_datetime

from ._errors import (
    CloudError,
    MissingLibrary,
    OptionError,
    ProxyRefused,
    StatusError,
    Unreachable,
    class_for,
)
from ._options import Connection
from ._request import Request, Response
from ._text import as_word, excerpt, quoted, reason_of


def status_error(response: Response, request: Request, connection: Connection) -> StatusError:
    """Make the error for a status but that of success; it quotes a body that is not HTML."""
    headers = response.headers
    token = connection.api_token
    names = {
        "request": request,
        "response": response,
        "connection": connection,
        "target": as_word(quoted(headers.get("Location", "nowhere"), token)),
    }
    error_class = class_for(response.status)
    problem = error_class.sentence.format(**names)
    if response.proxy and connection.base_url.startswith("http:"):
        problem += f" The response came through the proxy {response.proxy}."
    wait = retry_after(headers.get("Retry-After", ""))
    if wait is not None:
        problem += f" It asks to wait {wait:.0f} s."
    text = quoted(response.body.decode("utf-8", "replace"), token)
    if text and "html" not in headers.get("Content-Type", "").lower():
        problem += f' The response is "{text}".'
    error = error_class(problem, error_class.next_step.format(**names), response.status)
    error.retry_after = wait
    return error


def tunnel_failed(place: str, text: str) -> CloudError:
    """Make the error for a proxy that opens no connection.

    ``text`` is that of http.client: "Tunnel connection failed: 403 Forbidden".
    """
    status = int(text.split()[3])
    reason = excerpt(text).lower()
    if class_for(status).is_temporary:
        return unreachable(place, reason)
    return ProxyRefused(f"Cannot reach {place}: {reason}.", status=status)


def unreachable(place: str, reason: str) -> Unreachable:
    """Make the error for a connection that can't be opened, or is interrupted."""
    return Unreachable(f"Cannot reach {place}: {reason}.")


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


def no_socks(place: str) -> MissingLibrary:
    """Make the error for a SOCKS proxy without the library that requests needs for it."""
    return MissingLibrary(
        f"Cannot reach {place}: the Python library PySocks is not installed.",
        f"Install it for {sys.executable}, or use a proxy for HTTP.",
    )


def invalid_url(place: str) -> OptionError:
    """Make the error for a URL that requests or urllib3 refuses."""
    return OptionError(
        f"base_url, or the URL of its proxy, is not valid: {place}.",
        "Check base_url and, with a proxy, the environment variables http_proxy, https_proxy and "
        "all_proxy.",
    )


def unusable_requests(error: Exception) -> MissingLibrary:
    """Make the error for an exception that the import of requests raised."""
    if isinstance(error, ModuleNotFoundError) and error.name == "requests":
        return MissingLibrary(
            f"The Python library requests is not installed for {sys.executable}.",
            f"Install it: {_how_to_install()}.",
        )
    return MissingLibrary(
        f"The Python library requests is installed, but can't be imported: {reason_of(error)}.",
        f"Install it again where Ansible runs: {sys.executable} -m pip install --force-reinstall "
        "requests, or the system's package python3-requests.",
    )


def _how_to_install() -> str:
    """Return the command that installs requests, by the place where this Python is."""
    parent, name = os.path.split(sys.prefix)
    if parent.endswith("/pipx/venvs"):
        return f"`pipx inject {name} requests`"
    if parent.endswith("/uv/tools"):
        return f"`uv tool install --with requests {name}`, with its other options --with, if any"
    has_pip = importlib.util.find_spec("pip")
    if sys.prefix == sys.base_prefix:
        # With this file, pip refuses to install anything (PEP 668).
        marker = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
        if os.path.exists(marker) or not has_pip:
            return "the system's package python3-requests (`apt install python3-requests`)"
    if has_pip:
        return f"`{sys.executable} -m pip install requests`"
    return f"`uv pip install --python {sys.executable} requests`"
