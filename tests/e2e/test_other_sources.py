# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The source among others, and its hosts reached over real SSH."""

from support.run import write_inventory

from .conftest import need_ssh

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
    assert hostvars["web-1"]["rack"] == "red"
    assert hostvars["web-1"]["zone"] == "west"
    assert hostvars["web-2"]["rack"] == "none"
    # A mapping of another source is replaced.
    assert hostvars["web-1"]["server_management_labels"] == {"team": "x"}


OTHERS = """
all:
  hosts:
    same-1: {ansible_ssh_host: 203.0.113.1, ansible_connection: local}
    moved-1: {ansible_host: 192.0.2.9}
    password-1: {ansible_host: 203.0.113.1, ansible_password: x}
    vault-1:
      ansible_host: !vault |
        $ANSIBLE_VAULT;1.1;AES256
        33333333333333333333333333333333333333333333333333333333333333333333333333333333
"""


def test_only_a_machine_with_the_same_address_is_one_host(sources, tmp_path):
    static = write_inventory(tmp_path, OTHERS, "static.yml")
    sources.add("same")
    sources.add("password")
    moved = (
        "moved-1 (srv_1) is moved-1_srv_1. The host moved-1 has ansible_host 192.0.2.9, and the "
        "server has 203.0.113.1: with the same address, or without ansible_host, they would be one "
        "host."
    )
    api = sources.serve("moved-1")
    sources.add("moved", api, hosts=["moved-1_srv_1"], warns=moved)
    vault = "The host vault-1 has ansible_host, and the server has 203.0.113.1: "
    api = sources.serve("vault-1")
    sources.add("vault", api, hosts=["vault-1_srv_1"], warns=vault)
    sources.check("-i", static)


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
    result = source.runner.playbook(*inventory, *playbooks, env=source.sandbox.environment).ok()
    assert result.stdout.count("PLAY RECAP") == 4
    assert result.stdout.count("\nlocalhost ") == 4
