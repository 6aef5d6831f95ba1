# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Respond to a request as documented, or with a fault, and send the response over a socket."""

from __future__ import annotations

import json
import socket
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import Message
from email.utils import formatdate
from http.client import responses
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from .faults import Fault

if TYPE_CHECKING:
    from .server import Sandbox

PREFIX = "/api/v1"
PATH = f"{PREFIX}/servers"
WHOLE = sys.maxsize  # the size of a page that has the whole account
RESET_ON_CLOSE = struct.pack("ii", 1, 0)
Stream = Callable[[], Iterable[bytes]]


@dataclass(frozen=True)
class Request:
    """A recorded request; header names match in any case."""

    method: str
    path: str
    query: dict[str, str]
    headers: Message

    @classmethod
    def parse(cls, method: str, target: str, headers: Message) -> Request:
        """Parse the target: a path, or from the client of a proxy a URL or host:port."""
        path = target
        query = ""
        if method != "CONNECT":
            with suppress(ValueError):  # not a URL, and no path that is served
                path, query = urlsplit(target)[2:4]
        # Of a repeated parameter the first value counts, so that a client that repeats one fails.
        pairs = dict(reversed(parse_qsl(query, keep_blank_values=True)))
        return cls(method, path, pairs, headers)


@dataclass
class Response:
    """A response to be sent; a stream has no length."""

    status: int
    body: bytes | Stream
    headers: dict[str, str] = field(default_factory=dict)


def page_of(sandbox: Sandbox, request: Request) -> int | None:
    """Return the number of the requested page, from 1, or None if it is not a page."""
    if request.path != PATH:
        return None
    try:
        return _start(sandbox, request) // sandbox.page_size + 1
    except ValueError:
        return None


def _start(sandbox: Sandbox, request: Request) -> int:
    """Return the index of the first requested server; raise ValueError for an unknown id.

    How the real API pages is not documented.
    """
    last = request.query.get(sandbox.pagination_parameter)
    if last is None:
        return 0
    return [server["id"] for server in sandbox.servers].index(last) + 1


def respond(sandbox: Sandbox, request: Request, fault: Fault) -> Response:
    """Return the response, with the content that the fault requires."""
    status = fault.status or 200
    if fault.body is not None:
        response = Response(status, _encode(fault.body, request))
    elif not 200 <= status < 300:
        response = _error(status)
    else:
        response = _route(sandbox, request, fault)
        if response.status == 200:
            response.status = status
    _set_headers(response, fault)
    return response


def _route(sandbox: Sandbox, request: Request, fault: Fault) -> Response:
    """Return the response of the route for this request, or an error."""
    routes = [route for route in ROUTES if request.path == PREFIX + route.path]
    for route in routes:
        if request.method == route.method:
            if request.headers["Authorization"] != f"Bearer {sandbox.token}":
                return _error(401)
            return route.respond(sandbox, request, fault)
    return _error(405 if routes else 404)


def _listing(sandbox: Sandbox, request: Request, fault: Fault) -> Response:
    """Return the requested page, encoded each time: tests may change the list."""
    servers = list(sandbox.servers)
    try:
        start = max(0, _start(sandbox, request) - fault.shift)
    except ValueError as error:
        return _error(400, str(error))
    end = start + sandbox.page_size
    content = {"data": servers[start:end], "has_more": end < len(servers)}
    if fault.data is not None:
        content["data"] = fault.data
    if fault.has_more is not None:
        content["has_more"] = fault.has_more
    return _json(200, content)


@dataclass(frozen=True)
class Route:
    """An operation that is served, the scope that it requires, and the function that responds."""

    method: str
    path: str  # below PREFIX
    scope: str
    respond: Callable[[Sandbox, Request, Fault], Response]


# The same as in docs/openapi.yaml; a test compares them.
ROUTES = (Route("GET", "/servers", "servers:read", _listing),)


def _json(status: int, content: object) -> Response:
    """Return a response with content in JSON."""
    return Response(status, json.dumps(content).encode())


def _error(status: int, text: str = "") -> Response:
    """Return an error; its body is not documented."""
    if status < 400:
        return Response(status, b"")
    return _json(status, {"error": text or responses.get(status, "Unknown")})


def _encode(body: object, request: Request) -> bytes | Stream:
    """Encode the body of a fault."""
    if isinstance(body, bytes) or callable(body):
        return body
    if not isinstance(body, str):
        return json.dumps(body).encode()
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return body.replace("{token}", token).encode("utf-8", "surrogatepass")


def _set_headers(response: Response, fault: Fault) -> None:
    """Complete the headers; those of the fault replace others with the same name."""
    headers = {"Content-Type": "application/json", **response.headers}
    if fault.chunked or callable(response.body):
        headers["Transfer-Encoding"] = "chunked"
    else:
        headers["Content-Length"] = str(len(response.body))
    named = {
        "Retry-After": fault.retry_after,
        "Location": fault.location,
        "Link": fault.link,
        "Content-Type": fault.content_type,
    }
    for name, text in named.items():
        if text is not None:
            headers[name] = str(text)
    for name, value in fault.headers.items():
        if value is None:
            headers.pop(name, None)
        else:
            headers[name] = value
    response.headers = headers


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
