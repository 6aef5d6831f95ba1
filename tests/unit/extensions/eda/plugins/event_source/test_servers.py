# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Load the event source like ansible-rulebook: by its path, without Ansible's loader."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.plugins.loader import fragment_loader
from ansible.utils.plugin_docs import get_docstring

from ansible_collections.server_management.cloud.plugins.plugin_utils._polling import (
    ARGUMENTS,
    read_arguments,
)
from sandbox import Sandbox

ROOT = Path(__file__).resolve().parents[6]
SOURCE = Path("extensions/eda/plugins/event_source/servers.py")
NAME = "server_management.cloud.servers"

# Ansible cannot be imported, as in an environment with only ansible-rulebook.
LOADER = """
import asyncio, importlib.abc, json, runpy, sys

class NoAnsible(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "ansible" or name in sys.argv[3:]:
            raise ImportError(name)

class Queue:
    def __init__(self):
        self.events = []

    async def put(self, event):
        self.events.append(event)
        raise asyncio.CancelledError

sys.meta_path.insert(0, NoAnsible())
sys.path.append("/an/other/place")
before = list(sys.path)
module = runpy.run_path(sys.argv[1])
queue = Queue()
try:
    asyncio.run(module["main"](queue, json.loads(sys.argv[2])))
except asyncio.CancelledError:
    print(json.dumps(queue.events))
assert sys.path == before
assert "ansible_collections" not in sys.modules
"""


def load(source: Path, arguments: dict[str, Any], *hidden: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-B", "-c", LOADER, str(source), json.dumps(arguments), *hidden)
    return subprocess.run(command, capture_output=True, check=False, text=True, timeout=60)


@pytest.fixture(scope="module", params=["checkout", "ansible_collections/server_management/cloud"])
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of the source in a checkout and in an installed collection."""
    place: Path = tmp_path_factory.mktemp("place") / request.param
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(ROOT, target_is_directory=True)
    return place / SOURCE


def test_it_works_without_ansible(source: Path) -> None:
    with Sandbox(servers=1) as sandbox:
        arguments = {"base_url": sandbox.url, "api_token": sandbox.token, "initial": True}
        done = load(source, arguments)
    assert (done.returncode, done.stderr) == (0, "")
    (event,) = json.loads(done.stdout)
    assert event["server_management"]["server"] == sandbox.servers[0]
    assert event["meta"] == {"hosts": "web-01"}


def test_a_missing_library_is_reported_with_the_command_to_install_it(source: Path) -> None:
    done = load(source, {"base_url": "http://127.0.0.1:9", "api_token": "t"}, "requests")
    assert done.returncode == 1
    assert "MissingLibrary: The Python library requests is not installed" in done.stderr
    assert "Install it where Ansible runs: " in done.stderr


def documentation() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    doc, examples, _returned, _metadata = get_docstring(str(ROOT / SOURCE), fragment_loader)
    return doc, yaml.safe_load(examples)


def rules(options: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    keys = ("type", "default", "choices")
    return {name: tuple(map(option.get, keys)) for name, option in options.items()}


def test_its_arguments_are_documented() -> None:
    assert rules(documentation()[0]["options"]) == rules(ARGUMENTS)


def test_the_guide_lists_the_arguments_with_their_defaults() -> None:
    guide = (ROOT / "docs/docsite/rst/guide_events.rst").read_text(encoding="utf-8")
    section = guide.partition("\nArguments\n---------\n")[2].partition("\n------\n")[0]
    rows = dict(re.findall(r"^   \* - ``(\w+)``\n     - (.+)\n     - ", section, re.M))
    assert set(rows) == set(ARGUMENTS)
    for name, option in ARGUMENTS.items():
        if (default := option.get("default")) is not None:
            shown = str(default).lower().removesuffix(".0")
            assert rows[name].endswith(f"``{shown}``"), name


def test_the_examples_have_valid_arguments() -> None:
    for ruleset in documentation()[1]:
        for source in ruleset["sources"]:
            assert read_arguments(source[NAME])
