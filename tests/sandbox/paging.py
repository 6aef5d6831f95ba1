# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Split the account into pages; how the real API does it is not documented."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

STYLES = ("none", "last_id")


class Paging:
    """Find the page that a request asks for.

    With the style none, it is the whole list; with last_id, the page after the server with an id.
    """

    def __init__(self, style: str, parameter: str | None, size: int) -> None:
        """Create a style; `parameter` has the id of the last server, `size` is in servers."""
        self.parameter = parameter or "starting_after"
        self.size = size
        if style == "none":
            self.parameter = ""  # no request asks for another page
            self.size = sys.maxsize

    def start(self, query: Mapping[str, str], servers: Sequence[object]) -> int:
        """Return the index of the first requested server; raise ValueError for invalid values."""
        value = query.get(self.parameter)
        if value is None:
            return 0
        found = None
        for index, server in enumerate(servers, 1):
            if isinstance(server, dict) and server.get("id") == value:
                found = index
        if found is None:
            raise ValueError(f"{self.parameter}: no server has this id")
        return found

    def end(self, start: int, servers: Sequence[object]) -> int:
        """Return the index after the last server of the page that begins at `start`."""
        return min(start + self.size, len(servers))

    def number(self, start: int) -> int:
        """Return the number, from 1, of the page that begins at `start`."""
        return start // self.size + 1
