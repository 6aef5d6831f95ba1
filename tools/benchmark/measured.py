# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run ansible-inventory in this process, and print the CPU seconds in which a source is read."""

import sys
import time

from ansible.cli.inventory import main
from ansible.inventory.manager import InventoryManager

parse_source = InventoryManager.parse_source


def timed(self: InventoryManager, source: str, cache: bool = False) -> bool:
    """Read a source as Ansible does."""
    begin = time.process_time()
    parsed: bool = parse_source(self, source, cache=cache)
    print(f"read in {time.process_time() - begin} s", file=sys.stderr)
    return parsed


InventoryManager.parse_source = timed
sys.argv[0] = "ansible-inventory"
sys.exit(main())
