# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Send one request with the token, and read its response within a limit.

The library requests is imported when it is needed: an inventory from the cache does not need it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ._errors import CHECK_URL, CloudError, MalformedResponse
from ._failures import (
    check_bundle,
    check_key_log,
    invalid_url,
    is_handshake_timeout,
    no_connection,
    no_socks,
    shown_url,
    transport_error,
    unusable_requests,
)
from ._options import Connection
from ._request import Request, Response, Route
from ._text import Show, header_text
from ._url import is_loopback, origin, proxy_address

if TYPE_CHECKING:
    import requests

LIMIT = 32 * 2**20  # bytes of all responses of one listing, decompressed
_ERROR_LIMIT = 64 * 2**10  # bytes of an error's body; a longer one is not quoted
_LONGEST_CONNECT = 10.0  # seconds for each address, so that the others of a name are tried, too


class Http:
    """Send requests, one after the other, over one connection that is kept open.

    ``trace``, if there is one, receives one line for each request. Raises MissingLibrary if
    requests can't be imported.
    """

    def __init__(self, connection: Connection, trace: Show | None = None) -> None:
        self._connection = connection
        self._trace = trace
        if connection.base_url.startswith("https:"):
            check_key_log()  # first, because requests 2.32 opens the file when it is imported
        self._session = _new_session(connection)

    def send(self, request: Request, limit: int) -> Response:
        """Return the response, whatever its status; raise CloudError if there is none.

        The body of a success has at most ``limit`` bytes.
        """
        started = time.monotonic()
        response = None
        try:
            response = self._exchange(request, limit)
        finally:
            if self._trace:
                self._trace(self._describe(request, response, time.monotonic() - started))
        return response

    def close(self) -> None:
        """Close the connection, if one is open."""
        self._session.close()

    def _exchange(self, request: Request, limit: int) -> Response:
        """Send a request, and read its response."""
        import urllib3

        received, route = self._open(request)
        failure: CloudError | None = None
        body = b""
        if received.status_code != request.success:
            limit = _ERROR_LIMIT
        with received:
            try:
                body = self._read(received, limit)
            except MalformedResponse as error:
                failure = error
            except (OSError, urllib3.exceptions.HTTPError, ValueError) as error:
                failure = transport_error(error, route, self._connection.timeout)
        return Response(received.status_code, received.headers, body, route, failure)

    def _open(self, request: Request) -> tuple[requests.Response, Route]:
        """Send a request, and return its response with an unread body, and its route."""
        import requests
        import urllib3

        session = self._session
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
        bundle = settings["verify"]
        if bundle is True:
            bundle = requests.utils.DEFAULT_CA_BUNDLE_PATH
        if bundle and self._connection.base_url.startswith("https:"):
            check_bundle(bundle, route)
        try:
            prepared = session.prepare_request(
                requests.Request(request.method, url, params=request.query)
            )
            # The session itself would read the whole body of a redirect, and keep cookies.
            adapter = session.get_adapter(url)
            received = adapter.send(prepared, timeout=(connecting, timeout), **settings)
        except (OSError, urllib3.exceptions.HTTPError, ValueError) as error:
            raise self._error(error, route, connecting) from None
        return received, route

    def _error(self, error: Exception, route: Route, connecting: float) -> CloudError:
        """Make the error for an exception; ``connecting`` is the limit of the connection."""
        from requests import exceptions
        from urllib3.exceptions import LocationValueError, MaxRetryError

        if isinstance(error, exceptions.InvalidSchema):
            return no_socks(route)
        if isinstance(error, (exceptions.InvalidURL, LocationValueError)):
            return invalid_url(route)
        # The TLS handshake has the limit of the connection, too.
        if isinstance(error, exceptions.ConnectTimeout) or is_handshake_timeout(error):
            return no_connection(route, connecting)
        is_tls = isinstance(error, exceptions.SSLError)
        failure = transport_error(error, route, self._connection.timeout, is_tls)
        # As requests uses it, urllib3 raises this only for what happened before it could send.
        failure.was_sent = not any(isinstance(cause, MaxRetryError) for cause in error.args)
        return failure

    def _read(self, received: requests.Response, limit: int) -> bytes:
        """Return the decompressed body.

        Raises MalformedResponse if it is longer than ``limit`` bytes, or not in an encoding that
        was requested, and TimeoutError if it takes longer than ``timeout``.
        """
        import urllib3

        encoding = header_text(received.headers.get("Content-Encoding", ""))
        if encoding.lower() not in ("", "identity", "gzip"):
            raise MalformedResponse(
                f'The response has the encoding "{self._connection.excerpt(encoding)}", '
                "although only gzip was requested.",
                CHECK_URL,
            )
        deadline = time.monotonic() + self._connection.timeout
        received.raw.enforce_content_length = True  # urllib3 1 would accept a short body
        body = bytearray()
        try:
            for piece in _pieces(received.raw):
                body += piece
                if len(body) > limit:
                    raise MalformedResponse(
                        f"The listing is larger than {LIMIT // 2**20} MiB, the limit.", CHECK_URL
                    )
                if time.monotonic() > deadline:
                    raise TimeoutError
        except urllib3.exceptions.DecodeError:
            raise MalformedResponse(
                "The response claims to be compressed with gzip, but is not.", CHECK_URL
            ) from None
        return bytes(body)

    def _describe(self, request: Request, response: Response | None, seconds: float) -> str:
        """Describe a request and its response on one line."""
        line = f"{request.method} {shown_url(request, self._connection)}:"
        took = f"{seconds * 1000:,.0f} ms"
        if response is None:
            return f"{line} no response, {took}"
        body = f"{len(response.body):,} bytes"
        if response.failure:
            body = "no usable body"
        return f"{line} HTTP {response.status}, {took}, {body}"


def _pieces(raw: Any) -> Iterator[bytes]:
    """Yield the decompressed body as its bytes arrive; with urllib3 before 2.2, after each KiB.

    urllib3 before 2.6 decompresses all that it has read, to a thousand times as many bytes at most.
    """
    if hasattr(raw, "read1"):
        while piece := raw.read1(8 * 2**10, decode_content=True):
            yield piece
    else:
        yield from raw.stream(2**10, decode_content=True)


def _new_session(connection: Connection) -> requests.Session:
    try:
        import requests
        import urllib3
    except Exception as error:  # noqa: BLE001  # code of other projects, perhaps half installed
        raise unusable_requests(error) from None

    def add_token(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {connection.api_token}"
        return request

    if connection.verify is False:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    session = requests.Session()
    session.auth = add_token  # with an auth, requests ignores ~/.netrc
    agent = f"{connection.user_agent} {requests.utils.default_user_agent()}"
    session.headers["Accept"] = "application/json"
    session.headers["Accept-Encoding"] = "gzip"
    session.headers["User-Agent"] = agent
    return session


def _proxies(url: str) -> dict[str, str]:
    """Return proxies that take precedence over the environment: none for a loopback address."""
    scheme, host, _port = origin(url)
    if is_loopback(host):
        return {f"{scheme}://{host}": ""}
    return {}
