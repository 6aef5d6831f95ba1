# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Send one request with the token, and read its response within a limit.

The library requests is imported when the first request is sent, because an inventory from the
cache does not need it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ._envelope import CHECK_URL
from ._errors import CloudError, MalformedResponse, MissingLibrary
from ._failures import (
    invalid_url,
    no_bundle,
    no_connection,
    no_socks,
    shown_url,
    status_error,
    transport_error,
)
from ._options import Connection
from ._text import Show, header_text
from ._url import Request, Route, is_loopback, origin, proxy_address

if TYPE_CHECKING:
    import requests

LIMIT = 32 * 2**20  # bytes of all responses of one listing, decompressed
_ERROR_LIMIT = 64 * 2**10  # bytes of an error's body; a longer one is not quoted
_LONGEST_CONNECT = 10.0  # seconds for each address, so that the others of a name are tried, too


class Response(NamedTuple):
    """A response with the status of success."""

    body: bytes
    headers: Mapping[str, str]


class Http:
    """Send requests, one after the other, over one connection that is kept open.

    ``trace``, if there is one, receives one line for each request. ``status``, ``headers`` and
    ``size``, the number of bytes of the body, are those of the response to the last request, if
    there was one; ``seconds`` is how long that request took.
    """

    def __init__(self, connection: Connection, trace: Show | None = None) -> None:
        self._connection = connection
        self._trace = trace
        self._session: requests.Session | None = None
        self.requests = 0
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}
        self.size = 0
        self.seconds = 0.0
        self._started = 0.0  # of the last request, as time.monotonic()

    def send(self, request: Request, limit: int) -> Response:
        """Return the response, with a body of at most ``limit`` bytes, or raise CloudError."""
        if self._session is None:
            self._session = _new_session(self._connection)
        self.requests += 1
        self.status = None
        self.headers = {}
        self.size = 0
        self._started = time.monotonic()
        try:
            body = self._exchange(self._session, request, limit)
        finally:
            self.seconds = time.monotonic() - self._started
            if self._trace:
                self._trace(self._describe(request))
        return Response(body, self.headers)

    def close(self) -> None:
        """Close the connection, if one is open."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _exchange(self, session: requests.Session, request: Request, limit: int) -> bytes:
        """Send a request, and return the body of its response."""
        import requests
        import urllib3

        timeout = self._connection.timeout
        url = request.url(self._connection.base_url)
        settings: Any = session.merge_environment_settings(
            url, _proxies(url), True, self._connection.verify, None
        )
        proxy = requests.utils.select_proxy(url, settings["proxies"])
        route = Route(url, proxy_address(proxy) if proxy else None)
        # Through a proxy, urllib3 applies this timeout to the whole of its response, too.
        connecting = timeout if proxy else min(timeout, _LONGEST_CONNECT)
        if route.proxy == "":
            raise invalid_url(route)  # requests would raise a TypeError
        try:
            prepared = session.prepare_request(
                requests.Request(request.method, url, params=request.query)
            )
            # The session itself would read the whole body of a redirect, and keep cookies.
            with session.get_adapter(url).send(
                prepared, timeout=(connecting, timeout), **settings
            ) as response:
                self.status = response.status_code
                self.headers = response.headers
                if self.status != request.success:
                    raise self._status_error(response, request, route)
                return self._read(response, limit)
        except (OSError, urllib3.exceptions.HTTPError, ValueError) as error:
            raise self._error(error, route, settings["verify"], connecting) from None

    def _error(self, error: Exception, route: Route, verify: Any, connecting: float) -> CloudError:
        """Make the error for an exception; ``connecting`` is the limit of the connection."""
        from requests import exceptions as known
        from urllib3.exceptions import LocationValueError

        if isinstance(error, known.InvalidSchema):
            return no_socks(route)
        if isinstance(error, (known.InvalidURL, LocationValueError)):
            return invalid_url(route)
        if isinstance(verify, str) and not os.path.exists(verify) and route.is_encrypted:
            return no_bundle(route, verify)
        timeout = self._connection.timeout
        # The TLS handshake has the limit of the connection, too.
        seconds = time.monotonic() - self._started
        is_early = isinstance(error, known.Timeout) and seconds < timeout
        if is_early or isinstance(error, known.ConnectTimeout):
            return no_connection(route, connecting)
        is_tls = isinstance(error, known.SSLError)
        return transport_error(error, route, timeout, is_tls)

    def _status_error(
        self, response: requests.Response, request: Request, route: Route
    ) -> CloudError:
        import urllib3

        body = b""  # not a part of the body, which could end within the token
        # The status is more useful than an error of its body.
        with suppress(CloudError, OSError, urllib3.exceptions.HTTPError, ValueError):
            body = self._read(response, _ERROR_LIMIT)
        return status_error(
            response.status_code, response.headers, body, request, route, self._connection
        )

    def _read(self, response: requests.Response, limit: int) -> bytes:
        """Return the decompressed body.

        Raises MalformedResponse if it is longer than ``limit`` bytes, or not in an encoding that
        was requested, and TimeoutError if it takes longer than ``timeout``.
        """
        import urllib3

        encoding = header_text(response.headers.get("Content-Encoding", ""))
        if encoding.lower() not in ("", "identity", "gzip"):
            raise MalformedResponse(
                f'The response has the encoding "{self._connection.quote(encoding)}", '
                "although only gzip was requested.",
                CHECK_URL,
            )
        deadline = time.monotonic() + self._connection.timeout
        response.raw.enforce_content_length = True  # urllib3 1 would accept a short body
        body = bytearray()
        try:
            for piece in _pieces(response.raw):
                body += piece
                self.size = len(body)
                if self.size > limit:
                    raise MalformedResponse(
                        f"The listing is larger than {LIMIT // 2**20} MiB, the limit.", CHECK_URL
                    )
                if time.monotonic() > deadline:
                    raise TimeoutError
        except urllib3.exceptions.DecodeError:
            raise MalformedResponse(
                "The response claims to be compressed with gzip, but is not.", CHECK_URL
            ) from None
        if _is_cut(response.raw):
            raise urllib3.exceptions.ProtocolError
        return bytes(body)

    def _describe(self, request: Request) -> str:
        """Describe a request and its response on one line."""
        url = shown_url(request, self._connection)
        outcome = f"HTTP {self.status}" if self.status else "no response"
        took = f"{self.seconds * 1000:,.0f} ms"
        return f"{request.method} {url}: {outcome}, {took}, {self.size:,} bytes"


def _pieces(raw: Any) -> Iterator[bytes]:
    """Yield the decompressed body as its bytes arrive; with urllib3 before 2.2, after each KiB.

    urllib3 before 2.6 decompresses all that it has read, to a thousand times as many bytes at most.
    """
    if hasattr(raw, "read1"):
        while piece := raw.read1(8 * 2**10, decode_content=True):
            yield piece
    else:
        yield from raw.stream(2**10, decode_content=True)


def _is_cut(raw: Any) -> bool:
    """Return whether a body ended within gzip data, which urllib3 does not notice.

    A proxy may have seen the end of the connection and completed the response. By default, nginx
    uses HTTP/1.0, in which that is how a body ends.
    """
    decoder = getattr(raw, "_decoder", None)
    decompressor = getattr(decoder, "_obj", None)
    return not getattr(decompressor, "eof", True)


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
    scheme, host, _port = origin(url)
    if is_loopback(host):
        return {f"{scheme}://{host}": ""}
    return {}


def next_link(header: str) -> str:
    """Return the target of rel="next" in a Link header (RFC 8288), or an empty text.

    A link with an anchor belongs to another resource (section 3.2).
    """
    import requests

    for link in requests.utils.parse_header_links(header):
        if "next" in link.get("rel", "").lower().split() and "anchor" not in link:
            return str(link["url"])
    return ""
