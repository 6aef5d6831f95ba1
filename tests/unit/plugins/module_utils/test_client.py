# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import logging
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import (
    _client,
)
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    Forbidden,
    MalformedResponse,
    NotFound,
    RateLimited,
    Redirected,
    ServerFailed,
    StatusError,
    TimedOut,
    Unauthorized,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from sandbox import Fault, Sandbox

TOKEN = "sandbox-token"


@pytest.mark.promise("whole")
def test_the_whole_listing_is_read_over_one_connection(
    read: Any, sandbox: Sandbox, threads: None
) -> None:
    servers = read(sandbox)
    assert [dict(server.fields) for server in servers] == sandbox.servers
    assert [server.id for server in servers] == [fields["id"] for fields in sandbox.servers]
    assert sandbox.connections == 1
    assert read.warnings == []


def test_a_request_has_a_user_agent(read: Any, sandbox: Sandbox) -> None:
    read(sandbox, user_agent="server_management.cloud/1.2.3 ansible/2.21.0")
    (request,) = sandbox.requests
    assert (request.method, request.path, request.query) == ("GET", "/api/v1/servers", {})
    assert request.headers.get_all("Authorization") == [f"Bearer {TOKEN}"]
    agent = request.headers["User-Agent"]
    assert agent.startswith("server_management.cloud/1.2.3 ansible/2.21.0 python-requests/")
    assert request.headers["Accept"] == "application/json"
    assert request.headers["Accept-Encoding"] == "gzip"


def test_no_connection_is_left_open(read: Any, sandbox: Sandbox, threads: None) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        read(sandbox)
        sandbox.fail(Fault(status=500))
        with pytest.raises(ServerFailed):
            read(sandbox)
        import gc

        gc.collect()
    assert [str(warning.message) for warning in seen] == []


@pytest.mark.promise("secret")
def test_the_token_is_in_no_log_and_no_representation(
    read: Any, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    read(sandbox)
    connection = Connection("http://127.0.0.1/api/v1", TOKEN)
    assert TOKEN not in caplog.text + repr(connection)


STATUSES: list[tuple[int, type[StatusError], str]] = [
    (101, StatusError, "unexpected status (HTTP 101)"),
    (201, StatusError, "unexpected status (HTTP 201)"),
    (204, StatusError, "unexpected status (HTTP 204)"),
    (206, StatusError, "unexpected status (HTTP 206)"),
    (300, Redirected, "nowhere"),
    (304, Redirected, "nowhere"),
    (400, StatusError, "unexpected status (HTTP 400)"),
    (401, Unauthorized, "rejected the token"),
    (403, Forbidden, "lacks the scope servers:read"),
    (404, NotFound, "base_url"),
    (405, StatusError, "unexpected status (HTTP 405)"),
    (418, StatusError, "unexpected status (HTTP 418)"),
    (429, RateLimited, "throttling"),
    (500, ServerFailed, "failing (HTTP 500)"),
    (501, ServerFailed, "failing (HTTP 501)"),
    (599, ServerFailed, "failing (HTTP 599)"),
]


@pytest.mark.promise("whole")
@pytest.mark.parametrize(("status", "kind", "words"), STATUSES)
def test_each_status_has_its_error(
    read: Any, sandbox: Sandbox, threads: None, status: int, kind: type[CloudError], words: str
) -> None:
    sandbox.fail(Fault(status=status))
    with pytest.raises(kind) as caught:
        read(sandbox)
    assert caught.value.__class__ is kind
    assert caught.value.status == status
    assert words in str(caught.value)
    assert caught.value.next_step
    assert len(sandbox.requests) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 429, 500])
def test_an_html_body_is_not_quoted(read: Any, sandbox: Sandbox, status: int) -> None:
    sandbox.fail(Fault.html(status))
    with pytest.raises(StatusError) as caught:
        read(sandbox)
    assert "with the response" not in str(caught.value)


TRANSIENT_FAULTS = [
    *(Fault(status=status) for status in (429, 500, 502, 503, 504)),
    Fault.reset(),
    Fault(cut="start"),
    Fault(cut="headers"),
    Fault(cut="headers", end="reset"),
    Fault(cut="body"),
    Fault(cut="body", end="reset"),
    Fault(cut="body", chunked=True),
    Fault(cut="body", chunked=True, end="reset"),
]


