# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which hosts a pattern addresses, whatever somebody has named a server."""

import pytest
import yaml

from support.fixtures import KNOWN

from .conftest import hosts, members


def named(*names):
    """Return running servers with these names."""
    servers = []
    for number, name in enumerate(names, start=1):
        server = {**KNOWN[0], "id": f"srv_{number}", "name": name, "ipv4": f"203.0.113.{number}"}
        servers.append(server)
    return servers


def addresses_in(hostvars):
    """Return the address of each host; None for one that has none."""
    return {name: variables.get("ansible_host") for name, variables in hostvars.items()}


POSSIBLE_GROUPS = """
groups: {ours: server_management_name == 'nobody'}
keyed_groups:
  - {key: "server_management_created_at[:4]", prefix: created, parent_group: up}
  - {key: server_management_plan, prefix: web, separator: "-"}
"""


def test_a_server_never_gets_the_name_of_a_possible_group(source):
    groups = ["status_stopped", "region_us_1", "plan_large", "created_2030", "web_x", "ours"]
    source.sandbox.servers = named(*groups, "up", "web-1")
    path = source.file(**yaml.safe_load(POSSIBLE_GROUPS))
    found = source.addressed([*groups, "up", "all:!status_stopped", "created_2026"], path)
    everything = ["ours_srv_6", "srv_1", "srv_2", "srv_3", "srv_4", "srv_5", "up_srv_7", "web-1"]
    assert sorted(found.pop("up")) == everything
    assert sorted(found.pop("created_2026")) == everything
    assert sorted(found.pop("all:!status_stopped")) == everything
    assert found == {name: [] for name in groups}


def test_a_server_of_one_account_is_not_addressed_as_a_group_of_another(source, sources):
    source.sandbox.servers = named("region_us_1", "web-1")
    other = sources.serve(servers=[{**KNOWN[0], "id": "srv_b", "name": "b-1", "region": "us-1"}])
    sources.add("second", other)
    # The first file makes no groups of regions itself.
    first = source.file("first.server_management.yml", group_by=[])
    expected = {"region_us_1": ["b-1"], "srv_1": ["srv_1"]}
    assert source.addressed(expected, first, sources.all["second"].path) == expected


# The unit tests have the other variables by which a host has its own connection.
STATIC = """
db-prod ansible_host=198.51.100.7
merged colour=red
198.51.100.20
203.0.113.6
[routers]
router
[routers:vars]
ansible_host=198.51.100.9
[windows]
pc ansible_user=admin ansible_port=5986
files ansible_password=secret
[all:vars]
ansible_become_password=secret
"""
# Only the second of the two addresses is that of its server.
NAMES = ["db-prod", "merged", "router", "pc", "198.51.100.20", "203.0.113.6", "files"]
BESIDE_STATIC = """
db-prod: 198.51.100.7
db-prod_srv_1: 203.0.113.1
merged: 203.0.113.2
router: 198.51.100.9
router_srv_3: 203.0.113.3
pc: 203.0.113.4
198.51.100.20: null
198.51.100.20_srv_5: 203.0.113.5
203.0.113.6: 203.0.113.6
files: null
files_srv_7: 203.0.113.7
"""


def test_a_server_does_not_replace_the_host_of_another_source(source, sources):
    static = source.folder / "static.ini"
    static.write_text(STATIC)
    source.sandbox.servers = named(*NAMES)
    text = (
        "hostnames: 3 servers do not have their preferred names, because hosts of other sources "
        "have the same name: db-prod (srv_1) is db-prod_srv_1, "
    )
    sources.add("strict", source.sandbox, strict=True, fails=text)
    address = "a host can't have such a name: 198.51.100.20 (srv_5) is 198.51.100.20_srv_5."
    sources.add("lenient", source.sandbox, warns=(text, address))
    listing = sources.check("-i", static).json()
    hostvars = listing["_meta"]["hostvars"]
    assert addresses_in(hostvars) == yaml.safe_load(BESIDE_STATIC)
    assert "ansible_password" not in hostvars["files_srv_7"]
    assert hostvars["merged"]["colour"] == "red"
    assert len(members(listing, "status_running")) == len(NAMES)


# Files whose groups have the name of a host of another source.
WRITTEN_GROUPS = {
    "group": "group: web",
    "groups": "groups: {web: false}",
    "keyed_groups": "keyed_groups: [{key: server_management_plan, parent_group: web}]",
}


