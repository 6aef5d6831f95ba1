# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the commands show, and where: warnings, requests, hosts and the token's origin."""

import re

from support.collection import REPOSITORY

PATHS = sorted(REPOSITORY.glob("plugins/modules/*.py"))
MODULES = [f"server_management.cloud.{path.stem}" for path in PATHS]

# Ansible's own lines are on standard error, too, so that standard output is JSON.
TO_STDERR = {"ANSIBLE_VERBOSE_TO_STDERR": "1"}


def ours(text):
    """Return our lines, with N for times."""
    # Up to 2.18, Ansible may break a line before the long path of the file.
    joined = text.replace("[WARNING]:\n", "[WARNING]: ")
    measured = re.sub(r"\d+\.\d s|\d+ ms", "N", joined)
    return re.findall(r"(?m)^[^:\n]*test\.server_management\.yml: (.*)$", measured)


def test_each_level_shows_more_and_always_on_standard_error(source):
    url = source.sandbox.url
    token = source.sandbox.token
    (source.folder / "token").write_text(token)
    path = source.file(api_token=None, api_token_file="token", regions=["eu-1", token])
    regions = "regions: no server has ********; the account has eu-1 (2), eu-2 (1)."
    summary = f"3 servers from {url} in N (1 request); 2 hosts"

    once = source.runner.inventory("-i", path, "--list", "-v")
    assert ours(once.stdout) == []
    assert ours(once.stderr) == [regions, summary]

    command = ("-i", path, "--list", "-vvvv")
    verbose = source.runner.inventory(*command, env=TO_STDERR, cwd=source.folder)
    assert verbose.json()
    origin = "token: api_token_file token"
    request = f"GET {url}/api/v1/servers: HTTP 200, N"
    servers = [
        "db-1 (srv_3) is db-1",
        "web-1 (srv_1) is web-1",
        "web-2 (srv_2) is left out by regions",
    ]
    assert ours(verbose.stderr) == [origin, request, regions, summary, *servers]


def test_an_inventory_in_yaml_has_no_warnings(source):
    result = source.run("--yaml")
    assert result.stderr == ""
    result.shows("server_management_id: srv_1")


def test_ansible_doc_shows_the_plugins_without_warnings(runner):
    inventory = runner.doc("-t", "inventory", "server_management.cloud.servers")
    modules = runner.doc(*MODULES)
    assert inventory.stderr + modules.stderr == ""
    # What a link macro becomes if ansible-doc can't read it.
    assert "#stq=" not in inventory.stdout + modules.stdout
