# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API offers and what it has announced: the one table that says what is live.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Operation:
    """One operation of the API, the scope that a token needs for it, and whether it is live."""

    resource: str
    name: str
    scope: str
    live: bool


# Order: as the documentation shows them. An operation goes live here and in the request it makes.
OPERATIONS = (
    Operation("server", "list", "servers:read", live=True),
    Operation("server", "create", "servers:write", live=False),
    Operation("server", "resize", "servers:write", live=False),
    Operation("server", "reinstall", "servers:write", live=False),
    Operation("server", "delete", "servers:write", live=False),
    Operation("volume", "create", "storage:write", live=False),
    Operation("volume", "delete", "storage:write", live=False),
    Operation("volume", "attach", "storage:write", live=False),
    Operation("volume", "detach", "storage:write", live=False),
    Operation("wallet", "read", "billing:read", live=False),
    Operation("usage", "read", "billing:read", live=False),
    Operation("invoice", "read", "billing:read", live=False),
)


def operation(resource: str, name: str) -> Operation:
    """Look up one operation; KeyError where the API has not even announced it."""
    for candidate in OPERATIONS:
        if (candidate.resource, candidate.name) == (resource, name):
            return candidate
    raise KeyError(f"{resource}: {name}")
