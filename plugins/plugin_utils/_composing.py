# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Name hosts and evaluate their expressions, so that no host has the name of a group.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._text import summarise
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import (
    Expressions,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._groups import GroupNames
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host, name_hosts
from ansible_collections.server_management.cloud.plugins.plugin_utils._names import Naming

_ATTEMPTS = 3


def name_and_compose(
    hosts: list[Host],
    expressions: Expressions,
    group_names: GroupNames,
    is_taken: Callable[[str, str], bool],
    inventory: Any,
) -> Naming:
    """Name the hosts, sort them, and add the variables and groups of the expressions to them.

    Not all groups are known before the hosts are composed. If a host turns out to have the name of
    a group, naming and composing are repeated without that name. Other names can make expressions
    return other groups, so the number of attempts is limited.
    """
    for _attempt in range(_ATTEMPTS):
        naming = name_hosts(hosts, group_names, is_taken)
        composed = expressions.compose_all(hosts, inventory)
        made = {group for extra in composed for group in extra.groups}
        made.update(name for pair in expressions.parents for name in pair)
        clashing = made.intersection(host.name for host in hosts)
        if not clashing:
            break
        group_names.add(made)
    else:
        raise OptionError(
            f"keyed_groups: creates groups with the names of hosts: {summarise(clashing)}.",
            "Set prefix.",
        )
    for host, extra in zip(hosts, composed, strict=True):
        host.variables.update(extra.variables)
        host.groups += extra.groups
    return naming
