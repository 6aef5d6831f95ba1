# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Send one GET request with the token, under a deadline."""

from __future__ import annotations

import http.client
import itertools
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from ._envelope import CHECK_URL, too_large
from ._errors import CloudError, MalformedResponse
from ._failures import status_error, timed_out, transport_error
from ._options import Connection
from ._session import THREAD, SocketHandle, new_session, proxies, proxy_of
from ._text import Quote, excerpt, header_text, one_line, redact
from ._url import next_link, without_query

if TYPE_CHECKING:
    import requests

Page = tuple[str, tuple[tuple[str, str], ...]]  # a URL and the parameters of its query

_ERROR_LIMIT = 64 * 2**10  # bytes of an error's body; a longer one is not quoted
_LAST_WAIT = 1.0  # seconds for the thread of a late request to end; only a name lookup takes longer
_TICK = 1.0  # seconds between two calls of tick
# The support of an API finds a request by one of these headers; nothing is known about this API's.
_REQUEST_IDS = ("X-Request-Id", "Request-Id", "X-Correlation-Id", "X-Trace-Id")
_CHUNK = 64 * 2**10  # bytes that are read, or decompressed, at a time


@dataclass(frozen=True)
class Response:
    """The body of a response with status 200, and two of its headers."""

    body: bytes
    content_type: str
    next_link: str


