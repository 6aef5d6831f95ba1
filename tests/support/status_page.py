# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What documents state about operations, generated from the table of operations."""

from __future__ import annotations

from ansible_collections.server_management.cloud.plugins.module_utils import _operations
from support.collection import REPOSITORY

PAGE = REPOSITORY / "docs" / "docsite" / "rst" / "api_status.rst"


def table() -> str:
    """Return the table in reStructuredText."""
    rows = [("Operation", "Scope", "Today", "Module")]
    rows += [
        (row.title, f"``{row.scope}``", _today(row), _modules(row.modules))
        for row in _operations.OPERATIONS
    ]
    cells = "".join(
        f"   * - {row[0]}\n" + "".join(f"     - {c}\n" for c in row[1:]) for row in rows
    )
    return f".. list-table::\n   :header-rows: 1\n\n{cells}"


def support(module: str) -> str:
    """Return how much of a module is live, as the attribute ``live`` states it."""
    live = {row.live for row in _operations.OPERATIONS if module in row.modules}
    return "partial" if len(live) == 2 else "full" if True in live else "none"


def details(module: str) -> list[str]:
    """Return the sentences of the attribute ``live``, one for each operation of a module."""
    return [_detail(row) for row in _operations.OPERATIONS if module in row.modules]


def _detail(row: _operations.Operation) -> str:
    live = "live" if row.live else "not yet live"
    missing = "" if row.announced else ", and the API has not announced this operation"
    return f"{row.title} is {live}. It needs the scope C({row.scope}){missing}."


def _today(row: _operations.Operation) -> str:
    if row.live:
        return "live"
    return "announced" if row.announced else "not announced"


def _modules(names: tuple[str, ...]) -> str:
    links = [f":ansplugin:`server_management.cloud.{name}#module`" for name in names]
    return ", ".join(links) or "none"
