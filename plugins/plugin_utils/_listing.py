# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A listing of an account for the inventory, from the API or from the cache."""

from __future__ import annotations

from typing import NamedTuple

from ..module_utils._models import Server


class Listing(NamedTuple):
    """The servers of the account, and how they were obtained.

    ``age`` is in seconds, and not 0 only if the listing is from the cache.
    """

    servers: list[Server]
    obtained: str
    is_partial: bool = False
    age: float = 0.0
