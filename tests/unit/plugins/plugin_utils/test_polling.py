# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Poll a sandbox, without waiting between the polls."""

import asyncio
import logging
import time
from contextlib import ExitStack, closing
from unittest.mock import Mock

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.plugin_utils import _polling
from sandbox import Fault
from support.expressions import message_of

PLUGINS = "ansible_collections.server_management.cloud.plugins"


class Source:
    """The event source; it polls when a test wants it.

    ``events`` has the content of the last poll's events, and ``pause`` the wait after it.
    """

    def __init__(self, arguments):
        self.events = []
        self.pause = 0.0
        self._loop = asyncio.new_event_loop()
        polling = _polling.watch(self._put, arguments, self._sleep)
        self._task = self._loop.create_task(polling)
        self._task.add_done_callback(lambda _task: self._loop.stop())

    def poll(self):
        """Return the kinds of the events of the next poll, or raise what ends the source."""
        self.events.clear()
        self._loop.run_forever()  # until the source waits or ends
        if self._task.done():
            self._task.result()
        return [content["event"] for content in self.events]

    def failure(self):
        """Return the code of the next poll's only event."""
        assert self.poll() == ["failed"]
        return self.events[0]["error"]["code"]

    async def _put(self, event):
        self.events.append(event["server_management"])

    async def _sleep(self, seconds):
        self.pause = seconds
        self._loop.stop()
        await asyncio.sleep(0)

    def close(self):
        self._task.cancel()
        self._loop.stop()
        self._loop.run_forever()  # for one step, which ends the source
        self._loop.close()


@pytest.fixture
def start(sandbox, monkeypatch):
    """Return a function that starts the source, with the connection in the environment."""
    for name, value in sandbox.environment.items():
        monkeypatch.setenv(name, value)
    with ExitStack() as stack:

        def start(**arguments):
            source = Source({"retries": 0, **arguments})
            return stack.enter_context(closing(source))

        yield start


def test_a_failing_api_is_one_event_and_then_a_recovery(sandbox, start):
    source = start()
    assert source.poll() == []
    sandbox.fail(Fault(status=503), times=2)
    assert source.failure() == "server_error"
    assert source.poll() == []
    sandbox.servers.pop()
    assert source.poll() == ["recovered", "gone"]


def test_an_emptied_account_is_a_failure_and_not_gone_servers(sandbox, start):
    source = start(min_servers="2")
    source.poll()
    servers = list(sandbox.servers)
    sandbox.servers.clear()
    assert source.failure() == "too_few_servers"
    sandbox.servers += servers[:2]
    assert source.poll() == ["recovered", "gone"]


def test_servers_that_cannot_have_different_names_are_a_failure(sandbox, start):
    # As host names, both ids are srv_1.
    sandbox.servers = [{"id": "srv_1", "name": "web"}, {"id": "srv#1", "name": "web"}]
    source = start(initial=True)
    assert source.failure() == "invalid_option"
    sandbox.servers.pop()
    assert source.poll() == ["recovered", "appeared"]


@pytest.mark.parametrize(("hosts", "field"), [(None, "name"), ("name", "name"), ("id", "id")])
def test_the_argument_hosts_says_how_the_inventory_names_hosts(hosts, field, sandbox, start):
    source = start(hosts=hosts, initial=True)
    assert source.poll()
    for content in source.events:
        assert content["inventory_hostname"] == content["server"][field]


PAUSES = [(1, 100, 100), (5, 86400, 3600), (7200, 100, 7200)]


@pytest.mark.parametrize(("interval", "retry_after", "pause"), PAUSES)
def test_retry_after_is_honored_up_to_an_hour_between_polls(
    sandbox, start, interval, retry_after, pause
):
    sandbox.fail(Fault(status=429, retry_after=retry_after))
    source = start(interval=interval)
    assert source.failure() == "rate_limited"
    assert source.pause == pause
    assert source.poll() == ["recovered"]
    assert source.pause == interval


def test_the_token_file_is_read_at_each_poll(sandbox, start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a relative path is relative to the working directory
    token = tmp_path / "token"
    source = start(api_token_file="token")
    # Also a file that is missing at the start does not end the source.
    assert source.failure() == "invalid_token_file"
    token.write_text(sandbox.token)
    assert source.poll() == ["recovered"]
    sandbox.token = "new-token-of-sandbox"
    assert source.failure() == "unauthorized"
    token.write_text("new-token-of-sandbox\n")
    assert source.poll() == ["recovered"]


@pytest.mark.parametrize("option", ["base_url", "api_token"])
def test_an_incomplete_connection_ends_the_source(start, monkeypatch, option):
    source = start()
    monkeypatch.delenv(f"SERVER_MANAGEMENT_{option.upper()}")
    with pytest.raises(OptionError, match=option):
        source.poll()


# Of each request, each response and each listing.
MISTAKEN = ["module_utils._http.redact", "module_utils._client.merge"]
MISTAKEN += ["plugin_utils._events.assign_names"]


@pytest.mark.parametrize("function", MISTAKEN)
def test_a_mistake_in_the_code_ends_the_source(function, start, monkeypatch):
    mistaken = Mock(side_effect=KeyError("a mistake"))
    monkeypatch.setattr(f"{PLUGINS}.{function}", mistaken)
    source = start()
    with pytest.raises(KeyError, match="a mistake"):
        source.poll()


def test_requests_and_waits_are_logged_without_the_token(sandbox, start, caplog, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    caplog.set_level(logging.DEBUG, "server_management.cloud.servers")
    sandbox.fail(Fault(status=429, retry_after=40))
    source = start(retries=1)
    source.poll()
    levels = [record.levelname for record in caplog.records]
    assert levels == ["DEBUG", "INFO", "DEBUG"]
    assert caplog.messages[1].startswith("retry 1 of 1 in 40")
    assert sandbox.token not in caplog.text


def test_each_warning_is_logged_once(sandbox, start, caplog):
    sandbox.servers = [{"id": "srv_1", "name": "a"}, {"id": "srv#2", "name": "b"}]
    source = start(initial=True)
    assert source.poll() == ["appeared"]
    source.poll()
    sandbox.servers.append({"id": "srv\n3", "name": "c"})
    source.poll()
    assert caplog.messages == [
        "No events are sent for 1 server whose id has characters that events cannot contain: "
        '"srv#2".',
        "No events are sent for 2 servers whose id has characters that events cannot contain: "
        r'"srv#2", "srv\n3".',
    ]


def test_a_partial_listing_is_no_reason_for_gone_servers(sandbox, start):
    source = start(allow_partial=True)
    source.poll()
    sandbox.fail(Fault(data=sandbox.servers[:1], has_more=True))
    assert source.poll() == []


INVALID = yaml.safe_load("""
- [{interval: 0.5}, 'interval: must be a number of seconds, at least 1.']
- [{interval: .nan}, 'interval: ']
- [{hosts: ip}, 'hosts: must be one of name, id']
- [{5: 1, url: 2}, '5, url (here: base_url): not an argument of this event source.']
""")


@pytest.mark.parametrize(("given", "message"), INVALID)
def test_an_invalid_argument_is_named(given, message):
    assert message_of(_polling.read_arguments, given).startswith(message)
