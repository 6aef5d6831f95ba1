# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Poll a sandbox, without waiting between the polls."""

import asyncio
import logging
import time
from contextlib import contextmanager
from typing import Any
from unittest.mock import Mock

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._client import Client
from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._options import (
    connection_argument_spec,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._polling import (
    read_arguments,
    watch,
)
from sandbox import Fault

Event = dict[str, Any]


class Source:
    """The event source; it polls when a test wants it, and ``pause`` is its last wait."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.pause = 0.0
        self._events = []
        self._loop = asyncio.new_event_loop()
        self._can_poll = asyncio.Event()
        self._outcomes = asyncio.Queue()
        self._task = self._loop.create_task(self._watch())

    def poll(self):
        """Return the kinds of the events of the next poll, or raise what ends the source."""
        return [event["server_management"]["event"] for event in self.events()]

    def events(self):
        """Return the events of the next poll."""
        self._events.clear()
        self._can_poll.set()
        outcome = self._loop.run_until_complete(self._outcomes.get())
        if isinstance(outcome, Exception):
            raise outcome
        self.pause = outcome
        return list(self._events)

    def failure(self):
        """Return the error of the next poll, which has no other event."""
        (event,) = self.events()
        return event["server_management"]["error"]

    async def _watch(self):
        try:
            await watch(self._put, self.arguments, self._sleep)
        except Exception as error:  # noqa: BLE001  # the test gets it
            await self._outcomes.put(error)

    async def _put(self, event):
        await asyncio.sleep(0)  # as for a full queue
        self._events.append(event)

    async def _sleep(self, seconds):
        self._can_poll.clear()
        await self._outcomes.put(seconds)
        await self._can_poll.wait()

    def close(self):
        self._task.cancel()
        self._loop.run_until_complete(asyncio.wait([self._task]))
        self._loop.close()


@contextmanager
def started(api, **arguments):
    """Start the source, by default without retries."""
    connection = {"base_url": api.url, "api_token": api.token, "retries": 0}
    source = Source({**connection, **arguments})
    try:
        yield source
    finally:
        source.close()


def test_a_failing_api_is_one_event_and_then_a_recovery(sandbox):
    with started(sandbox) as source:
        assert source.poll() == []
        sandbox.fail(Fault(status=503), times=2)
        error = source.failure()
        assert error["code"] == "server_error"
        assert error["status"] == 503
        assert source.poll() == []
        sandbox.servers.pop()
        assert source.poll() == ["recovered", "gone"]


def test_an_emptied_account_is_a_failure_and_not_gone_servers(sandbox):
    servers = list(sandbox.servers)
    with started(sandbox, min_servers="2") as source:
        source.poll()
        sandbox.servers.clear()
        assert source.failure()["code"] == "too_few_servers"
        assert source.poll() == []
        sandbox.servers.extend(servers[:2])
        assert source.poll() == ["recovered", "gone"]


def test_the_source_sleeps_when_the_queue_has_all_events(sandbox):
    with started(sandbox, initial=True, interval=5) as source:
        assert source.poll() == ["appeared", "appeared", "appeared"]
        assert source.pause == 5


@pytest.mark.parametrize(("retry_after", "pause"), [("100", 100), ("86400", 3600), ("2", 5)])
def test_retry_after_is_honored_up_to_an_hour_between_polls(sandbox, retry_after, pause):
    sandbox.fail(Fault(status=429, retry_after=retry_after))
    with started(sandbox, interval=5) as source:
        assert source.failure()["code"] == "rate_limited"
        assert source.pause == pause
        assert source.poll() == ["recovered"]
        assert source.pause == 5


def test_the_token_file_is_read_at_each_poll(sandbox, tmp_path):
    token = tmp_path / "token"
    with started(sandbox, api_token_file=str(token)) as source:
        del source.arguments["api_token"]
        # Also a file that is missing at the start does not end the source.
        assert source.failure()["code"] == "invalid_token_file"
        token.write_text(sandbox.token)
        assert source.poll() == ["recovered"]
        sandbox.token = "new-token-of-sandbox"
        assert source.failure()["code"] == "unauthorized"
        token.write_text("new-token-of-sandbox\n")
        assert source.poll() == ["recovered"]
        token.write_text("")
        assert source.failure()["code"] == "invalid_token_file"
    assert len(sandbox.requests) == 3


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"interval": 0}, "interval: must be a number"),
        ({"base_url": None}, "base_url: an address is required"),
    ],
)
def test_an_unusable_argument_ends_the_source_before_any_request(sandbox, argument, message):
    with started(sandbox, **argument) as source, pytest.raises(OptionError, match=message):
        source.poll()
    assert sandbox.requests == []


def test_a_missing_token_ends_the_source_before_any_request(sandbox):
    with started(sandbox) as source:
        del source.arguments["api_token"]
        with pytest.raises(OptionError, match="api_token: a token is required"):
            source.poll()
    assert sandbox.requests == []


def test_an_unexpected_error_ends_the_source(sandbox, monkeypatch):
    monkeypatch.setattr(Client, "list_servers", Mock(side_effect=KeyError("a mistake")))
    with started(sandbox) as source, pytest.raises(KeyError, match="a mistake"):
        source.poll()


def messages(caplog, wanted):
    """Return what was logged with this level."""
    return [message for _name, level, message in caplog.record_tuples if level == wanted]


def test_requests_and_waits_are_logged_without_the_token(sandbox, caplog, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    caplog.set_level(logging.DEBUG, "server_management.cloud.servers")
    sandbox.fail(Fault(status=429, retry_after=40))
    with started(sandbox, retries=1) as source:
        source.poll()
    assert len(messages(caplog, logging.DEBUG)) == 2
    (wait,) = messages(caplog, logging.INFO)
    assert wait.startswith("retry 1 of 1 in 40")
    assert sandbox.token not in caplog.text


def test_each_warning_is_logged_once(sandbox, caplog):
    sandbox.servers = [{"id": "srv_1", "name": "a"}, {"id": "srv#2", "name": "b"}]
    with started(sandbox, initial=True) as source:
        assert source.poll() == ["appeared"]
        source.poll()
        sandbox.servers.append({"id": "srv\n3", "name": "c"})
        source.poll()
    reason = "with characters in the id that events can't have"
    assert messages(caplog, logging.WARNING) == [
        f'No events are sent for 1 server {reason}: "srv#2".',
        f'No events are sent for 2 servers {reason}: "srv 3", "srv#2".',
    ]


def test_a_partial_listing_is_no_reason_for_gone_servers(sandbox):
    with started(sandbox, allow_partial=True) as source:
        source.poll()
        sandbox.fail(Fault(data=sandbox.servers[:1], has_more=True))
        assert source.poll() == []


@pytest.mark.parametrize("fault", [Fault.hang(), Fault(status=429, retry_after="60")], ids=repr)
def test_a_cancelled_source_ends_at_once(sandbox, fault):
    sandbox.fail(fault, times=None)
    arguments = {"base_url": sandbox.url, "api_token": sandbox.token}

    async def cancel():
        task = asyncio.create_task(watch(asyncio.Queue[Event]().put, arguments))
        while not sandbox.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        return time.monotonic()

    cancelled = asyncio.run(cancel())
    assert time.monotonic() - cancelled < 10  # of 30 and 60 seconds


def test_the_connection_has_the_defaults_of_the_modules():
    defaults = {name: rules.get("default") for name, rules in connection_argument_spec().items()}
    own = {"interval": 60.0, "min_servers": 0, "hosts": "name", "initial": False}
    assert read_arguments({}).values == {**defaults, **own}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"interval": 0.5}, "interval: must be a number of seconds, at least 1"),
        ({"interval": float("inf")}, "interval: must be a number of seconds, at least 1"),
        ({"min_servers": -1}, "min_servers: must be 0 or more."),
        ({"hosts": "ip"}, "hosts: must be one of name, id"),
        # Read as every option is, of which test_options.py has the rules.
        ({"initial": "maybe"}, "initial: must be true or false"),
        ({"base_ulr": "x"}, "base_ulr: is not an argument of this event source. Did you mean"),
        ({5: 1}, "5: is not an argument"),
    ],
)
def test_an_invalid_argument_is_named(given, message):
    with pytest.raises(OptionError) as caught:
        read_arguments(given)
    assert str(caught.value).startswith(message)


def test_the_environment_is_used_for_arguments_that_are_not_given(monkeypatch):
    monkeypatch.setenv("SERVER_MANAGEMENT_RETRIES", "5")
    monkeypatch.setenv("SERVER_MANAGEMENT_TIMEOUT", "7")
    values = read_arguments({"timeout": 8, "retries": None}).values
    assert values["retries"] == 5
    assert values["timeout"] == 8.0
