# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One request: how long it may take, how much of a body is read, and what is not kept."""

import gzip
import random
import socket
import sys
import time
import zlib
from contextlib import ExitStack

import pytest
import requests
import urllib3

from ansible_collections.server_management.cloud.plugins.module_utils import _http
from ansible_collections.server_management.cloud.plugins.module_utils._client import LIST_SERVERS
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
    MissingLibrary,
    TimedOut,
    Unreachable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from sandbox import Fault


def send(url, limit=2**20, **options):
    """Send one request and close its connection; raise why the body could not be read."""
    sender = _http.Http(Connection(f"{url}/api/v1", "sandbox-token", **options))
    try:
        response = sender.send(LIST_SERVERS, limit)
    finally:
        sender.close()
    if response.failure:
        raise response.failure
    return response


# Bodies.


READ_METHODS = [name for name in ("read1", "stream") if hasattr(urllib3.HTTPResponse, name)]


@pytest.fixture(params=READ_METHODS)
def read_method(request, monkeypatch):
    """Read bodies with this method of urllib3, which has read1 since version 2.2."""
    if request.param == "stream":
        for kind in urllib3.HTTPResponse.__mro__:
            monkeypatch.delattr(kind, "read1", raising=False)
    return request.param


def encoded(body, encoding):
    """Return the fault that sends a body, which has this encoding."""
    return Fault(body=body, headers={"Content-Encoding": encoding})


LONG = bytes(200) + random.Random(1).randbytes(100_000)
PARTS = gzip.compress(LONG[:7]) + gzip.compress(b"") + gzip.compress(LONG[7:])


@pytest.mark.usefixtures("read_method")
@pytest.mark.parametrize(
    "fault",
    [
        Fault(body=LONG),
        Fault(body=LONG, chunked=True),
        Fault(body=LONG, headers={"Content-Length": None}),
        Fault(body=LONG, headers={"Content-Encoding": "identity"}),
        Fault(body=gzip.compress(LONG), headers={"Content-Encoding": "gzip"}),
        Fault(body=PARTS, headers={"Content-Encoding": "GZip"}, chunked=True),
        Fault(body=PARTS, headers={"Content-Encoding": "gzip", "Content-Length": None}),
    ],
    ids=["length", "chunks", "end", "identity", "gzip", "gzip chunks", "gzip end"],
)
def test_a_body_is_read_up_to_the_limit(sandbox, fault):
    sandbox.fail(fault, times=2)
    assert send(sandbox.url, limit=len(LONG)).body == LONG
    with pytest.raises(MalformedResponse, match="larger than 32 MiB"):
        send(sandbox.url, limit=len(LONG) - 1)


ENVELOPE = b'{"data": [], "has_more": false}'
ZIPPED = gzip.compress(ENVELOPE, mtime=0)  # the same in all processes of pytest-xdist


@pytest.mark.usefixtures("read_method")
@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", b""),
        ("gzip", ZIPPED[:10]),
        ("gzip", ZIPPED[:-10]),
        ("", b' {"data": [] \n'),
        ("identity", b'{"data": ["\xc3'),
        pytest.param("", b'{"data": ' + b"[" * 100_000, id="deep"),
    ],
)
def test_a_body_that_ends_too_early_is_a_closed_connection(sandbox, encoding, body):
    sandbox.fail(encoded(body, encoding))
    words = f"^Cannot reach 127.0.0.1:{sandbox.port}: .* closed before the end of the response"
    with pytest.raises(Unreachable, match=words):
        send(sandbox.url)


@pytest.mark.usefixtures("read_method")
@pytest.mark.parametrize(
    ("encoding", "body", "text"),
    [
        ("gzip", ZIPPED + b"other bytes", ENVELOPE),
        ("gzip", ZIPPED[:-8], ENVELOPE),
        ("", b"", b""),
        ("", b"{} <!-- cached -->", b"{} <!-- cached -->"),
        ("", b'{"data": ]}', b'{"data": ]}'),
        ("", b"[1, 2", b"[1, 2"),
    ],
)
def test_any_other_body_is_returned(sandbox, encoding, body, text):
    sandbox.fail(encoded(body, encoding))
    assert send(sandbox.url).body == text


