# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run ansible-inventory in this process, and measure parse() of one inventory plugin.

Arguments: the file for the figures, the plugin, "stop" or "continue" after its parse(), and the
arguments of ansible-inventory.
"""

from __future__ import annotations

import json
import resource
import sys
from functools import partial
from pathlib import Path
from typing import Any


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its finished children."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def peak_memory() -> int:
    """Return the maximum resident size of this process so far, in bytes.

    Not ru_maxrss, which includes the memory of the parent before it started this program.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def measure(
    parse: Any, figures: dict[str, float], stop: bool, inventory: Any, *args: Any, **kwargs: Any
) -> None:
    """Call parse() and record its cost and the number of hosts."""
    begin = cpu_seconds()
    parse(inventory, *args, **kwargs)
    figures["parse"] = cpu_seconds() - begin
    figures["memory"] = peak_memory()
    figures["hosts"] = len(inventory.hosts)
    if stop:
        sys.exit()


def main() -> None:
    """Replace the plugin's parse() with a measured one when it is loaded; run the command."""
    path, wanted, after, *arguments = sys.argv[1:]
    sys.argv = ["ansible-inventory", *arguments]
    from ansible.cli.inventory import main as ansible_inventory
    from ansible.plugins.loader import inventory_loader

    figures: dict[str, float] = {}
    get = inventory_loader.get

    def get_measured(name: str, *args: Any, **kwargs: Any) -> Any:
        plugin = get(name, *args, **kwargs)
        if name == wanted:
            plugin.parse = partial(measure, plugin.parse, figures, after == "stop")
        return plugin

    inventory_loader.get = get_measured
    try:
        sys.exit(ansible_inventory())
    finally:
        Path(path).write_text(json.dumps(figures), encoding="ascii")


if __name__ == "__main__":
    main()
