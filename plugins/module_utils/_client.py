# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The client: read the whole listing of servers, with retries and pages, or fail."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

from ._envelope import LISTING_LIMIT, VALUES_LIMIT, parse_listing
from ._errors import CloudError, IncompleteListing, ListingChanged, MalformedResponse
from ._models import Server, merge
from ._options import Connection
from ._text import count_of, redact_message
from ._transport import Page, Response, Transport
from ._url import is_loopback, origin, resolve

_Result = TypeVar("_Result")

_MAX_PAGES = 10_000
_MAX_PASSES = 3
_LONGEST_WAIT = 60.0  # seconds of Retry-After that are worth waiting for
_LONG_WAIT = 5.0  # seconds; a longer wait is reported
_REPORT_INTERVAL = 10.0  # seconds between two reports of the progress
_FIRST_WAIT = 0.5  # seconds, doubled with each attempt
# Not the shared generator: a program that seeds it would make all of its clients wait alike.
_random = random.SystemRandom()
_PARAMETERS = {"cursor": "starting_after", "page": "page", "offset": "offset"}


def _ignore(text: str) -> None:
    """Show nothing."""


class Client:
    """Client of the API. It reports what it does, each time as one line of text.

    ``warn`` receives warnings, ``wait`` each wait of more than 5 seconds before it begins,
    ``progress`` how far a listing is that takes longer than 10 seconds, and ``trace``, which costs
    some milliseconds, each request and each retry. ``requests`` is the number of requests, and
    ``is_partial`` whether the API has more servers than the last listing.
    """

    def __init__(
        self,
        connection: Connection,
        warn: Callable[[str], None],
        *,
        wait: Callable[[str], None] = _ignore,
        progress: Callable[[str], None] = _ignore,
        trace: Callable[[str], None] | None = None,
    ) -> None:
        self._connection = connection
        self._warn = warn
        self._wait = wait
        self._progress = progress
        self._trace = trace
        self._transport = Transport(connection, trace, self._report_progress)
        self._url = f"{connection.base_url}/servers"
        self._bytes, self._values = LISTING_LIMIT, VALUES_LIMIT  # what is left for one listing
        self._position = 1, 0  # the requested page, and the servers so far
        self._next_report = 0.0  # of the progress, as time.monotonic()
        self.is_partial = False

    @property
    def requests(self) -> int:
        """The number of requests so far."""
        return self._transport.requests

    def list_servers(self) -> list[Server]:
        """Read the whole listing; a partial one is returned only if allowed."""
        token = self._connection.api_token
        try:
            return self._read_listing()
        except CloudError as error:
            error.message = redact_message(error.message, token)
            raise

    def _read_listing(self) -> list[Server]:
        """Read the listing as the API sends it."""
        self._warn_of_plain_http()
        self._next_report = time.monotonic() + _REPORT_INTERVAL
        try:
            return self._read_until_unchanged()
        finally:
            self._transport.close()

    def _read_until_unchanged(self) -> list[Server]:
        """Read the listing; with ``page``, until two passes have the same ids.

        If a server is deleted between two pages, the others move up, and the first one of the next
        page is skipped. No server on a later page shows that.
        """
        known: set[str] = set()
        for _pass in range(_MAX_PASSES):
            servers, pages = self._retry(self._read_pages, ListingChanged)
            if self._connection.pagination != "page" or pages == 1 or servers.keys() == known:
                return list(servers.values())
            known = set(servers)
            del servers  # so that only one pass is in memory
        raise ListingChanged(
            f"The account changed while its pages were read {_MAX_PASSES} times.",
            "Run again. If the API supports cursor or link, set pagination to it.",
        )

    def _read_pages(self) -> tuple[dict[str, Server], int]:
        """Read the listing once, page by page; return its servers by id and the number of pages."""
        self._bytes, self._values = LISTING_LIMIT, VALUES_LIMIT
        servers: dict[str, Server] = {}
        page: Page = self._url, ()
        last, count, number = "", 0, 1  # the last known id, and the elements and pages so far
        while True:
            self._position = number, len(servers)
            self._report_progress()
            response = self._get(page)
            self._bytes -= len(response.body)
            data, has_more, values = parse_listing(
                response.body, response.content_type, self._transport.quote, self._values
            )
            self._values -= values
            known = len(servers)
            merge(servers, data)
            if has_more and len(servers) == known:
                raise _no_progress(data, number)
            if number > 1 and self._connection.pagination == "offset":
                _check_overlap(data, last)
                count -= 1
            if not has_more:
                return servers, number
            if number == _MAX_PAGES:
                raise MalformedResponse(
                    f"The listing has more than {_MAX_PAGES:,} pages, the limit.",
                    "Check pagination and pagination_parameter: they must match the API.",
                )
            last, count, number = data[-1]["id"], count + len(data), number + 1
            following = self._next_page(response, page, last, number, count)
            if following is None:
                self._allow_partial(len(servers))
                return servers, number
            page = following

    def _next_page(
        self, response: Response, page: Page, last: str, number: int, count: int
    ) -> Page | None:
        """Return page ``number``, after ``count`` servers; None if it can't be requested.

        ``last`` is the id of the last known server. With ``offset``, the page begins with it: if it
        does not, a server was deleted meanwhile.
        """
        style = self._connection.pagination
        if style == "link" and response.next_link:
            target = resolve(page[0], response.next_link)
            if target is None:
                raise MalformedResponse(
                    "The link to the next page leads to another origin: "
                    f"{self._transport.quote(response.next_link)}.",
                    "The token stays at the origin of base_url: check that this is the API's own.",
                )
            return target, ()
        if style not in _PARAMETERS:
            return None
        value = {"cursor": last, "page": number, "offset": count - 1}[style]
        parameter = self._connection.pagination_parameter or _PARAMETERS[style]
        return self._url, ((parameter, str(value)),)

    def _allow_partial(self, count: int) -> None:
        received = "the 1 that was" if count == 1 else f"the {count:,} that were"
        problem = f"The API has more servers than {received} received"
        if self._connection.pagination == "link":
            problem += ", but sends no Link header to the next page"
        if self._connection.allow_partial:
            self.is_partial = True
            self._warn(f"{problem}. Continuing without the others, because allow_partial is set.")
            return
        raise IncompleteListing(
            f"{problem}.",
            "Set pagination to the method that the API uses, or allow_partial to true.",
        )

    def _get(self, page: Page) -> Response:
        return self._retry(lambda: self._transport.get(page, self._bytes), CloudError)

    def _retry(self, call: Callable[[], _Result], kind: type[CloudError]) -> _Result:
        """Return the result of a call, made again after a transient error of this kind."""
        attempt = 1
        while True:
            try:
                return call()
            except kind as error:
                wait = _delay(error, attempt) if attempt <= self._connection.retries else None
                if wait is None:
                    if attempt > 1:
                        error.message += f" Tried {attempt} times."
                    raise
                self._report_retry(error, attempt, wait)
            time.sleep(wait)
            attempt += 1

    def _report_retry(self, error: CloudError, attempt: int, wait: float) -> None:
        retry = f"retry {attempt} of {self._connection.retries}"
        if self._trace:
            self._trace(f"{retry} in {wait:.1f} s: {error.message}")
        if wait > _LONG_WAIT:
            reason = f"before {retry}: {error.message}"
            if error.retry_after is not None:
                reason = f"as the API asks (HTTP {error.status})"
            self._wait(f"waiting {wait:.0f} s, {reason}")

    def _report_progress(self) -> None:
        now = time.monotonic()
        if now >= self._next_report:
            self._next_report = now + _REPORT_INTERVAL
            number, count = self._position
            self._progress(f"page {number:,}, {count_of(count, 'server')} so far")

    def _warn_of_plain_http(self) -> None:
        scheme, host, port = origin(self._connection.base_url)
        if scheme == "http" and not is_loopback(host):
            self._warn(
                f"The token is sent unencrypted to {host}:{port}: "
                "use https in base_url if possible."
            )


def _delay(error: CloudError, attempt: int) -> float | None:
    """Return the seconds to wait before the next attempt; None if none would help."""
    if not error.transient:
        return None
    if error.retry_after is not None:
        # The jitter prevents many clients from returning at the same moment.
        wait = error.retry_after + _random.uniform(0, 0.25)
        return wait if error.retry_after <= _LONGEST_WAIT else None
    doublings = min(attempt - 1, 10)  # a large number of retries would overflow a float
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**doublings) * _random.uniform(0.5, 1)


def _check_overlap(data: list[Any], last: str) -> None:
    if not data or data[0]["id"] != last:
        raise ListingChanged(
            "The account changed while its pages were read.",
            "Run again. If the API supports cursor or link, set pagination to it.",
        )


def _no_progress(data: list[Any], number: int) -> MalformedResponse:
    what = "has no new server" if data else "is empty"
    return MalformedResponse(
        f"Page {number} of the listing {what}, but the API reports more servers.",
        "Check pagination and pagination_parameter: they must match the API.",
    )
