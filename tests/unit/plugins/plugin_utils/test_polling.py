# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Poll a sandbox without waiting between the polls."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
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
from sandbox import Fault, Sandbox

Step = Callable[[], object]


@pytest.fixture
def api() -> Iterator[Sandbox]:
    with Sandbox(servers=3) as sandbox:
        yield sandbox


class Rulebook:
    """A queue of events that runs the next step of a test when the source sleeps."""

    def __init__(self, api: Sandbox, *steps: Step) -> None:
        self.events: list[dict[str, Any]] = []
        self.pauses: list[float] = []
        self.arguments: dict[str, Any] = {"base_url": api.url, "api_token": api.token}
        self._steps = iter(steps)

    async def put(self, data: dict[str, Any]) -> None:
        """Add an event, after waiting as for a full queue."""
        await asyncio.sleep(0)
        self.events.append(data)

    async def sleep(self, seconds: float) -> None:
        """Run the next step instead of waiting; cancel the source after the last one."""
        self.pauses.append(seconds)
        step = next(self._steps, None)
        if step is None:
            raise asyncio.CancelledError
        step()

    def run(self, **arguments: Any) -> list[str]:
        """Run the source until it ends, and return the kinds of the events."""
        given = {**self.arguments, "retries": 0, **arguments}
        with suppress(asyncio.CancelledError):
            asyncio.run(watch(self.put, given, self.sleep))
        return [event["server_management"]["event"] for event in self.events]


def nothing() -> None:
    """Change nothing before the next poll."""


def test_a_failing_api_causes_one_event_and_no_gone_servers(api: Sandbox) -> None:
    rulebook = Rulebook(
        api,
        lambda: api.fail(Fault(status=503), times=3),
        *(nothing, nothing, nothing),
        lambda: api.fail(Fault(data=[{"id": 5}])),
        api.servers.pop,
        nothing,
    )
    assert rulebook.run() == ["failed", "recovered", "failed", "recovered", "gone"]
    first, second = (event["server_management"]["error"] for event in rulebook.events[:3:2])
    assert (first["code"], first["status"]) == ("server_error", 503)
    assert (second["code"], second["status"]) == ("malformed_response", None)
    assert "meta" not in rulebook.events[0]


def test_an_emptied_account_is_a_failure_and_not_gone_servers(api: Sandbox) -> None:
    servers = list(api.servers)
    steps = [api.servers.clear, nothing, lambda: api.servers.extend(servers[:2])]
    rulebook = Rulebook(api, *steps)
    assert rulebook.run(min_servers="2") == ["failed", "recovered", "gone"]
    assert rulebook.events[0]["server_management"]["error"] == {
        "code": "too_few_servers",
        "message": "min_servers: 2 or more expected, but the account has 0. "
        "Check whether the token is for the right account.",
        "status": None,
    }


def test_the_source_sleeps_when_the_queue_has_all_events(api: Sandbox) -> None:
    numbers: list[int] = []
    rulebook = Rulebook(api, lambda: numbers.append(len(rulebook.events)))
    rulebook.run(initial=True)
    assert numbers == [3]


@pytest.mark.parametrize(("retry_after", "pause"), [("100", 100), ("86400", 3600), ("2", 5)])
def test_retry_after_is_honored_up_to_an_hour_between_polls(
    api: Sandbox, retry_after: str, pause: float
) -> None:
    api.fail(Fault(status=429, retry_after=retry_after))
    rulebook = Rulebook(api, nothing)
    assert rulebook.run(interval=5) == ["failed", "recovered"]
    assert rulebook.pauses == [pause, 5]


def test_the_token_file_is_read_at_each_poll(api: Sandbox, tmp_path: Path) -> None:
    token = tmp_path / "token"
    rulebook = Rulebook(
        api,
        lambda: token.write_text(""),
        lambda: token.write_text(api.token),
        lambda: setattr(api, "token", "new-token-of-sandbox"),
        lambda: token.write_text("new-token-of-sandbox\n"),
        token.unlink,
        lambda: token.write_text("not a token"),
    )
    del rulebook.arguments["api_token"]
    kinds = rulebook.run(api_token_file=str(token))
    # A file that is missing at the start does not end the rulebook.
    assert kinds == ["failed", "recovered", "failed", "recovered", "failed"]
    errors = [event["server_management"].get("error", {}) for event in rulebook.events[::2]]
    codes = ["invalid_token_file", "unauthorized", "invalid_token_file"]
    assert [error["code"] for error in errors] == codes
    assert len(api.requests) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"api_token": None}, "api_token: is empty."), ({"interval": 0}, "interval: ")],
)
def test_an_invalid_argument_ends_the_source_before_any_request(
    api: Sandbox, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=f"^{message}"):
        Rulebook(api).run(**arguments)
    assert api.requests == []


