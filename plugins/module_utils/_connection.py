# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where the API is and how to speak to it.

This utility is private to the collection: it may change in any release. It stands apart from the
client, which an inventory out of the cache does not import: Ansible compiles a collection's code at
each start.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

VERSION = "1.0.0"

# Different parsers read them in different ways, so that a URL could lead to two places.
is_ambiguous = re.compile(r"[\s\\\x00-\x1f\x7f]").search


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
    pagination_concurrency: int = 1
    allow_partial: bool = False
    user_agent: str = f"server_management.cloud/{VERSION}"
