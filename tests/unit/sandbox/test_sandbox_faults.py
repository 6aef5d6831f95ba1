# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check what a client receives with a fault, beyond what the tests of the client show."""

from __future__ import annotations

import gzip
import http.client
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from sandbox import Fault, Sandbox


def body_of(received: bytes) -> bytes:
    """Return what follows the headers."""
    return received.partition(b"\r\n\r\n")[2]


def test_another_2xx_status_keeps_the_listing(fetch: Callable[..., Any]) -> None:
    with Sandbox() as sandbox:
        sandbox.fail(Fault(status=206), times=2)
        response = fetch(sandbox)
        assert (response.status, response.json["data"]) == (206, sandbox.servers)
        assert fetch(sandbox, token="wrong").status == 401


def test_a_response_with_status_204_has_no_body(exchange: Callable[[Any], bytes]) -> None:
    with Sandbox() as sandbox:
        sandbox.fail(Fault(status=204))
        received = exchange(sandbox)
        assert received.startswith(b"HTTP/1.1 204 ")
        assert body_of(received) == b""


def test_faults_are_used_in_order_by_the_requests_they_are_meant_for(
    fetch: Callable[..., Any],
) -> None:
    with Sandbox() as sandbox:
        sandbox.fail(Fault(status=500), times=2, after=1)
        sandbox.fail(Fault(status=503), times=None)
        assert [fetch(sandbox).status for number in range(5)] == [503, 500, 500, 503, 503]
        sandbox.recover()
        assert fetch(sandbox).status == 200


def test_a_fault_takes_precedence_over_the_checks_of_token_path_and_method(
    fetch: Callable[..., Any],
) -> None:
    with Sandbox() as sandbox:
        sandbox.fail(Fault(status=503), times=2)
        assert fetch(sandbox, token="wrong").status == 503
        assert fetch(sandbox, "/nowhere", method="POST").status == 503


@pytest.mark.parametrize(
    ("fault", "name", "value"),
    [
        (Fault(status=429, retry_after=7), "Retry-After", "7"),
        (Fault(status=503, retry_after="soon"), "Retry-After", "soon"),
        (Fault(status=302, location="/elsewhere"), "Location", "/elsewhere"),
        (Fault(content_type="text/plain"), "Content-Type", "text/plain"),
        (Fault(headers={"X-Own": "yes"}), "X-Own", "yes"),
        (Fault(headers={"content-type": None}), "Content-Type", None),
        (Fault.html(), "Content-Type", "text/html; charset=utf-8"),
    ],
)
def test_a_fault_sets_headers(
    fetch: Callable[..., Any], fault: Fault, name: str, value: str | None
) -> None:
    with Sandbox() as sandbox:
        sandbox.fail(fault)
        headers = fetch(sandbox).headers
        assert headers.get_all(name) == (None if value is None else [value])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"\xef\xbb\xbf{}", b"\xef\xbb\xbf{}"),
        ("no JSON", b"no JSON"),
        ({"data": 1}, b'{"data": 1}'),
        ([], b"[]"),
        ("", b""),
        ("the token {token} is bad", b"the token sandbox-token is bad"),
        (lambda: iter([b"one", b"", b"two"]), b"onetwo"),
    ],
)
def test_a_fault_sets_the_body(fetch: Callable[..., Any], body: object, expected: bytes) -> None:
    with Sandbox() as sandbox:
        sandbox.fail(Fault(body=body), times=2)
        assert [fetch(sandbox).body, fetch(sandbox).body] == [expected, expected]


def test_a_chunked_response_has_the_same_listing(
    fetch: Callable[..., Any], exchange: Callable[[Any], bytes]
) -> None:
    with Sandbox() as sandbox:
        sandbox.fail(Fault(chunked=True), times=2)
        assert fetch(sandbox).json["data"] == sandbox.servers
        received = exchange(sandbox)
        assert b"Transfer-Encoding: chunked" in received
        assert b"Content-Length" not in received


@pytest.mark.parametrize("end", ["close", "reset"])
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("cut", ["start", "headers", "body"])
def test_a_cut_connection_is_closed_or_reset(
    fetch: Callable[..., Any], cut: Any, chunked: bool, end: Any
) -> None:
    with Sandbox(servers=500) as sandbox:
        sandbox.fail(Fault(cut=cut, end=end, chunked=chunked))
        error = ConnectionResetError if end == "reset" else http.client.HTTPException
        with pytest.raises(error):
            fetch(sandbox)
        assert fetch(sandbox).status == 200


@pytest.mark.parametrize("chunked", [False, True])
def test_a_response_is_sent_up_to_the_cut(exchange: Callable[[Any], bytes], chunked: bool) -> None:
    with Sandbox() as sandbox:
        for cut in ("start", "headers", "body"):
            sandbox.fail(Fault(cut=cut, chunked=chunked))
        start, headers, body = (exchange(sandbox) for number in range(3))
        assert start == b""
        assert headers.endswith(b"\r\n\r\n")
        assert b'"data": [' in body_of(body)
        assert b"has_more" not in body


def test_a_body_without_length_ends_with_the_connection(fetch: Callable[..., Any]) -> None:
    with Sandbox() as sandbox:
        sandbox.fail(Fault(headers={"Content-Length": None}))
        assert fetch(sandbox).json["data"] == sandbox.servers


def test_a_gzip_bomb_is_small_on_the_wire(fetch: Callable[..., Any]) -> None:
    with Sandbox() as sandbox:
        sandbox.fail(Fault.gzip_bomb(20_000_000))
        response = fetch(sandbox)
        assert len(response.body) < 40_000
        decoded = gzip.decompress(response.body)
        assert len(decoded) == 20_000_000
        assert json.loads(decoded) == {"data": [], "has_more": False}


def test_a_gzip_bomb_is_compressed_while_it_is_sent() -> None:
    with Sandbox() as sandbox:
        sandbox.fail(Fault.gzip_bomb(10**15))
        connection = http.client.HTTPConnection(sandbox.host, sandbox.port, timeout=5)
        connection.request("GET", "/")
        start = connection.getresponse().read(1000)
        assert zlib.decompressobj(31).decompress(start) == b'{"data": [], "has_more": false'
        connection.close()
