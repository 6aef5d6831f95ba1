# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""One request: how long it may take, how much of a body is read, and what is not kept."""

import gzip
import socket
import sys
import time
import zlib
from contextlib import closing
from dataclasses import replace
from functools import partialmethod
from unittest.mock import Mock

import pytest
import requests
import urllib3
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _http, _operations
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
    MissingLibrary,
    TimedOut,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._http import CLOSED
from ansible_collections.server_management.cloud.plugins.module_utils._request import Request
from sandbox import Fault
from support.modules import connection_to


def send(url, limit=2**20, request=_operations.LIST_SERVERS, **options):
    """Send one request."""
    connection = connection_to(url, "sandbox-token", **options)
    with closing(_http.Http(connection, print)) as sender:  # pytest shows it if the test fails
        return sender.send(request, limit)


READ_METHODS = [name for name in ("read1", "stream") if hasattr(urllib3.HTTPResponse, name)]


@pytest.fixture(params=READ_METHODS)
def read_method(request, monkeypatch):
    """Read bodies with this method of urllib3, which has read1 since version 2.2.

    If read1 is removed, the length of a body is not checked either, as in urllib3 1.
    """
    if request.param == "stream" and "read1" in READ_METHODS:
        for kind in urllib3.HTTPResponse.__mro__:
            monkeypatch.delattr(kind, "read1", raising=False)
        pool = urllib3.HTTPConnectionPool
        lenient = partialmethod(pool._make_request, enforce_content_length=False)
        monkeypatch.setattr(pool, "_make_request", lenient)
    return request.param


def encoded(body, encoding):
    """Return the fault that sends a body, which has this encoding."""
    return Fault(body=body, headers={"Content-Encoding": encoding})


LONG = bytes(range(256)) * 400
IN_TWO_PARTS = gzip.compress(LONG[:7]) + gzip.compress(LONG[7:])


@pytest.mark.usefixtures("read_method")
@pytest.mark.parametrize(
    "fault",
    [
        Fault(body=LONG, chunked=True),
        Fault(body=LONG, headers={"Content-Length": None}),
        encoded(LONG, "identity"),
        encoded(IN_TWO_PARTS, "GZip"),
    ],
    ids=["chunks", "end of the connection", "identity", "gzip"],
)
def test_a_body_is_read_up_to_the_limit(sandbox, fault):
    sandbox.fail(fault, times=2)
    body = send(sandbox.url, limit=len(LONG)).body
    is_whole = body == LONG  # pytest would compare them for a minute
    assert is_whole
    with pytest.raises(MalformedResponse, match="32 MiB"):
        send(sandbox.url, limit=len(LONG) - 1)


@pytest.mark.parametrize(("length", "kept"), [(65_536, 65_536), (65_537, 0)])
def test_a_body_of_more_than_64_kib_is_not_kept_for_an_error(sandbox, length, kept):
    sandbox.fail(Fault(status=500, body=bytes(length)))
    response = send(sandbox.url)
    assert response.status == 500
    assert len(response.body) == kept


@pytest.mark.parametrize("status", [200, 401])
@pytest.mark.parametrize("mistake", [KeyError, KeyboardInterrupt])
def test_a_mistake_and_ctrl_c_end_a_request(sandbox, monkeypatch, status, mistake):
    monkeypatch.setattr(_http, "_pieces", Mock(side_effect=mistake))
    sandbox.fail(Fault(status=status))
    with pytest.raises(mistake):
        send(sandbox.url)


ENVELOPE = b'{"data": [], "has_more": false}'
ZIPPED = gzip.compress(ENVELOPE, mtime=0)  # the same in all processes of pytest-xdist
DEFLATED = zlib.compress(ENVELOPE)


@pytest.mark.usefixtures("read_method")
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunks"])
@pytest.mark.parametrize("body", [LONG, ENVELOPE], ids=["long", "short"])
def test_a_body_that_ends_too_early_is_a_closed_connection(sandbox, body, chunked):
    sandbox.fail(Fault(body=body, chunked=chunked, cut="body"))
    with pytest.raises(Unreachable, match=CLOSED):
        send(sandbox.url)


@pytest.mark.usefixtures("read_method")
@pytest.mark.parametrize(
    ("encoding", "body", "text"),
    [
        ("gzip", ZIPPED + b"other bytes", ENVELOPE),
        ("gzip", ZIPPED[:-8], ENVELOPE),
        ("gzip", b"", b""),
        # An encoding that was not requested is not decoded.
        ("deflate", DEFLATED, DEFLATED),
        ("gzip, gzip", ZIPPED, ZIPPED),
    ],
)
def test_a_body_that_is_complete_by_its_length_is_returned(sandbox, encoding, body, text):
    sandbox.fail(encoded(body, encoding))
    assert send(sandbox.url).body == text


@pytest.mark.usefixtures("read_method")
@pytest.mark.parametrize("body", [ENVELOPE, ZIPPED[:-8] + bytes(8)])
def test_a_body_that_is_not_compressed_as_it_says_is_a_malformed_response(sandbox, body):
    sandbox.fail(encoded(body, "gzip"))
    with pytest.raises(MalformedResponse, match="gzip"):
        send(sandbox.url)


