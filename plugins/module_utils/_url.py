# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""URLs: the option base_url, and addresses."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

from ._errors import OptionError

_API_PATH = "/api/v1"
_DEFAULT_PORTS = {"http": 80, "https": 443}


def normalize_base_url(text: str) -> str:
    """Return the URL that endpoints are added to: without a trailing slash, ending in /api/v1.

    Equivalent URLs become one: the host is in lower case, and a default port is left out
    (RFC 3986, 3.2.2 and 6.2.3).

    Raises OptionError if the option ``base_url`` is malformed.
    """
    expected = "Expected http(s)://host[:port][/prefix]."
    # Parsers find different hosts in URLs with these characters. For example, a backslash is a
    # slash in the URL Standard of WHATWG, but not in RFC 3986.
    if " " in text or "\\" in text or not text.isprintable():
        problem = "base_url: contains a space, a backslash or an invisible character."
        raise OptionError(problem, expected)
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise OptionError("base_url: is not an http or https URL with a host.", expected)
    if "@" in parts.netloc:
        raise OptionError("base_url: must not contain a user or a password.", "Use api_token.")
    if "?" in text or "#" in text:
        raise OptionError("base_url: must not contain a query or a fragment.", expected)
    default_port = f":{_DEFAULT_PORTS[parts.scheme]}"
    netloc = parts.netloc.lower().removesuffix(default_port).rstrip(":")
    path = parts.path.rstrip("/").removesuffix(_API_PATH) + _API_PATH
    return parts._replace(netloc=netloc, path=path).geturl()


def address_of(url: str) -> str:
    """Return the host and the port of a URL, for a message."""
    parts = urlsplit(url)
    if parts.port is None:
        return f"{parts.netloc}:{_DEFAULT_PORTS[parts.scheme]}"
    return parts.netloc


def is_loopback(url: str) -> bool:
    """Return whether requests to a URL stay on this machine."""
    host = urlsplit(url).hostname or ""
    if f".{host}".endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def proxy_address(proxy: str) -> str:
    """Return the host and the port of a proxy's URL, or an empty text if its port is not a number.

    For example, in http://user:password, which lacks the host, the password would be the port.
    """
    address = re.split("://|@", proxy)[-1]
    try:
        parts = urlsplit(f"//{address}")
        parts.port  # noqa: B018  # raises ValueError
    except ValueError:
        return ""
    return parts.netloc
