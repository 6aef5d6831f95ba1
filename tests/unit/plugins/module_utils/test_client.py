# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which requests are repeated, what is shown of them, and when paging ends."""

import logging
import time
from contextlib import suppress

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _client, _operations
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    IncompleteListing,
    MalformedResponse,
    ServerFailed,
    StatusError,
    Unreachable,
)
from sandbox import Fault, Sandbox
from support.fixtures import SERVERS
from support.modules import connection_to

TRANSIENT = yaml.safe_load("""
- {status: 429}
- {status: 500}
- {cut: start}
- {cut: start, end: reset}
- {cut: headers}
- {cut: body, body: '{"data": [{}            '}  # half of it ends with "}"
- {cut: body, end: reset}
""")


@pytest.mark.parametrize("fault", TRANSIENT)
def test_a_transient_failure_is_retried(read, sandbox, clock, fault):
    sandbox.fail(Fault(**fault), times=2)
    assert len(read(sandbox, retries=2)) == 3
    assert len(sandbox.requests) == 3


FINAL = yaml.safe_load("""
- {status: 202}
- {status: 302, location: /elsewhere}
- {status: 401}
- {status: 600}
- {body: <p>}
""")


@pytest.mark.parametrize("fault", FINAL)
def test_a_final_failure_is_not_retried_and_no_redirect_is_followed(read, sandbox, fault):
    sandbox.fail(Fault(**fault))
    with pytest.raises(CloudError):
        read(sandbox, retries=3)
    assert len(sandbox.requests) == 1


def test_a_post_is_not_repeated(read, sandbox, monkeypatch):
    # The API may have acted before the connection was reset.
    post = _operations.LIST_SERVERS._replace(method="POST")
    monkeypatch.setattr(_client, "LIST_SERVERS", post)
    sandbox.fail(Fault.reset())
    with pytest.raises(Unreachable):
        read(sandbox, retries=1)
    assert sandbox.requests.pop().method == "POST"
    assert sandbox.requests == []


# What the random part of a wait can be, between two numbers.
RANDOM = {"shortest": min, "longest": max}
GROWING = yaml.safe_load("""
- [shortest, [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30]]
- [longest, [0.5, 1, 2, 4, 8, 16, 32, 60, 60]]
""")


@pytest.mark.parametrize(("random", "waits"), GROWING)
def test_waits_grow_up_to_a_minute(read, sandbox, clock, monkeypatch, random, waits):
    monkeypatch.setattr("random.uniform", RANDOM[random])
    sandbox.fail(Fault(status=503), times=None)
    with pytest.raises(ServerFailed, match=r"Tried 10 times\."):
        read(sandbox, retries=9)
    assert clock.waits == waits


WAITS = yaml.safe_load("""
- [60, [60, 60, 60]]
- [1, [1, 1, 2]]
- [0, [0.5, 1, 2]]
""")


@pytest.mark.parametrize(("retry_after", "waits"), WAITS)
def test_the_longer_one_of_retry_after_and_the_own_wait_counts(
    read, sandbox, clock, monkeypatch, retry_after, waits
):
    monkeypatch.setattr("random.uniform", max)
    sandbox.fail(Fault(status=429, retry_after=retry_after), times=3)
    read(sandbox, retries=3)
    assert clock.waits == waits


def test_a_longer_retry_after_fails_at_once(read, sandbox, clock):
    sandbox.fail(Fault(status=503, retry_after=61))
    with pytest.raises(StatusError, match=r"It asks to wait 61 s\."):
        read(sandbox, retries=3)
    assert clock.waits == []


@pytest.mark.parametrize("status", [200, 500])
def test_no_connection_is_left_open(read, sandbox, status):
    sandbox.fail(Fault(status=status, body=bytes(200_000)))  # not JSON, and not read to its end
    with suppress(CloudError):
        read(sandbox)
    while sandbox.open_connections:  # or the test takes too long
        time.sleep(0.01)
    # The client still exists: the garbage collector has closed nothing.
    assert read.client.requests == 1


BROKEN = yaml.safe_load("""
- {cut: body}
- {cut: body, end: reset}
- {cut: body, end: hang}
- {headers: {Content-Encoding: gzip}}
""")


