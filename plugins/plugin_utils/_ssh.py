# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Make OpenSSH remember host keys by server instead of by address."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from ._ansible import trust
from ._hosts import Host

# One for each program that Ansible runs. `ansible_ssh_common_args`, which all three read, is left
# to users: that is where they configure a jump host.
_VARIABLES = ("ansible_ssh_extra_args", "ansible_sftp_extra_args", "ansible_scp_extra_args")
_is_alias = re.compile(r"[a-z0-9._-]+").fullmatch
_not_in_alias = re.compile(r"[^a-z0-9._-]+")


def set_host_key_aliases(hosts: Iterable[Host]) -> None:
    """Make OpenSSH look up the key of each server by its id, unless ``compose`` has set how.

    Nothing in these variables can be a template, a separate argument or a token that ssh expands.
    """
    for host in hosts:
        option = trust(f"-o HostKeyAlias={host_key_alias(host.server.id)}")
        for name in _VARIABLES:
            host.variables.setdefault(name, option)


def host_key_alias(server_id: str) -> str:
    """Return a name for known_hosts that no other id has, also if case is ignored."""
    if _is_alias(server_id):
        return server_id
    remainder = _not_in_alias.sub("", server_id)
    # JSON can have surrogates without a partner, which strict UTF-8 refuses.
    digest = hashlib.sha256(server_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    # No id that is used as it is has a plus sign.
    return f"{remainder}+{digest}"
