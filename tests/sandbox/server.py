# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Listen on loopback and give each connection a thread."""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .account import make_servers
from .api import SCOPE, Request, page_of, respond
from .changes import Change, Schedule
from .faults import Fault, Plans
from .paging import Paging
from .wire import Wire

LOOPBACK = ("127.0.0.0/8", "::1/128")
DEFAULT_TOKEN = "sandbox-token"
StrPath = str | os.PathLike[str]


class Sandbox:
    """Serve an account while the `with` block runs, on a free port unless one is given.

    `servers` is the list that is served, each element as it is; it, `token`, `scopes` and `latency`
    may be changed at any time. `requests` are those received, oldest first, also while others
    come in; `connections` counts the connections taken.
    """

    def __init__(
        self,
        servers: int | Sequence[object] = 12,
        token: str = DEFAULT_TOKEN,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        prefix: str = "",
        pagination: str = "none",
        pagination_parameter: str | None = None,
        page_size: int = 100,
        addresses: str = "documentation",
        scopes: Sequence[str] = (SCOPE,),
        tls: tuple[StrPath, StrPath | None] | None = None,
        latency: float = 0.0,
        changes: Sequence[Change] = (),
        verbose: bool = False,
    ) -> None:
        """Prepare an account; ValueError for what makes no sense.

        `servers` made up, or these; `prefix` before /api/v1; `addresses` either documentation or
        loopback; `tls` a certificate and its key; `latency` in seconds before each response;
        `changes` are made to `servers` on their schedule, which begins with the first start.
        """
        _require_loopback(host)
        self.host = host
        self.port = port
        self.prefix = prefix
        self.token = token
        self.scopes = scopes
        self.latency = latency
        self.verbose = verbose
        self.paging = Paging(pagination, pagination_parameter, page_size)
        self.servers: list[Any] = (
            list(make_servers(servers, addresses)) if isinstance(servers, int) else list(servers)
        )
        self.schedule = Schedule(changes, addresses)
        self.schedule.check(self.servers)
        self.requests: list[Request] = []
        self.connections = 0
        self.plans = Plans()
        self.context = _tls_context(*tls) if tls else None
        self._server: _Server | None = None

    @property
    def url(self) -> str:
        """Return the base URL, which the path /api/v1 follows."""
        scheme = "https" if self.context else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}{self.prefix}"

    def fail(
        self, fault: Fault, *, times: int | None = 1, page: int | None = None, after: int = 0
    ) -> None:
        """Let the next requests meet this fault, whatever their path and token.

        `times` of them, all if None; with `page`, from 1, only those for that page; the first
        `after` of them pass. Of several faults, the one planned first comes first.
        """
        self.plans.add(fault, times, page, after)

    def recover(self) -> None:
        """Forget the faults that are still to come."""
        self.plans.clear()

    def start(self) -> None:
        """Listen; after a stop, on the same port as before. OSError if the port is in use."""
        self._server = _Server(self)
        self.schedule.start()
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Refuse new connections and drop the present ones; does nothing if already stopped."""
        if self._server:
            self._server.stop()
            self._server = None

    def __enter__(self) -> Sandbox:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    """Accept connections and keep them at hand, so that a stop reaches each of them."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.stopping = threading.Event()
        self.open: dict[socket.socket, int] = {}
        self.address_family = socket.AF_INET6 if ":" in sandbox.host else socket.AF_INET
        super().__init__((sandbox.host, sandbox.port), _Handler)

    def server_bind(self) -> None:
        """Bind without HTTPServer's look-up of the host's name, which can be slow."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection; its TLS handshake is left to its own thread."""
        connection, address = super().get_request()
        if self.sandbox.context:
            connection = self.sandbox.context.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
        self.sandbox.connections += 1
        self.open[connection] = self.sandbox.connections
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        """Close a connection, without the orderly shutdown that would precede a wanted reset."""
        self.open.pop(request, None)
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over a connection that broke, which is daily business here; show any other error."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def stop(self) -> None:
        """Stop listening, end all connections, then wake every thread that waits for a fault."""
        self.shutdown()
        self.server_close()
        for connection in list(self.open):
            with suppress(OSError):
                # Not SSLSocket's own method, which would pull the TLS layer from under its thread.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
        self.stopping.set()  # last, so that none of them can send its response yet


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
        """Answer a request of any method; the inherited way knows only those it has names for."""
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline:
            self.close_connection = True
        elif self.parse_request():
            self._respond()

    def _respond(self) -> None:
        """Record the request, and respond with the fault that is due."""
        sandbox = self.server.sandbox
        request = Request.parse(
            self.command,
            self.path,
            self.headers,
            self._read_body(),
            self.server.open[self.request],
        )
        sandbox.requests.append(request)
        sandbox.schedule.apply(sandbox.servers)
        fault = sandbox.plans.take(page_of(sandbox, request))
        response = respond(sandbox, request, fault)
        self.log_message("%s %s: %s", request.method, self.path, response.status)
        wire = Wire(self.request, fault, self.server.stopping)
        with_body = request.method != "HEAD" and response.status not in (204, 304)
        if not wire.send(response, with_body=with_body, latency=sandbox.latency):
            self.close_connection = True

    def _read_body(self) -> bytes:
        """Return the request's body; without a plain length, nothing, and no further request."""
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdigit()):
            self.close_connection = True
            return b""
        return self.rfile.read(int(length))

    def log_message(self, format: str, *values: object) -> None:
        """Write a line to standard error, if asked for."""
        if self.server.sandbox.verbose:
            super().log_message(format, *values)


def _require_loopback(host: str) -> None:
    """Raise ValueError unless the address can be reached from this machine alone."""
    with suppress(ValueError):
        address = ipaddress.ip_address(host)
        if any(address in ipaddress.ip_network(network) for network in LOOPBACK):
            return
    raise ValueError(f"host: expected an address in 127.0.0.0/8 or ::1, not {host!r}")


def _tls_context(certfile: StrPath, keyfile: StrPath | None) -> ssl.SSLContext:
    """Return a server's TLS context; ValueError for files that can't be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certfile, keyfile)
    except OSError as error:
        raise ValueError(
            f"tls: can't use {certfile} with {keyfile or certfile}: {error}"
        ) from error
    return context