@pytest.mark.promise("whole")
@pytest.mark.parametrize("fault", TRANSIENT_FAULTS, ids=repr)
def test_a_transient_failure_is_retried(
    read: Any, sandbox: Sandbox, waits: list[float], threads: None, fault: Fault
) -> None:
    sandbox.fail(fault, times=5)
    with pytest.raises((Unreachable, StatusError), match=r"Tried 3 times\.") as caught:
        read(sandbox, retries=2)
    assert len(sandbox.requests) == 3
    assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1.0
    assert caught.value.api_down
    assert len(read(sandbox, retries=2)) == 3
    assert (len(sandbox.requests), len(waits)) == (6, 4)
    assert read.warnings == []


FINAL_FAULTS = [
    *(Fault(status=status) for status in (400, 401, 403, 404, 418, 501)),
    Fault(status=302, location="/elsewhere"),
    Fault.html(),
    Fault(body="{"),
    Fault(headers={"Content-Encoding": "gzip"}),
]


@pytest.mark.promise("whole")
@pytest.mark.parametrize("fault", FINAL_FAULTS, ids=repr)
def test_a_final_failure_is_not_retried(
    read: Any, sandbox: Sandbox, waits: list[float], fault: Fault
) -> None:
    sandbox.fail(fault)
    with pytest.raises(CloudError) as caught:
        read(sandbox, retries=3)
    assert (len(sandbox.requests), waits) == (1, [])
    assert "Tried" not in str(caught.value)


@pytest.mark.promise("bounded")
def test_waits_grow_up_to_a_minute_for_any_number_of_attempts(
    read: Any, sandbox: Sandbox, waits: list[float]
) -> None:
    sandbox.fail(Fault(status=503), times=None)
    with pytest.raises(ServerFailed):
        read(sandbox, retries=10)
    _client._delay(Unreachable(""), 5000)
    for attempt, wait in enumerate(waits):
        longest = min(60.0, 0.5 * 2**attempt)
        assert longest / 2 <= wait <= longest


@pytest.mark.parametrize(("retry_after", "waited"), [("0", 0), ("7", 7), (60, 60)])
def test_retry_after_is_honored(
    read: Any, sandbox: Sandbox, waits: list[float], retry_after: Any, waited: float
) -> None:
    for status in (429, 503):
        sandbox.fail(Fault(status=status, retry_after=retry_after))
    assert len(read(sandbox, retries=2)) == 3
    assert all(waited <= wait <= waited + 0.25 for wait in waits)
    assert len(waits) == 2


@pytest.mark.promise("bounded")
@pytest.mark.parametrize("status", [429, 503])
def test_a_longer_retry_after_fails_at_once_and_is_quoted(
    read: Any, sandbox: Sandbox, waits: list[float], status: int
) -> None:
    sandbox.fail(Fault(status=status, retry_after=3600))
    with pytest.raises(StatusError, match=r"It asks to wait 3600 s\."):
        read(sandbox, retries=3)
    assert (waits, len(sandbox.requests)) == ([], 1)


def test_a_client_can_be_used_again(sandbox: Sandbox, waits: list[float]) -> None:
    connection = Connection(f"{sandbox.url}/api/v1", sandbox.token, retries=1)
    client = _client.Client(connection, print)
    for again in (1, 2):
        sandbox.fail(Fault(status=503))
        assert len(client.list_servers()) == 3
        assert len(waits) == again


SLOW = [
    Fault.hang(),
    Fault(delay=30),
    Fault(drip_headers=0.1),
    Fault(drip_body=0.1),
    Fault(drip_body=0.1, chunked=True),
    Fault(cut="headers", end="hang"),
    Fault(cut="body", end="hang"),
]


@pytest.mark.promise("bounded")
@pytest.mark.parametrize("fault", SLOW, ids=repr)
def test_no_response_outlives_the_deadline(read: Any, sandbox: Sandbox, fault: Fault) -> None:
    sandbox.fail(fault)
    started = time.monotonic()
    with pytest.raises(TimedOut, match=r"within 0\.4 s") as caught:
        read(sandbox, timeout=0.4)
    assert 0.35 < time.monotonic() - started < 3
    assert f"{sandbox.host}:{sandbox.port}" in str(caught.value)
    assert "timeout" in caught.value.next_step


