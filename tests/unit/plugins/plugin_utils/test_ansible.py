# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of Ansible that other versions may not have."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from ansible import constants
from ansible.inventory import manager
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.inventory import Constructable
from ansible.release import __version__
from ansible.template import Templar
from ansible.utils.vars import isidentifier

from ansible_collections.server_management.cloud.plugins.plugin_utils import _ansible, _expressions
from ansible_collections.server_management.cloud.plugins.plugin_utils._ansible import (
    HAS_EXPRESSIONS,
    compile_once,
    is_identifier,
    is_ignored,
    reason_text,
    setting,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import (
    RESERVED_VARIABLES,
    name_hosts,
)
from support.constructable import expressions_with, hosts_of, load

SETTINGS = (
    "DEFAULT_JINJA2_EXTENSIONS",
    "DEFAULT_JINJA2_NATIVE",
    "STRING_TYPE_FILTERS",
    "YAML_FILENAME_EXTENSIONS",
)
_HELPER_OPTIONS = ("strict", "fetch_hostvars")
# Private methods of Ansible that plugins override or call, and their parameters.
PARAMETERS = {
    "_compose": ["self", "template", "variables", "disable_lookups"],
    "_add_host_to_composed_groups": ["self", "groups", "variables", "host", *_HELPER_OPTIONS],
    "_add_host_to_keyed_groups": ["self", "keys", "variables", "host", *_HELPER_OPTIONS],
}
SOURCE = {
    "compose": {"a": "server_name ~ '.x'", "b": "server_tags | length", "c": "now().year > 1"},
    "groups": {"web": "server_name.startswith('web')"},
    "keyed_groups": [{"key": "server_region", "prefix": "r"}],
}


# Ansible itself reads the first two settings before ansible-core 2.19.
@pytest.mark.parametrize("name", [*(SETTINGS if HAS_EXPRESSIONS else SETTINGS[2:]), "_engine"])
def test_a_source_works_without_each_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    templar = Templar(DataLoader())
    if name in SETTINGS:
        monkeypatch.delattr(constants, name, raising=False)
        assert setting(name) is None
    else:
        monkeypatch.setattr(_expressions, "compile_once", lambda _: compile_once(object()))
    expressions = expressions_with(load(SOURCE), templar=templar)
    hosts = hosts_of([{"name": "web-1", "region": "eu", "tags": [1]}] * 2)
    for host in hosts:
        host.preferences = ["web"]
    for composed in expressions.compose_all(hosts, InventoryData()):
        assert {**composed.variables, "b": 1} == {"a": "web-1.x", "b": 1, "c": True}
        assert composed.groups == ["web", "r_eu"]
    assert not expressions.failures
    name_hosts(hosts, (), lambda name, server_id: False)


@pytest.mark.parametrize("text", ["a", "a_1", "_", "1a", "", "a-b", "é", "for", "None", "match"])
def test_an_identifier_is_one_for_ansible(text: str) -> None:
    assert is_identifier(text) == isidentifier(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'a' is undefined. 'a' is undefined", "'a' is undefined"),
        ("No group: 'a.b' is undefined. 'a.b' is undefined", "No group: 'a.b' is undefined"),
        ("'a' is undefined.\n'b' is undefined", "'a' is undefined. 'b' is undefined"),
        ("Failed. ", "Failed."),
        ("", ""),
    ],
)
def test_a_reason_says_everything_once(text: str, expected: str) -> None:
    assert reason_text(text) == expected


def test_entries_of_an_inventory_directory_are_ignored_as_ansible_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ("token", ".token", "token.txt", "group_vars", "a.group_vars", "token~", "\udcff")
    ignored = [name for name in names if is_ignored(name)]
    assert ignored == [".token", "token.txt", "group_vars", "token~"]
    monkeypatch.delattr(manager, "IGNORED")
    assert is_ignored("token")


def test_the_globals_of_templates_are_reserved() -> None:
    templar = Templar(DataLoader())
    environment = templar._engine.environment if HAS_EXPRESSIONS else templar.environment
    assert set(environment.globals) <= RESERVED_VARIABLES


def test_private_and_deprecated_names_are_read_in_one_file() -> None:
    folder = Path(_ansible.__file__).resolve().parents[1]
    pattern = re.compile(
        r"import constants|isidentifier\b|\._engine|ansible\._internal|\bIGNORED\b"
    )
    found = {
        path.name
        for path in folder.rglob("*.py")
        if pattern.search(path.read_text(encoding="utf-8").replace(".isidentifier()", ""))
    }
    assert found == {"_ansible.py"}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_private_method_of_ansible_has_the_parameters_that_are_used(name: str) -> None:
    what = f"Constructable.{name} of ansible-core {__version__}"
    method = getattr(Constructable, name, None)
    assert method, f"{what} does not exist: find other means for its uses in plugins/"
    found = list(inspect.signature(method).parameters)
    assert found == PARAMETERS[name], f"{what} has other parameters: adapt its uses in plugins/"


def test_no_other_private_method_of_constructable_is_used() -> None:
    private = {name for name in vars(Constructable) if re.match(r"_[a-z]", name)}
    folder = Path(_ansible.__file__).resolve().parents[1]
    text = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    assert set(re.findall(r"\.(_\w+)\b", text)) & private == set(PARAMETERS)
