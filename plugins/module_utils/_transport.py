# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One GET request under a deadline: sending the token, reading the response, naming failures.

This utility is private to the collection: it may change in any release. It is the only one that
imports requests, and only when a request is made: an inventory from the cache needs none.
"""

from __future__ import annotations

import itertools
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ansible_collections.server_management.cloud.plugins.module_utils._connection import Connection
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    MalformedResponse,
    MissingLibrary,
    TimedOut,
    TLSFailed,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._response import (
    next_link,
    read_body,
    status_error,
)
from ansible_collections.server_management.cloud.plugins.module_utils._text import excerpt, redact
from ansible_collections.server_management.cloud.plugins.module_utils._url import where

if TYPE_CHECKING:
    import requests

Page = tuple[str, tuple[tuple[str, str], ...]]  # a URL and the parameters of its query

_ERROR_LIMIT = 64 * 2**10  # bytes of an error's body; nothing of a longer one is quoted
_CHUNK = 64 * 2**10


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

        Socket timeouts start anew with each byte and do not cover the lookup of the name, so the
        request has a separate thread, which is abandoned when the time is up.
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
            raise _timed_out(page[0], self._connection.timeout)
        if exchange.response is None:
            raise RuntimeError("The request ended with neither a response nor an error.")
        return exchange.response

    def close(self) -> None:
        """Close the connection, if one is open."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def quote(self, text: str) -> str:
        """Return text of the server for a message: one short line without the token."""
        return excerpt(redact(text, self._connection.api_token))


class _Exchange(threading.Thread):
    """One request and its response: afterwards either ``response`` or ``error`` is set.

    Once ``is_late`` is set, nobody waits for it any more.
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

        import requests
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
            # A status that is known already is more useful than a body that breaks off.
            if self.error is None:
                self.error = transport_error(
                    error,
                    url,
                    self._connection.timeout,
                    proxied=isinstance(error, requests.exceptions.ProxyError),
                    encrypted=isinstance(error, requests.exceptions.SSLError),
                )
        finally:
            if self.is_late:
                self._session.close()

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
        self.error = status_error(status, headers, b"", self._quote)
        try:
            body = read_body(chunks, encoding, _ERROR_LIMIT)
        except MalformedResponse:
            return
        self.error = status_error(status, headers, body, self._quote)


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


def _timed_out(url: str, timeout: float) -> TimedOut:
    """Make the error for a request that took longer than ``timeout`` seconds."""
    return TimedOut(
        f"No complete response from {where(url)} within {timeout:g} s.",
        "Raise timeout, or check the network and any proxy.",
    )


def transport_error(
    error: Exception, url: str, timeout: float, *, proxied: bool, encrypted: bool
) -> CloudError:
    """Make the error for an exception of requests, urllib3 or a socket.

    ``timeout`` is in seconds; ``proxied`` and ``encrypted`` mean that the proxy failed, or TLS.
    """
    import ssl  # only now: importing it takes a large part of the start-up

    causes = list(_causes(error))
    is_closed = any(isinstance(c, (ssl.SSLEOFError, ssl.SSLZeroReturnError)) for c in causes)
    if not is_closed:
        # If urllib3 before 2 checks the host name itself, a wrong one is a ValueError.
        kinds = (ssl.SSLError, ValueError) if encrypted else ssl.SSLError
        refusals = [cause for cause in causes if isinstance(cause, kinds) or _is_no_bundle(cause)]
        if refusals:
            return _tls_failed(refusals[0], url)
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return _timed_out(url, timeout)
    through = " through the proxy" if proxied else ""
    return Unreachable(
        f"Cannot reach {where(url)}{through}: {_reason(causes)}.",
        "Check base_url, the network and any proxy.",
    )


def _tls_failed(error: BaseException, url: str) -> TLSFailed:
    reason = getattr(error, "verify_message", "") or getattr(error, "reason", "") or str(error)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return TLSFailed(
            f"TLS with {where(url)} failed: the server does not use TLS.",
            "Check the scheme and the port of base_url; for a private CA, set ca_path.",
        )
    if reason.isupper():  # the name of an OpenSSL constant
        reason = reason.replace("_", " ").lower()
    return TLSFailed(
        f"TLS with {where(url)} failed: {_reason_text(reason)}.",
        "If the certificate is from a private CA, set ca_path to a PEM bundle.",
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and all that it wraps; requests and urllib3 also use args and reason."""
    pending: list[object] = [error]
    seen: set[int] = set()
    while pending:
        cause = pending.pop(0)
        if isinstance(cause, BaseException) and id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            inner = getattr(cause, "reason", None)
            pending += [*cause.args, inner, cause.__cause__, cause.__context__]


def _reason(causes: list[BaseException]) -> str:
    import http.client

    for cause in causes:
        if isinstance(cause, socket.gaierror):
            return "the name does not resolve"
        if isinstance(cause, OSError) and cause.strerror:
            return _reason_text(cause.strerror).lower()
        if cause.__class__ is OSError and cause.args:  # a proxy that refuses a tunnel
            return _reason_text(str(cause)).lower()
    ended = (http.client.IncompleteRead, http.client.RemoteDisconnected)
    if any(isinstance(c, http.client.HTTPException) and not isinstance(c, ended) for c in causes):
        return "the response is not HTTP"
    if isinstance(causes[0], ValueError):
        return "the address, a proxy, or a header of the response is not valid"
    return "the connection was closed before the end of the response"


def _is_no_bundle(cause: BaseException) -> bool:
    """Return whether requests did not find a CA bundle that the environment names."""
    return cause.__class__ is OSError and "CA certificate bundle" in str(cause)


def _reason_text(text: str) -> str:
    return excerpt(text).rstrip(".")
