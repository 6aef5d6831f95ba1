# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Send one request with the token, and read its response within a limit.

The library requests is imported when it is needed: an inventory from the cache does not need it.
"""

from __future__ import annotations

import os
import re
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException, IncompleteRead, RemoteDisconnected
from ssl import SSLEOFError, SSLZeroReturnError
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

from ._errors import CloudError, MalformedResponse, TimedOut, TLSFailed
from ._failures import (
    invalid_url,
    no_socks,
    tunnel_failed,
    unreachable,
    unusable_requests,
)
from ._options import Connection
from ._request import Request, Response
from ._text import Show, excerpt, one_line, quoted, redact
from ._url import address_of, is_loopback, proxy_address

if TYPE_CHECKING:
    import requests

CLOSED = "the connection was closed before the end of the response"
LISTING_LIMIT = 32 * 2**20  # bytes of all responses of one listing, decompressed
_ERROR_LIMIT = 64 * 2**10  # bytes of an error's body; a longer one is not quoted
_LONGEST_CONNECT = 10.0  # seconds for each address, so that the others of a name are tried, too
# The path below the base URL. With other characters, such as an id "x/../srv_1", requests could ask
# for another resource.
_is_path = re.compile(r"(/\w+)+", re.ASCII).fullmatch


class Http:
    """Send requests to the API, one after the other, over one connection that is kept open.

    ``trace`` receives one line for each request. ``last_response`` is the response to the last one,
    without its body, or None if there was none. ``close`` closes the connection, if one is open.
    """

    def __init__(self, connection: Connection, trace: Show) -> None:
        """Raise CloudError if no request can be sent: without a library, a proxy or a file."""
        self._connection = connection
        self._trace = trace
        self.last_response: Response | None = None
        url = connection.base_url
        self._session = _new_session(connection)
        self.close = self._session.close
        import requests

        settings: Any = self._session.merge_environment_settings(
            url, proxies={}, stream=True, verify=connection.verify, cert=None
        )
        if is_loopback(url):
            settings["proxies"] = {}
        self._place = address_of(url)
        self._proxy = ""
        proxy = requests.utils.select_proxy(url, settings["proxies"])
        if proxy:
            self._proxy = proxy_address(proxy)
            if not self._proxy:
                raise invalid_url(self._place)  # requests would raise a TypeError
            self._place += f" through the proxy {self._proxy}"
        if url.startswith("https:") and settings["verify"]:
            _check_certificates(settings["verify"], self._place)
        connecting = connection.timeout
        if not proxy:  # through one, urllib3 applies this limit to the whole of its response, too
            connecting = min(connecting, _LONGEST_CONNECT)
        settings["timeout"] = (connecting, connection.timeout)
        self._settings = settings

    def send(self, request: Request, limit: int) -> Response:
        """Return the response, whatever its status; raise CloudError if there is none.

        A success has a body of at most ``limit`` bytes, or raises CloudError.
        """
        import requests
        import urllib3

        self.last_response = None
        token = self._connection.api_token
        if not _is_path(request.path):
            raise MalformedResponse(
                f'The path "{quoted(request.path, token)}" is not requested.',
                "Check the id in it, which must consist of ASCII letters, digits and underscores.",
            )
        url = self._connection.base_url + request.path
        if request.query:
            url += f"?{urlencode(request.query)}"
        shown_url = excerpt(redact(url, token))
        started = time.monotonic()
        outcome = "no response"
        try:
            prepared = self._session.prepare_request(requests.Request(request.method, url))
            # The session itself would read the whole body of a redirect, and keep cookies.
            adapter = self._session.get_adapter(url)
            with adapter.send(prepared, **self._settings) as received:
                response = Response(received.status_code, received.headers, shown_url, self._proxy)
                outcome = f"HTTP {response.status}"
                self.last_response = response
                if response.status == request.success:
                    return response._replace(body=self._read(received, limit))
                # The status is more important than a body that can't be read.
                with suppress(MalformedResponse, OSError, urllib3.exceptions.HTTPError, ValueError):
                    return response._replace(body=self._read(received, _ERROR_LIMIT))
                return response
        except (OSError, urllib3.exceptions.HTTPError, ValueError) as error:
            raise transport_error(error, self._place, *self._settings["timeout"]) from None
        finally:
            took = time.monotonic() - started
            self._trace(f"{request.method} {shown_url}: {outcome}, {took * 1000:,.0f} ms")

    def _read(self, received: requests.Response, limit: int) -> bytes:
        """Return the decompressed body.

        Raises MalformedResponse if it is longer than ``limit`` bytes, and TimeoutError if it takes
        longer than ``timeout``.
        """
        # Other encodings were not requested, and could make a few bytes more than any limit.
        is_gzip = received.headers.get("Content-Encoding", "").lower() == "gzip"
        deadline = time.monotonic() + self._connection.timeout
        received.raw.enforce_content_length = True  # urllib3 1 would accept a short body
        body = bytearray()
        for piece in _pieces(received.raw, is_gzip):
            body += piece
            if len(body) > limit:
                raise MalformedResponse(
                    f"The listing is larger than {LISTING_LIMIT // 2**20} MiB, the limit."
                )
            if time.monotonic() > deadline:
                raise TimeoutError
        return bytes(body)


def _pieces(raw: Any, is_gzip: bool) -> Iterator[bytes]:
    """Yield the decompressed body as its bytes arrive; with urllib3 before 2.2, after each KiB.

    urllib3 before 2.6 decompresses all that it has read, to a thousand times as many bytes at most.
    """
    if hasattr(raw, "read1"):
        while piece := raw.read1(8 * 2**10, decode_content=is_gzip):
            yield piece
    else:
        yield from raw.stream(2**10, decode_content=is_gzip)


def _new_session(connection: Connection) -> requests.Session:
    try:
        import requests
        import urllib3
    except Exception as error:  # noqa: BLE001  # code of other projects, perhaps half installed
        raise unusable_requests(error) from None

    if connection.verify is False:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    session = requests.Session()
    session.auth = lambda request: request  # with an auth, requests ignores ~/.netrc
    headers = session.headers
    headers["Accept"] = "application/json"
    headers["Accept-Encoding"] = "gzip"
    headers["Authorization"] = f"Bearer {connection.api_token}"
    headers["User-Agent"] = f"{connection.user_agent} {requests.utils.default_user_agent()}"
    return session


def _check_certificates(verify: str | Literal[True], place: str) -> None:
    """Raise TLSFailed if the bundle of certificates, a file or a folder, can't be used.

    The content of the default one is not checked: that takes 30 ms.
    """
    import requests

    path = requests.utils.DEFAULT_CA_BUNDLE_PATH if verify is True else verify
    problem = ""
    if not os.access(path, os.R_OK):
        problem = "does not exist or can't be read"
    elif os.path.isfile(path) and verify is not True:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
        except ssl.SSLError:
            problem = "has no certificate in PEM format, or a damaged one"
    if problem:
        raise TLSFailed(
            f"TLS with {place} failed: the CA bundle {one_line(path)} {problem}.",
            "Check the file, and what names it: ca_path, the environment variable "
            "REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE, or else the Python library certifi.",
        )


def transport_error(  # noqa: C901, PLR0911, PLR0912  # a table
    error: Exception, place: str, connecting: float, timeout: float
) -> CloudError:
    """Make the error for an exception of requests, urllib3 or a socket.

    The first of its causes that is in the table decides, and in the table the first row. The
    numbers are the limits for a connection and for the next bytes.
    """
    import urllib3
    from requests import exceptions

    for cause in _causes(error):
        match cause:
            case exceptions.InvalidSchema():
                return no_socks(place)
            case exceptions.InvalidURL() | urllib3.exceptions.LocationValueError():
                return invalid_url(place)
            case urllib3.exceptions.DecodeError():
                return MalformedResponse("The response is not in gzip, although it claims to be.")
            case TimeoutError() if "handshake" not in str(cause):
                problem = f"No complete response from {place} within {timeout:.3g} s."
                return TimedOut(problem, "Raise timeout, or check the network and any proxy.")
            case exceptions.ConnectTimeout() | TimeoutError():
                return TimedOut(f"No connection to {place} within {connecting:.3g} s.")
            case IncompleteRead() | RemoteDisconnected() | SSLEOFError() | SSLZeroReturnError():
                break
            case ssl.SSLError():
                return _tls_failed(place, cause)
            case urllib3.exceptions.SSLError(args=[ValueError() as mismatch]):
                return _tls_failed(place, mismatch)  # urllib3 before 2 compares names itself
            case socket.gaierror():
                return unreachable(place, "the name does not resolve")
            case HTTPException() | ValueError():
                return unreachable(place, "the response is not valid HTTP")
            case OSError(strerror=str() as text):
                return unreachable(place, text.lower())
            case OSError(args=[str() as text]) if text.startswith("Tunnel connection failed: "):
                return tunnel_failed(place, text)
    return unreachable(place, CLOSED)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, and then what it wraps; requests and urllib3 also use args and reason."""
    found = [error]
    for cause in found:  # which grows
        yield cause
        inner = [*cause.args, getattr(cause, "reason", None), cause.__cause__]
        if not cause.__suppress_context__:
            inner.append(cause.__context__)
        found += [each for each in inner if isinstance(each, BaseException) and each not in found]


def _tls_failed(place: str, error: BaseException) -> TLSFailed:
    """Make the error for a certificate or a handshake that was refused."""
    reason = getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        reason = "the server does not use TLS"
    if reason.isupper():  # the name of an OpenSSL constant
        reason = reason.replace("_", " ").lower()
    return TLSFailed(f"TLS with {place} failed: {excerpt(reason).rstrip('.')}.")
