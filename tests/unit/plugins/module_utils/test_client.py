# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import json
import logging
import re
import signal
from contextlib import suppress

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _client
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    MalformedResponse,
    ServerFailed,
    StatusError,
    Unauthorized,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from sandbox import Fault, Sandbox

TOKEN = "Tok3n"  # so short that it is hidden in quotations only


def test_the_token_is_not_logged(read, sandbox, caplog):
    caplog.set_level(logging.DEBUG)
    read(sandbox)
    assert sandbox.token not in caplog.text
    assert sandbox.token not in repr(Connection("http://127.0.0.1/api/v1", sandbox.token))


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=429),
        Fault(status=500),
        Fault(status=502),
        Fault(status=503),
        Fault(status=504),
        Fault(cut="start"),
        Fault(cut="start", end="reset"),
        Fault(cut="headers"),
        Fault(cut="body"),
        Fault(cut="body", chunked=True),
        Fault(cut="body", end="reset"),
        Fault(cut="body", body='{"data": [{}            '),  # half of it ends with "}"
        Fault(body='{"data": ['),
    ],
    ids=repr,
)
def test_a_transient_failure_is_retried(read, sandbox, clock, fault):
    sandbox.fail(fault, times=4)
    with pytest.raises(CloudError, match=r"Tried 3 times\.") as caught:
        read(sandbox, retries=2)
    assert caught.value.api_down
    assert 0.25 <= clock.waits[0] <= 0.5 <= clock.waits[1] <= 1.0
    assert len(read(sandbox, retries=2)) == 3
    assert len(sandbox.requests) == 5


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=401),
        Fault(status=403),
        Fault(status=501),
        Fault(status=302, location="/elsewhere"),
        Fault(status=308, location="http://[bad\x01"),
        Fault.html(),
        Fault(body="[1, 2"),
        Fault(headers={"Content-Encoding": "gzip"}),
    ],
    ids=repr,
)
def test_a_final_failure_is_not_retried_and_no_redirect_is_followed(read, sandbox, clock, fault):
    sandbox.fail(fault)
    with pytest.raises(CloudError) as caught:
        read(sandbox, retries=3)
    assert len(sandbox.requests) == 1
    assert clock.waits == []
    assert "Tried" not in str(caught.value)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=401, cut="body"),
        Fault(status=401, cut="body", end="hang"),
        Fault(status=401, headers={"Content-Encoding": "gzip"}),
    ],
    ids=["cut", "hang", "encoding"],
)
def test_a_status_is_more_important_than_an_error_of_its_body(read, sandbox, fault):
    sandbox.fail(fault)
    with pytest.raises(Unauthorized) as caught:
        read(sandbox, timeout=1)
    assert "The response is" not in caught.value.message


def test_only_the_status_of_success_is_not_an_error(read, sandbox, monkeypatch):
    accepted = _client.LIST_SERVERS._replace(success=202)
    monkeypatch.setattr(_client, "LIST_SERVERS", accepted)
    with pytest.raises(StatusError, match="HTTP 200"):
        read(sandbox)
    sandbox.fail(Fault(status=202, body='{"data": [], "has_more": false}'))
    assert read(sandbox) == []


