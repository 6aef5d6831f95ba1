# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests, responses, and their URLs: the option base_url, and origins."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from ._errors import CloudError, OptionError

_API_PATH = "/api/v1"
_DEFAULT_PORTS = {"http": 80, "https": 443}

# Parsers find different hosts in URLs with these characters. For example, a backslash is a slash
# in the URL Standard of WHATWG, but not in RFC 3986.
is_ambiguous = re.compile(r"[\s\\\x00-\x1f\x7f]").search


class Request(NamedTuple):
    """What is requested: ``path`` is below the base URL, ``query`` has the parameters that we add.

    ``link`` replaces ``path`` for a page whose URL the API has sent. ``success`` is the only status
    that is not an error. The others are for messages: ``subject`` is what is requested, and
    ``next_step`` what to do after a 404 or a status that is not expected.
    """

    method: str
    path: str
    scope: str
    subject: str
    next_step: str
    success: int = 200
    query: tuple[tuple[str, str], ...] = ()
    link: str = ""

    def url(self, base_url: str) -> str:
        """Return the URL, without ``query``."""
        return self.link or base_url + self.path


class Route(NamedTuple):
    """Where a request goes: its URL, and the address of the proxy that is used, if there is one."""

    url: str
    proxy: str | None = None

    @property
    def is_encrypted(self) -> bool:
        """Whether the URL is of https."""
        return urlsplit(self.url).scheme == "https"

    @property
    def place(self) -> str:
        """The host and the port, and the proxy, for a message."""
        _scheme, host, port = origin(self.url)
        if ":" in host:
            host = f"[{host}]"
        place = f"{host}:{port}"
        if self.proxy is None:
            return place
        return f"{place} through the proxy {self.proxy}".rstrip()


class Response(NamedTuple):
    """A response, whatever its status; ``seconds`` is how long the request took.

    ``failure``: why the body could not be read, which is empty then.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float
    route: Route
    failure: CloudError | None = None


def check_base_url(text: str) -> str:
    """Return the URL that endpoints are added to: without a trailing slash, ending in /api/v1.

    Equivalent URLs become one: the host is in lower case, and a default port is left out
    (RFC 3986, 3.2.2 and 6.2.3).

    Raises OptionError if the option ``base_url`` is malformed.
    """
    expected = "Expected http(s)://host[:port][/prefix]."
    if is_ambiguous(text):
        raise OptionError(
            "base_url: contains a space, a backslash or a control character.", expected
        )
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
    url = parts._replace(netloc=netloc).geturl().rstrip("/")
    if parts.path.rstrip("/").endswith(_API_PATH):
        return url
    return url + _API_PATH


def origin(url: str) -> tuple[str, str, int | None]:
    """Return the scheme, host and port of a URL; user information makes it a different origin."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.username is not None:
        host = parts.netloc
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    return parts.scheme, host, port


def resolve(url: str, reference: str) -> str | None:
    """Return the absolute URL of a reference on the page ``url``; None for another origin."""
    if is_ambiguous(reference):
        return None
    try:
        target = urljoin(url, reference)
        is_same = origin(target) == origin(url)
    except ValueError:
        return None
    return target if is_same else None


def is_loopback(host: str) -> bool:
    """Return whether traffic to a host stays on this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def proxy_address(proxy: str) -> str:
    """Return the host and the port of a proxy's URL, without user information."""
    _scheme, _mark, rest = proxy.rpartition("://")
    _user, _mark, address = rest.rpartition("@")
    return address.partition("/")[0]
