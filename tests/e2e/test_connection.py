# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""How an account is reached, its faults, and its size."""

import gzip
import resource

import pytest
import trustme

from sandbox import Fault

# In KiB. A listing may have 32 MiB; four million objects take about 430 MB.
MOST_MEMORY = 600_000

# A compressed listing of four million empty objects.
OBJECTS = gzip.compress(b'{"data":[' + b"{}," * 2**22 + b'0],"has_more":false}', 1)
BOMBS = {
    "objects": (
        Fault(body=OBJECTS, headers={"Content-Encoding": "gzip"}),
        "Element 0 of data has no text id",
    ),
    "gzip": (Fault.gzip_bomb(), "larger than 32 MiB"),
    "nested": (Fault.nested(1_000_000), "The response is not JSON"),
}


def test_a_bomb_takes_limited_memory(sources):
    for name, (fault, text) in BOMBS.items():
        account = sources.add(name, fails=text)
        account.fail(fault, times=None)
    # With a setting of its own, the command is not a fork but a child of this process.
    sources.check(env={"PYTHONUNBUFFERED": "1"})
    # The peak of the largest process so far.
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert usage.ru_maxrss < MOST_MEMORY


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
    sources.check(env={"SERVER_MANAGEMENT_CA_PATH": str(tmp_path / "another.pem")})


def test_only_distant_hosts_are_reached_through_a_proxy(sandbox, sources):
    proxy = sources.serve("distant-1")
    # Only an API on this machine has servers on it.
    proxy.servers[0]["ipv4"] = "127.0.0.5"
    warns = ("use https", "No usable IPv4 address")
    sources.add("distant", proxy, warns=warns, base_url="http://api.example.com")
    sources.add("here", sandbox)
    sources.check(env={"http_proxy": proxy.url, "no_proxy": ""})
    (request,) = proxy.requests
    assert request.headers["Host"] == "api.example.com"
    assert " ansible/2." in request.headers["User-Agent"]


@pytest.mark.slow
def test_a_hundred_thousand_servers_are_listed(sources):
    sources.add("many", sources.serve(servers=100_000))
    command = ("-i", sources.all["many"].path, "all", "--list-hosts")
    # As above, a child of this process.
    env = {"PYTHONUNBUFFERED": "1"}
    result = sources.runner.ansible(*command, env=env, time_limit=900).ok()
    assert result.stderr == ""
    assert result.stdout.startswith("  hosts (100000):")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert usage.ru_maxrss < 1_200_000  # three times what it takes
