# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Poll a sandbox without waiting between the polls."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._client import Client
from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.plugin_utils._polling import watch
from sandbox import Fault, Sandbox

Step = Callable[[], object]


class Rulebook:
    """A queue of events that runs the next step of a test when the source sleeps."""

    def __init__(self, *steps: Step) -> None:
        self.events: list[dict[str, Any]] = []
        self.pauses: list[float] = []
        self._steps = iter(steps)

    async def put(self, data: dict[str, Any]) -> None:
        """Add an event."""
        self.events.append(data)

    async def sleep(self, seconds: float) -> None:
        """Run the next step instead of waiting; cancel the source after the last one."""
        self.pauses.append(seconds)
        step = next(self._steps, None)
        if step is None:
            raise asyncio.CancelledError
        step()

    def run(self, **arguments: Any) -> list[str]:
        """Run the source until the last step, and return the kinds of the events."""
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(watch(self, arguments, self.sleep))
        return [event["server_management"]["event"] for event in self.events]


def test_the_source_sends_a_user_agent() -> None:
    with Sandbox(servers=1) as sandbox:
        assert Rulebook().run(base_url=sandbox.url, api_token=sandbox.token) == []
    agent = sandbox.requests[0].headers["User-Agent"]
    assert agent.startswith("server_management.cloud/")
    assert " ansible/" in agent


def test_a_failing_api_causes_one_event_and_no_gone_servers() -> None:
    with Sandbox(servers=3) as sandbox:
        rulebook = Rulebook(
            lambda: sandbox.fail(Fault(status=503), times=3),
            lambda: None,
            lambda: None,
            lambda: None,
            lambda: sandbox.fail(Fault(data=[{"id": 5}])),
            sandbox.servers.pop,
            lambda: None,
        )
        kinds = rulebook.run(base_url=sandbox.url, api_token=sandbox.token, retries=0)
    assert kinds == ["failed", "recovered", "failed", "recovered", "gone"]
    first, second = (event["server_management"].get("error") for event in rulebook.events[:3:2])
    assert (first["code"], first["status"]) == ("server_error", 503)
    assert (second["code"], second["status"]) == ("malformed_response", None)
    assert "meta" not in rulebook.events[0]


@pytest.mark.parametrize(
    ("retry_after", "pause"), [("100", 100), ("3600", 3600), ("86400", 3600), ("2", 5), ("x", 5)]
)
def test_retry_after_is_honored_up_to_an_hour_between_polls(retry_after: str, pause: float) -> None:
    with Sandbox(servers=1) as sandbox:
        sandbox.fail(Fault(status=429, retry_after=retry_after))
        rulebook = Rulebook(lambda: None)
        kinds = rulebook.run(base_url=sandbox.url, api_token=sandbox.token, retries=0, interval=5)
    assert kinds == ["failed", "recovered"]
    assert rulebook.pauses == [pause, 5]


def test_the_token_file_is_read_at_each_poll(tmp_path: Path) -> None:
    token = tmp_path / "token"
    with Sandbox(servers=1) as sandbox:

        def revoke() -> None:
            sandbox.token = "new-token-of-sandbox"

        rulebook = Rulebook(
            lambda: token.write_text(""),
            lambda: token.write_text(sandbox.token),
            revoke,
            lambda: token.write_text("new-token-of-sandbox\n"),
            token.unlink,
            lambda: token.write_text("not a token"),
        )
        kinds = rulebook.run(base_url=sandbox.url, api_token_file=str(token), retries=0)
    # A file that is missing at the start does not end the rulebook.
    assert kinds == ["failed", "recovered", "failed", "recovered", "failed"]
    codes = [
        event["server_management"]["error"]["code"]
        for event in rulebook.events
        if "error" in event["server_management"]
    ]
    assert codes == ["invalid_token_file", "unauthorized", "invalid_token_file"]
    assert len(sandbox.requests) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"base_url": None}, "base_url: is required"),
        ({"api_token": ""}, "api_token: is empty."),
        ({"api_token": None}, "api_token: is empty."),
        ({"api_token_file": "/a/file"}, "api_token and api_token_file: both are set"),
        ({"ca_path": "/no/such/bundle"}, "ca_path: /no/such/bundle"),
        ({"interval": 0}, "interval: "),
    ],
)
def test_an_invalid_argument_ends_the_source_before_any_request(
    arguments: dict[str, Any], message: str
) -> None:
    with Sandbox(servers=1) as sandbox:
        every = {"base_url": sandbox.url, "api_token": sandbox.token, **arguments}
        with pytest.raises(OptionError) as caught:
            asyncio.run(watch(Rulebook(), every))
        assert str(caught.value).startswith(message)
        assert sandbox.requests == []


