# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables that make OpenSSH remember host keys by server."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.run import write_inventory

from .conftest import KNOWN, Source, cached

SSH, SFTP, SCP = (f"ansible_{program}_extra_args" for program in ("ssh", "sftp", "scp"))


def arguments(listing: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the three variables of each host, None where a host does not have one."""
    hostvars = listing["_meta"]["hostvars"]
    return {
        host: [variables.get(name) for name in (SSH, SFTP, SCP)]
        for host, variables in hostvars.items()
    }


@pytest.mark.promise("data")
def test_each_host_has_its_own_alias_in_plain_text(source: Source) -> None:
    hostile = "{{ 7 * 7 }} -o ProxyCommand=id\n%h"
    source.sandbox.servers.append({**KNOWN[0], "id": hostile, "name": "hostile"})
    path = source.file(host_key_alias=True)
    # A variable of a group is weaker, and what is common to all connections remains.
    text = f"all:\n  vars:\n    {SSH}: -v\n    ansible_ssh_common_args: -J jump\n"
    groups = write_inventory(source.folder, text, "groups.yml")
    listing = source.runner.inventory("-i", path, "-i", groups, "--list").ok().json()
    found = arguments(listing)
    last = found.pop("hostile")
    assert found == {server["name"]: [f"-o HostKeyAlias={server['id']}"] * 3 for server in KNOWN}
    assert len(set(last)) == 1
    assert re.fullmatch(r"-o HostKeyAlias=77-oroxyommandidh\+[0-9a-f]{32}", last[0])
    assert listing["_meta"]["hostvars"]["web-1"]["ansible_ssh_common_args"] == "-J jump"


def test_compose_wins_host_by_host(source: Source) -> None:
    compose = {SSH: "'-C' if server_name == 'db-1' else undefined_name", SCP: "'-O'"}
    result = source.run(host_key_alias=True, compose=compose)
    assert arguments(result.ok().json()) == {
        "db-1": ["-C", "-o HostKeyAlias=srv_3", "-O"],
        "web-1": ["-o HostKeyAlias=srv_1"] * 2 + ["-O"],
        "web-2": ["-o HostKeyAlias=srv_2"] * 2 + ["-O"],
    }
    assert result.says(f"compose: {SSH}")


@pytest.mark.promise("cache")
def test_it_is_off_by_default_and_not_in_the_cache(source: Source) -> None:
    folder = source.folder / "cache"
    first = source.list(host_key_alias=True, **cached(folder))
    assert arguments(first)["web-1"] == ["-o HostKeyAlias=srv_1"] * 3
    assert "HostKeyAlias" not in "".join(path.read_text() for path in folder.iterdir())
    assert arguments(source.list(**cached(folder)))["web-1"] == [None] * 3
    assert len(source.sandbox.requests) == 1
