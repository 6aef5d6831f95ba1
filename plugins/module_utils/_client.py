# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The client: one call reads the whole listing of servers, or fails.

This utility is private to the collection: it may change in any release. It is the only one that
imports requests, and only once a request is made: an inventory out of the cache needs none.
"""

from __future__ import annotations

import itertools
import random
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.server_management.cloud.plugins.module_utils._ahead import Ahead
from ansible_collections.server_management.cloud.plugins.module_utils._answers import (
    LISTING_LIMIT,
    header_excerpt,
    next_link,
    parse_listing,
    read_body,
    status_error,
)
from ansible_collections.server_management.cloud.plugins.module_utils._connection import Connection
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    IncompleteListing,
    MalformedAnswer,
    MissingLibrary,
    StatusError,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server, merge
from ansible_collections.server_management.cloud.plugins.module_utils._network import (
    is_loopback,
    origin,
    resolve,
    timed_out,
    transport_error,
)

if TYPE_CHECKING:
    import requests

_ERROR_LIMIT = 64 * 2**10  # bytes of an error's body; of a longer one nothing is quoted
_CHUNK = 64 * 2**10
_LONGEST_WAIT = 60.0  # seconds of Retry-After that are worth waiting for
_FIRST_WAIT = 0.5  # seconds, doubled with each try
_RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504})
_Page = tuple[str, tuple[tuple[str, str], ...]]  # a URL and the parameters of its query
_PARAMETERS = {"cursor": "starting_after", "page": "page", "offset": "offset"}


@dataclass(frozen=True)
class _Answer:
    """The body of an answer with status 200, and what its headers say about it."""

    body: bytes
    content_type: str
    next_link: str


class Client:
    """Read the API over one connection that is kept open; ``warn`` takes one line of text."""

    def __init__(self, connection: Connection, warn: Callable[[str], None]) -> None:
        self._connection = connection
        self._warn = warn
        self._session: requests.Session | None = None
        self._budget = LISTING_LIMIT
        self._is_over = threading.Event()  # ends the waits of pages that were asked for ahead

    def list_servers(self) -> list[Server]:
        """Read the whole listing, page by page; nothing partial comes back unless allowed."""
        self._warn_of_plain_http()
        self._budget, self._is_over = LISTING_LIMIT, threading.Event()
        token = self._connection.api_token
        servers: dict[str, Server] = {}
        page: _Page = f"{self._connection.base_url}/servers", ()
        number = 1
        ahead = Ahead(self._get)
        try:
            while True:
                answer = ahead.get(page)
                self._budget -= len(answer.body)
                data, has_more = parse_listing(answer.body, answer.content_type, token)
                known = len(servers)
                merge(servers, data)
                if not has_more:
                    return list(servers.values())
                if len(servers) == known:
                    raise _no_progress(data, number)
                number += 1
                following = self._following(answer, page, data, number, len(servers))
                if following is None:
                    return self._partial(servers)
                page = following
                ahead.foresee(self._probable(page, len(data), number, len(servers)))
        finally:
            self._is_over.set()
            self.close()

    def close(self) -> None:
        """Close the connection, if one is open."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def _following(
        self, answer: _Answer, page: _Page, data: list[Any], number: int, count: int
    ) -> _Page | None:
        """Say where page ``number`` is, after ``count`` servers; None where nothing tells."""
        style = self._connection.pagination
        if style == "link" and answer.next_link:
            target = resolve(page[0], answer.next_link)
            if target is None:
                raise MalformedAnswer(
                    "The link to the next page leads to another origin: "
                    f"{header_excerpt(answer.next_link, self._connection.api_token)}.",
                    "The token stays at the origin of base_url: check that this is the API's own.",
                )
            return target, ()
        if style not in _PARAMETERS:
            return None
        return self._page({"cursor": data[-1]["id"], "page": number, "offset": count}[style])

    def _page(self, value: object) -> _Page:
        style = self._connection.pagination
        parameter = self._connection.pagination_parameter or _PARAMETERS[style]
        return f"{self._connection.base_url}/servers", ((parameter, str(value)),)

    def _probable(self, page: _Page, size: int, number: int, count: int) -> list[_Page]:
        """Return the pages to ask for at once: the next one, and those that should come then.

        They are told from the ``size`` of the last one: where another page is shorter, what was
        foreseen is not asked for, and the listing goes on from where it is.
        """
        width = self._connection.pagination_concurrency
        style = self._connection.pagination
        if width == 1 or style not in ("page", "offset"):
            return []
        further = range(1, width)
        if style == "page":
            return [page, *(self._page(number + step) for step in further)]
        return [page, *(self._page(count + step * size) for step in further)]

    def _partial(self, servers: dict[str, Server]) -> list[Server]:
        problem = f"The API has more servers than the {len(servers)} that it gave"
        if self._connection.pagination == "link":
            problem += ", and no Link header to the next page"
        if self._connection.allow_partial:
            self._warn(f"{problem}: going on without the others, as allow_partial says.")
            return list(servers.values())
        raise IncompleteListing(
            f"{problem}.",
            "Set pagination to the way your API continues, or allow_partial: true to do without.",
        )

    def _get(self, page: _Page) -> _Answer:
        """Send one GET, and again after a passing failure; raise the last failure."""
        is_over, attempt = self._is_over, 1
        while True:
            try:
                return self._try(page)
            except CloudError as error:
                wait = _wait(error, attempt) if attempt <= self._connection.retries else None
                if wait is None or is_over.wait(wait):
                    if attempt > 1:
                        error.message += f" Tried {attempt} times."
                    raise
            attempt += 1

    def _try(self, page: _Page) -> _Answer:
        """Send one GET and wait for its answer until the deadline.

        Time-outs of sockets start anew with each byte and do not cover the look-up of the name,
        so the request has a thread of its own, which is left behind when the time is up.
        """
        if self._session is None:
            self._session = _new_session(self._connection)
        exchange = _Exchange(self._session, self._connection, page, self._budget)
        exchange.start()
        exchange.join(self._connection.timeout)
        exchange.is_late = exchange.is_alive()
        if exchange.is_late:
            self._session = None  # it is the thread's to close
        if exchange.error is not None:
            raise exchange.error
        if exchange.is_late:
            raise timed_out(page[0], self._connection.timeout)
        if exchange.answer is None:
            raise RuntimeError("The request ended with neither an answer nor an error.")
        return exchange.answer

    def _warn_of_plain_http(self) -> None:
        scheme, host, port = origin(self._connection.base_url)
        if scheme == "http" and not is_loopback(host):
            self._warn(
                f"The token travels unencrypted to {host}:{port}: use https in base_url if you can."
            )


