# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

from ..module_utils._operations import OPERATIONS, Operation

_STATUS_PAGE = (
    "The page R(API status, ansible_collections.server_management.cloud.docsite.api_status) lists "
    "what is live."
)


def _live(module: str) -> str:
    """Return the attribute C(live) of a module and a note, as JSON, which is also YAML."""
    operations = [operation for operation in OPERATIONS if module in operation.modules]
    live = {
        "description": "Whether the API offers the operations of this module today.",
        "support": _support([operation.live for operation in operations]),
        "details": [_details(operation) for operation in operations],
    }
    return json.dumps({"options": {}, "attributes": {"live": live}, "notes": [_STATUS_PAGE]})


def _details(operation: Operation) -> str:
    if operation.live:
        return f"{operation.title} is live. It needs the scope C({operation.scope})."
    unnamed = "" if operation.announced else ", and the API has not announced this operation"
    return f"{operation.title} is not yet live. It needs the scope C({operation.scope}){unnamed}."


def _support(live: list[bool]) -> str:
    if all(live):
        return "full"
    return "partial" if any(live) else "none"


class ModuleDocFragment:
    # The operations of each module, from the table of operations. ansible-test reads assignments
    # without a type annotation as YAML, so each has one.
    API_INFO: str = _live("api_info")
    FLEET_INFO: str = _live("fleet_info")
    SERVER_INFO: str = _live("server_info")
    SERVER: str = _live("server")
    VOLUME: str = _live("volume")
    VOLUME_ATTACHMENT: str = _live("volume_attachment")
    WALLET_INFO: str = _live("wallet_info")
    USAGE_INFO: str = _live("usage_info")
    INVOICE_INFO: str = _live("invoice_info")