class Interrupted(BaseException):
    """Like KeyboardInterrupt, but pytest reports it as the failure of one test."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_ends_a_request_at_once(read, sandbox):
    sandbox.fail(Fault.hang())
    signals = []

    def interrupt(number, _frame):
        signals.append(number)
        raise Interrupted

    # Not SIGINT itself, which a background process may ignore, and which ends pytest.
    previous = signal.signal(signal.SIGALRM, interrupt)
    # If the request continues after the first signal, there is another one 10 seconds later.
    signal.setitimer(signal.ITIMER_REAL, 0.3, 10)
    try:
        with pytest.raises(Interrupted):
            read(sandbox, timeout=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert len(signals) == 1


@pytest.mark.parametrize(
    ("method", "sent"),
    [("GET", ["GET", "GET"]), ("POST", ["POST"]), ("DELETE", ["DELETE"])],
)
def test_only_a_get_is_repeated(read, sandbox, clock, monkeypatch, method, sent):
    monkeypatch.setattr(_client, "LIST_SERVERS", _client.LIST_SERVERS._replace(method=method))
    sandbox.fail(Fault.reset(), times=None)  # after the request was read, and could have had effect
    with pytest.raises(Unreachable):
        read(sandbox, retries=1)
    assert [request.method for request in sandbox.requests] == sent


def test_waits_grow_up_to_a_minute(read, sandbox, clock):
    sandbox.fail(Fault(status=503), times=None)
    with pytest.raises(ServerFailed):
        read(sandbox, retries=10)
    longest = [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60]
    for wait, most in zip(clock.waits, longest, strict=True):
        assert most / 2 <= wait <= most
    assert clock.waits[-1] != clock.waits[-2]  # so that many clients do not return at once


@pytest.mark.parametrize("seconds", [0, 60])
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honored_up_to_a_minute(read, sandbox, clock, status, seconds):
    sandbox.fail(Fault(status=status, retry_after=seconds))
    assert len(read(sandbox, retries=1)) == 3
    (wait,) = clock.waits
    assert seconds <= wait <= seconds + 0.25


def test_a_longer_retry_after_fails_at_once(read, sandbox, clock):
    sandbox.fail(Fault(status=503, retry_after=61))
    with pytest.raises(StatusError, match=r"It asks to wait 61 s\."):
        read(sandbox, retries=3)
    assert clock.waits == []


def test_plain_http_to_another_machine_causes_one_warning(read, monkeypatch):
    monkeypatch.setattr(_client, "is_loopback", lambda host: False)
    with Sandbox(servers=4, pagination="cursor", page_size=2) as sandbox:
        read(sandbox, pagination="cursor")
        assert read.warnings == [
            f"The token is sent unencrypted to 127.0.0.1:{sandbox.port}: "
            "use https in base_url if possible."
        ]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=302, location=f"http://127.0.0.1/?t={TOKEN}"),
        Fault(content_type=f"text/{TOKEN}", body="no"),
        Fault(has_more=True, link=f'<//other.invalid/{TOKEN}>; rel="next"'),
        Fault(headers={"Content-Encoding": TOKEN}),
    ],
    ids=["location", "content type", "link", "encoding"],
)
def test_each_quotation_of_a_response_hides_the_token(read, sandbox, fault):
    sandbox.token = TOKEN
    sandbox.fail(fault)
    with pytest.raises(CloudError, match=r"\*{8}") as caught:
        read(sandbox, pagination="link")
    assert TOKEN not in caught.value.message


def test_a_token_in_base_url_is_not_shown_in_a_message(read, sandbox, clock):
    with pytest.raises(Unreachable, match=r"^Cannot reach \*{8}\.invalid:80.* Tried 2"):
        read(sandbox, "http://secret-token.invalid", api_token="secret-token", retries=1)
    assert "secret-token" not in "".join(read.trace)


def test_a_response_without_a_content_type_is_named(read, sandbox):
    sandbox.fail(Fault(body="", headers={"Content-Type": None}))
    with pytest.raises(MalformedResponse, match=r"\(content type: none given\)"):
        read(sandbox)


def test_a_wait_of_more_than_five_seconds_is_reported_before_it_begins(
    read, sandbox, clock, monkeypatch
):
    reported = []
    monkeypatch.setattr(clock, "sleep", lambda seconds: reported.extend(read.waits))
    sandbox.fail(Fault(status=429, retry_after=40))
    read(sandbox, retries=3)
    (line,) = reported
    assert line.startswith("retry 1 of 3 in 40.")
    assert "s: The API is throttling requests" in line


def test_a_shorter_wait_is_a_line_of_the_trace(read, sandbox, clock):
    sandbox.fail(Fault(status=429, retry_after=4))
    read(sandbox, retries=3)
    assert read.waits == []
    assert [line.split()[0] for line in read.trace] == ["GET", "retry", "GET"]


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (Fault(body='{"data": [], "has_more": false}'), r"HTTP 200, [\d,]+ ms, 31 bytes"),
        (Fault(status=404, body="no"), r"HTTP 404, [\d,]+ ms, 2 bytes"),
        (Fault(headers={"Content-Encoding": "br"}), r"HTTP 200, [\d,]+ ms, no usable body"),
        (Fault.reset(), r"no response, [\d,]+ ms"),
    ],
    ids=["success", "status", "body", "connection"],
)
def test_a_request_is_a_line_of_the_trace(read, sandbox, fault, outcome):
    sandbox.fail(fault)
    with suppress(CloudError):
        read(sandbox)
    (line,) = read.trace
    assert re.fullmatch(f"GET {sandbox.url}/api/v1/servers: {outcome}", line)


@pytest.mark.parametrize(("took", "reports"), [(4, 0), (6, 1)])
def test_a_retry_after_a_long_attempt_is_reported(read, sandbox, clock, took, reports):
    def body():
        clock.sleep(took)
        yield b"{}"

    sandbox.fail(Fault(status=503, body=body))
    read(sandbox, retries=3)
    assert len(read.waits) == reports


def test_the_progress_of_a_long_listing_is_reported(read, clock):
    with Sandbox(servers=5, pagination="cursor", page_size=2) as paged:
        read(paged, pagination="cursor")
        assert read.progress == []
        page = json.dumps({"data": paged.servers[2:4], "has_more": True}).encode()

        def body():
            clock.sleep(11)
            yield page

        paged.fail(Fault(body=body), page=2)
        read(paged, pagination="cursor")
        assert read.progress == ["page 3, 4 servers so far"]
