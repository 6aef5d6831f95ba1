# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run ansible-inventory in this process, and measure parse() of one inventory plugin.

Arguments: the plugin, then those of ansible-inventory. The last line of standard error has the
figures.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

if "PYTHONHASHSEED" in os.environ:  # instructions are counted
    gc.disable()  # its runs depend on chance

from ansible.cli.inventory import main
from ansible.plugins.loader import inventory_loader

figures: dict[str, float] = {}


def measure(parse: Any, *args: Any, **kwargs: Any) -> None:
    """Call parse(); record its CPU seconds, and the peak memory in bytes."""
    begin = time.process_time()
    parse(*args, **kwargs)
    figures["parse"] = time.process_time() - begin
    # Not ru_maxrss, which includes the memory of the parent before it started this program.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    figures["memory"] = int(status.partition("VmHWM:")[2].split()[0]) * 1024


def get_measured(get: Any, measured: str, name: str, *args: Any, **kwargs: Any) -> Any:
    """Load an inventory plugin; replace its parse() if it is the one to be measured."""
    plugin = get(name, *args, **kwargs)
    if name == measured:
        plugin.parse = partial(measure, plugin.parse)
    return plugin


if __name__ == "__main__":
    inventory_loader.get = partial(get_measured, inventory_loader.get, sys.argv.pop(1))
    sys.argv[0] = "ansible-inventory"
    try:
        sys.exit(main())
    finally:
        print(json.dumps(figures), file=sys.stderr)
