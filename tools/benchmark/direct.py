# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The direct calls that all other inventory sources are compared with."""

from __future__ import annotations

import json
from typing import Any

from ansible.plugins.inventory import BaseInventoryPlugin

DOCUMENTATION = r"""
name: direct
short_description: Adds the servers by direct calls, without checks or expressions
options:
  plugin: {description: The name of this plugin., required: true}
  base_url: {description: The URL of the API., required: true}
"""


class InventoryModule(BaseInventoryPlugin):
    """The minimum that any plugin has to do."""

    NAME = "direct"

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        """Add the servers with their variables and groups."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        import requests

        url = f"{self.get_option('base_url')}/api/v1/servers"
        servers = json.loads(requests.get(url, timeout=30).content)["data"]
        inventory.add_group("server_management")
        for server in servers:
            name = server["name"]
            inventory.add_host(name)
            for field, value in server.items():
                inventory.set_variable(name, f"server_{field}", value)
            inventory.set_variable(name, "ansible_host", server["ipv4"])
            inventory.add_child("server_management", name)
            for field in ("region", "plan", "status"):
                group = self._sanitize_group_name(f"{field}_{server[field]}")
                inventory.add_group(group)
                inventory.add_child(group, name)
