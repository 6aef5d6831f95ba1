# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check the account, faults and the command, and compare them with docs/openapi.yaml."""

import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import requests
import yaml
from openapi_core import OpenAPI
from openapi_core.contrib.requests import RequestsOpenAPIRequest, RequestsOpenAPIResponse
from openapi_core.exceptions import OpenAPIError

from sandbox import Change, Fault, Sandbox
from sandbox.account import SERVER, Schedule, example_servers, make_servers
from sandbox.api import ROUTES
from sandbox.cli import _parser, parse_fault
from support.collection import REPOSITORY, read_yaml

COMMAND = (sys.executable, "-E", "-B", "-W", "error", f"{REPOSITORY}/tests/sandbox")
PROTOCOL = read_yaml("docs/openapi.yaml")


def call(sandbox, path="/servers", method="GET", **options):
    """Send a request below the version's prefix, with the token unless other headers are given."""
    url = f"{sandbox.url}/api/v1{path}"
    headers = {"Authorization": f"Bearer {sandbox.token}"}
    arguments = {"headers": headers, "timeout": 60, **options}
    with requests.Session() as session:
        session.trust_env = False
        return session.request(method, url, **arguments)


def test_generated_servers_are_unique_and_at_addresses_of_no_real_host():
    servers = make_servers(2_000)
    assert servers[:12] == make_servers(12)
    for field in ("id", "name", "ipv4"):
        values = {server[field] for server in servers}
        assert len(values) == len(servers)
    for server in servers:
        assert server["ipv4"].startswith("198.18.")  # RFC 2544
        assert server["status"].startswith(("running", "made-up-"))


CHANGES = [
    Change("disappear", "db-01", at=30),
    Change("appear", "new-01", at=10),
    Change("change", "new-01", at=20, fields={"status": "stopped"}),
]


STATES = yaml.safe_load("""
9: {web-01: running, db-01: running}
10: {web-01: running, db-01: running, new-01: running}
20: {web-01: running, db-01: running, new-01: stopped}
29: {web-01: running, db-01: running, new-01: stopped}
30: {web-01: running, new-01: stopped}
""")


def test_changes_are_made_in_order_when_they_are_due(monkeypatch):
    clock = Mock(return_value=1000)
    monkeypatch.setattr("time.monotonic", clock)
    servers = make_servers(2)
    schedule = Schedule(CHANGES)
    for seconds, states in STATES.items():
        clock.return_value = 1000 + seconds
        schedule.apply(servers)
        assert {server["name"]: server["status"] for server in servers} == states
        assert re.fullmatch(r"\w+_[A-Za-z0-9]+", servers[-1]["id"])


def test_only_its_own_address_is_served():
    # If it listened on all addresses, the network would reach it, and so would 127.0.0.2.
    with Sandbox() as sandbox, pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", sandbox.port), 60)


def test_faults_are_used_in_order_by_the_requests_they_are_meant_for():
    with Sandbox() as sandbox:
        sandbox.fail(Fault(status=502), page=1)
        sandbox.fail(Fault(status=500), times=2, after=1)
        sandbox.fail(Fault(status=503), times=None)
        # They take precedence over the checks of the token and of the path.
        for status in (503, 500, 500, 503):
            assert call(sandbox, "/nowhere", headers={}).status_code == status
        sandbox.recover()
        assert call(sandbox).status_code == 200


