# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._ssh import (
    host_key_alias,
    set_host_key_aliases,
)

pytestmark = pytest.mark.promise("misdirected")

# Including surrogates, which JSON can contain without a partner.
ids = st.text(st.characters(codec=None), min_size=1, max_size=40)
spellings = st.text(st.sampled_from("aAbB._-+ 0"), min_size=1, max_size=6)


@pytest.mark.parametrize("server_id", ["srv_4f2a91c07d", "a", "0", "-x", "..", "none", "a.b-c_d"])
def test_a_plain_id_is_its_own_alias(server_id: str) -> None:
    assert host_key_alias(server_id) == server_id


@pytest.mark.parametrize(
    ("server_id", "remainder"),
    [
        ("srv_AB", "srv_"),
        ("srv_ab\n", "srv_ab"),
        ("srv_ab -o ProxyCommand=id", "srv_ab-oroxyommandid"),
        ("%h'\"$(id)`id`\\", "hidid"),
        ("{{ 7 * 7 }}", "77"),
        ("é漢", ""),
        ("\ud800", ""),
        ("*,!?#@|", ""),
        ("a+b", "ab"),
    ],
)
def test_another_id_becomes_its_allowed_characters_and_a_digest(
    server_id: str, remainder: str
) -> None:
    alias = host_key_alias(server_id)
    assert re.fullmatch(re.escape(remainder) + r"\+[0-9a-f]{32}", alias)


@given(st.lists(ids | spellings, min_size=2, max_size=8, unique=True))
@example(["srv_ab", "srv_AB", "SRV_AB", "srv_ab ", " srv_ab"])
def test_different_ids_never_share_an_alias_in_any_case(server_ids: list[str]) -> None:
    taken = [*server_ids, *map(host_key_alias, server_ids)]
    aliases = {server_id: host_key_alias(server_id).lower() for server_id in taken}
    assert len(set(aliases.values())) == len(aliases)


@given(ids)
def test_the_option_is_two_plain_words(server_id: str) -> None:
    host = Host(Server(server_id, {}), {})
    set_host_key_aliases([host])
    assert sorted(host.variables) == [
        f"ansible_{name}_extra_args" for name in ("scp", "sftp", "ssh")
    ]
    for value in host.variables.values():
        assert re.fullmatch(r"-o HostKeyAlias=[a-z0-9._+-]+", value)
        assert shlex.split(value) == ["-o", f"HostKeyAlias={host_key_alias(server_id)}"]
