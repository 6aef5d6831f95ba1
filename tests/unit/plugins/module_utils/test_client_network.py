# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The client with TLS, with proxies, and with servers that are not the API."""

import gc
import os
import sys

import pytest
import trustme
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _errors
from sandbox import Fault, Sandbox


@pytest.fixture
def certificates(tmp_path, monkeypatch):
    """Change to a folder with the bundles of two CAs, and with certificates of the first one."""
    monkeypatch.chdir(tmp_path)
    authority = trustme.CA()
    authority.cert_pem.write_to_path("ca.pem")
    trustme.CA().cert_pem.write_to_path("another.pem")
    for name, host in (("good", "127.0.0.1"), ("elsewhere", "elsewhere.invalid")):
        certificate = authority.issue_cert(host)
        certificate.private_key_and_cert_chain_pem.write_to_path(f"{name}.pem")


UNTRUSTED = yaml.safe_load("""
- [good.pem, 127.0.0.1, another.pem, local issuer]
- [elsewhere.pem, 127.0.0.1, ca.pem, "'127.0.0.1'"]
- [elsewhere.pem, localhost, ca.pem, "'localhost'"]
""")


@pytest.mark.usefixtures("certificates")
@pytest.mark.parametrize(("certificate", "host", "bundle", "words"), UNTRUSTED)
def test_a_certificate_that_is_not_trusted_is_refused(read, certificate, host, bundle, words):
    with Sandbox(tls=certificate) as sandbox:
        url = f"https://{host}:{sandbox.port}"
        message = rf"^TLS with {host}:\d+ failed: .*{words}.*\. Check "
        with pytest.raises(_errors.TLSFailed, match=message):
            read(sandbox, url, verify=bundle)


@pytest.mark.usefixtures("certificates")
def test_ca_path_takes_precedence_over_the_bundle_of_the_environment(read, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "ca.pem")
    with Sandbox(tls="good.pem") as sandbox:
        assert read(sandbox)
        with pytest.raises(_errors.TLSFailed):
            read(sandbox, verify="another.pem")


@pytest.mark.usefixtures("certificates")
def test_a_certificate_that_is_not_verified_causes_no_warning(read):
    with Sandbox(tls="elsewhere.pem") as sandbox:
        assert read(sandbox, verify=False)
    assert read.warning == []


