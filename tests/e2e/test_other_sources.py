# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The source among others, and which hosts a pattern addresses, whatever a server's name is."""

import yaml

from .conftest import addresses, hosts, members, named, need_ssh, tokens_sent

FOLDER_STATIC = """
all:
  vars: {level: static}
  hosts:
    web-1: {colour: red, server_management_labels: {rack: 1}}
    own-1: {own: 1}
  children: {zz_above: {children: {plan_small: }}}
"""
OF_A_GROUP = """
zone: west
rack: other
server_management_plan: other
ansible_ssh_extra_args: other
ansible_control_path: other
"""
CONSTRUCTED = """
plugin: ansible.builtin.constructed
use_vars_plugins: true
groups:
  GROUP: server_management_id is defined and level == 'all'
"""


def test_a_folder_of_sources(source, runner, sandbox, tmp_path):
    folder = source.folder = tmp_path / "inventory"
    files = {
        "00_constructed.yml": CONSTRUCTED.replace("GROUP", "too_early"),
        "05-static.yml": FOLDER_STATIC,
        "zz_constructed.yml": CONSTRUCTED.replace("GROUP", "late"),
        "group_vars/all.yml": "level: all\nzone: all\n",
        "group_vars/plan_small.yml": "size: small\n",
        "group_vars/zz_above.yml": "size: above\n",
        "group_vars/region_eu_1.yml": OF_A_GROUP,
        "group_vars/server_management.yml": "zone: fleet\n",
        "host_vars/web-1.yml": "server_management_region: own\nansible_password: secret\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    sandbox.servers[0]["labels"] = {"team": "x"}
    compose = {"rack": "colour | default('none')", "seen": "zone | default('no')"}
    source.file("10.server_management.yml", compose=compose, host_key_alias=True)
    result = runner.inventory("-i", folder, "--list").ok()
    listing = result.json()
    assert members(listing, "too_early") == []
    assert sorted(members(listing, "late")) == ["db-1", "web-1", "web-2"]
    hostvars = listing["_meta"]["hostvars"]
    assert list(hostvars) == ["db-1", "own-1", "web-1", "web-2"]
    assert hostvars["own-1"] == {"own": 1, "level": "all", "zone": "all"}
    assert hostvars["web-2"]["rack"] == "none"
    web = hostvars["web-1"]
    assert web["rack"] == "red"
    assert web["size"] == "small"
    assert web["zone"] == "fleet"
    assert web["seen"] == "no"
    assert web["server_management_plan"] == "small"
    assert web["server_management_region"] == "own"
    # Text, which ansible-inventory does not print wrapped in __ansible_unsafe.
    assert web["ansible_ssh_extra_args"] == "-o HostKeyAlias=srv_1"
    assert web["ansible_control_path"].endswith("-%%p-%%r")
    # A mapping of another source is replaced.
    assert web["server_management_labels"] == {"team": "x"}


def test_servers_of_two_accounts_with_one_name_are_two_hosts(source, sandbox, sources):
    sources.add("first", sandbox)
    # An API that gives the same id to another server with the same name.
    other = sources.serve("web-1", "cache-1", token="t0ken-of-the-0ther")
    other.servers[0].update(region="us-1", ipv4="198.51.100.1")
    renamed = "web-1 (srv_1) is web-1_srv_1."
    sources.add("second", other, hosts=["cache-1", "web-1_srv_1"], warns=renamed)
    listing = sources.check().json()
    found = addresses(listing)
    assert found["web-1"] == "203.0.113.1"
    assert found["web-1_srv_1"] == "198.51.100.1"
    assert members(listing, "region_eu_1") == ["db-1", "web-1", "cache-1"]
    assert members(listing, "region_us_1") == ["web-1_srv_1"]
    assert tokens_sent(sandbox) == [sandbox.token]
    assert tokens_sent(other) == [other.token]


# Becoming the same user would need no program, so become_user is another one.
UNUSABLE = """{
  "ansible_connection": "community.none",
  "ansible_become": true,
  "ansible_become_user": "nobody",
  "ansible_become_exe": "/nonexistent",
  "ansible_private_key_file": "/keys/{{ server_management_id }}",
  "ansible_ssh_private_key_file": "/keys/{{ server_management_id }}",
  "ansible_python_interpreter": "/nonexistent/python",
  "ansible_shell_type": "powershell",
  "ansible_shell_executable": "/nonexistent/bash"
}"""


def test_playbooks_for_this_machine_ignore_variables_of_all_hosts(source, runner, tmp_path):
    need_ssh(runner)  # ssh_config checks its file with it
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars" / "all.json").write_text(UNUSABLE)
    # A localhost that is written in an inventory has the variables of all hosts.
    servers = source.file(compose={"ansible_connection": "'ssh'"})  # ssh_config needs hosts of ssh
    inventory = ("-i", servers, "-i", "localhost,")
    names = ("ssh_config", "declare_fleet", "check_fleet", "check_api")
    playbooks = [f"server_management.cloud.{name}" for name in names]
    env = source.sandbox.environment
    result = runner.playbook(*inventory, *playbooks, env=env).ok()
    assert result.stdout.count("PLAY RECAP") == 4
    assert result.stdout.count("\nlocalhost ") == 4


POSSIBLE_GROUPS = """
groups: {ours: server_management_name == 'nobody'}
keyed_groups:
  - {key: "server_management_created_at[:4]", prefix: "{{ 'created' }}", parent_group: up}
  - {key: server_management_plan, prefix: web, separator: "-"}
  - {key: server_management_plan, prefix: db, separator: ""}
"""


def test_a_server_never_gets_the_name_of_a_possible_group(source, sandbox):
    groups = ["status_stopped", "region_us_1", "plan_large", "created_2030", "web_x", "ours"]
    others = ["db-1", "plan_b-web.example.com", "web-1"]  # these can't be names of groups
    sandbox.servers = named(*groups, "up", *others)
    path = source.file(**yaml.safe_load(POSSIBLE_GROUPS))
    found = source.addressed([*groups, "up", "all:!status_stopped"], path)
    everything = {"ours_srv_6", "srv_1", "srv_2", "srv_3", "srv_4", "srv_5", "up_srv_7", *others}
    assert set(found.pop("up")) == everything
    assert set(found.pop("all:!status_stopped")) == everything
    assert not any(found.values())


def test_a_server_of_one_account_is_not_addressed_as_a_group_of_another(source, sandbox, sources):
    sandbox.servers = named("region_us_1", "web-1")
    # This file makes no groups of regions.
    first = source.file("first.server_management.yml", group_by=[])
    other = sources.add("second")
    other.servers[0]["region"] = "us-1"
    second = sources.all["second"].path
    found = source.addressed(["region_us_1", "srv_1"], first, second)
    assert found == {"region_us_1": ["second-1"], "srv_1": ["srv_1"]}


# The unit tests have the other variables by which a host has its own connection.
STATIC = """
all:
  vars: {ansible_become_password: secret}
  hosts:
    db-prod: {ansible_host: 198.51.100.7}
    merged: {colour: red}
    198.51.100.20:
    203.0.113.4:
    files: {ansible_password: secret}
    same: {ansible_ssh_host: 203.0.113.7, ansible_connection: local, ansible_password: secret}
    vault:
      ansible_host: !vault |
        $ANSIBLE_VAULT;1.1;AES256
        33333333333333333333333333333333333333333333333333333333333333333333333333333333
  children:
    routers: {hosts: {router: }, vars: {ansible_host: 198.51.100.9}}
"""


# Only the first of the two addresses is that of its server.
NAMES = ["db-prod", "merged", "router", "203.0.113.4", "198.51.100.20", "files", "same", "vault"]
OURS = yaml.safe_load("""[
198.51.100.20_srv_5, 203.0.113.4, db-prod_srv_1, files_srv_6, merged, router_srv_3, same,
vault_srv_8,
]""")
BESIDE_STATIC = yaml.safe_load("""
db-prod: 198.51.100.7
db-prod_srv_1: 203.0.113.1
merged: 203.0.113.2
router: 198.51.100.9
router_srv_3: 203.0.113.3
203.0.113.4: 203.0.113.4
198.51.100.20: null
198.51.100.20_srv_5: 203.0.113.5
files: null
files_srv_6: 203.0.113.6
same: 203.0.113.7
vault_srv_8: 203.0.113.8
""")


def test_a_server_does_not_replace_the_host_of_another_source(sandbox, tmp_path, sources):
    static = tmp_path / "static.yml"
    static.write_text(STATIC)
    sandbox.servers = named(*NAMES)
    taken = "db-prod (srv_1) is db-prod_srv_1, "
    address = "198.51.100.20 (srv_5) is 198.51.100.20_srv_5."
    sources.add("strict", sandbox, strict=True, fails=address)
    warns = (taken, address)
    sources.add("lenient", sandbox, hosts=OURS, warns=warns)
    listing = sources.check("-i", static).json()
    found = addresses(listing)
    del found["vault"]
    assert found == BESIDE_STATIC
    hostvars = listing["_meta"]["hostvars"]
    assert "ansible_password" not in hostvars["files_srv_6"]
    assert hostvars["merged"]["colour"] == "red"


def test_a_group_does_not_take_the_name_of_a_host_of_another_source(source, tmp_path, sources):
    static = tmp_path / "static.yml"
    static.write_text("all: {hosts: {region_eu_1: {own: 1}, web: {own: 2}}}\n")
    api = source.sandbox
    sources.add("written", api, fails="group: web ", group="web")
    keyed = [{"key": "'web'", "separator": ""}]
    sources.add("made", api, warns=": region_eu_1, web.", keyed_groups=keyed)
    listing = sources.check("-i", static).json()
    hostvars = listing["_meta"]["hostvars"]
    assert sorted(hostvars) == ["db-1", "region_eu_1", "web", "web-1", "web-2"]
    assert hostvars["region_eu_1"] == {"own": 1}
    assert "region_eu_1" not in listing
    assert "web" not in listing
    assert members(listing, "region_eu_2") == ["web-2"]


def test_no_server_is_addressed_as_this_machine(source, sandbox):
    sandbox.servers[0]["plan"] = "localhost"
    sandbox.servers[1]["name"] = "localhost"
    keyed = [{"key": "server_management_plan", "separator": ""}]
    path = source.file(keyed_groups=keyed)
    found = source.addressed(["localhost", "large"], path)
    assert found == {"localhost": ["localhost"], "large": ["db-1"]}


# The name of each server, and that of its host. Ansible looks in host_vars for a file with the
# name of a host, first without an extension.
LIKE_FILES = yaml.safe_load("""
db1.yml: db1_yml
db2.YAML: db2_YAML
db4.vars: db4_vars
localhost.yml: localhost_yml
sub/db1.yml: sub_db1_yml
status_stopped.yml: srv_6
server_management.yml: server_management_yml
""")


def test_a_server_gets_the_variables_of_no_other_host(source, tmp_path, runner, sandbox):
    folder = tmp_path / "host_vars"
    (folder / "sub").mkdir(parents=True)
    for name in LIKE_FILES:
        (folder / name).write_text("{owner: x, ansible_host: 198.51.100.1}\n")
    sandbox.servers = named(*LIKE_FILES)
    runner.environment["ANSIBLE_YAML_FILENAME_EXT"] = ".yml,.yaml,.json,.vars"
    listing = source.run().ok().json()
    assert hosts(listing) == sorted(LIKE_FILES.values())
    assert "owner" not in str(listing)
