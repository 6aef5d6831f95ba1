# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run Galaxy's importer, and find faults in its log and its result, with any exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    result = json.loads(tarball.with_name("importer_result.json").read_text(encoding="utf-8"))
    return find_faults(log, result, plugins)


def find_faults(log: str, result: dict[str, Any], plugins: Path) -> list[str]:
    """Return each complaint in the log, and each plugin whose documentation was not read."""
    faults = [line.strip() for line in log.splitlines() if _COMPLAINT.match(line)]
    documented = set()
    for content in result["docs_blob"]["contents"]:
        if (content["doc_strings"] or {}).get("doc"):
            documented.add((content["content_type"], content["content_name"]))
    for folder, kind in _FOLDERS.items():
        names = sorted(path.stem for path in plugins.glob(f"{folder}/*.py"))
        missing = [name for name in names if (kind, name) not in documented]
        faults += [f"{kind} {name}: the importer read no documentation" for name in missing]
    return faults
