# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Send a response over a socket, with the fault."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from email.utils import formatdate
from http.client import responses

from .api import Response
from .faults import Fault

RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Wire:
    """Send responses with a fault over a connection."""

    def __init__(self, connection: socket.socket, fault: Fault) -> None:
        self._connection = connection
        self._fault = fault

    def send(self, response: Response, *, with_body: bool) -> bool:
        """Send a response; return whether the connection can serve another request."""
        fault = self._fault
        headers = {name.lower(): value.lower() for name, value in response.headers.items()}
        chunked = "transfer-encoding" in headers
        if fault.raw:
            self._connection.sendall(fault.raw)
            return False
        if fault.cut == "start":
            return self._end()
        self._connection.sendall(_head(response))
        if fault.cut == "headers":
            return self._end()
        if with_body:
            for piece in self._pieces(response, chunked=chunked):
                self._connection.sendall(piece)
        if fault.cut == "body":
            return self._end()
        # Without a length, only the end of the connection is the end of the body.
        delimited = chunked or "content-length" in headers or not with_body
        return delimited and headers.get("connection") != "close"

    def _pieces(self, response: Response, *, chunked: bool) -> Iterator[bytes]:
        """Yield the encoded body; if it is cut, only half of its first piece."""
        cut = self._fault.cut == "body"
        for piece in response.body() if callable(response.body) else [response.body]:
            part = piece[: len(piece) // 2] if cut else piece
            # An empty chunk would end the body.
            if chunked and part:
                part = b"%x\r\n%b\r\n" % (len(part), part)
            yield part
            if cut:
                return
        if chunked:
            yield b"0\r\n\r\n"

    def _end(self) -> bool:
        """End the connection as the fault requires."""
        if self._fault.end == "reset":
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        elif self._fault.end == "hang":
            # Ends when the client or the sandbox closes the connection.
            while self._connection.recv(65536):
                pass
        return False


def _head(response: Response) -> bytes:
    """Return the status line and the headers."""
    phrase = responses.get(response.status, "Unknown")
    date = formatdate(usegmt=True)
    head = f"HTTP/1.1 {response.status} {phrase}\r\nDate: {date}\r\n"
    for name, value in response.headers.items():
        head += f"{name}: {value}\r\n"
    return f"{head}\r\n".encode("latin-1", "replace")
