# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Send one GET request with the token, under a deadline.

This utility is private to the collection: it may change in any release. Only this utility imports
requests, and only when it sends a request: an inventory from the cache does not need the library.
"""

from __future__ import annotations

import itertools
import sys
import threading
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ansible_collections.server_management.cloud.plugins.module_utils._envelope import (
    CHECK_URL,
    too_large,
)
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    MalformedResponse,
    MissingLibrary,
)
from ansible_collections.server_management.cloud.plugins.module_utils._failures import (
    status_error,
    timed_out,
    transport_error,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from ansible_collections.server_management.cloud.plugins.module_utils._text import (
    Quote,
    excerpt,
    header_text,
    one_line,
    redact,
)
from ansible_collections.server_management.cloud.plugins.module_utils._url import next_link

if TYPE_CHECKING:
    import requests

Page = tuple[str, tuple[tuple[str, str], ...]]  # a URL and the parameters of its query

_ERROR_LIMIT = 64 * 2**10  # bytes of an error's body; a longer one is not quoted
_CHUNK = 64 * 2**10  # bytes that are read, or decompressed, at a time


@dataclass(frozen=True)
class Response:
    """The body of a response with status 200, and two of its headers."""

    body: bytes
    content_type: str
    next_link: str


class Transport:
    """Send requests over one connection that is kept open."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._session: requests.Session | None = None

    def get(self, page: Page, limit: int) -> Response:
        """Send one GET and wait for a response of at most ``limit`` bytes, until the deadline.

        A socket timeout restarts with each byte and does not cover the lookup of the name, so the
        request runs in a separate thread, which is abandoned at the deadline.
        """
        if self._session is None:
            self._session = _new_session(self._connection)
        exchange = _Exchange(self, self._session, page, limit)
        exchange.start()
        exchange.join(self._connection.timeout)
        exchange.is_late = exchange.is_alive()
        if exchange.is_late:
            self._session = None  # the thread closes it
        if exchange.error is not None:
            raise exchange.error
        if exchange.is_late:
            raise timed_out(page[0], self._connection.timeout)
        if exchange.response is None:
            raise RuntimeError("The request ended with neither a response nor an error.")
        return exchange.response

    def close(self) -> None:
        """Close the connection, if one is open."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def quote(self, text: str) -> str:
        """Return text from the API for a message: one short line without the token."""
        return excerpt(redact(one_line(text), self._connection.api_token))


class _Exchange(threading.Thread):
    """One request: at its end, either ``response`` or ``error`` is set.

    ``is_late`` is set if the caller no longer waits for it.
    """

    def __init__(
        self, transport: Transport, session: requests.Session, page: Page, limit: int
    ) -> None:
        super().__init__(daemon=True)
        self.response: Response | None = None
        self.error: CloudError | None = None
        self.is_late = False
        self._connection = transport._connection
        self._quote = transport.quote
        self._session = session
        self._page = page
        self._limit = limit

    def run(self) -> None:
        from http.client import HTTPException

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
            ) as response:
                self._receive(response)
        except CloudError as error:
            self.error = error
        except (OSError, HTTPException, urllib3.exceptions.HTTPError, ValueError) as error:
            # An error with the status is more useful than one about an interrupted body.
            if self.error is None:
                self.error = self._failure(error)
        finally:
            if self.is_late:
                self._session.close()

    def _failure(self, error: Exception) -> CloudError:
        import requests

        return transport_error(
            error,
            self._page[0],
            self._connection.timeout,
            proxied=isinstance(error, requests.exceptions.ProxyError),
            encrypted=isinstance(error, requests.exceptions.SSLError),
        )

    def _receive(self, response: requests.Response) -> None:
        status, headers = response.status_code, response.headers
        encoding = headers.get("Content-Encoding", "")
        response.raw.enforce_content_length = True  # urllib3 1 would accept a short body
        chunks = response.raw.stream(_CHUNK, decode_content=False)
        chunks = itertools.takewhile(lambda chunk: not self.is_late, chunks)
        if status == 200:
            self.response = Response(
                read_body(chunks, encoding, self._limit, self._quote),
                headers.get("Content-Type", ""),
                next_link(headers.get("Link", "")),
            )
            return
        source = self._connection.source
        self.error = status_error(status, headers, b"", self._quote, source)
        try:
            body = read_body(chunks, encoding, _ERROR_LIMIT)
        except MalformedResponse:
            return
        self.error = status_error(status, headers, body, self._quote, source)


def _new_session(connection: Connection) -> requests.Session:
    try:
        import requests
        import urllib3
    except ImportError:
        raise MissingLibrary(
            "The Python library requests is not installed.",
            f"Install it where Ansible runs: {sys.executable} -m pip install requests.",
        ) from None

    def add_token(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {connection.api_token}"
        return request

    class Session(requests.Session):
        """A session without redirects; requests would read the whole body of one."""

        def get_redirect_target(self, resp: requests.Response) -> None:
            return None

    if connection.verify is False:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    session = Session()
    session.auth = add_token  # with an auth, requests ignores ~/.netrc
    session.headers.update(
        {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": f"{connection.user_agent} {requests.utils.default_user_agent()}",
        }
    )
    return session


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
