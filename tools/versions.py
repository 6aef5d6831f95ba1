# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The supported versions, and the Pythons of this machine.

tests/unit/tools/test_versions.py names the places that repeat the versions.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

# ansible-core, the newest first, and all Pythons of each. The first Python that the machine has is
# used; the order makes each supported Python run somewhere.
CORES = {
    "2.22": ("3.14", "3.13", "3.15"),
    "2.21": ("3.13", "3.14", "3.12"),
    "2.20": ("3.12", "3.14", "3.13"),
    "2.19": ("3.11", "3.13", "3.12"),
    "2.18": ("3.12", "3.11", "3.13"),
    "2.17": ("3.11", "3.10", "3.12"),
    "2.16": ("3.10", "3.11", "3.12"),
}
PRE_RELEASES = ("2.22",)
NEWEST = next(iter(CORES))
RELEASED = next(core for core in CORES if core not in PRE_RELEASES)
OLDEST = list(CORES)[-1]

# The supported Pythons. The others of CORES are those of pre-releases.
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")

REQUESTS = "2.28.0"
# The oldest requests, with the urllib3 of its time.
OLD_REQUESTS = (f"requests=={REQUESTS}", "urllib3~=1.26.0")

# The Python of nox.
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


def find_pythons() -> None:
    """Append every Python of this machine to PATH, and remove the shims of version managers.

    A shim may exist for a Python that is not active, and fail.
    """
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    folders = [folder for folder in folders if Path(folder).name != "shims"]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = sorted(pyenv.glob("versions/*/bin"))
    # Not if another folder has it: that of Debian's Python has every other program, too, and
    # .ci/run hides some of them.
    if shutil.which(f"python{OWN}", path=os.pathsep.join(folders)) is None:
        found.insert(0, Path(sys.base_prefix, "bin"))
    os.environ["PATH"] = os.pathsep.join([*folders, *map(str, found)])


def choose(pythons: Sequence[str]) -> str:
    """Return the first of these Pythons that this machine has, or the last one."""
    return next((python for python in pythons if shutil.which(f"python{python}")), pythons[-1])


def newest_core(cores: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """Return the first of these versions that this machine has a Python for, and the Python."""
    for core, pythons in cores.items():
        python = choose(pythons)
        if shutil.which(f"python{python}"):
            return core, python
    # It may have only a Python that is newer than those of all versions.
    return next(iter(cores)), OWN
