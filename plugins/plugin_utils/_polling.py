# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Poll the listing, and put an event for each difference on the queue of a rulebook."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from importlib import metadata
from typing import Any, Protocol

from ..module_utils._client import Client
from ..module_utils._errors import CloudError, MissingLibrary, StatusError, TokenFileUnusable
from ..module_utils._models import Server
from ..module_utils._options import VERSION, Connection, connection_from
from ..module_utils._text import summarise
from ._arguments import read_arguments
from ._events import Event, History, Listing, event_id

_MAX_PAUSE = 3600.0  # seconds of Retry-After that are honored between two polls

_logger = logging.getLogger("server_management.cloud.servers")


class Queue(Protocol):
    """The queue that a rulebook gives to a source."""

    async def put(self, data: Event) -> None:
        """Add an event; with ansible-rulebook, this waits while actions run."""


async def watch(
    queue: Queue,
    arguments: Mapping[str, Any],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Poll until cancelled.

    Raises OptionError for an invalid argument, before any request, and MissingLibrary. All other
    failures are events.
    """
    options = read_arguments(arguments)
    with suppress(TokenFileUnusable):  # may be temporary: the first poll reports it
        _connect(options)
    history = History(options["initial"])
    poll = _Poll(options)
    while True:
        pause = options["interval"]
        try:
            events = history.update(await _in_thread(poll))
        except MissingLibrary:
            raise
        except CloudError as error:
            events = history.fail(error)
            pause = max(pause, _pause_after(error))
            _logger.info("%s", error)
        for event in events:
            await queue.put(event)
        await sleep(pause)


class _Poll:
    """Read the listing with the current token; log the warnings that the last poll did not have."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self._warnings: list[str] = []

    def __call__(self) -> Listing:
        warnings: list[str] = []
        client = Client(
            _connect(self._options),
            warnings.append,
            wait=_logger.info,
            progress=_logger.info,
            trace=_logger.debug if _logger.isEnabledFor(logging.DEBUG) else None,
        )
        servers = client.list_servers()
        if altered := _altered_ids(servers):
            warnings.append(altered)
        for text in warnings:
            if text not in self._warnings:
                _logger.warning("%s", text)
        self._warnings = warnings
        return Listing(servers, self._options["hosts"], client.is_partial)


def _altered_ids(servers: Iterable[Server]) -> str:
    """Return a warning if servers have another id in events, and an empty text otherwise."""
    altered = [server.id for server in servers if event_id(server.id) != server.id]
    if not altered:
        return ""
    are = "1 server has an id" if len(altered) == 1 else f"{len(altered)} servers have ids"
    return (
        f"{are} that events can't have: {summarise(altered)}. Playbooks that "
        "compare the id of an event with server_id end without changing anything."
    )


def _connect(options: Mapping[str, Any]) -> Connection:
    """Return the connection; a token file is read each time."""
    connection = connection_from(options.__getitem__, "")
    return dataclasses.replace(connection, user_agent=_user_agent())


def _user_agent() -> str:
    programs = [f"server_management.cloud/{VERSION}"]
    for package, program in (("ansible-core", "ansible"), ("ansible-rulebook", "ansible-rulebook")):
        with suppress(metadata.PackageNotFoundError):
            programs.append(f"{program}/{metadata.version(package)}")
    return " ".join(programs)


def _pause_after(error: CloudError) -> float:
    """Return the seconds that the API asks to wait, at most an hour."""
    asked = error.retry_after if isinstance(error, StatusError) else None
    return min(asked or 0.0, _MAX_PAUSE)


async def _in_thread(call: Callable[[], Listing]) -> Listing:
    """Return what a call returns in another thread, or raise what it raises.

    The thread is abandoned when the task is cancelled. With asyncio.to_thread, Python would wait at
    its end for the thread, until the last retry of a request.
    """
    future: Future[Listing] = Future()
    future.set_running_or_notify_cancel()  # so that the thread can still set a result

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as error:  # noqa: BLE001  # a mistake of ours ends the source, too
            future.set_exception(error)

    threading.Thread(target=run, name="server_management.cloud", daemon=True).start()
    return await asyncio.wrap_future(future)
