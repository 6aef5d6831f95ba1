# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The plain plugin that all other inventory sources are compared with."""

from __future__ import annotations

from typing import Any

import requests
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable

DOCUMENTATION = r"""
name: plain
short_description: Adds the servers with Ansible's own functions
extends_documentation_fragment: constructed
options:
  plugin: {description: The name of this plugin., required: true}
  base_url: {description: The URL of the API., env: [{name: SERVER_MANAGEMENT_BASE_URL}]}
"""


class InventoryModule(BaseInventoryPlugin, Constructable):
    """The minimum that any plugin has to do; without expressions, only direct calls."""

    NAME = "plain"

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        """Add the servers with their variables and groups."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        compose = self.get_option("compose")
        keyed_groups = self.get_option("keyed_groups")
        groups = self.get_option("groups")
        url = f"{self.get_option('base_url')}/api/v1/servers"
        inventory.add_group("server_management")
        for server in requests.get(url, timeout=30).json()["data"]:
            name = server["name"]
            inventory.add_host(name)
            for field, value in server.items():
                inventory.set_variable(name, f"server_management_{field}", value)
            inventory.set_variable(name, "ansible_host", server["ipv4"])
            inventory.add_child("server_management", name)
            if compose:
                host = inventory.get_host(name)
                self._set_composite_vars(compose, host.get_vars(), name, strict=True)
                self._add_host_to_composed_groups(groups, host.get_vars(), name, strict=True)
                self._add_host_to_keyed_groups(keyed_groups, host.get_vars(), name, strict=True)
                continue
            for field in ("region", "plan", "status"):
                group = self._sanitize_group_name(f"{field}_{server[field]}")
                inventory.add_group(group)
                inventory.add_child(group, name)
