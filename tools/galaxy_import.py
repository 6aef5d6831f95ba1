# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run Galaxy's importer, and find faults in its log and its result, with any exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import nox

_STRICT = {
    "GALAXY_IMPORTER_RUN_FLAKE8": "true",
    "GALAXY_IMPORTER_CHECK_REQUIRED_TAGS": "true",
}

_FOLDERS = {"filter": "filter", "inventory": "inventory", "modules": "module"}
_COMPLAINT = re.compile(r"\s*(WARNING|ERROR|CRITICAL)\b")


def run(session: nox.Session, tarball: Path, plugins: Path) -> list[str]:
    """Import a tarball as Galaxy does, print the log, and return what is wrong."""
    with session.chdir(tarball.parent):
        command = ("python", "-m", "galaxy_importer.main", tarball.name)
        log = str(session.run(*command, env=_STRICT, silent=True))
    session.log(log)
    return find_faults(log, tarball.with_name("importer_result.json"), plugins)


def find_faults(log: str, result: Path, plugins: Path) -> list[str]:
    """Return each complaint in the log, and each plugin whose documentation was not read."""
    faults = [line.strip() for line in log.splitlines() if _COMPLAINT.match(line)]
    contents = json.loads(result.read_text(encoding="utf-8"))["docs_blob"]["contents"]
    documented = {
        (content["content_type"], content["content_name"])
        for content in contents
        if (content["doc_strings"] or {}).get("doc")
    }
    for folder, kind in _FOLDERS.items():
        faults += [
            f"{path}: the importer read no documentation"
            for path in sorted(plugins.glob(f"{folder}/*.py"))
            if (kind, path.stem) not in documented
        ]
    return faults
