# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The client: read the whole listing of servers, with retries and pages, or fail.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from ansible_collections.server_management.cloud.plugins.module_utils._envelope import (
    LISTING_LIMIT,
    VALUES_LIMIT,
    parse_listing,
)
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    IncompleteListing,
    MalformedResponse,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server, merge
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from ansible_collections.server_management.cloud.plugins.module_utils._text import header_text
from ansible_collections.server_management.cloud.plugins.module_utils._transport import (
    Page,
    Response,
    Transport,
)
from ansible_collections.server_management.cloud.plugins.module_utils._url import (
    is_loopback,
    origin,
    resolve,
)

_MAX_PAGES = 10_000
_LONGEST_WAIT = 60.0  # seconds of Retry-After that are worth waiting for
_FIRST_WAIT = 0.5  # seconds, doubled with each attempt
# Not the shared generator: a program that seeds it would make all of its clients wait alike.
_random = random.SystemRandom()
_PARAMETERS = {"cursor": "starting_after", "page": "page", "offset": "offset"}


class Client:
    """Read the API; ``warn`` takes one line of text.

    ``is_partial``: the API has more servers than the last listing.
    """

    def __init__(self, connection: Connection, warn: Callable[[str], None]) -> None:
        self._connection = connection
        self._warn = warn
        self._transport = Transport(connection)
        self._url = f"{connection.base_url}/servers"
        self._bytes, self._values = LISTING_LIMIT, VALUES_LIMIT  # what is left for one listing
        self.is_partial = False

    def list_servers(self) -> list[Server]:
        """Read the whole listing, page by page; a partial one is returned only if allowed."""
        self._warn_of_plain_http()
        self._bytes, self._values = LISTING_LIMIT, VALUES_LIMIT
        servers: dict[str, Server] = {}
        page: Page = self._url, ()
        number = 1
        try:
            while True:
                response = self._get(page)
                self._bytes -= len(response.body)
                data, has_more, values = parse_listing(
                    response.body, response.content_type, self._transport.quote, self._values
                )
                self._values -= values
                known = len(servers)
                merge(servers, data)
                if not has_more:
                    return list(servers.values())
                if len(servers) == known:
                    raise _no_progress(data, number)
                if number == _MAX_PAGES:
                    raise MalformedResponse(
                        f"The listing has more than {_MAX_PAGES:,} pages, the limit.",
                        "Check pagination and pagination_parameter: they must match the API.",
                    )
                number += 1
                following = self._next_page(response, page, data, number, len(servers))
                if following is None:
                    return self._partial(servers)
                page = following
        finally:
            self._transport.close()

    def _next_page(
        self, response: Response, page: Page, data: list[Any], number: int, count: int
    ) -> Page | None:
        """Return page ``number``, after ``count`` servers; None if it can't be requested."""
        style = self._connection.pagination
        if style == "link" and response.next_link:
            target = resolve(page[0], response.next_link)
            if target is None:
                raise MalformedResponse(
                    "The link to the next page leads to another origin: "
                    f"{self._transport.quote(header_text(response.next_link))}.",
                    "The token stays at the origin of base_url: check that this is the API's own.",
                )
            return target, ()
        if style not in _PARAMETERS:
            return None
        value = {"cursor": data[-1]["id"], "page": number, "offset": count}[style]
        parameter = self._connection.pagination_parameter or _PARAMETERS[style]
        return self._url, ((parameter, str(value)),)

    def _partial(self, servers: dict[str, Server]) -> list[Server]:
        problem = f"The API has more servers than the {len(servers)} that were received"
        if self._connection.pagination == "link":
            problem += ", but sends no Link header to the next page"
        if self._connection.allow_partial:
            self.is_partial = True
            self._warn(f"{problem}. Continuing without the others, because allow_partial is set.")
            return list(servers.values())
        raise IncompleteListing(
            f"{problem}.",
            "Set pagination to the method that the API uses, or allow_partial to true.",
        )

    def _get(self, page: Page) -> Response:
        """Send one GET, again after a transient failure; raise the last failure."""
        attempt = 1
        while True:
            try:
                return self._transport.get(page, self._bytes)
            except CloudError as error:
                wait = _wait(error, attempt) if attempt <= self._connection.retries else None
                if wait is None:
                    if attempt > 1:
                        error.message += f" Tried {attempt} times."
                    raise
            time.sleep(wait)
            attempt += 1

    def _warn_of_plain_http(self) -> None:
        scheme, host, port = origin(self._connection.base_url)
        if scheme == "http" and not is_loopback(host):
            self._warn(
                f"The token is sent unencrypted to {host}:{port}: "
                "use https in base_url if possible."
            )


def _wait(error: CloudError, attempt: int) -> float | None:
    """Return the seconds to wait before the next attempt; None if none would help."""
    if not error.transient:
        return None
    if error.retry_after is not None:
        # The jitter prevents many clients from returning at the same moment.
        wait = error.retry_after + _random.uniform(0, 0.25)
        return wait if error.retry_after <= _LONGEST_WAIT else None
    doublings = min(attempt - 1, 10)  # a large number of retries would overflow a float
    return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**doublings) * _random.uniform(0.5, 1)


def _no_progress(data: list[Any], number: int) -> MalformedResponse:
    what = "has no new server" if data else "is empty"
    return MalformedResponse(
        f"Page {number} of the listing {what}, but the API reports more servers.",
        "Check pagination and pagination_parameter: they must match the API.",
    )
