# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection options, and where the token goes and where it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme

from sandbox import Fault, Sandbox
from support.fixtures import KNOWN

from .conftest import Sources


@pytest.fixture
def tls_sandbox(sources: Sources, tmp_path: Path) -> Sandbox:
    """Serve the known servers with a certificate of the authority in ca.pem.

    another.pem has an authority that the sandbox does not use.
    """
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "another.pem"))
    certificate = tmp_path / "certificate.pem"
    issued = authority.issue_cert("127.0.0.1")
    issued.private_key_and_cert_chain_pem.write_to_path(str(certificate))
    return sources.serve(servers=KNOWN, tls=(certificate, None))


def test_a_certificate_is_trusted_by_the_file_then_the_environment(
    tls_sandbox: Sandbox, sources: Sources, tmp_path: Path
) -> None:
    bundle = str(tmp_path / "ca.pem")
    sources.add_with_prefix(
        "environment", tls_sandbox, fails=("TLS with 127.0.0.1:", "set ca_path")
    )
    sources.add_with_prefix("file", tls_sandbox, ca_path=bundle)
    sources.add_with_prefix("unchecked", tls_sandbox, validate_certs=False)
    another = str(tmp_path / "another.pem")
    sources.check(env={"SERVER_MANAGEMENT_CA_PATH": another, "REQUESTS_CA_BUNDLE": bundle})
    assert len(tls_sandbox.requests) == 2
    # In the other direction.
    sources.all.clear()
    sources.add_with_prefix("environment", tls_sandbox)
    sources.check(env={"SERVER_MANAGEMENT_CA_PATH": bundle, "REQUESTS_CA_BUNDLE": another})


@pytest.mark.promise("bounded", "whole")
def test_the_file_takes_precedence_for_time_and_tries(sources: Sources) -> None:
    texts = ("within 0.5 s", "Tried 2 times")
    environment = sources.add("environment", fails=texts, retries=None)
    file = sources.add("file", fails="within 0.2 s", timeout=0.2, retries=0)
    for api in (environment, file):
        api.fail(Fault.hang(), times=None)
    retried = sources.add("retried", retries=2, timeout=30)
    retried.fail(Fault(status=503, retry_after=0), times=1)
    retried.fail(Fault.reset(), times=1)
    sources.check(env={"SERVER_MANAGEMENT_TIMEOUT": "0.5", "SERVER_MANAGEMENT_RETRIES": "1"})
    assert len(file.requests) <= 1
    assert len(retried.requests) == 3


def test_a_distant_host_through_a_proxy(sources: Sources) -> None:
    proxy = sources.serve("distant-1")
    # Only an API on this machine has servers on it.
    proxy.servers[0]["ipv4"] = "127.0.0.5"
    warns = (
        "The token is sent unencrypted to api.example.com:80: use https",
        "No usable IPv4 address for 1 server: distant-1 (srv_1)",
    )
    url = "http://api.example.com"
    sources.add("distant", proxy, hosts=["distant-1"], warns=warns, base_url=url)
    straight = sources.add("straight")
    text = "Cannot reach api.example.com:443 through the proxy"
    sources.add("no_proxy", fails=text, base_url="https://api.example.com")
    proxies = {"http_proxy": proxy.url, "https_proxy": "http://127.0.0.1:1"}
    sources.check(env={**proxies, "no_proxy": "127.0.0.1"})
    (request,) = proxy.requests
    assert request.headers["Host"] == "api.example.com"
    assert " ansible/2." in request.headers["User-Agent"]
    assert len(straight.requests) == 1
