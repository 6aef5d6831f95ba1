# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    # Descriptions that replace those of the fragment "connection". A module must name the fragment
    # of this file first: Ansible keeps the description that it reads first.

    # For modules that must see the whole account.
    WHOLE_ACCOUNT = r"""
options:
  allow_partial:
    description:
      - This module ignores the option, which exists so that C(module_defaults) can set it for the
        action group. The module must see the whole account, and fails if the API has more servers
        than O(pagination) can request.
"""

    # For modules that do not read the listing of servers.
    UNUSED = r"""
options:
  pagination:
    description:
      - Has no effect yet, because this module does not read a listing. The option exists so that
        C(module_defaults) can set it for the action group.
  pagination_parameter:
    description:
      - Has no effect yet, like O(pagination).
  allow_partial:
    description:
      - Has no effect yet, like O(pagination).
"""
