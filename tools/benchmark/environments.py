# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Virtual environments with releases of the PyPI package ansible, which has the other plugins."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from support.collection import build, install
from support.run import Runner

# For each ansible-core, the release of the package that contains it, and the Pythons that it
# supports, first the one that all releases support.
RELEASES = {
    "2.21": ("14.5.0", ("3.12", "3.13", "3.14")),
    "2.19": ("12.3.0", ("3.12", "3.11", "3.13")),
    "2.16": ("9.13.0", ("3.12", "3.11", "3.10")),
}
PEERS = ("hetzner.hcloud", "vultr.cloud")
_LIBRARIES = ("requests", "python-dateutil")  # what the plugins require
_VERSIONS = """\
import importlib.metadata as metadata, json, platform
names = ("ansible", "ansible-core", "jinja2", "requests")
versions = {"Python": platform.python_version(), **{name: metadata.version(name) for name in names}}
print(json.dumps(versions))
"""


@dataclass(frozen=True)
class Environment:
    """An environment with one ansible-core; ``versions`` has the versions of its packages."""

    core: str
    runner: Runner
    collections: Path
    versions: dict[str, str]


def prepare(core: str, place: Path, work: Path) -> Environment:
    """Create the environment at ``place`` if it does not exist, and install the collection.

    Raises RuntimeError if this machine has no supported Python.
    """
    release, pythons = RELEASES[core]
    python = place / "bin" / "python"
    if not (place / f"ansible-{release}").exists():
        found = next(filter(None, (shutil.which(f"python{version}") for version in pythons)), None)
        if found is None:
            raise RuntimeError(f"ansible-core {core} needs one of Python {', '.join(pythons)}")
        _uv("venv", "--clear", "--python", found, str(place))
        _uv("pip", "install", "--python", str(python), f"ansible=={release}", *_LIBRARIES)
        (place / f"ansible-{release}").touch()
    collections = work / "collections"
    runner = Runner(work / "home", collections, python)
    install(runner, build(runner, work / "tarball"), collections)
    _install_direct(collections)
    return Environment(core, runner, collections, _versions(runner))


def _install_direct(collections: Path) -> None:
    """Install the plugin with the direct calls."""
    name = Path("ansible_collections", "server_management", "benchmark", "plugins", "inventory")
    folder = collections / name
    folder.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("direct.py"), folder)


def _versions(runner: Runner) -> dict[str, str]:
    versions: dict[str, str] = runner.run("python", "-c", _VERSIONS).ok().json()
    listed = runner.galaxy("collection", "list", "--format", "json").ok().json()
    for collections in listed.values():
        for name in PEERS:
            if name in collections:
                versions[name] = collections[name]["version"]
    return versions


def _uv(*arguments: str) -> None:
    uv = shutil.which("uv")
    if uv is None:
        raise RuntimeError("uv is needed to make the environments: pip install uv")
    subprocess.run([uv, "--quiet", "--no-python-downloads", *arguments], check=True)