NOT_GZIP = "claims to be compressed with gzip, but is not"


@pytest.mark.usefixtures("read_method")
@pytest.mark.parametrize(
    ("encoding", "body", "words"),
    [
        ("gzip", ENVELOPE, NOT_GZIP),
        ("gzip", zlib.compress(ENVELOPE), NOT_GZIP),
        ("gzip", ZIPPED[:-8] + bytes(8), NOT_GZIP),
        ("deflate", zlib.compress(ENVELOPE), '"deflate", although only gzip was requested'),
        ("gzip, gzip", ZIPPED, '"gzip, gzip", although only gzip was requested'),
    ],
)
def test_an_unusable_encoding_is_a_malformed_response(sandbox, encoding, body, words):
    sandbox.fail(encoded(body, encoding))
    with pytest.raises(MalformedResponse, match=words):
        send(sandbox.url)


@pytest.mark.parametrize("status", [302, 500])
def test_an_endless_body_of_an_error_is_not_read(sandbox, status):
    sent = 0

    def stream():
        nonlocal sent
        while sent < 2**28:
            sent += 2**20
            yield b"x" * 2**20

    sandbox.fail(Fault(status=status, body=stream, location="/elsewhere"))
    sender = _http.Http(Connection(f"{sandbox.url}/api/v1", "sandbox-token"))
    response = sender.send(LIST_SERVERS, 2**30)
    sender.close()
    assert response.status == status
    assert response.body == b""
    assert sent < 2**25


# Time.


@pytest.mark.parametrize("cut", ["start", "headers", "body"])
def test_the_wait_for_the_next_bytes_is_limited(sandbox, cut):
    sandbox.fail(Fault(cut=cut, end="hang"))
    words = rf"^No complete response from 127.0.0.1:{sandbox.port} within 0\.4 s.* timeout"
    with pytest.raises(TimedOut, match=words):
        send(sandbox.url, timeout=0.4)


@pytest.mark.parametrize("chunked", [False, True])
def test_the_time_of_the_whole_body_is_limited(sandbox, read_method, chunked):
    # Before version 2.2, urllib3 returns what has arrived after each KiB, or each chunk.
    size = 2**9 if read_method == "stream" and not chunked else 1
    sent = 0

    def stream():
        nonlocal sent
        while sent < 120:  # for much longer than the limit
            sent += 1
            yield b" " * size
            time.sleep(0.05)

    sandbox.fail(Fault(body=stream, chunked=chunked, headers={"Content-Length": None}))
    with pytest.raises(TimedOut, match=r"within 0\.4 s"):
        send(sandbox.url, timeout=0.4)
    assert sent < 120


def test_the_time_of_a_body_counts_from_its_headers(sandbox, clock, monkeypatch):
    def resolve(*_args, **_options):
        clock.now += 20
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (sandbox.host, sandbox.port))]

    def pieces(_raw):
        clock.now += 20
        yield b"{}"

    monkeypatch.setattr(_http, "time", clock)
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(_http, "_pieces", pieces)
    assert send(sandbox.url, timeout=30).seconds == 40


