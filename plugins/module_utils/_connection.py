# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checked settings of the connection to the API, and the version of the collection.

This utility is private to the collection: it may change in any release. It is separate from the
client, which a cached inventory does not import: Ansible compiles this code at each start.
"""

from __future__ import annotations

from dataclasses import dataclass, field

VERSION = "1.0.0"


@dataclass(frozen=True)
class Connection:
    """Checked values of the connection options, with no Ansible in them.

    ``base_url`` ends in /api/v1; ``verify`` is requests' (a flag, or the path of a CA bundle);
    ``timeout`` is in seconds.
    """

    base_url: str
    api_token: str = field(repr=False)
    verify: bool | str = True
    timeout: float = 30.0
    retries: int = 3
    pagination: str = "none"
    pagination_parameter: str | None = None
    allow_partial: bool = False
    user_agent: str = f"server_management.cloud/{VERSION}"
