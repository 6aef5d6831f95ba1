# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.plugin_utils._scratch import (
    ScratchInventory,
)

ITSELF = "keyed_groups: the group {} would be inside itself."
OTHER = "keyed_groups: the group {} can't be inside another group."


@pytest.mark.parametrize(
    ("parents", "problem", "child"),
    [
        ([("x", "x")], ITSELF, "x"),
        ([("b", "a")], ITSELF, "a"),
        ([("x", "y"), ("x", "z"), ("x", "y"), ("y", "x")], ITSELF, "x"),
        ([("b", "c"), ("all", "c"), ("c", "d"), ("d", "a")], ITSELF, "a"),
        ([("x", "all")], OTHER, "all"),
        ([("all", "ungrouped"), ("x", "ungrouped")], OTHER, "ungrouped"),
    ],
)
def test_a_group_is_never_inside_itself(
    parents: list[tuple[str, str]], problem: str, child: str
) -> None:
    inventory = InventoryData()
    for parent, group in (("all", "a"), ("a", "b")):
        inventory.add_group(group)
        inventory.add_child(parent, group)
    scratch = ScratchInventory(inventory)
    *earlier, last = parents
    for pair in earlier:
        scratch.put_into(*pair)
    with pytest.raises(OptionError, match=f"^{problem.format(child)}"):
        scratch.put_into(*last)
