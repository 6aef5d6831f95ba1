# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the endpoint, the recorded requests, and starting and stopping the sandbox."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from sandbox import Fault, Sandbox


@pytest.mark.parametrize(
    "value", ["", "Bearer", "Bearer wrong", "bearer sandbox-token", "Basic eA=="]
)
def test_another_authorization_is_rejected(fetch: Callable[..., Any], value: str) -> None:
    with Sandbox() as sandbox:
        response = fetch(sandbox, headers={"Authorization": value})
        assert (response.status, response.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_a_token_without_the_scope_is_refused(fetch: Callable[..., Any]) -> None:
    with Sandbox(scopes=["billing:read"]) as sandbox:
        assert fetch(sandbox).status == 403


@pytest.mark.parametrize(
    "path", ["/", "/api/v1", "/api/v1/servers/", "/api/v2/servers", "/servers"]
)
def test_no_other_path_is_served(fetch: Callable[..., Any], path: str) -> None:
    with Sandbox() as sandbox:
        assert fetch(sandbox, path).status == 404


def test_a_target_that_is_not_a_url_is_not_found(capfd: pytest.CaptureFixture[str]) -> None:
    request = "GET http://[ HTTP/1.1\r\nAuthorization: Bearer sandbox-token\r\n\r\n"
    with (
        Sandbox() as sandbox,
        # http.client refuses such a target.
        socket.create_connection((sandbox.host, sandbox.port), 5) as connection,
    ):
        connection.sendall(request.encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 404 ")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "MADEUP"])
def test_no_other_method_is_served(fetch: Callable[..., Any], method: str) -> None:
    with Sandbox() as sandbox:
        assert fetch(sandbox, method=method).status == 405


def test_a_prefix_precedes_the_path(fetch: Callable[..., Any]) -> None:
    with Sandbox(prefix="/tenant") as sandbox:
        assert sandbox.url.endswith("/tenant")
        assert fetch(sandbox).status == 404
        assert fetch(sandbox, "/tenant/api/v1/servers").status == 200


def test_elements_are_served_unchanged(fetch: Callable[..., Any]) -> None:
    hostile: list[Any] = [
        None,
        1,
        "text",
        [],
        {"id": 7, "name": "{{ 1 + 1 }}", "extra": {"a": [True]}},
    ]
    with Sandbox(hostile) as sandbox:
        assert fetch(sandbox).json["data"] == hostile
        sandbox.servers[4]["id"] = True
        del sandbox.servers[:4]
        assert fetch(sandbox).body.startswith(b'{"data": [{"id": true')


def test_requests_are_recorded(fetch: Callable[..., Any]) -> None:
    with Sandbox() as sandbox:
        fetch(sandbox, "/api/v1/servers?a=1&b=", headers={"User-Agent": "test/1"})
        fetch(sandbox, "/other", method="POST", body=b"sent")
        first, second = sandbox.requests
        assert (first.method, first.path, first.query) == (
            "GET",
            "/api/v1/servers",
            {"a": "1", "b": ""},
        )
        assert first.headers["user-agent"] == "test/1"
        assert (second.method, second.path, second.body) == ("POST", "/other", b"sent")
        assert first.received <= second.received <= time.monotonic()


def test_connections_are_kept_open_and_numbered(fetch: Callable[..., Any]) -> None:
    with Sandbox() as sandbox:
        connection = http.client.HTTPConnection(sandbox.host, sandbox.port, timeout=5)
        for path in ("/api/v1/servers", "/nowhere", "/api/v1/servers"):
            fetch(sandbox, path, connection=connection)
        connection.close()
        fetch(sandbox)
        assert [request.connection for request in sandbox.requests] == [1, 1, 1, 2]
        assert sandbox.connections == 2


def test_many_clients_are_served_at_the_same_time(fetch: Callable[..., Any]) -> None:
    with Sandbox(servers=50) as sandbox:
        lengths: list[int] = []
        threads = [
            threading.Thread(target=lambda: lengths.append(len(fetch(sandbox).json["data"])))
            for number in range(40)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert lengths == [50] * 40
        assert len({request.connection for request in sandbox.requests}) == 40


def test_it_can_be_stopped_and_started_on_the_same_port(fetch: Callable[..., Any]) -> None:
    with Sandbox() as sandbox:
        port = sandbox.port
        fetch(sandbox)
        sandbox.stop()
        with pytest.raises(ConnectionRefusedError):
            fetch(sandbox)
        sandbox.start()
        assert (sandbox.port, fetch(sandbox).status) == (port, 200)


@pytest.mark.parametrize("fault", [Fault.hang(), Fault(delay=60), Fault(drip_body=60)])
def test_a_stop_ends_responses_that_are_delayed(fetch: Callable[..., Any], fault: Fault) -> None:
    threads = set(threading.enumerate())
    with Sandbox() as sandbox:
        sandbox.fail(fault)
        threading.Timer(0.2, sandbox.stop).start()
        started = time.monotonic()
        with pytest.raises((OSError, http.client.HTTPException)):
            fetch(sandbox)
    while left := set(threading.enumerate()) - threads:
        assert time.monotonic() - started < 4, left
        time.sleep(0.01)


def test_a_stop_closes_idle_connections(fetch: Callable[..., Any]) -> None:
    with Sandbox() as sandbox:
        idle = http.client.HTTPConnection(sandbox.host, sandbox.port, timeout=5)
        fetch(sandbox, connection=idle)
        sandbox.stop()
        with pytest.raises((ConnectionError, http.client.RemoteDisconnected)):
            fetch(sandbox, connection=idle)
        idle.close()


def test_it_can_listen_on_ipv6_loopback(fetch: Callable[..., Any]) -> None:
    with Sandbox(host="::1") as sandbox:
        assert sandbox.url == f"http://[::1]:{sandbox.port}"
        assert fetch(sandbox).status == 200


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "192.0.2.1", "::", "::ffff:127.0.0.1", "localhost", ""]
)
def test_it_listens_only_on_loopback(host: str) -> None:
    with pytest.raises(ValueError, match=r"127\.0\.0\.0/8 or ::1"):
        Sandbox(host=host)


def test_latency_delays_each_response(fetch: Callable[..., Any]) -> None:
    with Sandbox(latency=0.2) as sandbox:
        started = time.monotonic()
        fetch(sandbox)
        assert time.monotonic() - started >= 0.2
