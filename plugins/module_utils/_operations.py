# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API offers and what it has announced: the one table that says what is live.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    NotYetLive,
)


@dataclass(frozen=True)
class Operation:
    """One operation of the API: the module for it, its name, and the scope that a token needs.

    ``title`` begins a sentence. ``announced`` is false where the API has announced the scope and
    never spoken of the operation; ``module`` is empty where no module is for it.
    """

    module: str
    name: str
    title: str
    scope: str
    live: bool = False
    announced: bool = True

    @property
    def waits(self) -> str:
        """Say what an operation that is not yet live waits for, without a full stop."""
        unnamed = "" if self.announced else " without this operation"
        return (
            f"{self.title} is not yet live: it needs the scope `{self.scope}`, "
            f"which the API has announced{unnamed} and not yet opened"
        )


# In the order of the documentation. An operation goes live here and where its request is made.
OPERATIONS = (
    Operation("server_info", "list", "Listing servers", "servers:read", live=True),
    Operation("", "inspect", "Reading a single server", "servers:read"),
    Operation("server", "create", "Creating a server", "servers:write"),
    Operation("server", "resize", "Resizing a server", "servers:write"),
    Operation("server", "reinstall", "Reinstalling a server", "servers:write"),
    Operation("server", "delete", "Deleting a server", "servers:write"),
    Operation("volume", "provision", "Provisioning a volume", "storage:write"),
    Operation("volume", "delete", "Deleting a volume", "storage:write", announced=False),
    Operation("volume_attachment", "attach", "Attaching a volume", "storage:write"),
    Operation("volume_attachment", "detach", "Detaching a volume", "storage:write"),
    Operation("wallet_info", "read", "Reading the wallet balance", "billing:read"),
    Operation("usage_info", "read", "Reading the usage", "billing:read"),
    Operation("invoice_info", "read", "Reading the invoices", "billing:read"),
)


def operation(module: str, name: str) -> Operation:
    """Look up one operation of a module; KeyError where the table has none."""
    for candidate in OPERATIONS:
        if (candidate.module, candidate.name) == (module, name):
            return candidate
    raise KeyError(f"{module}: {name}")


def refuse(wanted: Operation) -> NoReturn:
    """Raise the error of an operation that no request is written for, live or not."""
    if wanted.live:
        raise CloudError(
            f"{wanted.title} is live, and this release of the collection has no request for it; "
            "nothing was changed.",
            "Update the collection.",
        )
    error = NotYetLive(f"{wanted.waits}; nothing was changed.")
    error.operation = wanted.name
    error.scope = wanted.scope
    raise error