class Transport:
    """Send requests over one connection that is kept open.

    ``trace``, if there is one, receives one line for each request, and ``tick`` is called each
    second during one.
    """

    def __init__(
        self,
        connection: Connection,
        trace: Callable[[str], None] | None,
        tick: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._trace = trace
        self._tick = tick
        self._session: requests.Session | None = None
        self._handle = SocketHandle()
        self.requests = 0
        self.headers: Mapping[str, str] = {}  # of the last response, whatever its status

    def get(self, page: Page, limit: int) -> Response:
        """Send one GET and wait for a response of at most ``limit`` bytes, until the deadline.

        The request runs in a separate thread, because the timeout of a socket restarts with each
        byte and does not cover the lookup of the name. At the deadline, its socket is shut down,
        which ends it.
        """
        if self._session is None:
            self._handle = SocketHandle()
            self._session = new_session(self._connection, self._handle)
        exchange = _Exchange(self, self._session, page, limit)
        self.requests += 1
        started = _now()
        exchange.start()
        while exchange.is_alive() and (left := started + self._connection.timeout - _now()) > 0:
            exchange.join(min(left, _TICK))
            self._tick()
        self.headers = exchange.headers
        error = self._abandon(exchange) if exchange.is_alive() else exchange.error
        if self._trace:
            self._trace(f"GET {self.show(page)}: {exchange.outcome(error, _now() - started)}")
        if error is not None:
            raise error
        if exchange.response is None:
            raise RuntimeError("The request ended with neither a response nor an error.")
        return exchange.response

    def _abandon(self, exchange: _Exchange) -> CloudError:
        """End a late request, and return its error: that of its status, if it has one already."""
        error = exchange.error or exchange.timed_out()
        self._session = None  # the thread closes it
        exchange.is_late = True
        self._handle.cut()
        exchange.join(_LAST_WAIT)
        return error

    def close(self) -> None:
        """Close the connection, if one is open."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def quote(self, text: str) -> str:
        """Return text from the API for a message: one short line without the token."""
        return excerpt(redact(one_line(text), self._connection.api_token))

    def show(self, page: Page) -> str:
        """Return the URL of a page for a message; of its query, only the parameter that we add."""
        url, parameters = page
        shown = [(name, self.quote(str(value))) for name, value in parameters]
        query = urlencode(shown, safe="*")  # MASK stays readable
        address = redact(one_line(without_query(url)), self._connection.api_token)
        return f"{address}?{query}" if query else address


def _now() -> float:
    return time.monotonic()


class _Exchange(threading.Thread):
    """One request: at its end, either ``response`` or ``error`` is set.

    ``is_late`` is set if the caller no longer waits for it.
    """

    def __init__(
        self, transport: Transport, session: requests.Session, page: Page, limit: int
    ) -> None:
        super().__init__(name=THREAD, daemon=True)
        self.response: Response | None = None
        self.error: CloudError | None = None
        self.headers: Mapping[str, str] = {}
        self.is_late = False
        self._connection = transport._connection
        self._quote = transport.quote
        self._show = transport.show
        self._status: int | None = None
        self._size = 0
        self._session = session
        self._page = page
        self._limit = limit

    def run(self) -> None:
        import urllib3

        url, parameters = self._page
        try:
            with self._session.get(
                url,
                params=parameters,
                stream=True,
                allow_redirects=False,
                timeout=self._connection.timeout,
                verify=self._connection.verify,
                proxies=proxies(url),
            ) as response:
                self._receive(response)
        except CloudError as error:
            self.error = error
        except (
            OSError,
            http.client.HTTPException,
            urllib3.exceptions.HTTPError,
            ValueError,
        ) as error:
            # An error with the status is more useful than one about an interrupted body.
            if self.error is None:
                self.error = self._failure(error)
        finally:
            if self.is_late:
                self._session.close()

    def outcome(self, error: CloudError | None, seconds: float) -> str:
        """Describe the response, or why there is none, on one line."""
        result = f"HTTP {self._status}" if self._status else f"no response ({error and error.code})"
        parts = [result, f"{seconds * 1000:,.0f} ms", f"{self._size:,} bytes"]
        names = [name for name in _REQUEST_IDS if name in self.headers]
        if names:
            parts.append(f"request id {self._quote(header_text(self.headers[names[0]]))}")
        return ", ".join(parts)

    def timed_out(self) -> CloudError:
        """Make the error for the deadline."""
        url = self._page[0]
        return timed_out(url, self._connection.timeout, proxy_of(self._session, url))

    def _failure(self, error: Exception) -> CloudError:
        import requests

        url = self._page[0]
        return transport_error(
            error,
            url,
            self._connection.timeout,
            proxy=proxy_of(self._session, url),
            encrypted=isinstance(error, requests.exceptions.SSLError),
        )

    def _receive(self, response: requests.Response) -> None:
        status, headers = response.status_code, response.headers
        self._status, self.headers = status, headers
        encoding = headers.get("Content-Encoding", "")
        response.raw.enforce_content_length = True  # urllib3 1 would accept a short body
        chunks = response.raw.stream(_CHUNK, decode_content=False)
        chunks = self._counted(itertools.takewhile(lambda chunk: not self.is_late, chunks))
        if status == 200:
            self.response = Response(
                read_body(chunks, encoding, self._limit, self._quote),
                headers.get("Content-Type", ""),
                next_link(headers.get("Link", "")),
            )
            return
        shown, source = self._show(self._page), self._connection.source
        self.error = status_error(status, headers, b"", shown, self._quote, source)
        try:
            body = read_body(chunks, encoding, _ERROR_LIMIT)
        except MalformedResponse:
            return
        self.error = status_error(status, headers, body, shown, self._quote, source)

    def _counted(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._size += len(chunk)
            yield chunk


def read_body(chunks: Iterable[bytes], encoding: str, limit: int, quote: Quote = excerpt) -> bytes:
    """Join and decompress a body of at most ``limit`` bytes, without ever holding more.

    Raises MalformedResponse if it is longer, or not in the encoding that it claims.
    """
    encoding = encoding.strip().lower()
    chunks = _at_most(limit, chunks)
    if encoding in ("gzip", "x-gzip"):
        chunks = _at_most(limit, _decompress(chunks))
    elif encoding not in ("", "identity"):
        raise MalformedResponse(
            f'The response has the encoding "{quote(header_text(encoding))}", '
            "although only gzip was requested.",
            CHECK_URL,
        )
    return b"".join(chunks)


def _at_most(limit: int, chunks: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise too_large()
        yield chunk


def _decompress(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the decompressed pieces of gzip data, which may have several members."""
    decoder = zlib.decompressobj(wbits=31)
    for chunk in chunks:
        rest = chunk
        while rest:
            if decoder.eof:
                decoder = zlib.decompressobj(wbits=31)
            try:
                yield decoder.decompress(rest, _CHUNK)
            except zlib.error:
                raise MalformedResponse(
                    "The response claims to be compressed with gzip, but is not.", CHECK_URL
                ) from None
            rest = decoder.unconsumed_tail or decoder.unused_data
    if not decoder.eof:
        raise MalformedResponse("The compressed response is incomplete.", "Run again.")