class _Exchange(threading.Thread):
    """One request and its answer: afterwards either ``answer`` or ``error`` is set.

    Once ``is_late`` is set, nobody waits for it any more.
    """

    def __init__(
        self,
        session: requests.Session,
        connection: Connection,
        page: _Page,
        limit: int,
    ) -> None:
        super().__init__(daemon=True)
        self.answer: _Answer | None = None
        self.error: CloudError | None = None
        self.is_late = False
        self._session = session
        self._connection = connection
        self._url, self._params = page
        self._limit = limit

    def run(self) -> None:
        from http.client import HTTPException

        import requests
        import urllib3

        try:
            with self._session.get(
                self._url,
                params=self._params,
                stream=True,
                allow_redirects=False,
                timeout=self._connection.timeout,
                verify=self._connection.verify,
            ) as response:
                self._receive(response)
        except CloudError as error:
            self.error = error
        except (OSError, HTTPException, urllib3.exceptions.HTTPError, ValueError) as error:
            # A status that is known already says more than a body that breaks off.
            if self.error is None:
                self.error = transport_error(
                    error,
                    self._url,
                    self._connection.timeout,
                    proxied=isinstance(error, requests.exceptions.ProxyError),
                    encrypted=isinstance(error, requests.exceptions.SSLError),
                )
        finally:
            if self.is_late:
                self._session.close()

    def _receive(self, response: requests.Response) -> None:
        headers, token = response.headers, self._connection.api_token
        encoding = headers.get("Content-Encoding", "")
        response.raw.enforce_content_length = True  # else urllib3 1 takes a short body for whole
        chunks = response.raw.stream(_CHUNK, decode_content=False)
        chunks = itertools.takewhile(lambda chunk: not self.is_late, chunks)
        if response.status_code == 200:
            self.answer = _Answer(
                read_body(chunks, encoding, self._limit),
                headers.get("Content-Type", ""),
                next_link(headers.get("Link", "")),
            )
            return
        status = response.status_code
        self.error = status_error(status, headers, b"", token)
        try:
            body = read_body(chunks, encoding, _ERROR_LIMIT)
        except MalformedAnswer:
            return
        self.error = status_error(status, headers, body, token)


def _new_session(connection: Connection) -> requests.Session:
    try:
        import requests
        import urllib3
    except ImportError:
        raise MissingLibrary(
            "The Python library requests is not installed.",
            f"Install it where Ansible runs: {sys.executable} -m pip install requests.",
        ) from None

    class BearerAuth(requests.auth.AuthBase):
        """Send the token; a session that has an auth of its own never looks at ~/.netrc."""

        def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
            request.headers["Authorization"] = f"Bearer {connection.api_token}"
            return request

    class Session(requests.Session):
        """Follow no redirect; requests would read all of its body to find out what is next."""

        def get_redirect_target(self, resp: requests.Response) -> None:
            return None

    if connection.verify is False:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    session = Session()
    session.auth = BearerAuth()
    session.headers.update(
        {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "User-Agent": f"{connection.user_agent} {requests.utils.default_user_agent()}",
        }
    )
    return session


def _wait(error: CloudError, attempt: int) -> float | None:
    """Say how many seconds to wait before the next try; None where none would help."""
    if isinstance(error, StatusError):
        if error.status not in _RETRIED_STATUSES:
            return None
        if error.retry_after is not None:
            # The jitter keeps many clients from coming back in the same moment.
            wait = error.retry_after + random.uniform(0, 0.25)
            return wait if error.retry_after <= _LONGEST_WAIT else None
    elif not isinstance(error, Unreachable):
        return None
    doublings = min(attempt - 1, 10)  # a large number of retries would be too much for a float
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**doublings) * random.uniform(0.5, 1)


def _no_progress(data: list[Any], number: int) -> MalformedAnswer:
    what = "brings no new server" if data else "is empty"
    return MalformedAnswer(
        f"Page {number} of the listing {what}, and the API says that there are more.",
        "Check pagination and pagination_parameter against the way your API continues.",
    )
