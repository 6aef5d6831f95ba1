# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ansible's plugin constructed: each method here is a difference that the collection intends."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleParserError
from ansible.plugins.loader import inventory_loader
from ansible.utils.vars import combine_vars

from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    keep_text,
    mark_all,
)

DOCUMENTATION = """
short_description: Ansible's plugin constructed, with the intended differences
extends_documentation_fragment: constructed
options:
  plugin: {}
  use_vars_plugins: {type: bool, default: false}
"""
Constructed: Any = inventory_loader.get("ansible.builtin.constructed", class_only=True)


class InventoryModule(Constructed):
    """Evaluate expressions for each host of the sources before."""

    NAME = "reference"

    def _read_config_data(self, path: str) -> Any:
        """Before ansible-core 2.19, let text from the API stay text."""
        keep_text(self.templar)
        return super()._read_config_data(path)

    def get_all_host_vars(self, host: Any, *args: Any) -> dict[str, Any]:
        """Before ansible-core 2.19, treat a host's name and groups as text from the API, too."""
        known = super().get_all_host_vars(host, *args)
        magic = ("inventory_hostname", "inventory_hostname_short", "group_names")
        return {**known, **mark_all({name: known[name] for name in magic})}

    def _add_host_to_composed_groups(
        self, groups: Any, known: Any, *args: Any, **more: Any
    ) -> None:
        """Let extra vars reach groups."""
        extra_vars = self._vars if self.get_option("use_extra_vars") else {}
        super()._add_host_to_composed_groups(groups, combine_vars(known, extra_vars), *args, **more)

    def _add_host_to_keyed_groups(self, keys: Any, _known: Any, host: str, **more: Any) -> None:
        """Let each entry see the groups before it, as in plugins that add hosts themselves.

        Without strict, a key with a wrong type adds no group, and does not end the source.
        """
        for entry in keys:
            known = self.get_all_host_vars(self.inventory.hosts[host], self.loader, [])
            try:
                super()._add_host_to_keyed_groups([entry], known, host, **more)
            except AnsibleParserError:
                if more["strict"]:
                    raise
