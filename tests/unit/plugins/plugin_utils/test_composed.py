# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an expression sees, and the groups that expressions put into others."""

import pytest
import yaml
from ansible.inventory.data import InventoryData

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.plugin_utils._composed import (
    GroupTree,
)


@pytest.fixture
def tree():
    """Return the tree of an inventory in which the group b is in a, and a in all."""
    inventory = InventoryData()
    inventory.add_group("a")
    inventory.add_group("b")
    inventory.add_child("all", "a")
    inventory.add_child("a", "b")
    return GroupTree(inventory.groups.values())


def test_a_group_is_in_all_groups_around_it(tree):
    tree.add("b", "c")
    tree.check_added()
    assert tree.with_parents(["c", "d"]) == {"c", "d", "b", "a", "all"}


IMPOSSIBLE = yaml.safe_load("""
- [[[x, x]], x would be inside itself.]
- [[[b, a]], a would be inside itself.]
- [[[b, c], [all, c], [c, d], [d, a]], c would be inside itself.]
- [[[x, all]], all can't be inside another group. Set prefix.]
- [[[all, ungrouped], [x, ungrouped]], ungrouped can't be inside another group. Set prefix.]
""")


@pytest.mark.parametrize(("pairs", "problem"), IMPOSSIBLE)
def test_a_group_that_ansible_cannot_add_is_an_error(tree, pairs, problem):
    for parent, child in pairs:
        tree.add(parent, child)
    with pytest.raises(OptionError) as found:
        tree.check_added()
    assert str(found.value) == f"keyed_groups: the group {problem}"
