# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What documents state about fields and operations, made from their tables, and where."""

from __future__ import annotations

import re
from collections.abc import Collection

import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _models, _operations
from support.collection import REPOSITORY, read

PAGE = REPOSITORY / "docs" / "docsite" / "rst" / "api_status.rst"


HEAD = """\
.. list-table::
   :header-rows: 1
   :widths: 35 25 40

   * - Operation
     - Today
     - Module and scope
"""


def table() -> str:
    """Return the table in reStructuredText."""
    text = HEAD
    for row in _operations.OPERATIONS:
        modules = [f"``{name}``" for name in row.modules] or ["none"]
        today = "announced" if row.announced else "not announced"
        if row.request:
            today = "live"
        text += f"   * - {row.title}\n     - {today}\n"
        text += f"     - {', '.join(modules)} (``{row.scope}``)\n"
    return text


def _operations_of(module: str) -> list[_operations.Operation]:
    return [row for row in _operations.OPERATIONS if module in row.modules]


def support(module: str) -> str:
    """Return how much of a module is live, as the attribute ``live`` states it."""
    live = {bool(row.request) for row in _operations_of(module)}
    if live == {True}:
        return "full"
    if live == {False}:
        return "none"
    return "partial"


def modules_by_support(expected: str) -> list[str]:
    """Return the sorted names of the modules with this support."""
    names: set[str] = set()
    for row in _operations.OPERATIONS:
        names.update(row.modules)
    return sorted(name for name in names if support(name) == expected)


def details(module: str) -> list[str]:
    """Return the sentences of the attribute ``live``, one for each operation of a module."""
    sentences = []
    for row in _operations_of(module):
        live = "live" if row.request else "not yet live"
        missing = "" if row.announced else ", and the API has not announced this operation"
        sentences.append(f"{row.title} is {live}. It needs the scope C({row.scope}){missing}.")
    return sentences


REQUESTS = [row.request for row in _operations.OPERATIONS if row.request]
METHODS = {request.method for request in REQUESTS}
USABLE = [*modules_by_support("full"), *modules_by_support("partial")]

# Names of the tables.
NAMES: dict[str, Collection[str]] = {
    "fields": _models.FIELDS,
    "fields that group": _models.GROUP_FIELDS,
    "options that select": _models.SELECTING_OPTIONS,
    "declared fields": ["id", "name", *_models.DECLARED_FIELDS],
    "declared fields that do not change": {*_models.DECLARED_FIELDS} - {"status"},
    "methods": METHODS,
    "statuses": {str(request.success) for request in REQUESTS},
    "scopes": {request.scope for request in REQUESTS},
    "modules that can be used": USABLE,
    "previews": modules_by_support("none"),
}
# The files that list these names, and the pattern that finds them there.
PLACES = yaml.safe_load(r"""
fields:
- [tests/sandbox/account.py, '^    "(\w+)": "']
- [docs/openapi.yaml, '^        (\w+):\n +type: string']
- [docs/openapi.yaml, 'required: \[(id.*)\]']
- [plugins/modules/server_info.py, '^    (\w+):\n      description: .*the server']
- [docs/docsite/rst/guide_inventory.rst, '^   \* - ``server_management_(\w+)``']
- [docs/docsite/rst/guide_quickstart.rst, '^        "server_management_(\w+)": ']
fields that group:
- [plugins/inventory/servers.py, 'choices: \[([\w, ]+)\]']
- [plugins/inventory/servers.py, 'default: \[([\w, ]+)\]']
options that select:
- [plugins/inventory/servers.py, '^  (\w+):\n(?:    .*\n)*?    .*Keep only servers \w+ one of']
- [plugins/modules/server_info.py, '^  (\w+):\n(?:    .*\n)*?    .*Keep only .* one of']
declared fields:
- [plugins/modules/fleet_info.py, '^      (\w+):\n        description:']
- [playbooks/check_fleet.yml, 'set fields = \[(.*?)\]']
declared fields that do not change:
- [playbooks/templates/fleet.yml.j2, 'for field in \((.*?)\)']
methods:
- [README.md, 'API accepts only (.*) today']
- [docs/docsite/rst/guide_trust.rst, 'Only (.*) requests are sent']
statuses:
- [docs/docsite/rst/guide_trust.rst, 'HTTP status other than ([\d or]+)']
scopes:
- [docs/docsite/rst/guide_trust.rst, 'The scopes? (.*) (?:is|are) sufficient']
- [README.md, '^Live, with the scopes? (.*):$']
modules that can be used:
- [docs/docsite/rst/guide_modules.rst, '^     - ``(\w+)``']
- [docs/docsite/sphinx/index.rst, '<(\w+)_module>(?=(?s:.*) not live yet)']
previews:
- [README.md, 'released these operations: ([^.]+)\.']
- [docs/docsite/sphinx/index.rst, '<(\w+)_module>(?!(?s:.*) not live yet)']
- [changelogs/changelog.yaml, 'Not yet live: [^:]*\n +name: (\w+)']
- [CHANGELOG.rst, 'cloud\.(\w+) - Not yet live: ']
- [tests/integration/targets/not_yet_live/tasks/main.yml, '^ +server_management\.cloud\.(\w+):']
""")
# The files about what the API does not have, and the pattern of that.
DENIALS = yaml.safe_load(r"""
- [plugins/module_utils/_unknown_names.py, '_NARROWING = \(([^)]*)\)']
- [plugins/plugin_utils/_hints.py, 'API has no (\w+)']
- [docs/docsite/rst/guide_inventory.rst, 'API has no (\w+)']
- [docs/docsite/rst/guide_moving.rst, '^   \* - (.*)\n     - Nothing: the API']
""")


def _names_in(path: str, pattern: str) -> set[str]:
    """Return the names that a file lists; a file that does not exist lists none."""
    text = read(path) if (REPOSITORY / path).exists() else ""
    lists = " ".join(re.findall(pattern, text, re.MULTILINE))
    return set(re.findall(r"[\w:]+", lists)) - {"and", "or"}


def differences() -> list[str]:
    """Return a line for each name that a place lacks, or that the tables lack."""
    lines = []
    for kind, places in PLACES.items():
        for path, pattern in places:
            found = _names_in(path, pattern)
            for name in sorted(found.symmetric_difference(NAMES[kind])):
                verb = "should not have" if name in found else "lacks"
                lines.append(f"{path}: {verb} `{name}` among the {kind}: {pattern}")
    for module in USABLE:
        target = f"tests/integration/targets/{module}/tasks/main.yml"
        if not _names_in(target, rf"server_management\.cloud\.({module}):"):
            lines.append(f"{target}: does not exist, or does not run the module")
    for path, pattern in DENIALS:
        denied = _names_in(path, pattern)
        if not denied:
            lines.append(f"{path}: denies nothing in these words: {pattern}")
        existing = denied.intersection([*_models.FIELDS, *_models.SELECTING_OPTIONS])
        lines += [f"{path}: the API has `{name}` now" for name in sorted(existing)]
    return lines