@pytest.fixture
def dropping():
    """Return an address that does not respond to new connections, because its queue is full."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.2", 0), backlog=0))
        for _number in range(3):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield listener.getsockname()


def test_a_name_works_if_its_first_address_drops_packets(sandbox, dropping, monkeypatch):
    def resolve(*_args, **_options):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in addresses]

    addresses = [dropping]
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(_http, "_LONGEST_CONNECT", 0.3)
    words = r"^No connection to several\.localhost:81 within 0\.3 s\. Check base_url"
    with pytest.raises(TimedOut, match=words):
        send("http://several.localhost:81")
    addresses.append((sandbox.host, sandbox.port))
    assert send("http://several.localhost:81").status == 200


def test_a_tls_handshake_has_the_limit_of_a_connection(monkeypatch):
    monkeypatch.setattr(_http, "_LONGEST_CONNECT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and sends nothing
        port = silent.getsockname()[1]
        words = rf"^No connection to 127\.0\.0\.1:{port} within 0\.3 s\. Check base_url"
        with pytest.raises(TimedOut, match=words):
            send(f"https://127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("timeout", "proxy", "connecting"), [(30, "", 10), (4, "", 4), (30, "http://127.0.0.1:1", 30)]
)
def test_a_connection_has_ten_seconds_except_through_a_proxy(
    timeout, proxy, connecting, monkeypatch
):
    seen = []

    def record(*_args, **settings):
        seen.append(settings["timeout"])
        raise ConnectionRefusedError

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", record)
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(Unreachable):
        send("https://api.invalid", timeout=timeout)
    assert seen == [(connecting, timeout)]


# Headers.


def test_no_cookie_is_kept(sandbox):
    sandbox.fail(Fault(headers={"Set-Cookie": "a=" + "x" * 60_000}))
    sender = _http.Http(Connection(f"{sandbox.url}/api/v1", sandbox.token))
    sender.send(LIST_SERVERS, 2**20)
    sender.send(LIST_SERVERS, 2**20)
    sender.close()
    assert sandbox.connections == 1
    assert sandbox.requests[1].headers["Cookie"] is None


def test_a_netrc_file_does_not_replace_the_token(sandbox, tmp_path, monkeypatch):
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login someone password secret\n", encoding="ascii")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert requests.utils.get_netrc_auth(sandbox.url) == ("someone", "secret")
    send(sandbox.url)
    assert sandbox.requests[0].headers.get_all("Authorization") == ["Bearer sandbox-token"]


def test_a_request_has_a_user_agent(sandbox):
    send(sandbox.url, user_agent="server_management.cloud/1.2.3 ansible/2.21.0")
    headers = sandbox.requests[0].headers
    agent = "server_management.cloud/1.2.3 ansible/2.21.0 python-requests/"
    assert headers["User-Agent"].startswith(agent)
    assert headers["Accept"] == "application/json"
    assert headers["Accept-Encoding"] == "gzip"


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("", ""),
        ("garbage <", ""),
        ("<>; rel=next", ""),
        ("<https://h/a?b=1>; rel=next", "https://h/a?b=1"),
        ('<a>; rel="prev NEXT"', "a"),
        ('<a>; rel="nextpage"', ""),
        ('<a>; rev="next"', ""),
        ('<a>; rel="first", <b>; rel="next", <c>; rel="last"', "b"),
        ('<a>; rel="next"; anchor="/other", <b>; rel="next"', "b"),
    ],
)
def test_the_next_link_is_found_among_others(header, target):
    assert _http.next_link(header) == target


# The library.


def test_a_missing_library_is_reported_with_ways_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(MissingLibrary, match="requests is not installed") as caught:
        send("http://127.0.0.1:9")
    assert sys.executable in caught.value.next_step
    assert "pipx inject" in caught.value.next_step


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library'"),
        ("from os import nothing", "ImportError: cannot import name 'nothing' from 'os'"),
        ("import os; os.nothing", "AttributeError: module 'os' has no attribute 'nothing'"),
    ],
)
def test_a_broken_library_is_reported_with_the_import_that_failed(
    tmp_path, monkeypatch, code, words
):
    (tmp_path / "requests.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "requests")
    with pytest.raises(MissingLibrary, match=f"can't be imported: {words}") as caught:
        send("http://127.0.0.1:9")
    assert "--force-reinstall requests" in caught.value.next_step
