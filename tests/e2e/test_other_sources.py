# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The source among others: no host is lost, and nothing is shared."""

from .conftest import addresses, members, need_ssh, tokens_sent

STATIC = """
all:
  hosts:
    web-1: {colour: red, server_management_labels: {rack: 1}}
    own-1: {own: 1}
"""


def test_a_folder_of_sources(source, tmp_path):
    folder = source.folder = tmp_path / "inventory"
    (folder / "group_vars").mkdir(parents=True)
    (folder / "group_vars" / "region_eu_1.yml").write_text("zone: west\n")
    (folder / "05-static.yml").write_text(STATIC)
    source.sandbox.servers[0]["labels"] = {"team": "x"}
    source.file("10.server_management.yml", compose={"rack": "colour | default('none')"})
    result = source.runner.inventory("-i", folder, "--list").ok()
    hostvars = result.json()["_meta"]["hostvars"]
    assert list(hostvars) == ["db-1", "own-1", "web-1", "web-2"]
    assert hostvars["own-1"] == {"own": 1}
    assert hostvars["web-2"]["rack"] == "none"
    web = hostvars["web-1"]
    assert web["rack"] == "red"
    assert web["zone"] == "west"
    # A mapping of another source is replaced.
    assert web["server_management_labels"] == {"team": "x"}


def test_servers_of_two_accounts_with_one_name_are_two_hosts(source, sources):
    api = source.sandbox
    sources.add("first", api)
    # An API that gives the same id to another server with the same name.
    other = sources.serve("web-1", "cache-1", token="t0ken-of-the-0ther")
    other.servers[0].update(region="us-1", ipv4="198.51.100.1")
    renamed = (
        "because servers of other inventory files have the same name: web-1 (srv_1) is "
        "web-1_srv_1. Put a prefix before it with hostnames, or use the files in separate commands "
        "(-i)."
    )
    sources.add("second", other, hosts=["cache-1", "web-1_srv_1"], warns=renamed)
    # A wrong token fails only its own source.
    sources.add("denied", other, fails="rejected the token", api_token="wrong")
    listing = sources.check().json()
    found = addresses(listing)
    assert found["web-1"] == "203.0.113.1"
    assert found["web-1_srv_1"] == "198.51.100.1"
    assert members(listing, "region_eu_1") == ["db-1", "web-1", "cache-1"]
    assert members(listing, "region_us_1") == ["web-1_srv_1"]
    assert tokens_sent(api) == [api.token]
    assert tokens_sent(other) == ["t0ken-of-the-0ther", "wrong"]


# Becoming the same user would need no program, so become_user is another one.
UNUSABLE = """{
  "ansible_connection": "community.none",
  "ansible_become": true,
  "ansible_become_user": "nobody",
  "ansible_become_exe": "/nonexistent",
  "ansible_private_key_file": "/keys/{{ server_management_id }}",
  "ansible_ssh_private_key_file": "/keys/{{ server_management_id }}",
  "ansible_python_interpreter": "/nonexistent/python"
}"""


def test_playbooks_for_this_machine_ignore_connection_variables_for_all_hosts(source, tmp_path):
    need_ssh(source.runner)  # ssh_config checks its file with it
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars" / "all.json").write_text(UNUSABLE)
    # A localhost that is written in an inventory has the variables of all hosts.
    servers = source.file(compose={"ansible_connection": "'ssh'"})  # ssh_config needs hosts of ssh
    inventory = ("-i", servers, "-i", "localhost,")
    playbooks = (
        "server_management.cloud.ssh_config",
        "server_management.cloud.declare_fleet",
        "server_management.cloud.check_fleet",
        "server_management.cloud.check_api",
    )
    env = source.sandbox.environment
    result = source.runner.playbook(*inventory, *playbooks, env=env).ok()
    assert result.stdout.count("PLAY RECAP") == 4
    assert result.stdout.count("\nlocalhost ") == 4
