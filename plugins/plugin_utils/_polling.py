# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Poll the listing, and put an event for each difference on the queue of a rulebook.

It imports no Ansible: ansible-rulebook may run where none is installed.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from importlib import metadata
from typing import Any

from ..module_utils._client import Client, Level
from ..module_utils._errors import CloudError, MissingLibrary, OptionError, TokenFileUnusable
from ..module_utils._models import Server, check_min_servers
from ..module_utils._options import (
    RULES,
    Options,
    Rules,
    connection_from,
    resolve_options,
)
from ..module_utils._text import count_of, is_plain, summarise
from ..module_utils._unknown_names import unknown_name
from ._events import Event, History

# The rules for the arguments of the source, as in an argument spec.
ARGUMENTS: Rules = {
    **RULES,
    "interval": {"type": "float", "default": 60.0},
    "min_servers": {"type": "int", "default": 0},
    "hosts": {"type": "str", "default": "name", "choices": ["name", "id"]},
    "initial": {"type": "bool", "default": False},
}
# The version of Ansible; ansible-rulebook does not require it.
_ANSIBLE = next((found.version for found in metadata.distributions(name="ansible-core")), "none")
_MAX_PAUSE = 3600.0  # seconds of Retry-After that are honored between two polls
_LEVELS = {"warning": logging.WARNING, "trace": logging.DEBUG}

# The servers, and whether the account has more.
_Found = tuple[list[Server], bool]

_logger = logging.getLogger("server_management.cloud.servers")


async def watch(
    put: Callable[[Event], Awaitable[None]],
    arguments: Mapping[str, Any],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Poll until cancelled, and ``put`` each event on the queue of the rulebook.

    With ansible-rulebook, ``put`` waits while actions run. Raises OptionError for an invalid
    argument, before any request, and MissingLibrary. All other failures are events.
    """
    options = read_arguments(arguments)
    with suppress(TokenFileUnusable):  # may be temporary: the first poll reports it
        connection_from(options, _ANSIBLE)
    history = History(options.values["hosts"], options.values["initial"])
    poll = _Poll(options)
    while True:
        pause = options.values["interval"]
        try:
            servers, is_partial = await _in_thread(poll)
            events = history.update(servers, is_partial)
        except MissingLibrary:
            raise
        except CloudError as error:
            events = history.fail(error)
            pause = max(pause, min(error.retry_after or 0.0, _MAX_PAUSE))
            _logger.info("%s", error)
        for event in events:
            await put(event)
        await sleep(pause)


def read_arguments(given: Mapping[Any, Any]) -> Options:
    """Return the value of each argument; raise OptionError at the first bad one."""
    unknown = [unknown_name(key, ARGUMENTS) for key in given if key not in ARGUMENTS]
    if unknown:
        raise OptionError(f"{', '.join(unknown)}: not an argument of this event source.")
    options = resolve_options(given, ARGUMENTS)
    if not options.values["interval"] >= 1:  # false for NaN, too
        raise OptionError("interval: must be a number of seconds, at least 1.")
    return options


class _Poll:
    """Read the listing with the current token, and log each warning once."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._logged: set[str] = set()

    def __call__(self) -> _Found:
        client = Client(connection_from(self._options, _ANSIBLE), self._report)
        servers = client.list_servers()
        check_min_servers(servers, self._options.values["min_servers"])
        ids = [server.id for server in servers if not is_plain(server.id)]
        if ids:
            self._report(
                "warning",
                f"No events are sent for {count_of(len(ids), 'server')} whose id has characters "
                f"that events cannot contain: {summarise(ids)}.",
            )
        return servers, client.is_partial

    def _report(self, level: Level, text: str) -> None:
        if level == "warning":
            if text in self._logged:
                return
            self._logged.add(text)
        _logger.log(_LEVELS.get(level, logging.INFO), "%s", text)


async def _in_thread(poll: _Poll) -> _Found:
    """Poll in another thread.

    The thread is abandoned when the task is cancelled. With asyncio.to_thread, Python would wait at
    its end for the thread, until the last retry of a request.
    """
    future: Future[_Found] = Future()
    future.set_running_or_notify_cancel()  # so that the thread can still set a result

    def run() -> None:
        try:
            future.set_result(poll())
        except Exception as error:  # noqa: BLE001  # a mistake of ours ends the source, too
            future.set_exception(error)

    threading.Thread(target=run, name="server_management.cloud", daemon=True).start()
    return await asyncio.wrap_future(future)
