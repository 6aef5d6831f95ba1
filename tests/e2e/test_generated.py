# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read generated accounts with Ansible's inventory in the process of the test."""

import json
import re

from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from hypothesis import given
from hypothesis import strategies as st

from sandbox import Sandbox
from support import meanings
from support.expressions import is_trusted
from support.run import write_inventory

TEXTS = st.sampled_from(["web", "web 1", *meanings.TEXTS]) | st.text(st.characters(), max_size=12)
JSON = meanings.json_values(TEXTS)
# As documented: with other ids, no name may be left for a server, which is an error.
IDS = st.from_regex(r"[a-z]{1,4}_[A-Za-z0-9]{1,6}", fullmatch=True)
SERVERS = st.fixed_dictionaries(
    {"id": IDS | st.just("srv_1")},
    optional={
        "name": TEXTS | JSON,
        "status": TEXTS | JSON,
        "plan": TEXTS | JSON,
        "region": TEXTS | JSON,
        "ipv4": st.ip_addresses(v=4).map(str) | TEXTS | JSON,
        "note": JSON,
        "ansible_host": TEXTS,
    },
)
ACCOUNTS = st.lists(SERVERS, max_size=8, unique_by=lambda server: str(server["id"]))


def read(path):
    inventory = InventoryManager(loader=DataLoader(), sources=[str(path)])
    variables = {}
    groups = {}
    for name, host in inventory.hosts.items():
        variables[name] = dict(host.vars)
        del variables[name]["inventory_file"]
        del variables[name]["inventory_dir"]
        groups[name] = sorted(group.name for group in host.groups)
    return variables, groups


def test_every_server_of_any_account_is_a_host_and_its_text_is_data_in_any_order(tmp_path):
    with Sandbox(servers=0) as api:
        options = {"base_url": api.url, "api_token": api.token}
        path = write_inventory(tmp_path, options)

        @given(ACCOUNTS)
        def check(servers):
            api.servers = servers
            hostvars, groups = read(path)
            check_hosts(servers, hostvars)
            api.servers = servers[::-1]
            assert read(path) == (hostvars, groups)

        check()


def check_hosts(servers, hostvars):
    """Raise AssertionError if a server is not a host, or if its text could be a template."""
    assert len(hostvars) == len(servers)
    identifiers = {str(variables["server_management_id"]) for variables in hostvars.values()}
    assert identifiers == {server["id"] for server in servers}
    for name, variables in hostvars.items():
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", name)
        for variable in variables:
            assert variable == "ansible_host" or variable.startswith("server_management_")
        for text in meanings.texts_in(list(variables.values())):
            assert not is_trusted(text) or not re.search(r"[{}#%\n]", text)
    json.dumps(hostvars)
