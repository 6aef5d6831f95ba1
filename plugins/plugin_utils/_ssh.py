# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make OpenSSH remember host keys by server instead of by address.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._trust import trust

# One for each program that Ansible runs. `ansible_ssh_common_args`, which all three read, is left
# to users: that is where they configure a jump host.
_VARIABLES = ("ansible_ssh_extra_args", "ansible_sftp_extra_args", "ansible_scp_extra_args")
_is_alias = re.compile(r"[a-z0-9._-]+").fullmatch
_not_in_alias = re.compile(r"[^a-z0-9._-]+")


def set_host_key_aliases(hosts: Iterable[Host]) -> None:
    """Give each host these variables, except those that ``compose`` has set."""
    for host in hosts:
        for name, value in host_key_variables(host.server.id).items():
            host.variables.setdefault(name, value)


def host_key_variables(server_id: str) -> dict[str, Any]:
    """Return the variables that make OpenSSH look up the key of a server by its id.

    Nothing in them can be a template, a separate argument or a token that ssh expands.
    """
    option = trust(f"-o HostKeyAlias={host_key_alias(server_id)}")
    return dict.fromkeys(_VARIABLES, option)


def host_key_alias(server_id: str) -> str:
    """Return a name for known_hosts that no other id has, also if case is ignored."""
    if _is_alias(server_id):
        return server_id
    remainder = _not_in_alias.sub("", server_id)
    # JSON can have surrogates without a partner, which strict UTF-8 refuses.
    digest = hashlib.sha256(server_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    # No id that is used as it is has a plus sign.
    return f"{remainder}+{digest}"