def test_an_unexpected_error_ends_the_source(api: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Client, "list_servers", Mock(side_effect=KeyError("a mistake")))
    with pytest.raises(KeyError, match="a mistake"):
        Rulebook(api).run()


def test_requests_and_waits_are_logged_without_the_token(
    api: Sandbox, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    caplog.set_level(logging.DEBUG)
    api.fail(Fault(status=429, retry_after=40))
    Rulebook(api, nothing).run(retries=1)
    ours = [record for record in caplog.records if record.name.startswith("server_management")]
    texts = {record.levelname: record.getMessage() for record in ours}
    assert "GET http" in texts["DEBUG"]
    assert " 40" in texts["INFO"]
    assert api.token not in caplog.text


@pytest.mark.parametrize("fault", [Fault.hang(), Fault(status=429, retry_after="60")], ids=repr)
def test_a_cancelled_source_ends_at_once(api: Sandbox, fault: Fault) -> None:
    api.fail(fault, times=None)

    async def scenario() -> bool:
        arguments = {"base_url": api.url, "api_token": api.token}
        task = asyncio.create_task(watch(asyncio.Queue[Any]().put, arguments))
        while not api.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return task.cancelled()

    assert asyncio.run(scenario())


def test_each_warning_is_logged_once(api: Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    api.servers = [{"id": identifier, "name": "n"} for identifier in ("srv_1", "srv#2", "srv\n3")]
    api.fail(Fault(has_more=True), times=2)
    rulebook = Rulebook(api, nothing, api.servers.pop, nothing)
    assert rulebook.run(allow_partial=True, initial=True) == ["appeared"]
    logged = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    reason = "with characters in the id that events can't have"
    assert logged[0].startswith("The API has more servers")
    assert logged[1:] == [
        f'No events are sent for 2 servers {reason}: "srv 3", "srv#2".',
        f'No events are sent for 1 server {reason}: "srv#2".',
    ]


URL = "http://127.0.0.1:9"


def test_the_connection_has_the_defaults_of_the_modules() -> None:
    assert read_arguments({}).values == {
        **{name: rules.get("default") for name, rules in connection_argument_spec().items()},
        "interval": 60.0,
        "min_servers": 0,
        "hosts": "name",
        "initial": False,
    }


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("interval", 1, 1.0),
        ("interval", "2.5", 2.5),
        ("ca_path", "~/bundle", "~/bundle"),
        ("api_token", None, ""),  # given and empty
        ("api_token_file", None, ""),
    ],
)
def test_values_are_converted(name: str, given: object, value: object) -> None:
    read = read_arguments({name: given}).values[name]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"interval": 0.5}, "interval: must be a number of seconds, at least 1"),
        ({"interval": 10**400}, "interval: must be a number"),
        ({"interval": "soon"}, "interval: must be a number"),
        ({"min_servers": -1}, "min_servers: must be 0 or more."),
        ({"initial": "maybe"}, "initial: must be true or false"),
        ({"hosts": "ip"}, "hosts: must be one of name, id"),
        ({"base_url": 5}, "base_url: YAML reads"),
        ({"api_token": 12345678}, "api_token: YAML reads"),
        (
            {"base_ulr": URL},
            "base_ulr: is not an argument of this event source. Did you mean base_url",
        ),
        ({5: 1}, "5: is not an argument"),
        ({"api_token:s3cret": None}, "api_token: must be followed by a colon and a space."),
    ],
)
def test_an_invalid_argument_is_named(given: dict[Any, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        read_arguments(given)
    assert str(caught.value).startswith(message)


def test_the_environment_is_used_for_arguments_that_are_not_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SERVER_MANAGEMENT_BASE_URL", URL)
    monkeypatch.setenv("SERVER_MANAGEMENT_RETRIES", "5")
    monkeypatch.setenv("SERVER_MANAGEMENT_TIMEOUT", "7")
    monkeypatch.setenv("SERVER_MANAGEMENT_VALIDATE_CERTS", "no")
    monkeypatch.setenv("SERVER_MANAGEMENT_PAGINATION", "")  # counts as not set
    read = read_arguments({"timeout": 8, "retries": None}).values
    assert (read["base_url"], read["retries"], read["timeout"]) == (URL, 5, 8.0)
    assert (read["validate_certs"], read["pagination"]) == (False, "none")
