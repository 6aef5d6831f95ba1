# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is shown of requests, waits and the cache, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox import Fault
from support.fixtures import KNOWN

from .conftest import Source, Sources, as_arguments, cached, hosts

TOKEN = "a-long-secret-token-of-an-account"


def ours(text: str) -> Iterator[str]:
    """Yield our lines, with times replaced."""
    # Up to 2.18, Ansible may break a line before the long path of the file.
    for line in text.replace("[WARNING]:\n", "[WARNING]: ").splitlines():
        source, colon, message = line.partition(": ")
        if colon and source.endswith("test.server_management.yml"):
            yield re.sub(r"\d+\.\d s|\d+ ms", "T", message)


@pytest.mark.promise("secret")
def test_each_level_shows_more_and_always_on_standard_error(source: Source) -> None:
    url, source.sandbox.token = source.sandbox.url, TOKEN
    path = source.file(api_token=TOKEN, retries=1, regions=["eu-1", TOKEN])
    verbose = [
        "regions: no server has ********; the account has eu-1 (2), eu-2 (1).",
        f"3 servers from {url} in T (1 request); 2 hosts after regions",
    ]
    for level in (1, 4):
        arguments = ["-i", path, "--list", "-" + "v" * level]
        result = source.runner.inventory(*arguments).ok()
        assert not list(ours(result.stdout)), level
        shown = list(ours(result.stderr))
        assert shown[-2:] == verbose, level
        assert len(shown) == (2 if level == 1 else 4), level
        assert TOKEN not in result.output
    assert re.fullmatch(rf"GET {url}/api/v1/servers: HTTP 200, T, \d+ bytes", shown[1])
    assert shown[0] == "token: api_token"
    # Ansible's own lines can be on standard error, too; ours are there once.
    environment = {"ANSIBLE_VERBOSE_TO_STDERR": "1"}
    result = source.runner.inventory(*arguments, env=environment).ok()
    assert hosts(result.json()) == ["db-1", "web-1"]
    assert len(list(ours(result.stderr))) == len(shown)


@pytest.mark.promise("secret")
def test_retries_pages_and_decisions_of_the_cache_are_shown(sources: Sources) -> None:
    options: dict[str, Any] = {"pagination": "link", "api_token": TOKEN}
    api = sources.serve(*"abcde", pagination="link", page_size=4, token=TOKEN)
    sources.add("linked", api, retries=1, **options)
    api.fail(Fault(status=503), times=1)
    servers = [{**KNOWN[0], "id": f"srv#{name}", "name": name} for name in "fghij"]
    cursor = sources.serve(servers=servers, pagination="cursor", page_size=4)
    sources.add("cursor", cursor, pagination="cursor", **cached(sources.folder / "cache"))
    paths = as_arguments(case.path for case in sources.all.values())
    result = sources.runner.inventory(*paths, "--list", "-vv").ok()
    page = f"linked.server_management.yml: GET {api.url}/api/v1/servers"
    assert f"{page}: HTTP 503, " in result.stderr
    assert re.search(r"retry 1 of 1 in \d\.\d s: The API is failing \(HTTP 503\)", result.stderr)
    assert f"{page}?...: HTTP 200, " in result.stderr  # its values can be secrets
    assert "resume=" not in result.output
    assert f"GET {cursor.url}/api/v1/servers?starting_after=srv%23i: HTTP 200" in result.stderr
    assert "cursor.server_management.yml: cache: no entry for this base_url" in result.stderr
    assert "(3 requests); 5 hosts" in result.stderr
    assert TOKEN not in result.output
