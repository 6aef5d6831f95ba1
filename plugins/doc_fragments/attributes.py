# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    # What every module says of itself.
    DOCUMENTATION = r"""
options: {}
attributes:
  check_mode:
    description: Can run in C(check_mode), says what would happen, and changes nothing.
    support: full
  diff_mode:
    description: Returns what has changed, or would change in C(check_mode), for C(--diff).
  idempotent:
    description: Changes nothing when it runs again with the same arguments.
  action_group:
    description: Use C(group/server_management.cloud.all) in C(module_defaults) to set options
      of all modules of this collection at once.
    support: full
    membership:
      - server_management.cloud.all
  platform:
    description: Where the module itself can run. The servers may run anything.
    support: full
    platforms: posix
"""

    # For modules that only read.
    INFO = r"""
options: {}
attributes:
  check_mode:
    details: It only reads, and does the same in C(check_mode).
  diff_mode:
    support: N/A
    details: It only reads.
  idempotent:
    support: full
    details: It only reads.
"""

    # For modules that can do nothing until their scope opens.
    WAITING = r"""
options: {}
attributes:
  check_mode:
    details: Fails in C(check_mode) as it does without, since nothing can be said of what would
      happen.
  diff_mode:
    support: none
  idempotent:
    support: N/A
    details: It changes nothing.
"""
