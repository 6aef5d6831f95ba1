# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A request, the route that it takes, and its response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ._url import address_of


class Request(NamedTuple):
    """What is requested: ``path`` is below the base URL, ``query`` has the parameters that we add.

    ``success`` is the only status that is not an error. The others are for messages: ``subject`` is
    what is requested, and ``next_step`` what to do after a 404 or a status that is not expected.
    """

    method: str
    path: str
    scope: str
    subject: str
    next_step: str
    success: int = 200
    query: tuple[tuple[str, str], ...] = ()


class Route(NamedTuple):
    """Where all requests go: the base URL, and the address of the proxy, if one is used."""

    base_url: str
    proxy: str | None = None

    @property
    def place(self) -> str:
        """The host and the port, and the proxy, for a message."""
        place = address_of(self.base_url)
        if self.proxy is None:
            return place
        return f"{place} through the proxy {self.proxy}".rstrip()


class Response(NamedTuple):
    """A response, whatever its status; ``url`` is that of the request, for a message."""

    status: int
    headers: Mapping[str, str]
    route: Route
    url: str
    body: bytes = b""
