# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import sys

from tools import side_by_side

SCRIPT = """\
import sys
print("== 7 passed in 3.21s ==", flush=True)
sys.exit(sys.argv[1] != "good" and sys.argv[1])
"""


def test_failures_are_returned_in_order_with_their_logs(tmp_path, capsys):
    names = ["late", "good", "bad"]
    assert side_by_side.run(names, (sys.executable, "-c", SCRIPT), tmp_path) == ["late", "bad"]
    printed = capsys.readouterr().out
    assert "--- late\n== 7 passed in 3.21s ==\nlate\n--- late" in printed
    assert "bad: FAILED with status 1 in" in printed
    assert "s: 7 passed in 3.21s (" in printed.partition("good: passed in")[2]
