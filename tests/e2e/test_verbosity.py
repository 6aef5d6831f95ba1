# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is shown of requests, waits, the token's origin and the cache, and where."""

import re

from sandbox import Fault
from sandbox.account import SERVER

from .conftest import as_arguments, cached, hosts

TOKEN = "a-long-secret-token-of-an-account"


def ours(text):
    """Return our lines, with times replaced."""
    # Up to 2.18, Ansible may break a line before the long path of the file.
    joined = text.replace("[WARNING]:\n", "[WARNING]: ")
    lines = re.findall(r"(?m)^[^:\n]*test\.server_management\.yml: (.*)$", joined)
    return [re.sub(r"\d+\.\d s|\d+ ms", "T", line) for line in lines]


def test_each_level_shows_more_and_always_on_standard_error(source):
    url = source.sandbox.url
    source.sandbox.token = TOKEN
    (source.folder / "prod").mkdir()
    (source.folder / "prod" / "token").write_text(TOKEN)
    path = source.file(api_token=None, api_token_file="prod/token", regions=["eu-1", TOKEN])
    arguments = ["-i", path, "--list"]
    verbose = [
        "regions: no server has ********; the account has eu-1 (2), eu-2 (1).",
        f"3 servers from {url} in T (1 request); 2 hosts after regions",
    ]

    once = source.runner.inventory(*arguments, "-v").ok()
    assert ours(once.stdout) == []
    assert ours(once.stderr) == verbose

    twice = source.runner.inventory(*arguments, "-vvvv", cwd=source.folder).ok()
    assert ours(twice.stdout) == []
    origin, request, *rest = ours(twice.stderr)
    assert origin == "token: api_token_file prod/token"
    assert re.fullmatch(rf"GET {url}/api/v1/servers: HTTP 200, T, \d+ bytes", request)
    assert rest == verbose
    assert TOKEN not in once.output + twice.output

    # Ansible's own lines can be on standard error, too; ours are there once.
    to_stderr = {"ANSIBLE_VERBOSE_TO_STDERR": "1"}
    third = source.runner.inventory(*arguments, "-vvvv", env=to_stderr).ok()
    assert hosts(third.json()) == ["db-1", "web-1"]
    assert len(ours(third.stderr)) == 4


def test_retries_pages_and_decisions_of_the_cache_are_shown(sources):
    linked = sources.serve(*"abcde", pagination="link", page_size=4, token=TOKEN)
    linked.fail(Fault(status=503), times=1)
    sources.add("linked", linked, retries=1, pagination="link")
    servers = [{**SERVER, "id": f"srv#{name}", "name": name} for name in "fghij"]
    cursor = sources.serve(servers=servers, pagination="cursor", page_size=4)
    sources.add("cursor", cursor, pagination="cursor", **cached(sources.folder / "cache"))
    paths = as_arguments(case.path for case in sources.all.values())
    result = sources.runner.inventory(*paths, "--list", "-vv").ok()
    page = f"linked.server_management.yml: GET {linked.url}/api/v1/servers"
    assert f"{page}: HTTP 503, " in result.stderr
    assert re.search(r"retry 1 of 1 in \d\.\d s: The API is failing \(HTTP 503\)", result.stderr)
    assert f"{page}?...: HTTP 200, " in result.stderr  # its values can be secrets
    assert "resume=" not in result.output
    assert f"GET {cursor.url}/api/v1/servers?starting_after=srv%23i: HTTP 200" in result.stderr
    assert "cursor.server_management.yml: cache: no entry for this base_url" in result.stderr
    assert "(3 requests); 5 hosts" in result.stderr
    assert TOKEN not in result.output
