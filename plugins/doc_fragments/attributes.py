# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    # The attributes of every module.
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Predicts the result in C(check_mode) and changes nothing.
  diff_mode:
    description: Returns what changed, or would change, for C(--diff).
  idempotent:
    description: Changes nothing if it runs again with the same options.
  live:
    description: Whether the API offers the operations of this module today.
  action_group:
    description: Use C(group/server_management.cloud.all) in C(module_defaults) to set options
      for all modules of this collection at once.
    support: full
    membership:
      - server_management.cloud.all
  platform:
    description: The platforms that the module itself runs on.
    support: full
    platforms: posix
notes:
  - The page R(API status, ansible_collections.server_management.cloud.docsite.api_status) lists
    what is live.
"""

    # For modules that only read.
    INFO = r"""
options: {}
attributes:
  check_mode:
    support: full
    details: The module only reads, so C(check_mode) makes no difference.
  diff_mode:
    support: N/A
    details: The module only reads.
  idempotent:
    support: full
    details: The module only reads.
"""

    # For modules without an operation that is live.
    NOT_YET_LIVE = r"""
options: {}
attributes:
  check_mode:
    support: N/A
    details: The module checks its options and fails, even in C(check_mode). What an operation
      would change is not documented yet.
  diff_mode:
    support: N/A
    details: The operation is not yet live.
  idempotent:
    support: N/A
    details: The operation is not yet live.
"""
