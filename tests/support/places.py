# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The places that list what the tables of fields and of operations have."""

from __future__ import annotations

import re
from collections.abc import Collection

from ansible_collections.server_management.cloud.plugins.module_utils._models import (
    DECLARED_FIELDS,
    FIELDS,
    GROUP_FIELDS,
    SELECTING_OPTIONS,
)
from ansible_collections.server_management.cloud.plugins.module_utils._operations import OPERATIONS
from support.collection import REPOSITORY, read
from support.status_page import modules_by_support

ENTRY = ["id", "name", *DECLARED_FIELDS]
GIVEN = [field for field in FIELDS if field != "id"]
WRITTEN = [field for field in DECLARED_FIELDS if field != "status"]  # which changes by itself
LIVE = [row for row in OPERATIONS if row.request]
SCOPES = {row.scope for row in LIVE}
REQUESTS = [row.request for row in OPERATIONS if row.request]
METHODS = {request.method for request in REQUESTS}
STATUSES = {str(request.success) for request in REQUESTS}
USABLE = [*modules_by_support("full"), *modules_by_support("partial")]
PREVIEWS = modules_by_support("none")

ACCOUNT = "tests/sandbox/account.py"
FLEET_INFO = "plugins/modules/fleet_info.py"
GUIDES = "docs/docsite/rst"
INVENTORY = "plugins/inventory/servers.py"
OPENAPI = "docs/openapi.yaml"
SERVER_INFO = "plugins/modules/server_info.py"
TARGETS = "tests/integration/targets"
# Files, the pattern of the names that they list, and the names of the tables.
PLACES: list[tuple[str, str, Collection[str]]] = [
    (ACCOUNT, r'^    "(\w+)": "', FIELDS),
    (OPENAPI, r"^        (\w+):\n +type: string", FIELDS),
    (OPENAPI, r"required: \[(id.*)\]", FIELDS),
    (SERVER_INFO, r"^    (\w+):\n(?:      .*\n)+?      returned: if the API gives one", GIVEN),
    (f"{GUIDES}/guide_inventory.rst", r"^   \* - ``server_management_(\w+)``", FIELDS),
    (f"{GUIDES}/guide_quickstart.rst", r'^        "server_management_(\w+)": ', FIELDS),
    (INVENTORY, r"choices: \[([\w, ]+)\]", GROUP_FIELDS),
    (INVENTORY, r"default: \[([\w, ]+)\]", GROUP_FIELDS),
    (INVENTORY, r"^  (\w+):\n(?:    .*\n)*?    .*Keep only servers \w+ one of", SELECTING_OPTIONS),
    (SERVER_INFO, r"^  (\w+):\n(?:    .*\n)*?    .*Keep only .* one of", SELECTING_OPTIONS),
    (FLEET_INFO, r"^      (\w+):\n        description:", ENTRY),
    ("playbooks/check_fleet.yml", r"set fields = \[(.*?)\]", ENTRY),
    ("playbooks/templates/fleet.yml.j2", r"for field in \((.*?)\)", WRITTEN),
    ("README.md", r"^Live, with the scopes? (.*):$", SCOPES),
    ("README.md", r"released these operations: ([^.]+)\.", PREVIEWS),
    (f"{GUIDES}/guide_trust.rst", r"The scopes? (.*) (?:is|are) sufficient", SCOPES),
    ("README.md", r"API accepts only (.*) today", METHODS),
    (f"{GUIDES}/guide_trust.rst", r"Only (.*) requests are sent", METHODS),
    (f"{GUIDES}/guide_trust.rst", r"HTTP status other than ([\d or]+)", STATUSES),
    ("docs/checklist.md", r"Live operations only use (.*)\. \|", METHODS),
    (f"{GUIDES}/guide_modules.rst", rf"``({'|'.join([*USABLE, *PREVIEWS])})``", USABLE),
    ("docs/docsite/sphinx/index.rst", r"<(\w+)_module>(?!(?s:.*) not live yet)", PREVIEWS),
    ("changelogs/changelog.yaml", r"Not yet live: [^:]*\n +name: (\w+)", PREVIEWS),
    ("CHANGELOG.rst", r"cloud\.(\w+) - Not yet live: ", PREVIEWS),
    (f"{TARGETS}/not_yet_live/tasks/main.yml", r"^ +server_management\.cloud\.(\w+):", PREVIEWS),
]
for module in USABLE:
    target = f"{TARGETS}/{module}/tasks/main.yml"
    PLACES.append((target, rf"^ +server_management\.cloud\.({module}):", [module]))

# Files, and the pattern of what the API does not have.
DENIALS = [
    ("plugins/module_utils/_options.py", r"_NARROWING = \(([^)]*)\)"),
    ("plugins/plugin_utils/_hints.py", r"API has no (\w+)"),
    (f"{GUIDES}/guide_inventory.rst", r"API has no (\w+)"),
    (f"{GUIDES}/guide_moving.rst", r"^   \* - (.*)\n     - Nothing: the API"),
]


def _names_in(path: str, pattern: str) -> set[str]:
    """Return the names that a file lists; a file that does not exist lists none."""
    text = read(path) if (REPOSITORY / path).exists() else ""
    lists = " ".join(re.findall(pattern, text, re.MULTILINE))
    return set(re.findall(r"[\w:]+", lists)) - {"and", "or"}


def differences() -> list[str]:
    """Return a line for each name that a place lacks, or that the tables lack."""
    lines = []
    for path, pattern, expected in PLACES:
        found = _names_in(path, pattern)
        listed = ", ".join(sorted(found))
        for name in sorted(found.symmetric_difference(expected)):
            verb = "should not have" if name in found else "lacks"
            lines.append(f"{path}: {verb} `{name}` in its list: {listed}")
    for path, pattern in DENIALS:
        denied = _names_in(path, pattern).intersection([*FIELDS, *SELECTING_OPTIONS])
        lines += [f"{path}: the API has `{name}` now" for name in sorted(denied)]
    return lines
