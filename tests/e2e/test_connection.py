# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection options, and proxies."""

import trustme


def write_authority(path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(path))
    return authority


def test_the_bundle_of_the_file_takes_precedence(sources, tmp_path):
    write_authority(tmp_path / "another.pem")
    authority = write_authority(tmp_path / "ca.pem")
    certificate = tmp_path / "certificate.pem"
    issued = authority.issue_cert("127.0.0.1")
    issued.private_key_and_cert_chain_pem.write_to_path(str(certificate))
    api = sources.serve("web-1", tls=certificate)
    refused = ("TLS with 127.0.0.1:", "set ca_path")
    sources.add("environment", api, fails=refused)
    sources.add("file", api, ca_path="ca.pem")
    sources.add("unchecked", api, validate_certs=False)
    # A wrong path is an error even if nothing uses it.
    missing = ("missing.server_management.yml: ca_path: ", "no such file or directory")
    sources.add("missing", api, fails=missing, ca_path="nope.pem", validate_certs=False)
    bundle = str(tmp_path / "another.pem")
    sources.check(env={"SERVER_MANAGEMENT_CA_PATH": bundle})


def test_only_distant_hosts_are_reached_through_a_proxy(source, sources):
    proxy = sources.serve("distant-1")
    # Only an API on this machine has servers on it.
    proxy.servers[0]["ipv4"] = "127.0.0.5"
    warns = (
        "The token is sent unencrypted to api.example.com:80: use https",
        "No usable IPv4 address for 1 server: distant-1 (srv_1)",
    )
    url = "http://api.example.com"
    sources.add("distant", proxy, warns=warns, base_url=url)
    sources.add("here", source.sandbox)
    sources.check(env={"http_proxy": proxy.url, "no_proxy": ""})
    (request,) = proxy.requests
    assert request.headers["Host"] == "api.example.com"
    assert " ansible/2." in request.headers["User-Agent"]
