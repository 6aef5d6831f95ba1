# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of Ansible that other versions may not have."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible import constants
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible.utils.vars import isidentifier

from ansible_collections.server_management.cloud.plugins.plugin_utils import _ansible, _expressions
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    HAS_EXPRESSIONS,
    compile_once,
    is_identifier,
    setting,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._expressions import (
    OPTIONS,
    Expressions,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import (
    RESERVED_VARIABLES,
    name_hosts,
)
from support.constructable import hosts_of, load

SETTINGS = (
    "DEFAULT_JINJA2_EXTENSIONS",
    "DEFAULT_JINJA2_NATIVE",
    "STRING_TYPE_FILTERS",
    "YAML_FILENAME_EXTENSIONS",
)
SOURCE = {
    "compose": {"a": "server_name ~ '.x'", "b": "server_tags | length", "c": "now().year > 1"},
    "groups": {"web": "server_name.startswith('web')"},
    "keyed_groups": [{"key": "server_region", "prefix": "r"}],
}


@pytest.mark.parametrize("name", [*SETTINGS, "_engine"])
def test_a_source_works_without_each_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    templar = Templar(DataLoader())
    if name in SETTINGS:
        if not HAS_EXPRESSIONS and name.startswith("DEFAULT"):
            pytest.skip("Ansible itself reads this setting")
        monkeypatch.delattr(constants, name, raising=False)
        assert setting(name) is None
    else:
        monkeypatch.setattr(_expressions, "compile_once", lambda _: compile_once(object()))
    options = {**dict.fromkeys(OPTIONS), **load(SOURCE)}
    expressions = Expressions(options, templar, {})
    hosts = hosts_of([{"name": "web-1", "region": "eu", "tags": [1]}] * 2)
    for host in hosts:
        host.preferences = ["web"]
    for composed in expressions.compose_all(hosts, InventoryData()):
        assert {**composed.variables, "b": 1} == {"a": "web-1.x", "b": 1, "c": True}
        assert composed.groups == ["web", "r_eu"]
    assert not expressions.failures
    name_hosts(hosts, (), lambda name, server_id: False)


def test_a_templar_is_wrapped_once() -> None:
    def compile_expression(source: str) -> str:
        return source

    environment = SimpleNamespace(compile_expression=compile_expression)
    templar = SimpleNamespace(_engine=SimpleNamespace(environment=environment))
    for _ in range(2):
        compile_once(templar)
    wrapped = environment.compile_expression
    assert getattr(wrapped, "__wrapped__", wrapped) is compile_expression
    assert hasattr(wrapped, "cache_info") == HAS_EXPRESSIONS


@pytest.mark.parametrize("text", ["a", "a_1", "_", "1a", "", "a-b", "é", "for", "None", "match"])
def test_an_identifier_is_one_for_ansible(text: str) -> None:
    assert is_identifier(text) == isidentifier(text)


def test_the_globals_of_templates_are_reserved() -> None:
    templar = Templar(DataLoader())
    environment = templar._engine.environment if HAS_EXPRESSIONS else templar.environment
    assert set(environment.globals) <= RESERVED_VARIABLES


def test_private_and_deprecated_names_are_read_in_one_file() -> None:
    folder = Path(_ansible.__file__).resolve().parents[1]
    pattern = re.compile(r"import constants|isidentifier\b|\._engine|ansible\._internal")
    found = {
        path.name
        for path in folder.rglob("*.py")
        if pattern.search(path.read_text(encoding="utf-8").replace(".isidentifier()", ""))
    }
    assert found == {"_ansible.py"}
