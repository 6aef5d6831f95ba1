# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Expressions give what Ansible's plugin ``constructed`` gives for the same hosts.

Results that differ from Ansible's on purpose are tested in test_expressions.py.
"""

import json
from pathlib import Path

import pytest
import yaml
from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import inventory_loader

from ansible_collections.server_management.cloud.plugins.module_utils._text import is_plain
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import mark
from sandbox import Sandbox
from sandbox.account import SERVER
from support.expressions import is_trusted
from support.special_texts import texts_in

TABLES = yaml.safe_load(Path(__file__).with_name("comparison.yml").read_text(encoding="utf-8"))
FILES = TABLES["files"]


@pytest.fixture(scope="module")
def connection():
    """Return the options of an account that has the servers of comparison.yml."""
    servers = []
    for number, fields in enumerate(TABLES["servers"]):
        name = f"app-{number}.example"
        servers.append({**SERVER, "id": f"srv_{number}", "name": name, **fields})
    with Sandbox(servers=servers) as api:
        yield {"base_url": api.url, "api_token": api.token}


@pytest.fixture
def read(tmp_path):
    """Return a function that lets a plugin read an inventory file."""

    def read(inventory, plugin, content):
        path = tmp_path / "x.server_management.yml"
        path.write_text(json.dumps(content))
        inventory.current_source = str(path)
        source = inventory_loader.get(plugin)
        source.parse(inventory, DataLoader(), str(path))
        inventory.reconcile_inventory()

    return read


def contents_of(inventory):
    """Return the variables of each host, and the parents and hosts of each group."""
    contents = {}
    for name, host in inventory.hosts.items():
        trusted = filter(is_trusted, texts_in(host.vars))
        templates = [text for text in trusted if not is_plain(text)]
        # repr() distinguishes 1, 1.0 and True, which are equal.
        contents[name] = f"{host.vars!r}, templates: {templates}"
    for name, group in inventory.groups.items():
        parents = sorted(parent.name for parent in group.parent_groups)
        hosts = sorted(group.get_hosts(), key=str)
        contents[f"group {name}"] = f"{hosts} in {parents}"
    return contents


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_a_file_gives_what_ansible_gives(name, strict, connection, read):
    servers = {"plugin": "server_management.cloud.servers", **connection}
    options = {**FILES[name], "strict": strict}
    theirs = InventoryData()
    read(theirs, "yaml", TABLES["other source"])
    read(theirs, "server_management.cloud.servers", servers)
    for host in theirs.hosts.values():
        for variable, value in host.vars.items():
            if variable.startswith("server_management_"):
                # Otherwise, Ansible before 2.19 would convert text of the API, such as "1".
                host.vars[variable] = mark(value, even_plain=True)
    ours = InventoryData()
    read(ours, "yaml", TABLES["other source"])
    try:
        read(theirs, "constructed", {"plugin": "constructed", **options})
    except AnsibleParserError:
        reason = r"(compose|groups|keyed_groups): .+ (failed for app|would be inside itself)"
        with pytest.raises(AnsibleParserError, match=reason):
            read(ours, "server_management.cloud.servers", {**servers, **options})
        return
    read(ours, "server_management.cloud.servers", {**servers, **options})
    # Only the lines that differ: all of them would take three pages.
    found = set(contents_of(ours).items())
    expected = set(contents_of(theirs).items())
    assert sorted(found - expected) == sorted(expected - found)
