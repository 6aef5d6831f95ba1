# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection options, proxies, and a library that is broken."""

import pytest
import trustme

from sandbox import Fault
from support.fixtures import KNOWN


@pytest.fixture
def tls_sandbox(sources, tmp_path):
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


def test_the_bundle_of_the_file_takes_precedence(tls_sandbox, sources, tmp_path):
    bundle = str(tmp_path / "ca.pem")
    texts = ("TLS with 127.0.0.1:", "set ca_path")
    sources.add_with_prefix("environment", tls_sandbox, fails=texts)
    sources.add_with_prefix("file", tls_sandbox, ca_path=bundle)
    sources.add_with_prefix("unchecked", tls_sandbox, validate_certs=False)
    sources.check(env={"SERVER_MANAGEMENT_CA_PATH": str(tmp_path / "another.pem")})
    assert len(tls_sandbox.requests) == 2


def test_the_file_takes_precedence_for_time_and_tries(sources):
    texts = ("within 0.5 s", "Tried 2 times")
    sources.add("environment", fails=texts, retries=None).fail(Fault.hang(), times=None)
    file = sources.add("file", fails="within 0.2 s", timeout=0.2, retries=0)
    file.fail(Fault.hang(), times=None)
    repeated = sources.add("repeated", retries=2, timeout=30)
    repeated.fail(Fault(status=503, retry_after=0), times=1)
    repeated.fail(Fault.reset(), times=1)
    sources.check(env={"SERVER_MANAGEMENT_TIMEOUT": "0.5", "SERVER_MANAGEMENT_RETRIES": "1"})
    assert len(file.requests) <= 1
    assert len(repeated.requests) == 3


def test_only_distant_hosts_are_reached_through_a_proxy(sources):
    proxy = sources.serve("distant-1")
    # Only an API on this machine has servers on it.
    proxy.servers[0]["ipv4"] = "127.0.0.5"
    warns = (
        "The token is sent unencrypted to api.example.com:80: use https",
        "No usable IPv4 address for 1 server: distant-1 (srv_1)",
    )
    url = "http://api.example.com"
    sources.add("distant", proxy, hosts=["distant-1"], warns=warns, base_url=url)
    refusing = sources.serve()
    refusing.fail(Fault(status=407), times=None)
    text = f"The proxy 127.0.0.1:{refusing.port} requires a user and a password"
    sources.add("refused", refusing, fails=text, base_url="https://api.example.com", retries=3)
    here = sources.add("here")
    sources.check(env={"http_proxy": proxy.url, "https_proxy": refusing.url, "no_proxy": ""})
    (request,) = proxy.requests
    assert request.headers["Host"] == "api.example.com"
    assert " ansible/2." in request.headers["User-Agent"]
    assert len(refusing.requests) == 1
    assert len(here.requests) == 1


def test_a_broken_library_is_named_with_the_path_of_the_file(source, tmp_path):
    library = tmp_path / "broken" / "requests.py"
    library.parent.mkdir()
    library.write_text("import no_such_library\n", encoding="utf-8")
    path = source.file("test.server_management.yml")
    environment = {"PYTHONPATH": str(library.parent)}
    result = source.runner.inventory("-i", path, "--list", env=environment).ok()
    result.shows(
        "test.server_management.yml: The Python library requests is installed, but can't be "
        "imported: ModuleNotFoundError: No module named 'no_such_library'."
    )
