# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What documents state about fields and operations, made from their tables, and where."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import (
    _models,
    _operations,
    _options,
)
from support.collection import REPOSITORY, read, read_yaml

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


REQUESTS = [row.request for row in _operations.OPERATIONS if row.request]
METHODS = {request.method for request in REQUESTS}
USABLE = [*modules_by_support("full"), *modules_by_support("partial")]
PREVIEWS = modules_by_support("none")
PAGINATION = _options.RULES["pagination"]

# Names of the tables.
NAMES: dict[str, Collection[str]] = {
    "fields": _models.FIELDS,
    "fields that group": _models.GROUP_FIELDS,
    "options that select": _models.SELECTING_OPTIONS,
    "declared fields that do not change": {*_models.DECLARED_FIELDS} - {"status"},
    "methods": METHODS,
    "statuses": {str(request.success) for request in REQUESTS},
    "scopes": {request.scope for request in REQUESTS},
    "modules that can be used": USABLE,
    "previews": PREVIEWS,
    "choices of pagination": PAGINATION["choices"],
    "ways to request further pages": {*PAGINATION["choices"]} - {PAGINATION["default"]},
}
# These places also have other names.
_WITH_OTHERS = ("options that select", "choices of pagination")
# The files that list these names, and the place in them: the keys that lead there in YAML and in
# the documentation of plugins; in other files, with the pattern that finds a name or several.
PLACES: dict[str, list[list[str]]] = yaml.safe_load(r"""
fields:
- [docs/openapi.yaml, components schemas Server properties]
- [docs/openapi.yaml, components schemas Server required]
- [plugins/modules/server_info.py, servers contains]
- [docs/docsite/rst/guide_inventory.rst, table of variables, '^   \* - ``server_management_(\w+)``']
- [docs/docsite/rst/guide_quickstart.rst, output of --host, '^        "server_management_(\w+)": ']
fields that group:
- [plugins/inventory/servers.py, options group_by choices]
- [plugins/inventory/servers.py, options group_by default]
options that select:
- [plugins/inventory/servers.py, options]
declared fields that do not change:
- [playbooks/templates/fleet.yml.j2, loop, 'for field in \((.*?)\)']
methods:
- [README.md, text, &method '\b(GET|HEAD|POST|PUT|PATCH|DELETE)\b']
- [docs/docsite/rst/guide_trust.rst, text, *method]
statuses:
- [docs/docsite/rst/guide_trust.rst, text, '\b(2\d\d)\b']
scopes:
- [README.md, text, &scope '`(\w+:\w+)`']
- [docs/docsite/rst/guide_trust.rst, text, *scope]
modules that can be used:
- [docs/docsite/rst/guide_modules.rst, first table, '^     - ``(\w+)``']
- [docs/docsite/sphinx/index.rst, contents, '<(\w+)_module>(?=(?s:.*) not live yet)']
- [docs/overview.svg, text, '(\w+_info)']
previews:
- [README.md, enumeration, '((?:`\w+`(?:,| and)\s){5,}`\w+`)']
- [docs/docsite/sphinx/index.rst, contents, '<(\w+)_module>(?!(?s:.*) not live yet)']
- [tests/integration/targets/not_yet_live/tasks/main.yml, tasks, ' \w+\.cloud\.(\w+):']
choices of pagination:
- [plugins/doc_fragments/connection.py, text, 'V\((\w+)\)']
ways to request further pages:
- [docs/docsite/rst/guide_inventory.rst, text, 'pagination: (\w+)']
""")


@lru_cache
def documentation(path: str, kind: str = "module") -> dict[str, Any]:
    """Return a plugin's documentation with its fragments, and its return values beside it."""
    # For the tests of module_utils, ansible-test hides these from the importing file.
    from ansible.plugins.loader import fragment_loader
    from ansible.utils.plugin_docs import get_docstring

    file = str(REPOSITORY / path)
    doc, _examples, returned, _metadata = get_docstring(file, fragment_loader, plugin_type=kind)
    return {**(returned or {}), **doc}


def _names_at(path: str, place: str, pattern: str) -> set[str]:
    if pattern:
        lists = " ".join(re.findall(pattern, read(path), re.MULTILINE))
        return set(re.findall(r"[\w:]+", lists)) - {"and", "or"}
    content = read_yaml(path) if path.endswith(".yaml") else documentation(path)
    for key in place.split():
        content = content.get(key, {})
    return set(content)


def differences(table: str, path: str, place: str, pattern: str = "") -> list[str]:
    """Return a line for each name that a place lacks, or that its table lacks."""
    found = _names_at(path, place, pattern)
    expected = set(NAMES[table])
    others = found - expected
    if table in _WITH_OTHERS:
        others = set()
    lines = [f"{path}, {place}: lacks `{name}` of the {table}" for name in expected - found]
    lines += [f"{path}, {place}: `{name}` is not one of the {table}" for name in others]
    return sorted(lines)
