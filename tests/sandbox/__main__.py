# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start the sandbox from a shell: python3 tests/sandbox."""

from __future__ import annotations

import sys
from pathlib import Path

# Python puts this folder on the path when it is run by its name; the package is its parent's.
sys.path[0] = str(Path(__file__).resolve().parent.parent)

from sandbox.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
