# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A walk through the faults: what a client receives."""

import socket
from typing import Any

import pytest

from sandbox import Sandbox
from sandbox.faults import NO_FAULT, Fault

from .conftest import call

LISTING = b'{"data": [{"id": "'
SERVERS = 500  # more than the buffers of a connection hold

# For each fault, some of the bytes that a client receives, and some that it does not. Tests of the
# client have other faults, and fail without them.
RECEIVED = {
    "none": (NO_FAULT, [b"HTTP/1.1 200 OK\r\n", LISTING, b'"has_more": false}'], []),
    "2xx": (Fault(status=206), [b"HTTP/1.1 206 ", LISTING], []),
    "no header": (Fault(headers={"content-type": None}), [LISTING], [b"Content-Type"]),
    "no length": (Fault(headers={"Content-Length": None}), [LISTING], [b"Content-Length"]),
    "bytes": (Fault(body=b"\xef\xbb\xbf{}"), [b"\r\n\r\n\xef\xbb\xbf{}"], []),
    "token": (Fault(body="the token {token}"), [b"\r\n\r\nthe token sandbox-token"], []),
    "pieces": (Fault(body=lambda: iter([b"one", b"", b"two"])), [b"one", b"two"], [b"{"]),
    "chunked": (Fault(chunked=True), [b"Transfer-Encoding: chunked"], [b"Content-Length"]),
    "nested": (Fault.nested(3), [b'{"data": [[[]]], "has_more": false}'], []),
    "cut at start": (Fault(cut="start"), [], [b"HTTP"]),
    "cut after headers": (Fault(cut="headers"), [b"200 OK", b"\r\n\r\n"], [b"{"]),
    "cut in body": (Fault(cut="body"), [LISTING], [b"has_more"]),
    "cut in chunks": (Fault(cut="body", chunked=True), [LISTING], [b"has_more"]),
}


def exchange(sandbox):
    """Send one request, and return all bytes up to the connection's end."""
    lines = [
        "GET /api/v1/servers HTTP/1.1",
        f"Authorization: Bearer {sandbox.token}",
        "Connection: close",
    ]
    received = b""
    with socket.create_connection((sandbox.host, sandbox.port), 60) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        while piece := connection.recv(65536):
            received += piece
    return received


@pytest.mark.parametrize("name", RECEIVED)
def test_a_client_receives_the_fault(name):
    fault, present, absent = RECEIVED[name]
    with Sandbox(servers=SERVERS) as sandbox:
        sandbox.fail(fault)
        received = exchange(sandbox)
        assert [part for part in present if part not in received] == []
        assert [part for part in absent if part in received] == []
        assert LISTING in exchange(sandbox)  # only one request got the fault


def test_a_cut_connection_is_reset_on_request():
    with Sandbox(servers=SERVERS) as sandbox:
        sandbox.fail(Fault(cut="body", end="reset"))
        with pytest.raises(ConnectionResetError):
            exchange(sandbox)


def test_faults_are_used_in_order_by_the_requests_they_are_meant_for():
    with Sandbox() as sandbox:
        sandbox.fail(Fault(status=500), times=2, after=1)
        sandbox.fail(Fault(status=503), times=None)
        # They take precedence over the checks of the token and of the path.
        requests: list[Any] = [{}, {"headers": {}}, {"path": "/nowhere"}, {}, {}]
        statuses = [call(sandbox, **one).status_code for one in requests]
        assert statuses == [503, 500, 500, 503, 503]
        sandbox.recover()
        assert call(sandbox).status_code == 200
