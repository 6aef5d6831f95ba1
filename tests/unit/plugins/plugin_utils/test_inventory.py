# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import gc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible.inventory.data import InventoryData
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader

from ansible_collections.server_management.cloud.plugins.module_utils._models import Server
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    is_trusted,
    mark,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._inventory import (
    add_hosts,
    add_parents,
    leave_out_groups,
    taken_names,
)
from sandbox import Sandbox
from support.run import write_inventory


def _group(name: str, *parents: str) -> Any:
    return SimpleNamespace(
        name=name, parent_groups=[SimpleNamespace(name=parent) for parent in parents]
    )


def _host(address: str = "203.0.113.1", **fields: str) -> Host:
    fields = {"id": "srv_1", **fields}
    return Host(Server(fields["id"], fields), {"ansible_host": address}, name="web-1")


@pytest.mark.promise("misdirected")
def test_a_group_made_from_a_value_with_the_name_of_a_host_is_left_out() -> None:
    hosts = [Host(Server("a", {}), {}, ["g", "web", "localhost"]), Host(Server("b", {}), {}, ["g"])]
    warnings: list[str] = []
    parents = [("up", "web"), ("web", "g"), ("up", "g")]
    assert leave_out_groups(hosts, parents, {"web", "b"}, warnings.append) == [("up", "g")]
    assert [host.groups for host in hosts] == [["g"], ["g"]]
    (warning,) = warnings
    assert warning.endswith(": localhost, web.")
    kept = leave_out_groups(hosts, [("up", "g")], {"web"}, warnings.append)
    assert kept == [("up", "g")]
    assert len(warnings) == 1


@pytest.mark.promise("misdirected")
@pytest.mark.parametrize(
    ("variable", "is_taken"),
    [
        *((name, True) for name in ("ansible_host", "ansible_ssh_host", "ansible_connection")),
        *((name, True) for name in ("ansible_password", "ansible_ssh_pass", "ansible_become_pass")),
        *((name, True) for name in ("ansible_ssh_password", "ansible_become_password")),
        *((name, False) for name in ("ansible_user", "ansible_port", "ansible_become", "rack")),
        *((name, False) for name in ("password", "ansible_ssh_private_key_file", "ansible_hosts")),
    ],
)
def test_a_host_with_a_connection_of_its_own_keeps_its_name(variable: str, is_taken: bool) -> None:
    places = {"nas": "web-1", "group": "web-2", "every host": "web-3"}
    inventory = InventoryData()
    for group in ("storage", "above"):
        inventory.add_group(group)
    inventory.add_child("above", "storage")
    for name in places.values():
        inventory.add_host(name)
    inventory.set_variable("web-1", variable, "x")
    inventory.add_child("storage", "web-2")
    inventory.set_variable("above", variable, "x")
    check = taken_names(inventory, "https://api.example.com", [_host()])
    found = [check(name, "srv_1") for name in places.values()]
    assert found == [is_taken, is_taken, False]
    # What every host gets belongs to none of them.
    inventory.set_variable("all", variable, "x")
    assert check("web-3", "srv_1") is False


@pytest.mark.parametrize(
    ("name", "address", "is_taken"),
    [
        ("10.0.0.5", "203.0.113.1", True),
        ("10.5", "203.0.113.1", True),
        ("10.5", "10.0.0.5", True),  # an unusual spelling: not worth a special case
        ("10.0.0.5", "10.0.0.5", False),
        ("db-1", "203.0.113.1", False),
        ("10-0-0-5", "203.0.113.1", False),
    ],
)
def test_a_host_named_by_its_address_is_only_the_server_with_it(
    name: str, address: str, is_taken: bool
) -> None:
    inventory = InventoryData()
    inventory.add_host(name)
    check = taken_names(inventory, "https://api.example.com", [_host(address)])
    assert check(name, "srv_1") is is_taken


@pytest.mark.promise("lost")
@pytest.mark.parametrize(
    ("base_url", "fields", "is_taken"),
    [
        ("https://a/api/v1", {}, False),
        ("https://a/api/v1", {"created_at": ""}, False),  # unknown: equals any other time
        ("https://a/api/v1", {"created_at": "2026-01-01T00:00:00Z"}, False),
        ("https://a/api/v1", {"created_at": "2026-01-01T00:00:01Z"}, True),
        ("https://b/api/v1", {"created_at": "2026-01-01T00:00:00Z"}, True),
        ("https://a/api/v1", {"id": "srv_2", "created_at": "2026-01-01T00:00:00Z"}, True),
    ],
)
def test_a_server_is_known_by_its_base_url_id_and_time_of_creation(
    base_url: str, fields: dict[str, str], is_taken: bool
) -> None:
    inventory = InventoryData()
    add_hosts(inventory, [_host(created_at="2026-01-01T00:00:00Z")], "https://a/api/v1")
    host = _host(**fields)
    assert taken_names(inventory, base_url, [host])("web-1", host.server.id) is is_taken
    add_hosts(inventory, [_host()], "https://a/api/v1")
    assert (
        taken_names(inventory, "https://a/api/v1", [_host(created_at="x")])("web-1", "srv_1")
        is False
    )


@pytest.mark.promise("data")
def test_text_of_each_host_is_trusted_only_if_it_cannot_be_a_template() -> None:
    inventory = InventoryData()
    variables = {"plain": "x", "template": mark("{{ x }}")}
    hosts = [Host(Server(name, {}), variables, name=name) for name in ("web-1", "web-2")]
    add_hosts(inventory, hosts, "https://a/api/v1")
    for host in inventory.hosts.values():
        trusted = [name for name in variables if is_trusted(host.vars[name])]
        assert trusted == ["plain"]


def test_parents_are_added_with_their_groups() -> None:
    inventory = InventoryData()
    inventory.add_group("child")
    add_parents(inventory, [("parent", "child")])
    assert [group.name for group in inventory.groups["parent"].child_groups] == ["child"]


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
