# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosts and expressions for the unit tests of the utilities that evaluate them."""

from __future__ import annotations

import json
from typing import Any

from ansible import template
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    SINCE_2_19,
    mark,
    trust,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import (
    Expressions,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host


def is_trusted(value: object) -> bool:
    """Return whether Ansible would render a text."""
    if SINCE_2_19:
        return bool(template.is_trusted_as_template(value))
    return not hasattr(value, "__UNSAFE__")


def load(value: Any) -> Any:
    """Load a value like an inventory file, so that its expressions are trusted."""
    return DataLoader().load(trust(json.dumps(value)))


def expressions_with(extra_vars: Any = None, **options: Any) -> Expressions:
    """Return the expressions of an inventory file with these options."""
    loaded = load({"hostvars_prefix": "server_management_", **options})
    templar = Templar(loader=DataLoader())
    return Expressions(loaded.get, templar, load(extra_vars) or {})


def host_with(number: int = 0, **fields: Any) -> Host:
    """Return the host of a server with these fields, before it has a name."""
    server_id = f"srv_{number}"
    variables = {"ansible_host": "192.0.2.1"}
    for name, value in fields.items():
        variables[f"server_management_{name}"] = mark(value)
    server = Server(server_id, fields)
    return Host(server, variables)


def composed(
    *servers: dict[str, Any], extra_vars: Any = None, **options: Any
) -> tuple[list[Host], list[str]]:
    """Evaluate these options for the hosts h0, h1 and so on of servers with these fields.

    Returns the hosts, with what the options add to them, and the warnings.
    """
    expressions = expressions_with(extra_vars, **options)
    hosts = []
    for number, fields in enumerate(servers):
        host = host_with(number, **fields)
        host.name = f"h{number}"
        hosts.append(host)
        expressions.fields.update({name: f"server_management_{name}" for name in fields})
    expressions.compose_all(hosts, InventoryData())
    expressions.apply()
    warnings: list[str] = []
    expressions.report(len(servers), warnings.append)
    return hosts, warnings