def test_a_bundle_that_cannot_be_read_is_named(read, sandbox, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/dev/null")
    # As if only another user could read it: these tests may run as root.
    monkeypatch.setattr("os.access", lambda _path, mode: mode != os.R_OK)
    with pytest.raises(_errors.TLSFailed) as caught:
        read(sandbox, "https://h")
    assert str(caught.value) == (
        "TLS with h:443 failed: the CA bundle /dev/null does not exist or can't be read. "
        "Check the file, and what names it: ca_path, the environment variable REQUESTS_CA_BUNDLE "
        "or CURL_CA_BUNDLE, or else the Python library certifi."
    )


@pytest.mark.parametrize("content", ["text", "-----BEGIN CERTIFICATE-----\nx\n"])
def test_a_bundle_without_a_usable_certificate_is_named(read, sandbox, tmp_path, content):
    path = tmp_path / "ca.pem"
    path.write_text(content)
    with pytest.raises(_errors.TLSFailed, match=f"the CA bundle {path} has no certificate "):
        read(sandbox, "https://h", verify=str(path))


def test_the_bundle_of_certifi_is_named_if_it_cannot_be_read(read, sandbox, monkeypatch):
    monkeypatch.setattr("requests.utils.DEFAULT_CA_BUNDLE_PATH", "/nowhere/ca.pem")
    with pytest.raises(_errors.TLSFailed, match="the CA bundle /nowhere/ca"):
        read(sandbox, "https://h")


def test_plain_http_needs_no_file(read, sandbox, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/file")
    assert read(sandbox)


def test_https_to_a_port_for_http_names_the_cause(read, sandbox):
    with pytest.raises(_errors.TLSFailed, match=r"does not use TLS\. Check base_url"):
        read(sandbox, f"https://127.0.0.1:{sandbox.port}")


def test_an_error_at_the_proxy_is_reported_as_such(read, sandbox, monkeypatch):
    monkeypatch.setenv("https_proxy", "http://a:s@cret@127.0.0.1:1")
    words = r"^Cannot reach h:443 through the proxy 127\.0\.0\.1:1: connection refused.* or proxy"
    with pytest.raises(_errors.Unreachable, match=words):
        read(sandbox, "https://h")


# Each message is compared once.
HOPELESS = yaml.safe_load("""
- - ''
  - https://a..b
  - 'base_url, or the URL of its proxy, is not valid: a..b:443. Check base_url and, with a proxy,
     the environment variables http_proxy, https_proxy and all_proxy.'
- ['', 'https://*.b', 'base_url, or ']
- ['http://user:s3cret', 'https://h', 'base_url, or the URL of its proxy, is not valid: h:443.']
- ['other://a:secret@p:1', 'https://h', 'base_url, or the URL of its proxy, is not valid: h:443
     through the proxy p:1.']
- - socks5://p:1
  - https://h
  - 'Cannot reach h:443 through the proxy p:1: the Python library PySocks is not installed. Install
     it for PYTHON, or use a proxy for HTTP.'
""")


@pytest.mark.parametrize(("proxy", "url", "text"), HOPELESS)
def test_what_no_repetition_can_repair_is_not_repeated(
    read, sandbox, clock, monkeypatch, proxy, url, text
):
    monkeypatch.setitem(sys.modules, "socks", None)
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(_errors.CloudError) as caught:
        read(sandbox, url, retries=3)
    assert str(caught.value).replace(sys.executable, "PYTHON").startswith(text)
    assert clock.waits == []


@pytest.mark.parametrize(
    ("variable", "host"), [("http_proxy", "127.0.0.1"), ("all_proxy", "localhost")]
)
def test_a_loopback_address_never_uses_a_proxy(read, sandbox, monkeypatch, variable, host):
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    url = f"http://{host}:{sandbox.port}"
    assert read(sandbox, url)


def test_a_proxy_is_not_used_for_a_host_without_one(read, sandbox, monkeypatch):
    monkeypatch.setenv("https_proxy", sandbox.url)
    monkeypatch.setenv("no_proxy", "api.invalid")
    with pytest.raises(_errors.Unreachable):
        read(sandbox, "https://api.invalid", retries=0)
    assert sandbox.requests == []


@pytest.fixture
def _leaks():
    """Collect what http.client before Python 3.11 leaves open if CONNECT fails."""
    yield
    gc.collect()


# Each message is compared once.
REFUSALS = yaml.safe_load("""
- - http
  - 407
  - 'A proxy requires a user and a password (HTTP 407). The response came through the proxy {proxy}.
     Check the environment variables http_proxy, https_proxy and all_proxy (with a password, the
     form is http://user:password@host:port) and what the proxy allows, or list the host in
     no_proxy.'
- - https
  - 407
  - 'Cannot reach api.invalid:443 through the proxy {proxy}: tunnel connection failed: 407 '
- [https, 403, Cannot reach]
- [https, 302, Cannot reach]
- [https, 405, Cannot reach]
""")


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.usefixtures("_leaks")
@pytest.mark.parametrize(("scheme", "status", "text"), REFUSALS)
def test_a_proxy_that_refuses_is_asked_once_and_a_tunnel_gets_no_token(
    read, sandbox, monkeypatch, scheme, status, text
):
    monkeypatch.setenv("ALL_PROXY", sandbox.url)  # capital letters count, too
    sandbox.fail(Fault(status=status, body=""))
    with pytest.raises(_errors.ProxyRefused) as caught:
        read(sandbox, f"{scheme}://api.invalid", retries=3)
    assert str(caught.value).startswith(text.format(proxy=f"127.0.0.1:{sandbox.port}"))
    assert caught.value.status == status
    (request,) = sandbox.requests
    if scheme == "https":
        assert request.method == "CONNECT"
        assert request.path == "api.invalid:443"
        assert request.headers["Authorization"] is None


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.usefixtures("_leaks")
@pytest.mark.parametrize(("scheme", "status"), [("http", 503), ("https", 408), ("https", 502)])
def test_a_proxy_that_fails_is_named_and_asked_again(
    read, sandbox, clock, monkeypatch, scheme, status
):
    monkeypatch.setenv(f"{scheme}_proxy", sandbox.url)
    sandbox.fail(Fault(status=status), times=None)
    with pytest.raises(_errors.CloudError, match=rf"through the proxy 127\.0\.0\.1:{sandbox.port}"):
        read(sandbox, f"{scheme}://api.invalid", retries=1)
    assert len(sandbox.requests) == 2


# Each with another mistake, or a proxy that does not exist; then the sandbox as a proxy that fails.
PROXIES = yaml.safe_load("""
- ['http://a:s3cret@127.0.0.1:1', {}]
- ['https://a:s3cret@127.0.0.1:1', {}]
- ['socks5://a:s3cret@127.0.0.1:1', {}]
- ['other://a:s3cret@127.0.0.1:1', {}]
- ['a:s3cret@127.0.0.1:1', {}]
- ['http://a:s3cret@127.0.0.1:99999', {}]
- ['http://a:s3cret@127.0.0.1:port', {}]
- ['http://a:s3cret@127.0.0.1:1/a/path', {}]
- ['http://a:@s3cret@127.0.0.1:1', {}]
- ['http://a:/s3cret@127.0.0.1:1', {}]
- ['http://a:s3cret@[::1', {}]
- ['http://a:s3cret@a..b', {}]
- ['http://a:s3cret@', {}]
- ['http://a:s3cret', {}]
- ['a:s3cret', {}]
- [&refusing 'http://a:s3cret@127.0.0.1:{}', {status: 407}]
- [*refusing, {status: 502}]
- [*refusing, {cut: start}]
- [*refusing, {cut: headers}]
- [*refusing, {raw: !!binary eA==}]
""")


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.usefixtures("_leaks")
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(("proxy", "fault"), PROXIES)
def test_the_password_of_a_proxy_is_not_shown(
    read, sandbox, clock, monkeypatch, scheme, proxy, fault
):
    monkeypatch.setenv(f"{scheme}_proxy", proxy.format(sandbox.port))
    sandbox.fail(Fault(**fault), times=None)
    with pytest.raises(_errors.CloudError) as caught:
        read(sandbox, f"{scheme}://api.invalid", retries=1)
    assert "s3cret" not in read.shown + str(caught.value)
    assert bool(sandbox.requests) is bool(fault)
    for request in sandbox.requests:
        assert request.headers["Proxy-Authorization"]
