# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import json

import pytest

from tools.galaxy_import import find_faults

DOCUMENTED = {"doc": {"short_description": "x"}}


def faults(folder, line, documentation):
    """Return the faults of an import with this line in its log, and one module."""
    (folder / "modules").mkdir()
    (folder / "modules/server.py").touch()
    content = {"content_type": "module", "content_name": "server", "doc_strings": documentation}
    result = folder / "importer_result.json"
    result.write_text(json.dumps({"docs_blob": {"contents": [content]}}), encoding="utf-8")
    return find_faults(f"Fine\n{line}\nFine", result, folder)


@pytest.mark.parametrize("line", ["WARNING: bad", "ERROR: bad"])
def test_a_complaint_is_a_fault(tmp_path, line):
    assert faults(tmp_path, line, DOCUMENTED) == [line]


def test_a_line_about_a_warning_is_not_a_fault(tmp_path):
    assert faults(tmp_path, "WARNING_module was loaded", DOCUMENTED) == []


@pytest.mark.parametrize("documentation", [{"doc": None}, None])
def test_a_plugin_without_documentation_is_a_fault(tmp_path, documentation):
    (fault,) = faults(tmp_path, "Fine", documentation)
    assert fault.endswith("modules/server.py: the importer read no documentation")