def test_each_attempt_has_the_whole_timeout(
    read: Any, sandbox: Sandbox, waits: list[float]
) -> None:
    sandbox.fail(Fault(drip_body=0.1), times=2)
    assert len(read(sandbox, timeout=0.4, retries=2)) == 3
    assert len(waits) == 2


@pytest.mark.promise("bounded")
@pytest.mark.parametrize(("status", "kind"), [(401, Unauthorized), (302, Redirected)])
@pytest.mark.parametrize(
    "fault", [{"drip_body": 0.1}, {"cut": "body", "end": "hang"}, {"cut": "body"}], ids=str
)
def test_an_error_status_is_reported_even_if_its_body_never_ends(
    read: Any, sandbox: Sandbox, status: int, kind: type[CloudError], fault: dict[str, Any]
) -> None:
    sandbox.fail(Fault(status=status, body="x" * 1000, **fault))
    with pytest.raises(kind):
        read(sandbox, timeout=0.4)


@pytest.mark.promise("bounded")
@pytest.mark.parametrize(
    "fault",
    [Fault.gzip_bomb(3 * 2**20), Fault.endless(), Fault(body=b" " * 2**21)],
    ids=["compressed", "endless", "long"],
)
def test_a_listing_beyond_the_limit_is_refused(
    read: Any, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    monkeypatch.setattr(_client, "LISTING_LIMIT", 2**20)
    sandbox.fail(fault)
    with pytest.raises(MalformedResponse, match="larger than 128 MiB"):
        read(sandbox)


@pytest.mark.promise("bounded")
@pytest.mark.parametrize("status", [302, 401, 500])
def test_an_endless_body_of_an_error_is_not_read(read: Any, sandbox: Sandbox, status: int) -> None:
    sent = 0

    def stream() -> Any:
        nonlocal sent
        while sent < 2**28:
            sent += 2**20
            yield b"x" * 2**20

    location = "/elsewhere" if status == 302 else None
    sandbox.fail(Fault(status=status, body=stream, location=location))
    with pytest.raises(StatusError) as caught:
        read(sandbox)
    assert caught.value.status == status
    assert sent < 2**25


REDIRECTS = [
    (301, "http://127.0.0.1:9/api/v1/servers"),
    (302, "/api/v1/servers"),
    (303, "//other.invalid/"),
    (307, "https://other.invalid/api/v1/servers"),
    (308, "http://[bad"),
    (302, "http://schön.invalid/"),
    (302, "/a\tb\x1b[1m\x7f"),
    (302, "/" + "x" * 300),
    (302, "http://127.0.0.1:99999/"),
    (300, "\x01"),
]
SHOWN = {
    "http://schön.invalid/": "http://sch\ufffdn.invalid/",
    "/a\tb\x1b[1m\x7f": "/a b [1m",
    "/" + "x" * 300: "/" + "x" * 156 + "...",
}


@pytest.mark.promise("home")
@pytest.mark.parametrize(("status", "location"), REDIRECTS)
def test_no_redirect_is_followed(read: Any, sandbox: Sandbox, status: int, location: str) -> None:
    sandbox.fail(Fault(status=status, location=location))
    with pytest.raises(Redirected) as caught:
        read(sandbox)
    shown = f'"{SHOWN.get(location, location)}"' if location != "\x01" else "nowhere"
    assert f"redirects to {shown}, which is not followed (HTTP {status})" in str(caught.value)
    assert len(sandbox.requests) == 1


@pytest.mark.promise("home")
def test_plain_http_to_another_machine_causes_one_warning(
    read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_client, "is_loopback", lambda host: False)
    with Sandbox(servers=4, pagination="page", page_size=2) as sandbox:
        read(sandbox, pagination="page")
        assert read.warnings == [
            f"The token is sent unencrypted to 127.0.0.1:{sandbox.port}: "
            "use https in base_url if possible."
        ]


@pytest.mark.promise("home")
def test_a_netrc_file_does_not_replace_the_token(
    read: Any, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login someone password secret\n", encoding="ascii")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    import requests

    assert requests.utils.get_netrc_auth(sandbox.url) == ("someone", "secret")
    read(sandbox)
    assert sandbox.requests[0].headers.get_all("Authorization") == [f"Bearer {TOKEN}"]
