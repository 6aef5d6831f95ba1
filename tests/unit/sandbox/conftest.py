# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make the sandbox importable and give its tests a plain HTTP client."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from email.message import Message
from typing import Any

import pytest


@dataclass
class Response:
    """A response, with its body as received."""

    status: int
    headers: Message
    body: bytes

    @property
    def json(self) -> Any:
        """Return the decoded body."""
        return json.loads(self.body)


@pytest.fixture
def fetch() -> Callable[..., Response]:
    """Return a function that sends one request, on a new connection unless one is given."""

    def fetch_one(
        sandbox: Any,
        target: str = "/api/v1/servers",
        *,
        method: str = "GET",
        token: str | None = None,
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
        connection: http.client.HTTPConnection | None = None,
    ) -> Response:
        own = connection or http.client.HTTPConnection(sandbox.host, sandbox.port, timeout=60)
        sent = {"Authorization": f"Bearer {sandbox.token if token is None else token}"}
        try:
            own.request(method, target, body, {**sent, **(headers or {})})
            with own.getresponse() as response:
                return Response(response.status, response.headers, response.read())
        finally:
            if connection is None:
                own.close()

    return fetch_one


@pytest.fixture
def exchange() -> Callable[[Any], bytes]:
    """Return a function that sends one request and returns all bytes up to the connection's end."""

    def exchange_all(sandbox: Any) -> bytes:
        lines = [
            "GET /api/v1/servers HTTP/1.1",
            "Host: sandbox",
            f"Authorization: Bearer {sandbox.token}",
            "Connection: close",
        ]
        with closing(socket.create_connection((sandbox.host, sandbox.port), 60)) as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode())
            received = b""
            while piece := connection.recv(65536):
                received += piece
        return received

    return exchange_all
