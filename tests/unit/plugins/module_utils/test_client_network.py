# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The client with TLS, with proxies, and with servers that are not the API."""

import datetime
import re
import sys
import warnings

import pytest
import trustme

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    StatusError,
    TLSFailed,
    Unreachable,
)
from sandbox import Fault, Sandbox

LONG_AGO = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Return a folder with two CAs, and with certificates of the first one."""
    folder = tmp_path_factory.mktemp("certificates")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    trustme.CA().cert_pem.write_to_path(folder / "another.pem")
    for name, certificate in {
        "good": authority.issue_cert("127.0.0.1"),
        "elsewhere": authority.issue_cert("elsewhere.invalid"),
        "expired": authority.issue_cert("127.0.0.1", not_after=LONG_AGO),
    }.items():
        certificate.private_key_and_cert_chain_pem.write_to_path(folder / f"{name}.pem")
    return folder


# TLS.


@pytest.mark.parametrize(
    ("certificate", "bundle", "reason", "advice"),
    [
        ("good", "another", "unable to get local issuer", "^If the certificate is from .* ca_path"),
        ("elsewhere", "ca", r"'127\.0\.0\.1'", "^Check the host in base_url.* ca_path"),
        ("expired", "ca", "has expired", "^Check the clock of this machine and .* ca_path"),
    ],
)
def test_a_certificate_that_is_not_trusted_is_refused(
    read, clock, certificates, certificate, bundle, reason, advice
):
    with Sandbox(tls=(certificates / f"{certificate}.pem", None)) as sandbox:
        words = rf"TLS with 127\.0\.0\.1:{sandbox.port} failed: .*{reason}"
        with pytest.raises(TLSFailed, match=words) as caught:
            read(sandbox, verify=str(certificates / f"{bundle}.pem"), retries=2)
    assert ".." not in caught.value.message
    assert re.search(advice, caught.value.next_step)
    assert clock.waits == []
    assert sandbox.requests == []


def test_a_certificate_for_another_name_is_refused(read, certificates):
    bundle = str(certificates / "ca.pem")
    with Sandbox(tls=(certificates / "elsewhere.pem", None)) as sandbox:
        with pytest.raises(TLSFailed, match="Check the host in base_url, and any proxy"):
            read(sandbox, f"https://localhost:{sandbox.port}", verify=bundle)
        assert sandbox.requests == []


def test_the_bundle_of_the_environment_is_used_without_ca_path(read, certificates, monkeypatch):
    bundle = str(certificates / "ca.pem")
    another = str(certificates / "another.pem")
    with Sandbox(servers=3, tls=(certificates / "good.pem", None)) as sandbox:
        with pytest.raises(TLSFailed):
            read(sandbox)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", bundle)
        assert len(read(sandbox)) == 3
        with pytest.raises(TLSFailed):
            read(sandbox, verify=another)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", another)
        assert len(read(sandbox, verify=bundle)) == 3


def test_a_certificate_that_is_not_verified_causes_no_warning(read, certificates):
    with (
        Sandbox(servers=3, tls=(certificates / "expired.pem", None)) as sandbox,
        warnings.catch_warnings(record=True) as seen,
    ):
        warnings.simplefilter("always")
        assert len(read(sandbox, verify=False)) == 3
    assert seen == []
    assert read.warnings == []


@pytest.mark.parametrize("name", ["no-such.pem", "ca.pem/ca.pem"])
@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_bundle_that_cannot_be_read_is_named(
    read, clock, certificates, monkeypatch, variable, name
):
    bundle = str(certificates / name)
    monkeypatch.setenv(variable, bundle)
    words = f"^TLS with 127.0.0.1:1 failed: the CA bundle {bundle} does not exist or can't be"
    with pytest.raises(TLSFailed, match=words):
        read(Sandbox(), "https://127.0.0.1:1", retries=3)
    assert clock.waits == []


def test_the_bundle_of_certifi_is_named_if_it_cannot_be_read(read, clock, monkeypatch):
    monkeypatch.setattr("requests.utils.DEFAULT_CA_BUNDLE_PATH", "/nowhere/ca.pem")
    with pytest.raises(TLSFailed, match=r"the CA bundle /nowhere/ca.pem does not .* certifi"):
        read(Sandbox(), "https://127.0.0.1:1", retries=3)
    assert clock.waits == []


def test_plain_http_needs_no_bundle(read, sandbox, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/ca.pem")
    assert len(read(sandbox)) == 3


def test_https_to_a_port_for_http_names_the_cause(read, sandbox):
    with pytest.raises(TLSFailed, match=r"does not use TLS.*scheme and port of base_url"):
        read(sandbox, f"https://127.0.0.1:{sandbox.port}")


# Addresses and proxies.


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://127.0.0.1:1", r"127\.0\.0\.1:1: connection refused\."),
        ("http://no-such-host.invalid", r"no-such-host\.invalid:80: the name does not resolve\."),
    ],
)
def test_connection_errors_name_host_and_port(read, clock, url, words):
    with pytest.raises(Unreachable, match=f"^Cannot reach {words} Tried 2 times.* base_url"):
        read(Sandbox(), url, retries=1)


@pytest.mark.parametrize(
    ("proxy", "words"),
    [
        ("http://127.0.0.1:1", r"through the proxy 127\.0\.0\.1:1: connection refused"),
        ("http://a:secret@no-such.invalid:1", r"the proxy no-such\.invalid:1: the name does not"),
    ],
)
def test_an_error_at_the_proxy_is_reported_as_such(read, monkeypatch, proxy, words):
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(Unreachable, match=f"^Cannot reach api.invalid:443 .*{words}.*proxy"):
        read(Sandbox(), "https://api.invalid")


@pytest.mark.parametrize(
    ("proxy", "url", "code", "words"),
    [
        ("", "https://a..b", "invalid_option", r"^base_url: a\.\.b:443 is not a valid address"),
        ("", "https://*.b", "invalid_option", r"^base_url: \*\.b:443 is not a valid address"),
        ("http://a:secret@p:99999", "https://h", "invalid_option", "the URL of the proxy"),
        (
            "http://a:secret@",
            "https://h",
            "invalid_option",
            "Cannot reach h:443 through the proxy:",
        ),
        ("other://a:secret@p:1", "https://h", "invalid_option", "the URL of the proxy"),
        ("socks5://p:1", "https://h", "missing_library", "proxy p:1: .* PySocks is not installed"),
    ],
)
def test_what_no_repetition_can_repair_is_not_repeated(
    read, clock, monkeypatch, proxy, url, code, words
):
    monkeypatch.setitem(sys.modules, "socks", None)
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(CloudError, match=words) as caught:
        read(Sandbox(), url, retries=3)
    assert caught.value.code == code
    assert not caught.value.api_down
    assert clock.waits == []
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy"])
def test_a_loopback_address_never_uses_a_proxy(read, sandbox, monkeypatch, variable, host):
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "")
    assert len(read(sandbox, f"http://{host}:{sandbox.port}")) == 3


def test_a_proxy_that_refuses_a_tunnel_is_quoted_and_gets_no_token(read, sandbox, monkeypatch):
    monkeypatch.setenv("https_proxy", sandbox.url)
    sandbox.fail(Fault(status=403))
    with pytest.raises(Unreachable, match=r"the proxy .*: tunnel connection failed: 403"):
        read(sandbox, "https://api.invalid")
    (request,) = sandbox.requests
    assert request.method == "CONNECT"
    assert request.path == "api.invalid:443"
    assert request.headers["Authorization"] is None


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_requires_a_password_is_asked_once(read, clock, sandbox, monkeypatch, scheme):
    monkeypatch.setenv(f"{scheme}_proxy", sandbox.url)
    sandbox.fail(Fault(status=407), times=None)
    words = f"^The proxy 127.0.0.1:{sandbox.port} requires a user and a password .* {scheme}_proxy"
    with pytest.raises(StatusError, match=words):
        read(sandbox, f"{scheme}://api.invalid", retries=3)
    assert len(sandbox.requests) == 1
