# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml

from tools.galaxy_import import find_faults

RESULTS = yaml.safe_load("""
- ['WARNING_module was loaded', &good {doc: {short_description: x}}, []]
- ['WARNING: bad', *good, ['WARNING: bad']]
- ['ERROR: bad', *good, ['ERROR: bad']]
- [Fine, {doc: null}, [&missing 'module server: the importer read no documentation']]
- [Fine, null, [*missing]]
""")


@pytest.mark.parametrize(("line", "documentation", "faults"), RESULTS)
def test_complaints_and_plugins_without_documentation_are_faults(
    tmp_path, line, documentation, faults
):
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "server.py").touch()
    log = f"Fine\n{line}\nFine"
    content = {"content_type": "module", "content_name": "server", "doc_strings": documentation}
    result = {"docs_blob": {"contents": [content]}}
    assert find_faults(log, result, tmp_path) == faults
