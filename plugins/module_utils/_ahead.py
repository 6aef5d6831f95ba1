# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests that are on their way while earlier answers are read.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from ansible_collections.server_management.cloud.plugins.module_utils._errors import CloudError

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class Ahead(Generic[Request, Answer]):
    """Get answers in the order in which they are asked for, some of them before that.

    ``get`` is called in threads of their own for what was foreseen. An answer that nobody asks
    for is left behind, whatever it is: there is no page after the last one.
    """

    def __init__(self, get: Callable[[Request], Answer]) -> None:
        self._get = get
        self._flights: dict[Request, _Flight[Request, Answer]] = {}

    def foresee(self, requests: Iterable[Request]) -> None:
        """Send these requests, unless they are on their way, and forget all others."""
        flights = {request: self._flights.get(request) for request in requests}
        self._flights = {
            request: flight or _Flight(self._get, request) for request, flight in flights.items()
        }

    def get(self, request: Request) -> Answer:
        """Return the answer to a request; raise what ``get`` raised for it."""
        flight = self._flights.pop(request, None)
        return self._get(request) if flight is None else flight.land()


class _Flight(threading.Thread, Generic[Request, Answer]):
    """One request on its way."""

    def __init__(self, get: Callable[[Request], Answer], request: Request) -> None:
        super().__init__(daemon=True)
        self._call = get
        self._request = request
        self._answers: list[Answer] = []
        self._error: CloudError | None = None
        self.start()

    def run(self) -> None:
        try:
            self._answers.append(self._call(self._request))
        except CloudError as error:
            self._error = error

    def land(self) -> Answer:
        self.join()
        if self._error is not None:
            raise self._error
        return self._answers[0]
