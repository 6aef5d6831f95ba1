# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection options, and where the token goes and where it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trustme

from sandbox import Fault, Sandbox

from .conftest import KNOWN, Cases, check_refused, members, prefixed


@pytest.mark.promise("home")
def test_every_form_of_a_base_url_leads_to_the_same_request(cases: Cases) -> None:
    (cases.runner.home / ".netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    apis = []
    for prefix in ("", "/cloud"):
        for number, ending in enumerate(("", "/", "/api/v1", "/api/v1/")):
            case = f"prefix_{number}" if prefix else f"plain_{number}"
            api = cases.serve(f"{case}-1", prefix=prefix)
            cases.add(case, api, base_url=f"{api.url}{ending}")
            apis.append((case, api))
    listing = cases.list()
    for case, api in apis:
        assert members(listing, case) == [f"{case}-1"], case
        (request,) = api.requests
        assert request.path == f"{api.prefix}/api/v1/servers", case
        assert (request.method, request.query, request.body) == ("GET", {}, b"")
        assert request.headers["Authorization"] == f"Bearer {api.token}"
        assert request.headers["User-Agent"].startswith("server_management.cloud/")
        assert " ansible/2." in request.headers["User-Agent"]


@pytest.fixture
def encrypted(cases: Cases, tmp_path: Path) -> Sandbox:
    """Serve an account over TLS; ca.pem has its CA, and another.pem a CA that it does not use."""
    ours = trustme.CA()
    ours.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "another.pem"))
    certificate = tmp_path / "certificate.pem"
    ours.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(certificate))
    return cases.serve(servers=KNOWN, tls=(certificate, None))


# The environment of each command; whether its CA is trusted without an option is the last item.
@pytest.mark.parametrize(
    ("variables", "is_trusted"),
    [
        ({"SERVER_MANAGEMENT_CA_PATH": "another.pem", "REQUESTS_CA_BUNDLE": "ca.pem"}, False),
        ({"SERVER_MANAGEMENT_CA_PATH": "ca.pem", "REQUESTS_CA_BUNDLE": "another.pem"}, True),
        ({"SERVER_MANAGEMENT_VALIDATE_CERTS": "false", "REQUESTS_CA_BUNDLE": "another.pem"}, True),
    ],
    ids=["neither", "ca_path", "validate_certs"],
)
def test_a_certificate_is_trusted(
    encrypted: Sandbox, cases: Cases, tmp_path: Path, variables: dict[str, str], is_trusted: bool
) -> None:
    options: dict[str, dict[str, Any]] = {
        "environment": {},
        "file": {"ca_path": str(tmp_path / "ca.pem")},
        "unchecked": {"validate_certs": False},
    }
    for case, chosen in options.items():
        cases.share(case, encrypted, **chosen)
    result = cases.run(
        env={
            name: value if value == "false" else str(tmp_path / value)
            for name, value in variables.items()
        }
    )
    if is_trusted:
        assert result.stderr == ""
    else:
        check_refused(result, {"environment": ("TLS with 127.0.0.1:", "set ca_path")})
    for case in options:
        expected = prefixed(case) if is_trusted or case != "environment" else []
        assert members(result.json(), case) == expected, case
    assert len(encrypted.requests) == 2 + is_trusted


@pytest.mark.promise("bounded")
def test_the_file_takes_precedence_for_time_and_tries(cases: Cases) -> None:
    environment = cases.add("environment", retries=None)
    file = cases.add("file", timeout=0.2, retries=0)
    for api in (environment, file):
        api.fail(Fault.hang(), times=None)
    variables = {"SERVER_MANAGEMENT_TIMEOUT": "0.5", "SERVER_MANAGEMENT_RETRIES": "1"}
    texts = {"environment": ("within 0.5 s", "Tried 2 times"), "file": "within 0.2 s"}
    check_refused(cases.run(env=variables), texts)
    assert len(file.requests) == 1
    first, second = (request.received for request in environment.requests)
    assert second - first >= 0.5 + 0.25


@pytest.mark.promise("whole")
def test_retries_and_an_allowed_partial_listing(cases: Cases) -> None:
    retried = cases.add("retried", retries=2)
    retried.fail(Fault(status=503, retry_after=0), times=1)
    retried.fail(Fault.reset(), times=1)
    partial = cases.add("partial", allow_partial=True)
    partial.fail(Fault(has_more=True), times=None)
    result = cases.run()
    listing = result.json()
    for case in ("retried", "partial"):
        assert members(listing, case) == [f"{case}-1"], case
    assert len(retried.requests) == 3
    assert result.says("partial.server_management.yml: The API has more servers than the 1")
    assert result.stderr.count("[WARNING]") == 1


def test_a_distant_host_through_a_proxy(cases: Cases) -> None:
    proxy = cases.add("distant", base_url="http://api.example.com")
    straight = cases.add("straight")
    cases.add("no_proxy", base_url="https://api.example.com")
    result = cases.run(
        env={
            "http_proxy": proxy.url,
            "https_proxy": "http://127.0.0.1:1",
            "no_proxy": "127.0.0.1",
        }
    )
    assert members(result.json(), "distant") == ["distant-1"]
    assert members(result.json(), "straight") == ["straight-1"]
    assert result.says(
        "distant.server_management.yml: The token is sent unencrypted to api.example.com:80: "
        "use https"
    )
    assert result.stderr.count("unencrypted") == 1
    (request,) = proxy.requests
    assert request.headers["Host"] == "api.example.com"
    assert len(straight.requests) == 1
    check_refused(result, {"no_proxy": "Cannot reach api.example.com:443 through the proxy"})
