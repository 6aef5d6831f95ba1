# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is shown of requests, waits, the token's origin and the cache, and where."""

import re

from sandbox import Fault

from .conftest import cached

# Ansible's own lines are on standard error, too, so that standard output is JSON.
TO_STDERR = {"ANSIBLE_VERBOSE_TO_STDERR": "1"}


def ours(text):
    """Return our lines, with N for times."""
    # Up to 2.18, Ansible may break a line before the long path of the file.
    joined = text.replace("[WARNING]:\n", "[WARNING]: ")
    measured = re.sub(r"\d+\.\d s|\d+ ms", "N", joined)
    return re.findall(r"(?m)^[^:\n]*test\.server_management\.yml: (.*)$", measured)


def test_each_level_shows_more_and_always_on_standard_error(source):
    url = source.sandbox.url
    token = source.sandbox.token
    (source.folder / "token").write_text(token)
    path = source.file(api_token=None, api_token_file="token", regions=["eu-1", token])
    regions = "regions: no server has ********; the account has eu-1 (2), eu-2 (1)."
    summary = f"3 servers from {url} in N (1 request); 2 hosts"

    once = source.runner.inventory("-i", path, "--list", "-v")
    assert ours(once.stdout) == []
    assert ours(once.stderr) == [regions, summary]

    command = ("-i", path, "--list", "-vvvv")
    verbose = source.runner.inventory(*command, env=TO_STDERR, cwd=source.folder)
    assert verbose.json()
    origin = "token: api_token_file token"
    request = f"GET {url}/api/v1/servers: HTTP 200, N"
    servers = [
        "db-1 (srv_3) is db-1",
        "web-1 (srv_1) is web-1",
        "web-2 (srv_2) is left out by regions",
    ]
    assert ours(verbose.stderr) == [origin, request, regions, summary, *servers]


def test_retries_pages_and_decisions_of_the_cache_are_shown(sources, tmp_path):
    paged = sources.serve("a", "b", pagination="last_id", page_size=1)
    paged.fail(Fault(status=503))
    sources.add("paged", paged, retries=1, pagination="last_id", **cached(tmp_path))
    result = sources.check("-vv", env=TO_STDERR)
    result.shows("/api/v1/servers: HTTP 503, ")
    assert re.search(r"retry 1 of 1 in \d\.\d s: The API is failing", result.stderr)
    result.shows("(3 requests); 2 hosts")
    result.shows("/api/v1/servers?starting_after=srv_1: HTTP 200, ")
    result.shows("paged.server_management.yml: cache: no entry for this base_url")
