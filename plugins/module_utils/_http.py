# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Send one request with the token, and read its response within a limit.

The library requests is imported when the first request is sent, because an inventory from the
cache does not need it, and the errors when a request fails, because Ansible compiles the code of
collections at each start.
"""

from __future__ import annotations

import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ._envelope import CHECK_URL
from ._errors import CloudError, MalformedResponse, MissingLibrary
from ._options import Connection
from ._text import Quote, header_text
from ._url import Request, is_loopback, origin, proxy_address

if TYPE_CHECKING:
    import requests

LIMIT = 32 * 2**20  # bytes of all responses of one listing, decompressed
_ERROR_LIMIT = 64 * 2**10  # bytes of an error's body; a longer one is not quoted
_CHUNK = 64 * 2**10  # bytes that are read, or decompressed, at a time
_LONGEST_CONNECT = 10.0  # seconds for each address, so that the others of a name are tried, too
# The support of an API finds a request by one of these headers; nothing is known about this API's.
_REQUEST_IDS = ("X-Request-Id", "Request-Id", "X-Correlation-Id", "X-Trace-Id")


class Response(NamedTuple):
    """A response with the status of success."""

    body: bytes
    headers: Mapping[str, str]


class Http:
    """Send requests, one after the other, over one connection that is kept open.

    ``trace``, if there is one, receives one line for each request.
    """

    def __init__(self, connection: Connection, trace: Callable[[str], None] | None = None) -> None:
        self._connection = connection
        self._trace = trace
        self._session: requests.Session | None = None
        self._status: int | None = None
        self._size = 0  # bytes of the last body
        self.requests = 0
        self.headers: Mapping[str, str] = {}  # of the last response, whatever its status

    def send(self, request: Request, limit: int) -> Response:
        """Return the response, with a body of at most ``limit`` bytes, or raise CloudError."""
        if self._session is None:
            self._session = _new_session(self._connection)
        self._status, self._size, self.headers = None, 0, {}
        self.requests += 1
        started = time.monotonic()
        try:
            return self._exchange(self._session, request, limit)
        finally:
            if self._trace:
                self._trace(self._describe(request, time.monotonic() - started))

    def close(self) -> None:
        """Close the connection, if one is open."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _exchange(self, session: requests.Session, request: Request, limit: int) -> Response:
        import requests
        import urllib3

        url, timeout = request.url(self._connection.base_url), self._connection.timeout
        settings: Any = session.merge_environment_settings(
            url, _proxies(url), True, self._connection.verify, None
        )
        proxy = requests.utils.select_proxy(url, settings["proxies"])
        place = proxy_address(proxy) if proxy else None
        # Through a proxy, urllib3 applies this timeout to the whole of its response, too.
        connecting = timeout if proxy else min(timeout, _LONGEST_CONNECT)
        started = time.monotonic()
        try:
            if place == "":
                raise ValueError  # requests would raise a TypeError for a proxy without a host
            prepared = session.prepare_request(
                requests.Request(request.method, url, params=request.query)
            )
            # The session itself would read the whole body of a redirect, and keep cookies.
            with session.get_adapter(url).send(
                prepared, timeout=(connecting, timeout), **settings
            ) as response:
                return self._receive(response, request, limit)
        except (OSError, urllib3.exceptions.HTTPError, ValueError) as error:
            from ._failures import no_connection, transport_error

            known = requests.exceptions
            # The TLS handshake has the limit of the connection, too.
            is_early = time.monotonic() - started < timeout
            if isinstance(error, known.Timeout if is_early else known.ConnectTimeout):
                raise no_connection(url, connecting, place) from None
            encrypted = isinstance(error, known.SSLError)
            raise transport_error(error, url, timeout, place, encrypted) from None

    def _receive(self, response: requests.Response, request: Request, limit: int) -> Response:
        import urllib3

        self._status, self.headers = response.status_code, response.headers
        encoding = response.headers.get("Content-Encoding", "")
        chunks, quote = self._chunks(response.raw), self._connection.quote
        if response.status_code == request.success:
            return Response(read_body(chunks, encoding, limit, quote), response.headers)
        from ._failures import status_error

        body = b""
        # The status is more useful than an error of its body.
        with suppress(CloudError, OSError, urllib3.exceptions.HTTPError, ValueError):
            body = read_body(chunks, encoding, _ERROR_LIMIT, quote)
        raise status_error(response.status_code, response.headers, body, request, self._connection)

    def _chunks(self, raw: Any) -> Iterator[bytes]:
        """Yield the body as it arrives; raise TimeoutError if it takes longer than ``timeout``.

        Without read1, which urllib3 has since 2.2, this is noticed after 64 KiB or one chunk.
        """
        deadline = time.monotonic() + self._connection.timeout
        raw.enforce_content_length = True  # urllib3 1 would accept a short body
        chunks = raw.stream(_CHUNK, decode_content=False)
        if hasattr(raw, "read1"):
            chunks = iter(partial(raw.read1, _CHUNK, decode_content=False), b"")
        for chunk in chunks:
            self._size += len(chunk)
            if time.monotonic() > deadline:
                raise TimeoutError
            yield chunk

    def _describe(self, request: Request, seconds: float) -> str:
        """Describe a request and its response on one line."""
        from ._failures import shown_url

        outcome = f"HTTP {self._status}" if self._status else "no response"
        parts = [outcome, f"{seconds * 1000:,.0f} ms", f"{self._size:,} bytes"]
        if names := [name for name in _REQUEST_IDS if name in self.headers]:
            identifier = self._connection.quote(header_text(self.headers[names[0]]))
            parts.append(f"request id {identifier}")
        return f"{request.method} {shown_url(request, self._connection)}: {', '.join(parts)}"


