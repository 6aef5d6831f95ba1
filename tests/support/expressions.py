# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts and expressions for the unit tests of the utilities that evaluate them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import mark, trust
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import (
    Expressions,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host

# An account in which 30 servers each have the same values, but no two the same name.
WEB: list[dict[str, Any]] = [
    {
        "name": f"web-{number}",
        "region": f"eu-{number % 3}",
        "tags": [f"t{number % 3}", number % 3],
        "extra": {"team": f"t{number % 3}"},
        "number": number % 3,
        "flag": number % 2 == 0,
    }
    for number in range(90)
]


def load(value: Any) -> Any:
    """Load a value like an inventory file, so that its expressions are trusted."""
    return DataLoader().load(trust(json.dumps(value)))


def expressions_with(
    options: Mapping[str, Any],
    extra_vars: Mapping[str, Any] | None = None,
    warn: Callable[[str], None] = print,
) -> Expressions:
    """Return the expressions of an inventory file with these options."""
    options = {"hostvars_prefix": "server_management_", **load(options)}
    return Expressions(options.get, Templar(loader=DataLoader()), extra_vars or {}, warn)


def hosts_of(servers: list[dict[str, Any]], names: tuple[str, ...]) -> list[Host]:
    """Return the hosts of an account with the plugin's variables."""
    hosts = []
    for number, (fields, name) in enumerate(zip(servers, names, strict=True)):
        variables = {f"server_management_{key}": mark(value) for key, value in fields.items()}
        variables["ansible_host"] = mark(f"192.0.2.{number}")
        server = Server(f"srv_{number}", {"id": f"srv_{number}", **fields})
        hosts.append(Host(server, variables, ["common_group"], name))
    return hosts


def hosts_with(servers: list[dict[str, Any]]) -> list[Host]:
    """Return hosts with the names h0.example, h1.example and so on."""
    return hosts_of(servers, tuple(f"h{number}.example" for number in range(len(servers))))
