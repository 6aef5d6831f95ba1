# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Listen on loopback, with one thread for each connection."""

from __future__ import annotations

import socket
import ssl
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .account import Change, Schedule, make_servers
from .api import WHOLE, Request, Wire, page_of, respond
from .faults import Fault, PendingFaults

HOST = "127.0.0.1"  # never reachable from another machine
DEFAULT_PORT = 8080
DEFAULT_TOKEN = "sandbox-token"
MAX_REQUESTS = 1_000


class Sandbox:
    """Serve an account while the `with` block runs, on a free port unless one is given.

    `servers` is the list that is served, unchanged; it and `token` may be changed at any time.
    `requests` are the last 1,000 requests, oldest first, and may be read at any time; `connections`
    is the number of accepted connections.
    """

    def __init__(
        self,
        servers: int | Sequence[object] = 12,
        token: str = DEFAULT_TOKEN,
        *,
        port: int = 0,
        page_size: int = WHOLE,
        pagination_parameter: str = "starting_after",
        tls: str | None = None,
        changes: Sequence[Change] = (),
        verbose: bool = False,
    ) -> None:
        """Prepare an account.

        `servers` is a number or a list, served in pages of `page_size`; `pagination_parameter` has
        the id of the last server of the page before. `tls` is the file of a certificate and its
        key; the schedule of `changes` begins at once.
        """
        self.host = HOST
        self.port = port
        self.token = token
        self.verbose = verbose
        self.page_size = page_size
        self.pagination_parameter = pagination_parameter
        if isinstance(servers, int):
            servers = make_servers(servers)
        self.servers: list[Any] = list(servers)
        self.schedule = Schedule(changes)
        self.requests: list[Request] = []
        self.connections = 0
        self.faults = PendingFaults()
        self.context: ssl.SSLContext | None = None
        if tls:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(tls)
        self._server: _Server | None = None

    @property
    def url(self) -> str:
        """Return the base URL, without the path /api/v1."""
        scheme = "https" if self.context else "http"
        return f"{scheme}://{self.host}:{self.port}"

    @property
    def open_connections(self) -> int:
        """Return the number of accepted connections that neither side has closed."""
        return len(self._server.open) if self._server else 0

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables with which inventory files and modules find the account."""
        return {"SERVER_MANAGEMENT_BASE_URL": self.url, "SERVER_MANAGEMENT_API_TOKEN": self.token}

    def fail(
        self, fault: Fault, *, times: int | None = 1, page: int | None = None, after: int = 0
    ) -> None:
        """Send this fault in response to the next requests, with any path and token.

        `times` is the number of requests, None for all; `page`, from 1, selects those for that
        page; the first `after` of them do not get this fault. Earlier faults are used first.
        """
        self.faults.add(fault, times, page, after)

    def recover(self) -> None:
        """Remove the pending faults."""
        self.faults.clear()

    def start(self) -> None:
        """Listen, after a stop on the same port; raise OSError if the port is in use."""
        self._server = _Server(self)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Refuse new connections and close open ones; do nothing if already stopped."""
        if self._server:
            self._server.stop()
            self._server = None

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    """Accept connections, and keep track of them, so that a stop can close them."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.open: set[socket.socket] = set()
        super().__init__((sandbox.host, sandbox.port), _Handler)

    def server_bind(self) -> None:
        """Bind without the lookup of the host name in HTTPServer, which can be slow."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection; the TLS handshake takes place in the connection's thread."""
        connection, address = super().get_request()
        if self.sandbox.context:
            connection = self.sandbox.context.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
        self.sandbox.connections += 1
        self.open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """Close a connection without an orderly shutdown, which would prevent a reset."""
        self.open.discard(request)
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore broken connections, which faults cause on purpose; show other errors."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def stop(self) -> None:
        """Stop listening, and close all connections."""
        self.shutdown()
        self.server_close()
        for connection in list(self.open):
            with suppress(OSError):
                # SSLSocket's method would remove the TLS layer while its thread uses it.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    """Serve the requests of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        """Finish the TLS handshake before the first read."""
        if isinstance(self.request, ssl.SSLSocket):
            self.request.do_handshake()
        super().setup()

    def handle_one_request(self) -> None:
        """Serve a request with any method; the base class requires a function for each."""
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline:
            self.close_connection = True
        elif self.parse_request():
            self._respond()

    def _respond(self) -> None:
        """Record the request, and send the response with the fault for it."""
        sandbox = self.server.sandbox
        if self.command != "GET":
            self.close_connection = True  # otherwise, a body would be the next request
        request = Request.parse(self.command, self.path, self.headers)
        sandbox.requests.append(request)
        del sandbox.requests[:-MAX_REQUESTS]
        sandbox.schedule.apply(sandbox.servers)
        fault = sandbox.faults.take(page_of(sandbox, request))
        response = respond(sandbox, request, fault)
        self.log_message("%s %s: %s", request.method, self.path, response.status)
        wire = Wire(self.request, fault)
        with_body = response.status not in (204, 304)
        if not wire.send(response, with_body=with_body):
            self.close_connection = True

    def log_message(self, format: str, *values: object) -> None:
        """Write a line to standard error, if verbose."""
        if self.server.sandbox.verbose:
            super().log_message(format, *values)
