# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a session must not do: keep threads, sockets and cookies, or log a header."""

from __future__ import annotations

import gc
import http.client
import logging
import os
import socket
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils import _session
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
    MissingLibrary,
    ServerFailed,
    TimedOut,
)
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from ansible_collections.server_management.cloud.plugins.module_utils._session import (
    THREAD,
    new_session,
)
from sandbox import Fault, Sandbox

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Pieces = Callable[[], Iterator[bytes]]


def slowly(start: bytes, piece: bytes, pause: float = 0.05) -> Iterator[bytes]:
    """Yield a start, and then a piece again and again."""
    yield start
    for same in repeat(piece):
        time.sleep(pause)
        yield same


# A ServerHello of 16 KiB, and one byte of it.
HELLO, PART = b"\x16\x03\x03\x00\x04\x02\x00\x40\x00", b"\x16\x03\x03\x00\x01\x03"
ENDLESS: dict[str, tuple[str, Pieces]] = {
    "body": ("http", lambda: slowly(OK + b"Content-Length: 9999\r\n\r\n", b" ")),
    "body of a connection that is not kept": (
        "http",
        lambda: slowly(OK + b"Connection: close\r\n\r\n", b" "),
    ),
    "chunks": ("http", lambda: slowly(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n")),
    "headers": ("http", lambda: slowly(OK + b"X-Slow: ", b"x")),
    "100 Continue": ("http", lambda: slowly(b"", b"HTTP/1.1 100 Continue\r\n\r\n")),
    "many 100 Continue": ("http", lambda: slowly(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 99, 0.0)),
    "nothing": ("http", lambda: slowly(b"", b"")),
    "TLS handshake": ("https", lambda: slowly(HELLO, PART)),
    "nothing before the TLS handshake": ("https", lambda: slowly(b"", b"")),
    "proxy": ("proxy", lambda: slowly(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x")),
}


def sockets() -> int:
    """Return the number of open sockets of this process."""
    count = 0
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            count += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
    return count


@pytest.mark.promise("bounded")
@pytest.mark.parametrize("name", ENDLESS)
def test_an_abandoned_request_leaves_no_thread_and_no_socket(
    read: Any, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    scheme, pieces = ENDLESS[name]
    before = sockets()
    ended = threading.Event()

    def serve() -> None:
        connection = listener.accept()[0]
        with connection, suppress(OSError):
            connection.settimeout(0.05)
            for piece in pieces():
                connection.sendall(piece)
                with suppress(TimeoutError):
                    if not connection.recv(65536):
                        break
        ended.set()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        if scheme == "proxy":
            monkeypatch.setenv("https_proxy", f"http://{address}")
            address, scheme = "api.invalid", "https"
        with pytest.raises(TimedOut, match=r"within 0\.4 s"):
            read(sandbox, f"{scheme}://{address}", timeout=0.4)
        assert THREAD not in [thread.name for thread in threading.enumerate()]
        assert ended.wait(5)
    gc.collect()
    assert sockets() == before


@pytest.mark.promise("bounded")
def test_a_connection_after_the_deadline_is_useless(read: Any, sandbox: Sandbox) -> None:
    """A lookup of the name cannot be ended, so the request is refused when it is done."""
    lookup = socket.getaddrinfo

    def slow_lookup(*args: Any, **kwargs: Any) -> Any:
        time.sleep(2)
        return lookup(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", slow_lookup)
        with pytest.raises(TimedOut):
            read(sandbox, timeout=0.2)
        for thread in threading.enumerate():
            if thread.name == THREAD:
                thread.join(5)
                assert not thread.is_alive()
    assert sandbox.requests == []


@pytest.mark.promise("bounded")
def test_no_cookie_is_kept(read: Any) -> None:
    cookies = {"Set-Cookie": "a=" + "x" * 60_000}
    with Sandbox(servers=40, pagination="cursor", page_size=1) as sandbox:
        sandbox.fail(Fault(headers=cookies), times=None)
        tracemalloc.start()
        try:
            read(sandbox, pagination="cursor")
            kept = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        assert {request.headers["Cookie"] for request in sandbox.requests} == {None}
    assert kept < 10 * 2**20


DEFECTS = {
    "no colon": "Echoed Bearer {token}\r\n",
    "a space in a name": "Echoed Bearer: {token}\r\n",
    "no colon at first": "{token}\r\nX: y\r\n",
}


@pytest.mark.promise("secret")
@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("name", DEFECTS)
def test_headers_with_defects_are_refused_and_never_logged(
    read: Any, sandbox: Sandbox, caplog: pytest.LogCaptureFixture, name: str, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    body = b'{"data": [], "has_more": false}'

    def serve() -> None:
        connection = listener.accept()[0]
        with connection:
            connection.recv(65536)
            line = DEFECTS[name].format(token=sandbox.token)
            head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{line}\r\n"
            connection.sendall(head.encode() + body)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        kind = MalformedResponse if status == 200 else ServerFailed
        with pytest.raises(kind) as caught:
            read(sandbox, f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread.join()
    assert ("headers" in caught.value.message) == (status == 200)
    assert sandbox.token not in str(caught.value)
    assert caplog.text == ""


@pytest.mark.promise("secret")
def test_requests_of_others_are_still_logged(
    read: Any, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    import requests

    read(sandbox)
    caplog.set_level(logging.DEBUG)
    requests.get(sandbox.url, timeout=5)
    assert "GET / HTTP/1.1" in caplog.text


@pytest.mark.promise("secret")
def test_the_debug_output_of_http_client_is_off(
    read: Any,
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(http.client.HTTPConnection, "debuglevel", 1)
    read(sandbox)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("files", "is_system", "has_pip", "command"),
    [
        ((), False, True, f"{sys.executable} -m pip install requests"),
        ((), True, True, f"{sys.executable} -m pip install requests"),
        ((), False, False, f"uv pip install --python {sys.executable} requests"),
        (("uv-receipt.toml",), False, False, "uv tool install --with requests ansible-core"),
        (("pipx_metadata.json",), False, True, "pipx inject ansible-core requests"),
        (("EXTERNALLY-MANAGED",), False, True, f"{sys.executable} -m pip install requests"),
        (("EXTERNALLY-MANAGED",), True, True, "apt install python3-requests"),
        (("EXTERNALLY-MANAGED",), True, False, "apt install python3-requests"),
    ],
)
def test_the_command_to_install_requests_fits_the_installation_of_ansible(
    files: tuple[str, ...],
    is_system: bool,
    has_pip: bool,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prefix = tmp_path / "ansible-core"
    prefix.mkdir()
    for file in files:
        (prefix / file).touch()
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(sys, "base_prefix", str(prefix if is_system else tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(prefix))
    monkeypatch.setitem(sys.modules, "requests", None)
    monkeypatch.setattr(_session, "find_spec", lambda name: has_pip or None)
    with pytest.raises(MissingLibrary) as caught:
        new_session(Connection("http://127.0.0.1:9/api/v1", "x"), _session.SocketHandle())
    assert caught.value.next_step.startswith("Install it where Ansible runs: ")
    assert caught.value.next_step.endswith(f"{command}.")