@pytest.mark.parametrize("cut", ["start", "body"])
def test_the_wait_for_the_next_bytes_is_limited(sandbox, cut):
    sandbox.fail(Fault(cut=cut, end="hang"))
    with pytest.raises(TimedOut, match=r" within 0\.4 s"):
        send(sandbox.url, timeout=0.4)


def test_the_time_of_the_whole_body_is_limited(sandbox, read_method):
    # Before version 2.2, urllib3 returns what has arrived after each KiB.
    piece = b" " if read_method == "read1" else b" " * 2**9
    pieces = [piece] * 120  # for much longer than the limit

    def drip():
        while pieces:
            time.sleep(0.05)
            yield pieces.pop()

    slow = Fault(body=drip, headers={"Transfer-Encoding": None})
    sandbox.fail(slow)
    with pytest.raises(TimedOut, match=r"within 0\.4 s"):
        send(sandbox.url, timeout=0.4)
    sandbox.fail(replace(slow, status=401))
    assert send(sandbox.url, timeout=0.4).status == 401
    assert pieces


def test_the_time_of_a_body_counts_from_its_headers(sandbox, clock):
    def body():
        clock.now += 20
        yield ENVELOPE

    clock.delay(sandbox, 20)
    sandbox.fail(Fault(body=body))
    assert send(sandbox.url, timeout=30).body == ENVELOPE


@pytest.fixture
def dropping():
    """Return an address that does not respond to new connections, because its queue is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        with socket.create_connection(address):
            yield address


def test_a_name_works_if_its_first_address_drops_packets(sandbox, dropping, monkeypatch):
    addresses = [dropping, (sandbox.host, sandbox.port)]
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: found)
    assert send("http://several.localhost:81", timeout=0.3).status == 200


def test_a_tls_handshake_has_the_limit_of_a_connection(monkeypatch):
    monkeypatch.setattr(_http, "_LONGEST_CONNECT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and sends nothing
        port = silent.getsockname()[1]
        words = rf"^No connection to 127\.0\.0\.1:{port} within 0\.3 s\. Check base_url "
        with pytest.raises(TimedOut, match=words):
            send(f"https://127.0.0.1:{port}")


CONNECTING = yaml.safe_load("[[30, '', 10], [4, '', 4], [30, 'http://127.0.0.1:1', 30]]")


@pytest.mark.parametrize(("timeout", "proxy", "connecting"), CONNECTING)
def test_a_connection_has_ten_seconds_except_through_a_proxy(
    timeout, proxy, connecting, monkeypatch
):
    adapter = Mock(side_effect=ConnectionRefusedError)
    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", adapter)
    monkeypatch.setenv("https_proxy", proxy)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # not for this URL
    with pytest.raises(Unreachable):
        send("https://api.invalid", timeout=timeout)
    assert adapter.call_args.kwargs["timeout"] == (connecting, timeout)


def test_no_cookie_is_kept(read, sandbox, clock):
    sandbox.fail(Fault(status=503, headers={"Set-Cookie": "a=b"}))
    read(sandbox, retries=1)
    assert sandbox.requests[1].headers["Cookie"] is None


def test_a_netrc_file_does_not_replace_the_token(sandbox, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password secret\n", encoding="ascii")
    monkeypatch.setenv("NETRC", str(netrc))
    send(sandbox.url)
    assert sandbox.requests[0].headers["Authorization"] == "Bearer sandbox-token"


def test_a_request_asks_for_json_that_may_be_compressed(sandbox):
    send(sandbox.url)
    assert sandbox.requests[0].headers["Accept"] == "application/json"
    assert sandbox.requests[0].headers["Accept-Encoding"] == "gzip"


# What an id could make of a path. Requests would ask for srv_1 with the first two.
IDS = yaml.safe_load(r"""
[x/../srv_1, x/%2e%2e/srv_1, 'srv_1?x', 'srv_1#', srv-1, sérv, '', srv_1/, "srv_1\n", 'srv\1']
""")


@pytest.mark.parametrize("of_server", IDS)
def test_a_path_that_an_id_could_lead_elsewhere_is_not_requested(sandbox, of_server):
    delete = Request("DELETE", f"/servers/{of_server}", "servers:write", "server")
    with pytest.raises(MalformedResponse, match=r'^The path "/servers/.* is not requested'):
        send(sandbox.url, request=delete)
    assert sandbox.requests == []


BROKEN = yaml.safe_load("""
- [import no_such_library, "No module named 'no_such_library'"]
- [import os; os.nothing, "module 'os' has no attribute 'nothing'"]
""")


@pytest.mark.parametrize(("code", "words"), BROKEN)
def test_a_broken_library_is_reported_with_the_import_that_failed(
    tmp_path, monkeypatch, code, words
):
    (tmp_path / "requests.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "requests")
    with pytest.raises(MissingLibrary, match=f"can't be imported: {words}.*--force-reinstall"):
        send("http://127.0.0.1:9")