def _new_session(connection: Connection) -> requests.Session:
    try:
        import requests
        import urllib3
    except ImportError:
        raise MissingLibrary(
            "The Python library requests is not installed.",
            f"Install it where Ansible runs: {sys.executable} -m pip install requests, pipx inject "
            "ansible-core requests, or the system's package python3-requests.",
        ) from None

    def add_token(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {connection.api_token}"
        return request

    if connection.verify is False:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    session = requests.Session()
    session.auth = add_token  # with an auth, requests ignores ~/.netrc
    agent = f"{connection.user_agent} {requests.utils.default_user_agent()}"
    headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": agent}
    session.headers.update(headers)
    return session


def _proxies(url: str) -> dict[str, str]:
    """Return proxies that take precedence over the environment: none for a loopback address."""
    scheme, host = origin(url)[:2]
    return {f"{scheme}://{host}": ""} if is_loopback(host) else {}


def next_link(header: str) -> str:
    """Return the target of rel="next" in a Link header (RFC 8288), or an empty text.

    A link with an anchor belongs to another resource (section 3.2).
    """
    import requests

    for link in requests.utils.parse_header_links(header):
        if "next" in link.get("rel", "").lower().split() and "anchor" not in link:
            return str(link["url"])
    return ""


def read_body(chunks: Iterable[bytes], encoding: str, limit: int, quote: Quote) -> bytes:
    """Join and decompress a body of at most ``limit`` bytes, without ever holding much more.

    Raises MalformedResponse if it is longer, or not in the encoding that it claims.
    """
    name = encoding.strip().lower()
    if name in ("gzip", "x-gzip"):
        chunks = _decompress(chunks)
    elif name not in ("", "identity"):
        raise MalformedResponse(
            f'The response has the encoding "{quote(header_text(encoding))}", '
            "although only gzip was requested.",
            CHECK_URL,
        )
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > limit:
            raise MalformedResponse(
                f"The listing is larger than {LIMIT // 2**20} MiB, the limit.", CHECK_URL
            )
    return bytes(body)


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
