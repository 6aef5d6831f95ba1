# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each place that lists fields of servers has those of the table in _models.py."""

import re
from collections.abc import Collection

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.inventory import servers
from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    DECLARED_FIELDS,
    FIELDS,
    GROUP_FIELDS,
    SELECTING_OPTIONS,
)
from ansible_collections.server_management.cloud.plugins.modules import fleet_info, server_info
from sandbox.account import SERVER
from support.collection import REPOSITORY, read

INVENTORY = yaml.safe_load(servers.DOCUMENTATION)["options"]
OF_SERVER_INFO = yaml.safe_load(server_info.DOCUMENTATION)["options"]
DECLARED = yaml.safe_load(fleet_info.DOCUMENTATION)["options"]["servers"]["suboptions"]
RETURNED = yaml.safe_load(server_info.RETURN)["servers"]["contains"]
SCHEMA = yaml.safe_load(read("docs/openapi.yaml"))["components"]["schemas"]["Server"]
PAGES = [
    "README.md",
    "plugins/inventory/servers.py",
    *map(str, REPOSITORY.glob("docs/docsite/**/*.rst")),
]

ENTRY = ["id", "name", *DECLARED_FIELDS]
# For each place, the names that it has, and those that it should have.
PLACES: dict[str, tuple[Collection[str], Collection[str]]] = {
    "the properties of openapi.yaml": (SCHEMA["properties"], FIELDS),
    "SERVER in tests/sandbox/account.py": (SERVER, FIELDS),
    "RETURN of server_info": (RETURNED, FIELDS),
    "the choices of group_by": (INVENTORY["group_by"]["choices"], GROUP_FIELDS),
    "the default of group_by": (INVENTORY["group_by"]["default"], GROUP_FIELDS),
    "the options of the inventory plugin": (
        SELECTING_OPTIONS.keys() & INVENTORY,
        SELECTING_OPTIONS,
    ),
    "the options of server_info": (SELECTING_OPTIONS.keys() & OF_SERVER_INFO, SELECTING_OPTIONS),
    "the entries of fleet_info": (DECLARED, ENTRY),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_place_has_the_fields_of_the_table(place):
    found, expected = PLACES[place]
    assert sorted(found) == sorted(expected), place


# For each file, a pattern that matches its list of fields.
QUOTED = r"fields:? `+id`+(?:(?:,| and)\s+`+\w+`+)+"
WRITTEN = [field for field in DECLARED_FIELDS if field != "status"]  # which changes by itself
TEXTS: dict[str, tuple[str, Collection[str]]] = {
    "README.md": (QUOTED, FIELDS),
    "docs/docsite/rst/guide_moving.rst": (QUOTED, FIELDS),
    "playbooks/check_fleet.yml": (r"\['id', 'name'[^]]*\]", ENTRY),
    "playbooks/templates/fleet.yml.j2": (r"for field in \([^)]*\)", WRITTEN),
    "plugins/inventory/servers.py": (r"C\(\w+_<value>\)[^.]*", GROUP_FIELDS.values()),
}


@pytest.mark.parametrize("path", TEXTS)
def test_a_text_lists_the_fields_of_the_table(path):
    pattern, expected = TEXTS[path]
    text = re.search(pattern, read(path))
    assert text, f"{path} has no list of fields"
    found = re.findall(r"[`'(](\w+)[`'<]", text[0])
    assert sorted(found) == sorted(expected), path


def test_sentences_about_groups_name_each_field_that_groups():
    wrong = []
    for path in PAGES:
        for names in re.findall(r"\b(?:by|its)\s+((?:\w+,\s+)+\w+\s+and\s+\w+)", read(path)):
            words = set(re.findall(r"\w+", names)) - {"and"}
            if words & GROUP_FIELDS.keys() and words != GROUP_FIELDS.keys():
                wrong.append(f"{path}: {names}")
    assert wrong == []
