# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The client: read the whole listing of servers, with retries and pages, or fail."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Literal

from ._envelope import Page, parse_listing
from ._errors import CloudError, IncompleteListing, MalformedResponse
from ._failures import status_error
from ._http import LISTING_LIMIT, Http
from ._models import Server, merge
from ._operations import LIST_SERVERS
from ._options import Connection
from ._request import Request, Response
from ._text import count_of, quoted, redact
from ._url import address_of, is_loopback

_MAX_PAGES = 10_000
_LONGEST_WAIT = 60.0  # seconds of Retry-After that are worth waiting for
_LONG_WAIT = 5.0  # seconds; a longer wait, and a retry after a longer attempt, are reported
_REPORT_INTERVAL = 10.0  # seconds between two reports of the progress
_FIRST_WAIT = 0.5  # seconds, doubled with each attempt
_PAGINATION_ADVICE = "Check pagination and pagination_parameter: they must match the API."

# "wait": a wait of more than 5 seconds, or a retry after an attempt that took longer, before it
# begins. "progress": how far a listing is that takes longer than 10 seconds. "trace": each request,
# and the other retries.
Level = Literal["warning", "wait", "progress", "trace"]
# Receives what the client does, each time as one line of text.
Report = Callable[[Level, str], None]


class Client:
    """Client of the API.

    ``keep_page`` receives each page. ``requests`` is the number of requests so far, and
    ``last_response`` the response to the last one, if it had one; ``is_partial``: the API has more
    servers than the last listing.
    """

    _http: Http  # while a listing is read

    def __init__(
        self,
        connection: Connection,
        report: Report,
        keep_page: Callable[[Page], None] = lambda _page: None,
    ) -> None:
        self._connection = connection
        self._report = report
        self._keep_page = keep_page
        self._next_report = time.monotonic() + _REPORT_INTERVAL  # of the progress
        self.requests = 0
        self.last_response: Response | None = None
        self.is_partial = False

    def list_servers(self, pages: int | None = None) -> list[Server]:
        """Read the whole listing; a partial one is returned only if allowed.

        ``pages`` is for a check of the API, which reads no more pages than that.
        """
        url = self._connection.base_url
        if url.startswith("http:") and not is_loopback(url):
            self._show(
                "warning",
                f"The token is sent unencrypted to {address_of(url)}: use https in base_url if "
                "possible.",
            )
        try:
            with closing(Http(self._connection, partial(self._show, "trace"))) as self._http:
                return self._read_pages(pages)
        except CloudError as error:
            error.problem = redact(error.problem, self._connection.api_token)
            raise

    def _read_pages(self, pages: int | None) -> list[Server]:
        servers: dict[str, Server] = {}
        request = LIST_SERVERS
        left = LISTING_LIMIT  # bytes for this page and those after it
        number = 1
        while True:
            self._report_progress(number, len(servers))
            response = self._send(request, left)
            left -= len(response.body)
            count_before = len(servers)
            content_type = response.headers.get("Content-Type", "none given")
            shown_type = quoted(content_type, self._connection.api_token)
            page = parse_listing(response.body, shown_type)
            self._keep_page(page)
            merge(servers, page.data)
            if not page.has_more:
                break
            if len(servers) == count_before:
                raise MalformedResponse(
                    f"Page {number} of the listing has no new server, but the API reports more.",
                    _PAGINATION_ADVICE,
                )
            if self._connection.pagination == "none":
                self._allow_partial(len(servers))
                break
            if number == pages:
                break
            if number == _MAX_PAGES:
                raise MalformedResponse(
                    f"The listing has more than {_MAX_PAGES:,} pages, the limit.",
                    _PAGINATION_ADVICE,
                )
            last_id = (self._connection.pagination_parameter, page.data[-1]["id"])
            request = request._replace(query=(last_id,))
            number += 1
        return list(servers.values())

    def _allow_partial(self, count: int) -> None:
        problem = f"The API has more servers than the {count:,} received."
        if not self._connection.allow_partial:
            raise IncompleteListing(
                problem,
                "Set pagination to last_id if the API can list the servers after an id, or set "
                "allow_partial to true.",
            )
        self.is_partial = True
        self._show("warning", f"{problem} Continuing without the others: allow_partial is set.")

    def _send(self, request: Request, limit: int) -> Response:
        """Send a request until it succeeds; a GET again after a transient error.

        Another method is sent once: the API may have acted before the error.
        """
        connection = self._connection
        repeats = connection.retries if request.method == "GET" else 0
        attempt = 1
        while True:
            self.requests += 1
            started = time.monotonic()
            try:
                response = self._http.send(request, limit)
                if response.status == request.success:
                    return response
                raise status_error(response, request, connection)
            except CloudError as error:
                wait = _delay(error, attempt)
                if wait is None or attempt > repeats:
                    error.attempts = attempt
                    raise
                took = time.monotonic() - started
                level: Level = "wait" if max(wait, took) > _LONG_WAIT else "trace"
                retry = f"retry {attempt} of {repeats} in {wait:.1f} s"
                self._show(level, f"{retry}: {error.message}")
            finally:
                self.last_response = self._http.last_response
            time.sleep(wait)
            attempt += 1

    def _report_progress(self, number: int, count: int) -> None:
        now = time.monotonic()
        if now >= self._next_report:
            self._next_report = now + _REPORT_INTERVAL
            self._show("progress", f"page {number:,}, {count_of(count, 'server')} so far")

    def _show(self, level: Level, text: str) -> None:
        self._report(level, redact(text, self._connection.api_token))


def _delay(error: CloudError, attempt: int) -> float | None:
    """Return the seconds to wait before the next attempt; None if none would help."""
    asked = error.retry_after or 0.0
    if not error.is_temporary or asked > _LONGEST_WAIT:
        return None
    doublings = min(attempt - 1, 10)  # a large number of retries would overflow a float
    own = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**doublings)
    # The jitter prevents many clients from returning at the same moment.
    return max(own * random.uniform(0.5, 1), asked)