@pytest.mark.parametrize("status", [302, 401])
@pytest.mark.parametrize("fault", BROKEN)
def test_a_status_is_more_important_than_an_error_of_its_body(read, sandbox, status, fault):
    sandbox.fail(Fault(status=status, location="/elsewhere", **fault))
    with pytest.raises(StatusError) as caught:
        read(sandbox, retries=3, timeout=0.3)
    assert caught.value.status == status
    assert "The response is" not in caught.value.message
    assert read.client.last_response.status == status


def test_a_response_without_a_content_type_is_named(read, sandbox):
    sandbox.fail(Fault(body="", headers={"Content-Type": None}))
    with pytest.raises(MalformedResponse, match=r"\(content type: none given\)"):
        read(sandbox)


def test_the_token_is_not_logged(read, sandbox, caplog):
    caplog.set_level(logging.DEBUG)
    read(sandbox)
    assert sandbox.token not in caplog.text
    assert sandbox.token not in repr(connection_to("http://127.0.0.1", sandbox.token))


QUOTED = yaml.safe_load("""
- {status: 302, location: 'http://127.0.0.1/?t=Tok3n'}
- {content_type: text/Tok3n, body: 'no'}
""")


@pytest.mark.parametrize("fault", QUOTED)
def test_each_quotation_of_a_response_hides_the_token(read, sandbox, fault):
    sandbox.token = "Tok3n"  # so short that it is hidden in quotations only
    sandbox.fail(Fault(**fault))
    with pytest.raises(CloudError, match=r"\*{8}") as caught:
        read(sandbox)
    assert "Tok3n" not in caught.value.message


def test_a_token_in_base_url_is_not_shown_in_a_message(read, sandbox, clock):
    words = r"^Cannot reach \*{8}\.invalid:80: .* Tried 2"
    with pytest.raises(Unreachable, match=words):
        read(sandbox, "http://secret-token.invalid", api_token="secret-token", retries=1)
    assert "secret-token" not in read.shown


def test_plain_http_to_another_machine_causes_one_warning(read, sandbox, clock, monkeypatch):
    monkeypatch.setattr(_client, "is_loopback", lambda host: False)
    sandbox.fail(Fault(status=503))
    read(sandbox, retries=1)
    assert read.warning == [
        f"The token is sent unencrypted to 127.0.0.1:{sandbox.port}: "
        "use https in base_url if possible."
    ]


def test_a_long_wait_is_reported_before_it_begins(read, sandbox, clock):
    read.wait = clock.waits  # the reports and the waits themselves
    sandbox.fail(Fault(status=429, retry_after=40))
    read(sandbox, retries=3)
    report, _wait = clock.waits
    assert report.startswith("retry 1 of 3 in 40.0 s: The API is ")


# The seconds of an attempt, and those of the wait after it.
REPORTED = yaml.safe_load("[[4, 4, trace], [0, 6, wait], [5.5, 0, wait]]")


@pytest.mark.parametrize(("attempt", "retry_after", "level"), REPORTED)
def test_a_wait_or_an_attempt_of_more_than_five_seconds_is_reported(
    read, sandbox, clock, attempt, retry_after, level
):
    clock.delay(sandbox, attempt)
    sandbox.fail(Fault(status=429, retry_after=retry_after))
    read(sandbox, retries=3)
    lines = getattr(read, level)
    assert "retry 1 of 3 in " in "".join(lines)


TRACED = yaml.safe_load("""
- [{}, 'HTTP 200, 1,500 ms']
- [{cut: start}, 'no response, 1,500 ms']
""")


@pytest.mark.parametrize(("fault", "outcome"), TRACED)
def test_a_request_is_a_line_of_the_trace(read, sandbox, clock, fault, outcome):
    clock.delay(sandbox, 1.5)
    sandbox.fail(Fault(**fault))
    with suppress(CloudError):
        read(sandbox)
    assert read.trace == [f"GET {sandbox.url}/api/v1/servers: {outcome}"]


def test_a_long_url_is_redacted_and_cut_in_each_line(read):
    with Sandbox(
        servers=[{"id": f"{'a' * 95}sandbox-token{'b' * 9000}"}] * 2, page_size=1
    ) as sandbox:
        sandbox.fail(Fault(status=404), page=2)
        with pytest.raises(CloudError) as caught:
            read(sandbox, pagination="last_id")
    shown = f"{sandbox.url}/api/v1/servers?starting_after="
    for line in (read.trace[-1], caught.value.message):
        assert shown in line
        assert "sandbox" not in line
        assert len(line) < 300


