# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import gc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._inventory import (
    check_parents,
    leave_out_groups,
)
from sandbox import Sandbox
from support.run import write_inventory


def _group(name: str, *parents: str) -> Any:
    return SimpleNamespace(
        name=name, parent_groups=[SimpleNamespace(name=parent) for parent in parents]
    )


GROUPS = {"all": _group("all"), "a": _group("a", "all"), "b": _group("b", "a")}


@pytest.mark.parametrize(
    "parents",
    [
        [],
        [("a", "b")],
        [("x", "y"), ("y", "z"), ("x", "z"), ("x", "y")],
        [("b", "c"), ("all", "c")],
    ],
)
def test_a_group_may_have_several_parents(parents: list[tuple[str, str]]) -> None:
    check_parents(parents, GROUPS)


@pytest.mark.parametrize(
    ("parents", "child"),
    [
        ([("x", "x")], "x"),
        ([("b", "a")], "a"),
        ([("x", "y"), ("y", "x")], "x"),
        ([("b", "c"), ("c", "d"), ("d", "a")], "a"),
    ],
)
def test_a_group_inside_itself_is_refused(parents: list[tuple[str, str]], child: str) -> None:
    with pytest.raises(OptionError, match=f"keyed_groups: the group {child} would be inside"):
        check_parents(parents, GROUPS)


@pytest.mark.parametrize("child", ["all", "ungrouped"])
def test_all_and_ungrouped_cannot_be_child_groups(child: str) -> None:
    with pytest.raises(OptionError, match=f"the group {child} can't be inside another group"):
        check_parents([("x", child)], GROUPS)


@pytest.mark.promise("misdirected")
def test_a_group_made_from_a_value_with_the_name_of_a_host_is_left_out() -> None:
    hosts = [Host(Server("a", {}), {}, ["g", "web", "localhost"]), Host(Server("b", {}), {}, ["g"])]
    warnings: list[str] = []
    parents = [("up", "web"), ("web", "g"), ("up", "g")]
    assert leave_out_groups(hosts, parents, {"web", "b"}, warnings.append) == [("up", "g")]
    assert [host.groups for host in hosts] == [["g"], ["g"]]
    (warning,) = warnings
    assert warning.endswith(": localhost, web.")
    assert leave_out_groups(hosts, [("up", "g")], {"web"}, warnings.append) == [("up", "g")]
    assert len(warnings) == 1


@pytest.mark.promise("stable")
def test_an_account_in_two_files_is_one_fleet(tmp_path: Path) -> None:
    with Sandbox(servers=3) as api:
        options = {"base_url": api.url, "api_token": api.token}
        first, second = (
            str(write_inventory(tmp_path, options, f"{name}.server_management.yml"))
            for name in ("first", "second")
        )
        inventory = InventoryManager(DataLoader(), sources=[first])
        # From ansible-core 2.19 on, this ends the proxy that the first source has used.
        gc.collect()
        inventory.parse_source(second)
        assert sorted(inventory.hosts) == sorted(server["name"] for server in api.servers)
