# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The collection works without what Ansible has announced to remove.

Each change is simulated in Ansible's own commands, by a module that Python imports at its start.
"""

import json
import sys

import yaml
from ansible.release import __version__
from packaging.version import Version

from sandbox import Sandbox
from support.collection import REPOSITORY
from support.run import write_inventory

# Replaces the loader of some of Ansible's modules, so that they are changed when they are imported.
START = """
import importlib.machinery, os, sys, warnings

class Finder:
    def find_spec(self, name, path=None, target=None):
        change = CHANGES.get(name)
        if change is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        run = spec.loader.exec_module
        def exec_module(module):
            run(module)
            change(module)
        spec.loader.exec_module = exec_module
        return spec

def ours(depth=2):
    frame = sys._getframe(depth)
    while frame:
        if "/server_management/cloud/" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False

def without(name):
    return lambda module: delattr(module, name)

def strict_display(module):
    def deprecated(self, *args, **kwargs):
        if ours():
            raise RuntimeError(f"deprecated: {args}")
        return original(self, *args, **kwargs)
    original = module.Display.deprecated
    module.Display.deprecated = deprecated

CHANGES = {"ansible.utils.display": strict_display}
if os.environ["REMOVE"]:
    CHANGES["ansible.constants"] = without("DEFAULT_JINJA2_EXTENSIONS")
    CHANGES["ansible.utils.vars"] = without("isidentifier")
sys.meta_path.insert(0, Finder())
warnings.filterwarnings("error", category=DeprecationWarning, module="ansible_collections")
"""
PROBE = """
from ansible import constants
from ansible.utils import vars
print(hasattr(constants, "DEFAULT_JINJA2_EXTENSIONS"), hasattr(vars, "isidentifier"))
"""
EVENTS = """
import asyncio, json, runpy, sys
class Queue:
    async def put(self, event):
        print(json.dumps(event))
        raise SystemExit
main = runpy.run_path(sys.argv[1])["main"]
asyncio.run(main(Queue(), json.loads(sys.argv[2])))
"""
# An expression in each option that takes one.
OPTIONS = """
strict: true
hostnames: ["server_management_name ~ '-x'"]
filters: [{exclude: server_management_status is undefined}]
compose: {digest: "server_management_name | hash('md5')"}
groups: {all_of_them: server_management_id is truthy}
keyed_groups: [{key: server_management_plan, prefix: p, parent_group: plans}]
"""
PLAY = """
- hosts: localhost
  connection: ansible.builtin.local
  gather_facts: false
  tasks:
    - server_management.cloud.server_info:
      register: found
    - ansible.builtin.assert: {that: found.servers | length == 2}
    - server_management.cloud.server: {name: web-01}
"""
SOURCE = REPOSITORY / "extensions" / "eda" / "plugins" / "event_source" / "servers.py"


# Earlier versions use themselves what is removed, and do not have Ansible's module for secrets.
IS_NEW = Version(__version__).release >= (2, 22)


def test_the_collection_works_after_the_announced_removals(runner, tmp_path):
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "sitecustomize.py").write_text(START, encoding="utf-8")
    runner.environment |= {"PYTHONPATH": str(tmp_path / "start"), "REMOVE": "1" if IS_NEW else ""}
    probe = runner.run(sys.executable, "-c", PROBE).ok()
    assert probe.stdout.split() == [str(not IS_NEW)] * 2

    (tmp_path / "play.yml").write_text(PLAY, encoding="utf-8")
    with Sandbox(servers=2) as sandbox:
        connection = {"base_url": sandbox.url, "api_token": sandbox.token}
        path = write_inventory(tmp_path, {**connection, **yaml.safe_load(OPTIONS)})
        listed = runner.inventory("-i", path, "--list").ok()
        env = {f"SERVER_MANAGEMENT_{name.upper()}": value for name, value in connection.items()}
        played = runner.playbook("-i", "localhost,", tmp_path / "play.yml", env=env).ok()
        arguments = json.dumps({**connection, "initial": True})
        event = runner.run(sys.executable, "-c", EVENTS, str(SOURCE), arguments).ok()
    variables = listed.json()["_meta"]["hostvars"]
    assert sorted(variables) == ["db-01-x", "web-01-x"]
    assert len(variables["web-01-x"]["digest"]) == 32
    assert sorted(listed.json()["all_of_them"]["hosts"]) == sorted(variables)
    assert "plans" in listed.json()
    for result in (listed, played):
        assert "DEPRECAT" not in result.stderr.upper()
    assert event.json()["server_management"]["event"] == "appeared"
