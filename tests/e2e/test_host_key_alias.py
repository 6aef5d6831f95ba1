# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables that make OpenSSH remember host keys by server."""

import re


def test_an_alias_is_plain_text_even_if_the_id_is_a_template(source):
    server = source.sandbox.servers[0]
    server["id"] = "{{ 7 * 7 }} -o ProxyCommand=id\n%h"
    result = source.run(host_key_alias=True).ok()
    hostvars = result.json()["_meta"]["hostvars"]
    alias = hostvars["web-1"]["ansible_ssh_extra_args"]
    assert re.fullmatch(r"-o HostKeyAlias=77-oroxyommandidh\+[0-9a-f]{32}", alias)
    for program in ("ssh", "sftp", "scp"):
        variable = f"ansible_{program}_extra_args"
        assert hostvars["web-1"][variable] == alias
        assert hostvars["web-2"][variable] == "-o HostKeyAlias=srv_2"