def test_a_group_does_not_take_the_name_of_a_host_of_another_source(source, sources):
    static = source.folder / "static.yml"
    static.write_text("all: {hosts: {region_eu_1: {own: 1}, web: {own: 2}}}\n")
    (source.folder / "group_vars").mkdir()
    (source.folder / "group_vars" / "region_eu_1.yml").write_text("of_group: true\n")
    for case, text in WRITTEN_GROUPS.items():
        fails = f"{case}: web is a host of another source"
        sources.add(case, source.sandbox, fails=fails, **yaml.safe_load(text))
    # Groups that are made from values are left out.
    warns = "Groups can't be added, because a host of another source or this machine has"
    keyed = [{"key": "'web'", "separator": ""}]
    sources.add("values", source.sandbox, warns=warns, keyed_groups=keyed)
    listing = sources.check("-i", static).shows("region_eu_1, web").json()
    hostvars = listing["_meta"]["hostvars"]
    assert sorted(hostvars) == ["db-1", "region_eu_1", "web", "web-1", "web-2"]
    assert hostvars["region_eu_1"] == {"own": 1}
    assert "of_group" not in hostvars["web-1"]
    assert "region_eu_1" not in listing
    assert "web" not in listing
    assert members(listing, "region_eu_2") == ["web-2"]


def test_no_server_is_addressed_as_this_machine(source):
    source.sandbox.servers[0]["plan"] = "localhost"
    source.sandbox.servers[1]["name"] = "localhost"
    path = source.file(keyed_groups=[{"key": "server_management_plan", "separator": ""}])
    found = source.addressed(["localhost", "large"], path)
    assert found == {"localhost": ["localhost"], "large": ["db-1"]}
    source.runner.results[-1].shows("Groups can't be added")


def test_a_server_without_a_usable_address_is_not_reached_by_its_name(source, sources):
    source.sandbox.servers = named("gitlab.internal", "192.168.77.5", "web-1")
    for server, address in zip(source.sandbox.servers, ("", "", "::1"), strict=True):
        server["ipv4"] = address
    warns = ("such a name: 192.168.77.5 (srv_2) is ", "so ansible_host is no-usable-ipv4.invalid.")
    # One cause, one warning.
    sources.add("unusable", source.sandbox, warns=warns, compose={"ansible_host": "none"})
    assert addresses_in(sources.check().json()["_meta"]["hostvars"]) == {
        "gitlab.internal": "no-usable-ipv4.invalid.",
        "192.168.77.5_srv_2": "no-usable-ipv4.invalid.",
        "web-1": "no-usable-ipv4.invalid.",
    }


def test_only_servers_that_are_kept_and_have_no_address_cause_a_warning(sources):
    composed = sources.serve("web-2")
    composed.servers[0]["ipv4"] = ""
    address = {"ansible_host": "server_management_name ~ '.example.com'"}
    sources.add("composed", composed, compose=address)
    filtered = sources.serve("web-3", "web-3", "all", "web-4")
    for server in filtered.servers[:3]:
        server.update({"ipv4": None, "a-b": 1, "status": "creating"})
    condition = "server_management_status != 'running'"
    sources.add("filtered", filtered, filters=[{"exclude": condition}])
    hostvars = sources.check().json()["_meta"]["hostvars"]
    assert addresses_in(hostvars) == {"web-2": "web-2.example.com", "web-4": "203.0.113.4"}


# Ansible looks for these files by the name of a host, first without an extension.
# The name of each server, and that of its host, which must have the variables of no other.
OWN_NAMES = {
    "db1.yml": "db1_yml",
    "db2.YAML": "db2_YAML",
    "db4.vars": "db4_vars",
    "localhost.yml": "localhost_yml",
    "sub/db1.yml": "sub_db1_yml",
    "status_stopped.yml": "srv_6",
    "server_management.yml": "server_management_yml",
}


@pytest.fixture
def like_files(source):
    """Return servers with the names of files that exist in host_vars."""
    source.sandbox.servers = [*named(*OWN_NAMES), {**KNOWN[0], "id": "id.yml", "name": ""}]
    for file in (*OWN_NAMES, "srv_1", "id.yml"):
        path = source.folder / "host_vars" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{owner: x, ansible_host: 198.51.100.1, ansible_connection: local}\n")
    source.runner.environment["ANSIBLE_YAML_FILENAME_EXT"] = ".yml,.yaml,.json,.vars"
    return source


def test_a_server_gets_the_variables_of_no_other_host(like_files):
    listing = like_files.runner.inventory("-i", like_files.file(), "--list").ok().json()
    assert hosts(listing) == sorted([*OWN_NAMES.values(), "id_yml"])
    for name, variables in listing["_meta"]["hostvars"].items():
        assert "owner" not in variables, name
        assert variables["ansible_host"].startswith("203.0.113."), name


def test_no_server_is_addressed_by_the_name_of_a_file(like_files):
    patterns = [*OWN_NAMES, "db1", "*.yml"]
    found = like_files.addressed([*patterns, "db*", "all[0]"], like_files.file())
    assert sorted(found.pop("db*")) == ["db1_yml", "db2_YAML", "db4_vars"]
    assert found.pop("all[0]") == ["db1_yml"]
    assert found == {name: [] for name in patterns}
