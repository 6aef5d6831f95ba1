# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What documents state about operations, generated from the table of operations."""

from __future__ import annotations

from ansible_collections.server_management.cloud.plugins.module_utils import _operations
from support.collection import REPOSITORY

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
        text += f"   * - {row.title}\n     - {_today(row)}\n"
        text += f"     - {', '.join(modules)} (``{row.scope}``)\n"
    return text


def _today(row: _operations.Operation) -> str:
    if row.request:
        return "live"
    return "announced" if row.announced else "not announced"


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
