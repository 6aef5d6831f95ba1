# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables that make OpenSSH remember host keys by server."""

import re

from support.fixtures import KNOWN

from .conftest import cached


def arguments(listing, host):
    """Return the arguments of ssh, sftp and scp for a host; None for a program without any."""
    variables = listing["_meta"]["hostvars"][host]
    programs = ("ssh", "sftp", "scp")
    return [variables.get(f"ansible_{program}_extra_args") for program in programs]


def test_an_alias_is_plain_text_even_if_the_id_is_a_template(sources):
    hostile = {**KNOWN[0], "id": "{{ 7 * 7 }} -o ProxyCommand=id\n%h", "name": "hostile"}
    sources.add("known", sources.serve(servers=KNOWN), host_key_alias=True)
    sources.add("template", sources.serve(servers=[hostile]), host_key_alias=True)
    listing = sources.check().json()
    assert arguments(listing, "web-1") == ["-o HostKeyAlias=srv_1"] * 3
    assert arguments(listing, "db-1") == ["-o HostKeyAlias=srv_3"] * 3
    alias, *others = arguments(listing, "hostile")
    assert re.fullmatch(r"-o HostKeyAlias=77-oroxyommandidh\+[0-9a-f]{32}", alias)
    assert others == [alias, alias]


def test_aliases_are_not_in_the_cache(source):
    folder = source.folder / "cache"
    listing = source.list_silently(host_key_alias=True, **cached(folder))
    assert arguments(listing, "web-1") == ["-o HostKeyAlias=srv_1"] * 3
    (entry,) = folder.iterdir()
    assert "HostKeyAlias" not in entry.read_text()
    listing = source.list_silently(**cached(folder))
    assert arguments(listing, "web-1") == [None] * 3
    assert len(source.sandbox.requests) == 1
