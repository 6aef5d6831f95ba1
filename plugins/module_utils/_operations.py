# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API's operations, live and announced: the one table that states what is live.

A module sends the request or calls ``refuse``; a test compares it with the table.
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from ._errors import NotYetLive
from ._request import Request


class Operation(NamedTuple):
    """One operation of the API, the modules that use it, and the scope that a token needs.

    ``title`` begins a sentence. ``request`` is None if the operation is not live, and ``announced``
    false if the API has announced the scope but not the operation.
    """

    modules: tuple[str, ...]
    name: str
    title: str
    scope: str
    request: Request | None = None
    announced: bool = True

    def refuse(self, _task: object = None) -> NoReturn:
        """Raise the error for an operation that is not live; run() passes the task."""
        state = "announced but not released" if self.announced else "not announced"
        end = "; nothing was changed." if self.scope.endswith(":write") else "."
        error = NotYetLive(
            f"{self.title} is not yet live: it needs the scope `{self.scope}`, "
            f"and the API has {state} this operation{end}"
        )
        error.operation = self.name
        error.scope = self.scope
        raise error


LIST_SERVERS = Request("GET", "/servers", scope="servers:read", subject="list of servers")

# In the order of the documentation. To make an operation live, add its request to its row here, and
# send it.
OPERATIONS = (
    Operation(
        ("server_info", "fleet_info", "api_info"),
        "list",
        "Listing servers",
        LIST_SERVERS.scope,
        LIST_SERVERS,
    ),
    Operation((), "inspect", "Reading a single server", "servers:read"),
    Operation(("server",), "create", "Creating a server", "servers:write"),
    Operation(("server",), "resize", "Resizing a server", "servers:write"),
    Operation(("server",), "reinstall", "Reinstalling a server", "servers:write"),
    Operation(("server",), "delete", "Deleting a server", "servers:write"),
    Operation(("volume",), "provision", "Provisioning a volume", "storage:write"),
    Operation(("volume",), "delete", "Deleting a volume", "storage:write", announced=False),
    Operation(("volume_attachment",), "attach", "Attaching a volume", "storage:write"),
    Operation(("volume_attachment",), "detach", "Detaching a volume", "storage:write"),
    Operation(("wallet_info",), "read", "Reading the wallet balance", "billing:read"),
    Operation(("usage_info",), "read", "Reading the usage", "billing:read"),
    Operation(("invoice_info",), "read", "Reading the invoices", "billing:read"),
)


def operation(module: str, name: str) -> Operation:
    """Return an operation of a module."""
    return next(row for row in OPERATIONS if module in row.modules and row.name == name)
