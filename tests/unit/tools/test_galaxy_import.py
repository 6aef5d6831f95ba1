# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools.galaxy_import import find_faults


@pytest.mark.parametrize(
    ("line", "document", "expected"),
    [
        ("WARNING_module was loaded", {"doc": {"short_description": "x"}}, ""),
        ("WARNING: bad", {"doc": {"short_description": "x"}}, "WARNING: bad"),
        ("ERROR: bad", {"doc": {"short_description": "x"}}, "ERROR: bad"),
        ("Fine", {"doc": None}, "modules/server.py: the importer read no documentation"),
        ("Fine", None, "modules/server.py: the importer read no documentation"),
    ],
)
def test_complaints_and_undocumented_plugins_are_faults(
    tmp_path: Path, line: str, document: Any, expected: str
) -> None:
    for name in ("modules/server.py", "module_utils/_client.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    content = {"content_type": "module", "content_name": "server", "doc_strings": document}
    result = tmp_path / "importer_result.json"
    result.write_text(json.dumps({"docs_blob": {"contents": [content]}}), encoding="utf-8")
    faults = find_faults(f"Fine\n{line}\nFine", result, tmp_path)
    assert len(faults) == bool(expected)
    assert "".join(faults).endswith(expected)