def test_a_warning_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with Sandbox(servers=1) as sandbox:
        sandbox.fail(Fault(has_more=True), times=None)
        arguments = {"base_url": sandbox.url, "api_token": sandbox.token, "allow_partial": True}
        Rulebook(lambda: None, lambda: None).run(**arguments)
    (logged,) = (record for record in caplog.records if record.levelno == logging.WARNING)
    assert "more servers" in logged.getMessage()


def test_requests_and_waits_are_logged_without_the_token(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    caplog.set_level(logging.DEBUG)
    with Sandbox(servers=1) as sandbox:
        sandbox.fail(Fault(status=429, retry_after=40))
        Rulebook(lambda: None).run(base_url=sandbox.url, api_token=sandbox.token)
    ours = [record for record in caplog.records if record.name.startswith("server_management")]
    shown = [(record.levelname, re.sub(r":.*|\.\d", "", record.getMessage())) for record in ours]
    assert shown[:3] == [
        ("DEBUG", "GET http"),
        ("INFO", "retry 1 of 3 in 40 s"),
        ("DEBUG", "GET http"),
    ]
    assert sandbox.token not in caplog.text


def test_events_wait_for_the_rulebook() -> None:
    with Sandbox(servers=3) as sandbox:

        async def scenario() -> list[int]:
            queue: asyncio.Queue[Any] = asyncio.Queue(maxsize=1)
            arguments = {"base_url": sandbox.url, "api_token": sandbox.token, "initial": True}
            task = asyncio.create_task(watch(queue, arguments))
            sizes = []
            for _event in range(3):
                await queue.get()
                sizes.append(len(sandbox.requests))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return sizes

        assert asyncio.run(scenario()) == [1, 1, 1]


@pytest.mark.parametrize(
    ("faults", "options"),
    [
        ([Fault.hang()], {"retries": 0}),
        ([Fault(status=429, retry_after="60")], {}),
        ([], {"initial": True}),
    ],
    ids=["request", "retry", "full queue"],
)
def test_a_cancelled_source_ends_at_once(faults: list[Fault], options: dict[str, Any]) -> None:
    with Sandbox(servers=3) as sandbox:
        for fault in faults:
            sandbox.fail(fault, times=None)

        async def scenario() -> bool:
            queue: asyncio.Queue[Any] = asyncio.Queue(maxsize=1)
            arguments = {"base_url": sandbox.url, "api_token": sandbox.token, **options}
            task = asyncio.create_task(watch(queue, arguments))
            while not (sandbox.requests if faults else queue.full()):
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return task.cancelled()

        assert asyncio.run(scenario())
    # Python waits at its exit for all threads that are not daemons.
    assert all(
        thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()
    )


def test_an_unexpected_error_ends_the_source_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_client: Client) -> None:
        raise KeyError("a mistake")

    monkeypatch.setattr(Client, "list_servers", fail)
    with pytest.raises(KeyError, match="a mistake"):
        asyncio.run(watch(Rulebook(), {"base_url": "http://127.0.0.1:9", "api_token": "t"}))


def test_servers_with_another_id_in_events_are_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ids = ["srv_1", "srv#1", "srv\n2"]
    with Sandbox(servers=[{"id": identifier, "name": "n"} for identifier in ids]) as sandbox:

        def lose() -> None:
            sandbox.servers.pop()

        rulebook = Rulebook(lambda: None, lose, lambda: None)
        rulebook.run(base_url=sandbox.url, api_token=sandbox.token)
    logged = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(logged) == 2
    assert logged[0].startswith("2 servers have ids that events can't have: srv 2, ")
    assert logged[1].startswith("1 server has an id that events can't have: srv#1.")
