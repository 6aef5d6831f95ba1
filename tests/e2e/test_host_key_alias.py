# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables that make OpenSSH remember host keys by server."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.fixtures import KNOWN
from support.run import write_inventory

from .conftest import Source, Sources, cached

SSH, SFTP, SCP = (f"ansible_{program}_extra_args" for program in ("ssh", "sftp", "scp"))


def arguments(listing: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the three variables of each host, None where a host does not have one."""
    hostvars = listing["_meta"]["hostvars"]
    return {
        host: [variables.get(name) for name in (SSH, SFTP, SCP)]
        for host, variables in hostvars.items()
    }


@pytest.mark.promise("data", "cache")
def test_each_host_has_its_own_alias_in_plain_text(source: Source, sources: Sources) -> None:
    hostile = "{{ 7 * 7 }} -o ProxyCommand=id\n%h"
    options = cached(source.folder / "cache")
    api = sources.serve(servers=KNOWN)
    sources.add("alias", api, host_key_alias=True, **options)
    other = sources.serve(servers=[{**KNOWN[0], "id": hostile, "name": "hostile"}])
    sources.add("template", other, host_key_alias=True)
    # An expression wins for the hosts for which it works.
    compose = {SSH: "'-C' if server_management_name == 'db-1' else undefined_name", SCP: "'-O'"}
    warns = f"compose: {SSH}"
    sources.add_with_prefix(
        "composed", source.sandbox, warns=warns, host_key_alias=True, compose=compose
    )
    # A variable of a group is weaker, and what is common to all connections remains.
    text = f"all:\n  vars:\n    {SSH}: -v\n    ansible_ssh_common_args: -J jump\n"
    groups = write_inventory(source.folder, text, "groups.yml")
    listing = sources.check("-i", groups).json()
    found = arguments(listing)
    last = found.pop("hostile")
    assert len(set(last)) == 1
    assert re.fullmatch(r"-o HostKeyAlias=77-oroxyommandidh\+[0-9a-f]{32}", last[0])
    alias = {server["name"]: f"-o HostKeyAlias={server['id']}" for server in KNOWN}
    assert found == {
        **{name: [value] * 3 for name, value in alias.items()},
        "composed-db-1": ["-C", alias["db-1"], "-O"],
        "composed-web-1": [alias["web-1"], alias["web-1"], "-O"],
        "composed-web-2": [alias["web-2"], alias["web-2"], "-O"],
    }
    assert listing["_meta"]["hostvars"]["web-1"]["ansible_ssh_common_args"] == "-J jump"
    # It is off by default and not in the cache.
    (entry,) = (source.folder / "cache").iterdir()
    assert "HostKeyAlias" not in entry.read_text()
    sources.all.clear()
    sources.add("plain", api, **options)
    assert arguments(sources.check().json())["web-1"] == [None] * 3
    assert len(api.requests) == 1
