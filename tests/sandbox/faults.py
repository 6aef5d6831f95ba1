# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Describe how a response is faulty, and decide which request gets it."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Fault:
    """How one response differs from a good one; all fields can be combined.

    The response:
      status        instead of 200; outside 2xx with a short JSON body, unless `body` is set
      body          bytes or text, a function that returns the pieces of a stream, or a value
                    that is sent as JSON; `{token}` in a text is replaced by the received token
      headers       additional headers; None removes the header with that name
      retry_after, location, link, content_type    the headers of these names
    The listing:
      data          the elements, instead of the account's
      has_more      instead of the correct value
      shift         start the page this many servers earlier, so that some are repeated
    Sending:
      raw           bytes instead of the whole response; the connection is closed after them
      chunked       in chunks, without `Content-Length`
      cut           stop at the start, after the headers or in the middle of the body
      end           what happens at the cut: the connection is closed, reset, or hangs
    """

    status: int | None = None
    body: object = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    retry_after: int | str | None = None
    location: str | None = None
    link: str | None = None
    content_type: str | None = None
    data: list[object] | None = None
    has_more: object = None
    shift: int = 0
    raw: bytes = b""
    chunked: bool = False
    cut: Literal["start", "headers", "body"] | None = None
    end: Literal["close", "reset", "hang"] = "close"

    @classmethod
    def hang(cls) -> Fault:
        """Read the request and never send a response."""
        return cls(cut="start", end="hang")

    @classmethod
    def reset(cls) -> Fault:
        """Reset the connection before the first header."""
        return cls(cut="start", end="reset")

    @classmethod
    def html(cls) -> Fault:
        """Return a web page, like a proxy or a login page."""
        page = "<!DOCTYPE html>\n<html><body><h1>Not the API</h1></body></html>\n"
        return cls(body=page, content_type="text/html; charset=utf-8")

    @classmethod
    def nested(cls, depth: int = 100_000) -> Fault:
        """Return nested lists, `depth` of them."""
        return cls(body=b'{"data": %b%b, "has_more": false}' % (b"[" * depth, b"]" * depth))

    @classmethod
    def gzip_bomb(cls) -> Fault:
        """Return a correct envelope of 1 GiB, compressed to a thousandth."""
        return cls(body=_padded_envelope, headers={"Content-Encoding": "gzip"})


NO_FAULT = Fault()


def _padded_envelope() -> Iterator[bytes]:
    """Yield an empty listing with 1 GiB of white space, compressed."""
    padding = gzip.compress(b" " * 2**20)
    yield gzip.compress(b'{"data": [], "has_more": false')
    for _number in range(1024):
        yield padding
    yield gzip.compress(b"}")


@dataclass(eq=False)
class _Pending:
    """A fault, and the requests that receive it."""

    fault: Fault
    times: int | None
    page: int | None
    after: int


class PendingFaults:
    """The faults that requests have not received yet; thread-safe."""

    def __init__(self) -> None:
        self._pending: list[_Pending] = []
        self._lock = threading.Lock()

    def add(self, fault: Fault, times: int | None, page: int | None, after: int) -> None:
        """Add a fault; see `Sandbox.fail`."""
        with self._lock:
            self._pending.append(_Pending(fault, times, page, after))

    def clear(self) -> None:
        """Remove all faults."""
        with self._lock:
            self._pending.clear()

    def take(self, page: int | None) -> Fault:
        """Return the fault for a request of this page, NO_FAULT if there is none."""
        with self._lock:
            for pending in self._pending:
                if pending.page is not None and pending.page != page:
                    continue
                if pending.after:
                    pending.after -= 1
                    continue
                if pending.times is not None:
                    pending.times -= 1
                    if not pending.times:
                        self._pending.remove(pending)
                return pending.fault
        return NO_FAULT
