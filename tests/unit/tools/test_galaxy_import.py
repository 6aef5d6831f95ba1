# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools.galaxy_import import find_faults


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """Return a tree with an inventory plugin, a module, and a file without documentation."""
    folder = tmp_path / "plugins"
    for name in ("inventory/servers.py", "modules/server.py", "module_utils/_client.py"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).touch()
    return folder


def result(folder: Path, **documents: Any) -> Path:
    known = {"inventory": "servers", "module": "server", "module_utils": "_client"}
    contents = [
        {"content_type": kind, "content_name": name, "doc_strings": documents.get(kind)}
        for kind, name in known.items()
        if documents.get(kind) != "unknown"
    ]
    path = folder / "importer_result.json"
    path.write_text(json.dumps({"docs_blob": {"contents": contents}}), encoding="utf-8")
    return path


DOCUMENTED = {"doc": {"short_description": "x"}}


def test_each_warning_and_error_in_the_log_is_a_fault(tmp_path: Path, plugins: Path) -> None:
    report = result(tmp_path, inventory=DOCUMENTED, module=DOCUMENTED)
    assert find_faults("Importing\nLoading module WARNING_module\n", report, plugins) == []
    for word in ("WARNING", "ERROR", "CRITICAL"):
        assert find_faults(f"Fine\n{word}: bad\nFine", report, plugins) == [f"{word}: bad"]


@pytest.mark.parametrize("document", [None, {}, {"doc": None}, "unknown"])
def test_a_plugin_without_documentation_is_a_fault(
    document: Any, tmp_path: Path, plugins: Path
) -> None:
    report = result(tmp_path, inventory=DOCUMENTED, module=document)
    (fault,) = find_faults("", report, plugins)
    assert "plugins/modules/server.py" in fault
