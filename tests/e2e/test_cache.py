# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The cache: one entry for each account, when it is rewritten, and when a stale one is used."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sandbox import Fault

from .conftest import THREE, Cases, Source, cached, check_refused, hosts, members, rewrite

pytestmark = pytest.mark.promise("cache")


def entry_in(folder: Path) -> Path:
    (entry,) = folder.iterdir()
    return entry


def age(folder: Path, seconds: float) -> None:
    """Make the entry in a folder older than it is."""
    rewrite(entry_in(folder), lambda content: {**content, "fetched": content["fetched"] - seconds})


@pytest.mark.promise("whole")
def test_commands_at_once_share_it_and_a_hit_imports_no_http(
    source: Source, tmp_path: Path
) -> None:
    path = source.file(**cached(tmp_path / "cache"))
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(source.runner.inventory, "-i", path, "--list") for run in range(2)]
        first, second = (run.result().ok() for run in runs)
    assert first.stderr == second.stderr == ""
    assert hosts(first.json()) == THREE
    asked = len(source.sandbox.requests)
    assert 1 <= asked <= 2
    program = Path(source.runner.environment["PATH"].split(":")[0], "ansible-inventory")
    hit = source.runner.run("python", "-X", "importtime", program, "-i", path, "--list").ok()
    assert first.json() == second.json() == hit.json()
    assert len(source.sandbox.requests) == asked
    assert "plugins.plugin_utils._cache" in hit.stderr
    assert "requests" not in hit.stderr


# Another command creates the directory between Ansible's check and its own attempt.
_RACE = """
import os, sys
from ansible.cli.inventory import main

make = os.makedirs

def make_late(path, *args, **kwargs):
    make(path, *args, **kwargs)
    if str(path) == sys.argv[2]:
        raise FileExistsError(17, "File exists", path)

os.makedirs = make_late
main(["ansible-inventory", "-i", sys.argv[1], "--list"])
"""


def test_a_directory_that_another_command_creates_is_used(source: Source, tmp_path: Path) -> None:
    path = source.file(**cached(tmp_path / "cache"))
    result = source.runner.run("python", "-c", _RACE, path, tmp_path / "cache").ok()
    assert result.stderr == ""
    assert hosts(result.json()) == THREE
    assert entry_in(tmp_path / "cache").is_file()


REFRESH = """
- hosts: all
  gather_facts: false
  connection: local
  tasks:
    - ansible.builtin.meta: refresh_inventory
- hosts: all
  gather_facts: false
  connection: local
  tasks:
    - ansible.builtin.debug: msg=second
"""


def test_a_playbook_and_a_flush_rewrite_it(source: Source, tmp_path: Path) -> None:
    path = source.file(**cached(tmp_path / "cache"))
    playbook = tmp_path / "refresh.yml"
    playbook.write_text(REFRESH)
    assert len(hosts(source.runner.inventory("-i", path, "--list").json())) == 3
    source.sandbox.servers.pop()
    played = source.runner.playbook("-i", path, playbook).ok()
    assert played.stdout.count("second") == 2
    assert len(source.sandbox.requests) == 2
    source.sandbox.servers.pop()
    assert "hosts (1)" in source.flush(path).ok().stdout
    assert len(hosts(source.runner.inventory("-i", path, "--list").json())) == 1
    assert len(source.sandbox.requests) == 3


def test_another_token_or_url_is_another_account(
    source: Source, cases: Cases, tmp_path: Path
) -> None:
    options = cached(tmp_path / "cache")
    cases.add("first", source.sandbox, **options)
    cases.add("denied", source.sandbox, **options, api_token="another")
    server = {**source.sandbox.servers[0], "id": "srv_other"}
    other = cases.serve(servers=[server], token=source.sandbox.token)
    cases.add("other", other, **options)
    for requests in (2, 3):  # only the rejected one asks again
        result = cases.run()
        check_refused(result, {"denied": "rejected the token"})
        assert members(result.json(), "first") == THREE
        assert members(result.json(), "other") == ["web-1_srv_other"]
        assert (len(source.sandbox.requests), len(other.requests)) == (requests, 1)
    assert len(list((tmp_path / "cache").iterdir())) == 2


# The content of the file.
BAD_FILES = {
    "empty": "",
    "open": "{",
    "file_list": "[]",
    "file_text": '"text"',
    "file_null": "null",
    "no_keys": "{}",
    "file_number": "7",
    "payload": '{"__payload__": "{"}',
}
# The entry in it, or changes of a good one.
BAD_ENTRIES: dict[str, Any] = {
    "null": None,
    "list": [],
    "text": "text",
    "format": {"format": 99},
    "servers": {"servers": "not JSON"},
}
# What Ansible's cache may read as no entry at all.
MAYBE_NONE = {"file_null", "no_keys", "null"}


def damaged(damage: Any, good: dict[str, Any]) -> Any:
    return {**good, **damage} if isinstance(damage, dict) else damage


def test_a_damaged_entry_is_a_miss_with_a_warning(cases: Cases, tmp_path: Path) -> None:
    apis = {case: cases.add(case, **cached(tmp_path / case)) for case in (*BAD_FILES, *BAD_ENTRIES)}
    cases.list()
    for case, content in BAD_FILES.items():
        entry_in(tmp_path / case).write_text(content)
    for case, damage in BAD_ENTRIES.items():
        rewrite(entry_in(tmp_path / case), partial(damaged, damage))
    result = cases.run()
    for case in apis:
        assert members(result.json(), case) == [f"{case}-1"], case
        text = f"{case}.server_management.yml: The cache entry is damaged and not used"
        assert result.says(text) or case in MAYBE_NONE, case
    # The new entries are good.
    assert hosts(cases.list()) == sorted(f"{case}-1" for case in apis)
    assert {case: len(api.requests) for case, api in apis.items()} == dict.fromkeys(apis, 2)


# Whether a listing that is too old is used after a fault of the API.
FAULTS = {
    "reset": (Fault.reset(), True),
    "throttled": (Fault(status=429), True),
    "failing": (Fault(status=503), True),
    "token": (Fault(status=401), False),
    "scope": (Fault(status=403), False),
    "malformed": (Fault(body="<html>"), False),
    "damaged": (Fault(status=503), False),
}


def test_a_stale_entry_is_used_while_the_api_is_down(cases: Cases, tmp_path: Path) -> None:
    apis = {
        case: cases.add(case, **cached(tmp_path / case), cache_timeout=60, stale_cache_timeout=600)
        for case in ("works", *FAULTS)
    }
    cases.list()
    for case in apis:
        age(tmp_path / case, 100)
    entry = entry_in(tmp_path / "damaged")
    entry.write_text(entry.read_text().replace("has_more", "has_less"))
    for case, (fault, _is_used) in FAULTS.items():
        apis[case].fail(fault, times=None)
    result = cases.run()
    used = [case for case, (_fault, is_used) in FAULTS.items() if is_used]
    assert hosts(result.json()) == sorted(f"{case}-1" for case in ("works", *used))
    for case in apis:
        text = f"{case}.server_management.yml: Using a stale listing, 1"
        assert result.says(text) == (case in used), case
    assert len(apis["works"].requests) == 2
    check_refused(result, {"damaged": ("is damaged and not used", "HTTP 503")})
    for case in used:
        age(tmp_path / case, 600)
    assert hosts(cases.run().json()) == ["works-1"]