def test_the_progress_of_a_long_listing_is_reported_every_ten_seconds(read, clock):
    with Sandbox(servers=9, page_size=2) as sandbox:
        clock.delay(sandbox, 6)
        read(sandbox, pagination="last_id")
    assert read.progress == ["page 3, 4 servers so far", "page 5, 8 servers so far"]


def paged(servers):
    """Return an account with two servers on each page."""
    return Sandbox(servers=servers, page_size=2)


# The last one has a server on two pages.
ACCOUNTS = yaml.safe_load("[[0, 1, {}], [2, 1, {}], [5, 3, {}], [5, 3, {shift: 1}]]")


@pytest.mark.parametrize(("servers", "requests", "fault"), ACCOUNTS)
def test_all_pages_are_read_over_one_connection(read, servers, requests, fault):
    with paged(servers) as sandbox:
        sandbox.fail(Fault(**fault), page=2)
        listing = read(sandbox, pagination="last_id")
        assert [server.fields for server in listing] == sandbox.servers
        assert len(sandbox.requests) == requests
        assert sandbox.connections == 1
    assert read.warning == []


def test_the_last_id_of_a_page_is_sent_in_a_parameter_with_any_name(read):
    with Sandbox(SERVERS, page_size=2, pagination_parameter="after") as sandbox:
        sandbox.fail(Fault(data=[SERVERS[2], SERVERS[0]], has_more=True), page=2)
        read(sandbox, pagination="last_id", pagination_parameter="after")
        queries = [request.query for request in sandbox.requests]
    assert read.trace[-1].startswith(f"GET {sandbox.url}/api/v1/servers?after=srv_1: ")
    assert queries == [{}, {"after": "srv_2"}, {"after": "srv_1"}]


def test_more_results_are_an_error_unless_allowed_and_no_link_is_followed(read, sandbox):
    sandbox.fail(Fault(has_more=True, link='</api/v1/servers?page=2>; rel="next"'), times=2)
    with pytest.raises(IncompleteListing) as caught:
        read(sandbox)
    problem = "The API has more servers than the 3 received"
    assert str(caught.value) == (
        f"{problem}. Set pagination to last_id if the API can list the servers after an id, or set "
        "allow_partial to true."
    )
    assert len(read(sandbox, allow_partial=True)) == 3
    assert len(sandbox.requests) == 2
    assert read.client.is_partial
    assert read.warning == [f"{problem}. Continuing without the others: allow_partial is set."]


NOTHING_NEW = yaml.safe_load("""
- - none
  - 1
  - {data: [], has_more: true}
  - "Page 1 of the listing has no new server, but the API reports more. Check pagination and
     pagination_parameter: they must match the API."
- [last_id, 2, {data: [], has_more: true}, 'Page 2 ']
- [last_id, 2, {shift: 2}, 'Page 2 ']
""")


@pytest.mark.parametrize(("style", "page", "fault", "words"), NOTHING_NEW)
def test_a_page_without_a_new_server_that_reports_more_is_refused(read, style, page, fault, words):
    with paged(6) as sandbox:
        sandbox.fail(Fault(**fault), page=page)
        with pytest.raises(MalformedResponse, match=f"^{words}"):
            read(sandbox, pagination=style, allow_partial=True)


def test_no_partial_listing_is_returned_if_a_later_page_fails(read):
    with paged(5) as sandbox:
        sandbox.fail(Fault(status=401), page=3)
        with pytest.raises(CloudError):
            read(sandbox, pagination="last_id", allow_partial=True)


def test_the_bytes_of_all_pages_are_bounded(read, monkeypatch):
    monkeypatch.setattr(_client, "LISTING_LIMIT", 1000)
    with paged(8) as sandbox:
        with pytest.raises(MalformedResponse, match=r"^The listing is larger than 32 MiB, the"):
            read(sandbox, pagination="last_id")
        assert len(sandbox.requests) == 3


def test_the_number_of_pages_is_bounded(read, monkeypatch):
    assert _client._MAX_PAGES == 10_000
    monkeypatch.setattr(_client, "_MAX_PAGES", 2)
    words = r"^The listing has more than 2 pages, the limit\. Check pagination and "
    with paged(6) as sandbox:
        with pytest.raises(MalformedResponse, match=words):
            read(sandbox, pagination="last_id")
        assert len(sandbox.requests) == 2
