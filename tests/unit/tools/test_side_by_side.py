# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import re
import sys

from tools import side_by_side

SCRIPT = """\
import sys, time
name = sys.argv[1]
print("== 7 passed in 3.21s ==", flush=True)
time.sleep(name == "late")
if name in ("late", "bad"):
    sys.exit(name)
"""


def test_failures_are_returned_in_order_with_their_logs(tmp_path, capsys):
    names = ["late", "good", "bad", "license-check"]
    failed = side_by_side.run(names, (sys.executable, "-c", SCRIPT), tmp_path)
    printed = capsys.readouterr().out
    assert failed == ["late", "bad"]
    assert printed.startswith("license-check: passed")  # before the others begin
    assert "--- late\n== 7 passed in 3.21s ==\nlate\n--- late" in printed
    assert "bad: FAILED with status 1 in" in printed
    assert re.search(r"good: passed in \d+ s: 7 passed in 3.21s \(", printed)