@contextmanager
def running(*options):
    """Run the command on a free port during the block; its first line has the URL and the token."""
    command = [*COMMAND, "--port", "0", *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdout
            first = process.stdout.readline()
            _listening, _on, url, _with, _token, token = first.split()
            yield SimpleNamespace(process=process, url=url, token=token)
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_url_and_stops(number):
    with running("--servers", "3") as server:
        assert server.token == "sandbox-token"
        assert len(call(server).json()["data"]) == 3
        server.process.send_signal(number)
        output = server.process.stdout.read()
        assert server.process.wait() == 0
        assert server.process.stderr.read() == ""
    assert f"export SERVER_MANAGEMENT_BASE_URL={server.url}\n" in output


INVALID = ["--fault=boom", "--change=appear=a,disappear=b", "--page-size=0"]


@pytest.mark.parametrize("option", INVALID)
def test_an_invalid_option_is_named(capsys, option):
    name, _equals, value = option.partition("=")
    # Not main: a sandbox that accepts the option would not end.
    with pytest.raises(SystemExit):
        _parser().parse_args([option])
    shown = capsys.readouterr().err
    assert name in shown
    assert repr(value) in shown


def test_the_options_reach_the_sandbox():
    options = """
    --token o$wn --servers 3 --verbose --page-size 2
    --fault status=503,retry_after=1
    """
    with running(*options.split()) as server:
        assert server.token == "o$wn"
        failed = call(server)
        assert failed.status_code == 503
        assert failed.headers["Retry-After"] == "1"
        page = call(server).json()
        assert page == {"data": make_servers(3)[:2], "has_more": True}
        server.process.terminate()
        _failed, last = server.process.stderr.read().splitlines()
        assert "export SERVER_MANAGEMENT_API_TOKEN='o$wn'\n" in server.process.stdout.read()
    assert last.endswith("GET /api/v1/servers: 200")


def test_the_account_of_the_documents_is_served_and_changes_on_schedule():
    changes = ["--change", "appear=new-01,plan=large", "--change", "at=3600,disappear=new-01"]
    with running("--example", *changes) as server:
        *known, new = call(server).json()["data"]
    assert known == example_servers()
    # Loopback addresses: a newcomer who runs a playbook reaches only this machine.
    for server in known:
        assert server["ipv4"].startswith("127.")
    assert new["name"] == "new-01"
    assert new["plan"] == "large"


SPECS = yaml.safe_load("""
- ['status=503,times=2,retry_after=1', {status: 503, retry_after: 1}, {times: 2}]
- ['hang,times=always', {cut: start, end: hang}, {times: null}]
- ['chunked=true,has_more=maybe', {chunked: true, has_more: maybe}, {}]
- ['location=/?a=b,status=302', {location: '/?a=b', status: 302}, {}]
""")


@pytest.mark.parametrize(("spec", "fault", "requests"), SPECS)
def test_a_fault_is_parsed(spec, fault, requests):
    assert parse_fault(spec) == (Fault(**fault), requests)


@pytest.fixture
def paged():
    """Serve an account in two pages."""
    with Sandbox(servers=20, page_size=10) as running:
        yield running


@pytest.fixture
def one():
    """Serve the documented server."""
    with Sandbox(servers=[dict(SERVER)]) as running:
        yield running


def check(sandbox, response):
    """Raise OpenAPIError unless request and response are as described."""
    servers = [{"url": f"{sandbox.url}/api/v1"}]
    description = OpenAPI.from_dict({**PROTOCOL, "servers": servers})
    request = RequestsOpenAPIRequest(response.request)
    description.validate_request(request)
    description.validate_response(request, RequestsOpenAPIResponse(response))


@pytest.mark.parametrize("route", ROUTES)
def test_a_route_is_as_described_and_requires_the_token(paged, route):
    refused = call(paged, route.path, route.method, headers={})
    assert refused.status_code == 401
    with pytest.raises(OpenAPIError):
        check(paged, refused)
    response = call(paged, route.path, route.method)
    check(paged, response)


def test_the_body_of_an_error_is_not_described(paged):
    paged.fail(Fault(status=503))
    check(paged, call(paged))


@pytest.mark.parametrize("header", ["{}", "Basic {}", "Bearer {}x", "Bearer"])
def test_any_other_authorization_header_is_refused(paged, header):
    headers = {"Authorization": header.format(paged.token)}
    assert call(paged, headers=headers).status_code == 401


REFUSED = yaml.safe_load("""
- [POST, /servers, 405]
- [DELETE, /servers, 405]
- [POST, /not/described, 404]
- [GET, /servers/, 404]
- [GET, /servers/srv_1, 404]
- [GET, '/servers?starting_after=srv_nowhere', 400]
""")


@pytest.mark.parametrize(("method", "path", "status"), REFUSED)
def test_other_methods_paths_and_pages_are_refused(paged, method, path, status):
    assert call(paged, path, method).status_code == status


WRONG = yaml.safe_load("""
- [id, without]
- [ipv4, 192.0.2.256]
- [ipv4, '2001:db8::1']
- [created_at, '2024-01-01T00:00:00+00:00']
- [created_at, '2024-01-01T00:00:00.5Z']
- [created_at, '2024-02-30T00:00:00Z']
""")


@pytest.mark.parametrize(("field", "value"), [*WRONG, *dict.fromkeys(SERVER, 7).items()])
def test_a_wrong_value_is_detected(one, field, value):
    one.servers[0][field] = value
    with pytest.raises(OpenAPIError):
        check(one, call(one))


def test_an_identifier_may_have_any_prefix(one):
    one.servers[0]["id"] = "vm_0A9z"
    check(one, call(one))


# What a client sends, and the status of the only response.
SENT = {
    "GET http://[x HTTP/1.1\r\nConnection: close\r\n\r\n": 404,
    "POST /api/v1/servers HTTP/1.1\r\nContent-Length: 9\r\n\r\nGET / HTTP/1.1\r\n\r\n": 405,
}


@pytest.mark.parametrize("sent", SENT)
def test_neither_a_malformed_target_nor_a_body_harms_the_connection(capfd, sent):
    with Sandbox() as sandbox:
        client = socket.create_connection((sandbox.host, sandbox.port), 60)
        with client, client.makefile("rb") as response:
            client.sendall(sent.encode())
            assert re.findall(rb"HTTP/1.1 (\d+)", response.read()) == [b"%d" % SENT[sent]]
    assert capfd.readouterr().err == ""
