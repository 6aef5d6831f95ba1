# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A request and its response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Request(NamedTuple):
    """What is requested: ``path`` is below the base URL, ``query`` has the parameters that we add.

    ``success`` is the only status that is not an error. ``scope`` and ``subject``, what is
    requested, are for messages.
    """

    method: str
    path: str
    scope: str
    subject: str
    success: int = 200
    query: tuple[tuple[str, str], ...] = ()


class Response(NamedTuple):
    """A response, whatever its status.

    ``url``, that of the request, and ``proxy``, the address of the proxy if there is one, are for
    messages.
    """

    status: int
    headers: Mapping[str, str]
    url: str
    proxy: str
    body: bytes = b""
