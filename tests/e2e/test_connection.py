# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection options, and where the token goes and where it does not."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import trustme

from sandbox import Fault, Sandbox
from support.run import Runner

from .conftest import KNOWN, Source, hosts

THREE = ["db-1", "web-1", "web-2"]
DISTANT = "http://api.example.com"  # reached through the proxy of the environment alone


@pytest.mark.parametrize("ending", ["", "/", "/api/v1", "/api/v1/"])
@pytest.mark.parametrize("prefix", ["", "/cloud"])
def test_the_forms_of_a_base_url(runner: Runner, tmp_path: Path, prefix: str, ending: str) -> None:
    with Sandbox(servers=KNOWN, prefix=prefix) as api:
        source = Source(runner, api, tmp_path)
        assert hosts(source.list(base_url=f"{api.url}{ending}")) == THREE
        assert [request.path for request in api.requests] == [f"{prefix}/api/v1/servers"]


def test_what_is_sent(source: Source) -> None:
    (source.runner.home / ".netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    source.list()
    (request,) = source.sandbox.requests
    assert (request.method, request.query, request.body) == ("GET", {}, b"")
    assert request.headers["Authorization"] == f"Bearer {source.sandbox.token}"
    assert request.headers["User-Agent"].startswith("server_management.cloud/")
    assert " ansible/2." in request.headers["User-Agent"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a CA, certificates of it for two hosts, and the CA of somebody else."""
    folder = tmp_path_factory.mktemp("authority")
    ours = trustme.CA()
    ours.cert_pem.write_to_path(str(folder / "ca.pem"))
    trustme.CA().cert_pem.write_to_path(str(folder / "another.pem"))
    for host in ("127.0.0.1", "api.example.com"):
        ours.issue_cert(host).private_key_and_cert_chain_pem.write_to_path(str(folder / host))
    return folder


@pytest.fixture
def encrypted(runner: Runner, tmp_path: Path, authority: Path) -> Generator[Source, None, None]:
    with Sandbox(servers=KNOWN, tls=(authority / "127.0.0.1", None)) as api:
        yield Source(runner, api, tmp_path)


TRUST: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"ca_path": "ca.pem"}, {}),
    ({"validate_certs": False}, {}),
    ({}, {"SERVER_MANAGEMENT_CA_PATH": "ca.pem"}),
    ({}, {"SERVER_MANAGEMENT_VALIDATE_CERTS": "false"}),
    ({}, {"REQUESTS_CA_BUNDLE": "ca.pem"}),
    ({"ca_path": "ca.pem"}, {"SERVER_MANAGEMENT_CA_PATH": "another.pem"}),
    ({"ca_path": "ca.pem"}, {"REQUESTS_CA_BUNDLE": "another.pem"}),
    ({"validate_certs": False}, {"REQUESTS_CA_BUNDLE": "another.pem"}),
]


@pytest.mark.parametrize(("options", "variables"), TRUST, ids=str)
def test_a_certificate_is_trusted(
    encrypted: Source, authority: Path, options: dict[str, Any], variables: dict[str, str]
) -> None:
    if "ca_path" in options:
        options = {"ca_path": str(authority / options["ca_path"])}
    for name, value in variables.items():
        path = authority / value
        encrypted.runner.environment[name] = str(path) if path.exists() else value
    assert hosts(encrypted.list(**options)) == THREE


@pytest.mark.parametrize("trusted", [None, "another.pem"])
def test_a_certificate_of_nobody_we_know_is_refused(
    encrypted: Source, authority: Path, trusted: str | None
) -> None:
    ca_path = str(authority / trusted) if trusted else None
    place = f"127.0.0.1:{encrypted.sandbox.port}"
    encrypted.refused(f"TLS with {place} failed", "set ca_path", ca_path=ca_path, retries=3)
    assert encrypted.sandbox.requests == []


def test_a_certificate_of_another_host_is_refused(
    runner: Runner, tmp_path: Path, authority: Path
) -> None:
    with Sandbox(servers=KNOWN, tls=(authority / "api.example.com", None)) as api:
        source = Source(runner, api, tmp_path)
        source.refused("TLS with", "127.0.0.1", "ca_path", ca_path=str(authority / "ca.pem"))
        assert api.requests == []


def test_the_scheme_does_not_fit(source: Source, encrypted: Source) -> None:
    url = source.sandbox.url.replace("http:", "https:")
    source.refused("does not use TLS", "base_url", base_url=url)
    encrypted.refused("Cannot reach", base_url=encrypted.sandbox.url.replace("https:", "http:"))


def test_time_and_tries_from_the_environment(source: Source) -> None:
    environment = source.runner.environment
    environment["SERVER_MANAGEMENT_TIMEOUT"] = "0.5"
    environment["SERVER_MANAGEMENT_RETRIES"] = "1"
    source.sandbox.fail(Fault.hang(), times=None)
    source.refused("within 0.5 s", "Tried 2 times", retries=None)
    assert len(source.sandbox.requests) == 2
    first, second = (request.received for request in source.sandbox.requests)
    assert 0.5 + 0.25 <= second - first < 5
    # What the file says wins.
    source.refused("within 0.2 s", timeout=0.2, retries=0)
    assert len(source.sandbox.requests) == 3


def test_a_wait_that_the_api_asks_for_is_kept(source: Source) -> None:
    source.sandbox.fail(Fault(status=429, retry_after=2), times=1)
    assert hosts(source.list(retries=1)) == THREE
    first, second = (request.received for request in source.sandbox.requests)
    assert 2 <= second - first < 7


@pytest.mark.promise("home")
def test_a_redirect_is_not_followed(source: Source) -> None:
    with Sandbox(servers=KNOWN, token=source.sandbox.token) as other:
        target = f"{other.url}/api/v1/servers"
        for status in (301, 302, 307, 308):
            source.sandbox.fail(Fault(status=status, location=target), times=1)
            source.refused(f'redirects to "{target}"', f"HTTP {status}", "set base_url to it")
        assert other.requests == []


@pytest.mark.promise("home")
def test_a_next_link_leads_nowhere_else(runner: Runner, tmp_path: Path) -> None:
    with Sandbox(servers=9, page_size=4, pagination="link") as api, Sandbox() as other:
        api.fail(Fault(link=f'<{other.url}{{next}}>; rel="next"'), times=None)
        Source(runner, api, tmp_path).refused("another origin", pagination="link")
        assert other.requests == []


def test_a_distant_host_through_a_proxy(source: Source) -> None:
    source.runner.environment["http_proxy"] = source.sandbox.url
    result = source.run(base_url=DISTANT).ok()
    assert hosts(result.json()) == THREE
    assert result.says("The token is sent unencrypted to api.example.com:80: use https")
    assert result.stderr.count("unencrypted") == 1
    (request,) = source.sandbox.requests
    assert request.headers["Host"] == "api.example.com"
    source.sandbox.stop()
    source.refused("Cannot reach api.example.com:80 through the proxy", base_url=DISTANT)
    # What is excepted goes straight there.
    source.sandbox.start()
    source.runner.environment.update(http_proxy="http://127.0.0.1:9", no_proxy="127.0.0.1")
    assert hosts(source.list()) == THREE


@pytest.mark.promise("whole")
def test_a_listing_that_shifts_gives_each_server_once(runner: Runner, tmp_path: Path) -> None:
    with Sandbox(servers=9, page_size=4, pagination="page") as api:
        api.fail(Fault(shift=1), page=2, times=None)
        api.fail(Fault(shift=1), page=3, times=None)
        listing = Source(runner, api, tmp_path).list(pagination="page")
        assert hosts(listing) == sorted(server["name"] for server in api.servers)


@pytest.mark.promise("bounded")
@pytest.mark.parametrize("fault", [Fault.gzip_bomb(), Fault.endless()], ids=["gzip", "endless"])
def test_a_response_that_is_too_large(source: Source, fault: Fault) -> None:
    source.sandbox.fail(fault, times=None)
    source.refused("larger than 128 MiB")
