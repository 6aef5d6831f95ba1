# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts and expressions for the unit tests of the utilities that evaluate them."""

from __future__ import annotations

import json
from typing import Any

from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import mark, trust
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import (
    Expressions,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host


def load(value: Any) -> Any:
    """Load a value like an inventory file, so that its expressions are trusted."""
    return DataLoader().load(trust(json.dumps(value)))


def expressions_with(**options: Any) -> Expressions:
    """Return the expressions of an inventory file with these options."""
    loaded = load({"hostvars_prefix": "server_management_", **options})
    return Expressions(loaded.get, Templar(loader=DataLoader()), {})


def host_with(number: int = 0, **fields: Any) -> Host:
    """Return the host of a server with these fields, before it has a name."""
    server_id = f"srv_{number}"
    variables = {"ansible_host": "192.0.2.1"}
    for name, value in fields.items():
        variables[f"server_management_{name}"] = mark(value)
    return Host(Server(server_id, {"id": server_id, **fields}), variables)


def hosts_with(*servers: dict[str, Any]) -> list[Host]:
    """Return the hosts h0.example, h1.example and so on of servers with these fields."""
    hosts = []
    for number, fields in enumerate(servers):
        host = host_with(number, **fields)
        host.name = f"h{number}.example"
        hosts.append(host)
    return hosts


def compose(expressions: Expressions, hosts: list[Host]) -> None:
    """Evaluate the expressions for hosts, and add the results to them."""
    expressions.compose_all(hosts, InventoryData())
    expressions.apply()


def warnings_of(expressions: Expressions, total: int = 1) -> list[str]:
    """Return the warnings about expressions that have failed for some of all hosts."""
    warnings: list[str] = []
    expressions.report(total, warnings.append)
    return warnings
