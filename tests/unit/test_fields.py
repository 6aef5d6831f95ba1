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
OF_GROUPS = INVENTORY["group_by"]


def test_each_place_has_the_fields_of_the_table():
    for fields in (SCHEMA["properties"], SERVER, RETURNED):
        assert sorted(fields) == sorted(FIELDS)
    for fields in (OF_GROUPS["choices"], OF_GROUPS["default"]):
        assert sorted(fields) == sorted(GROUP_FIELDS)
    for options in (INVENTORY, OF_SERVER_INFO):
        assert SELECTING_OPTIONS.keys() <= options.keys()
    assert sorted(DECLARED) == sorted(ENTRY)


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
