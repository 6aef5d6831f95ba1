# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start the benchmark from a shell: python3 tools/benchmark."""

from __future__ import annotations

import sys
from pathlib import Path

# Python puts this folder on the path when it is run by its name; the package is tools.benchmark.
_REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(_REPOSITORY), str(_REPOSITORY / "tests")]

from tools.benchmark.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
