# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the endpoint, the recorded requests and the life of the sandbox."""

from __future__ import annotations

import http.client
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from sandbox import Fault, Sandbox


def test_the_listing_has_the_documented_envelope(fetch: Callable[..., Any]) -> None:
    with Sandbox(servers=3) as sandbox:
        response = fetch(sandbox)
        assert (response.status, response.headers["Content-Type"]) == (200, "application/json")
        assert response.json == {"data": sandbox.servers, "has_more": False}


@pytest.mark.parametrize("servers", [0, 1, 100, 101, 10_000])
def test_as_many_servers_as_asked_for(fetch: Callable[..., Any], servers: int) -> None:
    with Sandbox(servers) as sandbox:
        assert len(fetch(sandbox).json["data"]) == servers


@pytest.mark.parametrize(
    "value", ["", "Bearer", "Bearer wrong", "bearer sandbox-token", "Basic eA=="]
)
def test_another_authorization_is_rejected(fetch: Callable[..., Any], value: str) -> None:
    with Sandbox() as sandbox:
        response = fetch(sandbox, headers={"Authorization": value})
        assert (response.status, response.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_a_token_can_be_rotated(fetch: Callable[..., Any]) -> None:
    with Sandbox(token="old") as sandbox:
        sandbox.token = "new"
        assert fetch(sandbox, token="old").status == 401
        assert fetch(sandbox, token="new").status == 200


def test_a_token_without_the_scope_is_refused(fetch: Callable[..., Any]) -> None:
    with Sandbox(scopes=["billing:read"]) as sandbox:
        assert fetch(sandbox).status == 403


@pytest.mark.parametrize(
    "path",
    ["/", "/api/v1", "/api/v1/servers/", "/api/v1/servers/srv_1", "/api/v2/servers", "/servers"],
)
def test_no_other_path_is_served(fetch: Callable[..., Any], path: str) -> None:
    with Sandbox() as sandbox:
        assert fetch(sandbox, path).status == 404


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "MADEUP"])
def test_no_other_method_is_served(fetch: Callable[..., Any], method: str) -> None:
    with Sandbox() as sandbox:
        response = fetch(sandbox, method=method)
        assert (response.status, response.headers["Allow"]) == (405, "GET")


def test_a_prefix_comes_before_the_path(fetch: Callable[..., Any]) -> None:
    with Sandbox(prefix="/tenant") as sandbox:
        assert sandbox.url.endswith("/tenant")
        assert fetch(sandbox).status == 404
        assert fetch(sandbox, "/tenant/api/v1/servers").status == 200


def test_a_proxy_clients_whole_address_is_understood(fetch: Callable[..., Any]) -> None:
    with Sandbox() as sandbox:
        assert fetch(sandbox, "http://api.example.com/api/v1/servers?a=1").status == 200
        assert sandbox.requests[0].path == "/api/v1/servers"


def test_a_proxy_can_refuse_a_tunnel(fetch: Callable[..., Any]) -> None:
    with Sandbox() as sandbox:
        sandbox.fail(Fault(status=407))
        connection = http.client.HTTPConnection(sandbox.host, sandbox.port, timeout=5)
        connection.set_tunnel("api.example.com", 443)
        with pytest.raises(OSError, match="407"):
            fetch(sandbox, connection=connection)
        request = sandbox.requests[0]
        assert (request.method, request.path) == ("CONNECT", "api.example.com:443")


def test_any_element_is_served_as_it_is(fetch: Callable[..., Any]) -> None:
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


def test_many_clients_at_once(fetch: Callable[..., Any]) -> None:
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


def test_it_goes_away_and_comes_back(fetch: Callable[..., Any]) -> None:
    with Sandbox() as sandbox:
        port = sandbox.port
        fetch(sandbox)
        sandbox.stop()
        with pytest.raises(ConnectionRefusedError):
            fetch(sandbox)
        sandbox.start()
        assert (sandbox.port, fetch(sandbox).status) == (port, 200)


@pytest.mark.parametrize("fault", [Fault.hang(), Fault(delay=60), Fault(drip_body=60)])
def test_a_stop_wakes_what_waits(fetch: Callable[..., Any], fault: Fault) -> None:
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


def test_a_stop_drops_idle_connections(fetch: Callable[..., Any]) -> None:
    with Sandbox() as sandbox:
        idle = http.client.HTTPConnection(sandbox.host, sandbox.port, timeout=5)
        fetch(sandbox, connection=idle)
        sandbox.stop()
        with pytest.raises((ConnectionError, http.client.RemoteDisconnected)):
            fetch(sandbox, connection=idle)
        idle.close()


def test_ipv6_loopback(fetch: Callable[..., Any]) -> None:
    with Sandbox(host="::1") as sandbox:
        assert sandbox.url == f"http://[::1]:{sandbox.port}"
        assert fetch(sandbox).status == 200


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "192.0.2.1", "::", "::ffff:127.0.0.1", "localhost", ""]
)
def test_it_listens_on_loopback_alone(host: str) -> None:
    with pytest.raises(ValueError, match=r"127\.0\.0\.0/8 or ::1"):
        Sandbox(host=host)


def test_it_takes_its_time(fetch: Callable[..., Any]) -> None:
    with Sandbox(latency=0.2) as sandbox:
        started = time.monotonic()
        fetch(sandbox)
        assert time.monotonic() - started >= 0.2


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """Make a certificate for 127.0.0.1 and its key."""
    paths = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1"
    names = ["-subj", "/CN=sandbox", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-out", str(paths[0]), "-keyout", str(paths[1])]
    subprocess.run([*command.split(), *names, *files], check=True, capture_output=True)
    return paths


def test_https(
    fetch: Callable[..., Any],
    certificate: tuple[Path, Path],
    capfd: pytest.CaptureFixture[str],
) -> None:
    with Sandbox(tls=certificate) as sandbox:
        request = Request(
            f"{sandbox.url}/api/v1/servers", headers={"Authorization": f"Bearer {sandbox.token}"}
        )
        context = ssl.create_default_context(cafile=str(certificate[0]))
        with urlopen(request, context=context, timeout=5) as response:
            assert response.status == 200
        with pytest.raises((OSError, http.client.HTTPException)):
            fetch(sandbox)
        assert len(sandbox.requests) == 1
    assert capfd.readouterr() == ("", "")


def test_a_missing_certificate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="tls: can't use"):
        Sandbox(tls=(tmp_path / "none.pem", None))
