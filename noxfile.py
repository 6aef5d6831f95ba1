# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ``make`` calls: each session runs in an environment of its own."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nox

REPOSITORY = Path(__file__).resolve().parent

# The stable lines of ansible-core that the collection supports, and the Pythons each runs on.
CORES = {
    "2.21": ("3.12", "3.13", "3.14"),
    "2.20": ("3.12", "3.13", "3.14"),
    "2.19": ("3.11", "3.12", "3.13"),
    "2.18": ("3.11", "3.12", "3.13"),
    "2.17": ("3.10", "3.11", "3.12"),
    "2.16": ("3.10", "3.11", "3.12"),
}

# How all tests run where no argument says which and how: most wait for a command of Ansible's.
SIDE_BY_SIDE = ("--numprocesses=auto", "--maxprocesses=8", "--dist=worksteal")

CHECKS = (
    ("ruff", "format", "--check", "--diff", "."),
    ("ruff", "check", "."),
    (
        "mypy",
        "ansible_collections/server_management/cloud/plugins",
        f"{REPOSITORY}/tests",
        f"{REPOSITORY}/noxfile.py",
        f"--config-file={REPOSITORY}/pyproject.toml",
    ),
    ("yamllint", "--strict", "."),
    ("shellcheck", ".ci/run"),
    ("antsibull-changelog", "lint"),
    ("ansible-lint", "--offline"),
)


def find_pythons() -> None:
    """Put every Python of this machine on PATH, last, and version managers' shims off it.

    A shim may stand for a Python that does not run.
    """
    folders = [
        folder
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if Path(folder).name != "shims"
    ]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = [Path(sys.base_prefix, "bin"), *sorted(pyenv.glob("versions/*/bin"))]
    os.environ["PATH"] = os.pathsep.join([*folders, *map(str, found)])


def newest_core() -> tuple[str, str]:
    """Return the newest ansible-core that a Python of this machine runs, and that Python."""
    for core, pythons in CORES.items():
        for python in reversed(pythons):
            if shutil.which(f"python{python}"):
                return core, python
    message = "no Python from 3.10 to 3.14 was found on this machine"
    raise RuntimeError(message)


find_pythons()
CORE, PYTHON = newest_core()

nox.options.default_venv_backend = "uv"
nox.options.download_python = "never"
nox.options.reuse_venv = "yes"
nox.options.sessions = ["test", "lint"]


def install(session: nox.Session, core: str, *requirements: str) -> None:
    """Install the newest patch of an ansible-core line, what the collection needs, and the rest."""
    session.install(f"ansible-core~={core}.0", "-r", "requirements.txt", *requirements)
    script = "import ansible.release; print(ansible.release.__version__)"
    version = str(session.run("python", "-c", script, silent=True, log=False)).strip()
    session.log(f"ansible-core {version} on Python {session.python}")


def run_tests(session: nox.Session, core: str) -> None:
    """Run the unit tests and the outside-in tests on one ansible-core."""
    install(session, core, "-r", "tests/requirements.txt")
    session.run("pytest", *(session.posargs or SIDE_BY_SIDE))


@nox.session(python=[PYTHON])
def test(session: nox.Session) -> None:
    """Run the tests on the newest ansible-core that this machine's Pythons run."""
    run_tests(session, CORE)


@nox.session(python=[PYTHON])
def demo(session: nox.Session) -> None:
    """Show the collection at work against a sandbox of the API."""
    install(session, CORE)
    session.run("python", "-B", "tests/demo", *session.posargs)


@nox.session(python=[PYTHON])
def lint(session: nox.Session) -> None:
    """Check the whole tree: formatting, style, types, YAML, changelog, Ansible's own rules."""
    install(session, CORE, "-r", "tests/requirements-lint.txt")
    collections = link_collection(Path(session.create_tmp()))
    failed = [" ".join(check[:2]) for check in CHECKS if not passes(session, collections, check)]
    if failed:
        session.error(f"not passed: {', '.join(failed)}")


def passes(session: nox.Session, collections: Path, check: tuple[str, ...]) -> bool:
    """Run one check to its end, so that the next ones run whatever it says."""
    # mypy and ansible-lint look for a collection under its full name.
    place = collections if check[0] == "mypy" else REPOSITORY
    try:
        with session.chdir(place):
            session.run(*check, env={"ANSIBLE_COLLECTIONS_PATH": str(collections)})
    except nox.command.CommandFailed:
        return False
    return True


def link_collection(folder: Path) -> Path:
    """Return a collections path in which the collection is a link to the working tree."""
    place = folder / "ansible_collections" / "server_management" / "cloud"
    if not place.is_symlink():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(REPOSITORY, target_is_directory=True)
    return folder
