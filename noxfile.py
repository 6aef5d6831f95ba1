# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sessions that ``make`` runs, each in its own environment."""

from __future__ import annotations

import functools
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import nox
from antsibull_nox import load_antsibull_nox_toml

REPOSITORY = Path(__file__).resolve().parent
sys.path.insert(0, str(REPOSITORY / "tests"))

from gates import containerless, galaxy_import, side_by_side
from support.collection import PLACE, copy_sources, link_collection
from support.release import find_obstacles

# The supported versions of ansible-core, and all Pythons of each. The first Python that the machine
# has is used; the order makes every Python run somewhere.
CORES = {
    "2.22": ("3.14", "3.13", "3.15"),
    "2.21": ("3.13", "3.14", "3.12"),
    "2.20": ("3.12", "3.14", "3.13"),
    "2.19": ("3.13", "3.11", "3.12"),
    "2.18": ("3.12", "3.11", "3.13"),
    "2.17": ("3.11", "3.10", "3.12"),
    "2.16": ("3.10", "3.11", "3.12"),
}
PRE_RELEASES = ("2.22",)
# The oldest supported requests, and the versions that are tested with it instead of the newest.
OLD_REQUESTS = ("2.21", "2.18", "2.16")
OLDEST_REQUESTS = ("requests==2.28.0", "urllib3~=1.26.0")
# The tests that run on each version: all but those of the sandbox and of the tools.
TESTS = (
    *("tests/unit/plugins", "tests/unit/extensions", "tests/unit/test_consistency.py"),
    *("tests/e2e", "--hypothesis-profile=quick"),
)
# Versions that are tested with other programs.
NEIGHBOURS = ("2.21", "2.16")
RULEBOOKS = ("2.22", "2.16")
MATRIX = (
    *(f"matrix_test-{core}" for core in CORES),
    *(f"neighbours-{core}" for core in NEIGHBOURS),
    *(f"rulebook-{core}" for core in RULEBOOKS),
    "load",
)
# What ansible-test runs on each version. There are no ignore files. pylint takes half of the time
# of all sanity tests, so it runs only on the newest one.
SANITY = "sanity --skip-test pylint"
ANSIBLE_TESTS = {
    **dict.fromkeys(CORES, (SANITY,)),
    "2.22": ("sanity", "integration"),
    "2.21": (SANITY, "units"),
    "2.16": (SANITY, "integration"),
}

# The last two are the linters with which Galaxy's importer checks event sources, as it sets them.
IMPORTER_IGNORES = "D100,D104,INP001,FA102,UP001,UP010,I001,FA100,PLR0913,E501"
CHECKS = (
    "ruff format --check --diff .",
    "ruff check .",
    "yamllint --strict .",
    "shellcheck .ci/run",
    "antsibull-changelog lint",
    "ansible-lint --offline",
    "zizmor --offline --pedantic .github",
    f"ruff check --isolated --select=ALL --ignore={IMPORTER_IGNORES} extensions/eda/plugins",
    "pylint --disable=R0801,E0401,C0103,R0913,R0902,R0903 "
    "extensions/eda/plugins/event_source/servers.py",
)

# They run in a link to the working tree.
DOCS = (
    "antsibull-docs lint-collection-docs --plugin-docs --validate-collection-refs self "
    "--check-extra-docs-refs .",
    "antsibull-docs --config-file docs/docsite/sphinx/antsibull-docs.cfg collection --use-current "
    "--squash-hierarchy --fail-on-error --dest-dir .nox/site/rst server_management.cloud",
    "sphinx-build -W --keep-going -q -c docs/docsite/sphinx -d .nox/site/doctrees "
    ".nox/site/rst .nox/site/html",
)

# Runs before all others: files that they create for a moment would count as unlicensed.
LICENSES = "license-check"
# The sessions of `make gates`, long ones first: they run side by side.
GATES = (
    *(LICENSES, "galaxy"),
    *(f"ansible_test-{core}" for core in ANSIBLE_TESTS),
    *("lint", "importer", "packaging", "extra-checks", "docs"),
)

# What `make release` runs before it builds anything.
RELEASE = ("demo", "test", "check")

NOX = (sys.executable, "-m", "nox", "--session")
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


def newest_core() -> tuple[str, str]:
    """Return the newest stable ansible-core that this machine has a Python for, and the Python."""
    stable = {core: choose(CORES[core]) for core in CORES if core not in PRE_RELEASES}
    found = (item for item in stable.items() if shutil.which(f"python{item[1]}"))
    # It may have only a Python that is newer than those in the table.
    return next(found, (next(iter(stable)), OWN))


find_pythons()
CORE, PYTHON = newest_core()
if os.environ.get("NOX_QUIET"):
    logging.getLogger("nox").setLevel(logging.ERROR)

os.environ["ANTSIBULL_NOX_IGNORE_INSTALLED_COLLECTIONS"] = "true"
# With it, each process would compile again what it imports: a second for a command of Ansible.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
nox.options.default_venv_backend = "uv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = True
nox.options.reuse_venv = "yes"
load_antsibull_nox_toml()
nox.options.sessions = ["test", "lint"]


def install(session: nox.Session, core: str, *requirements: str) -> None:
    """Install the newest patch release of a version of ansible-core, and the requirements.

    ``devel`` is the newest version in the package index, with pre-releases.
    """
    versions = f">={core}.0a1,=={core}.*" if core in PRE_RELEASES else f"~={core}.0"
    if core == "devel":
        versions = f">={next(iter(CORES))}.0a1"
    session.install(f"ansible-core{versions}", "-r", "requirements.txt", *requirements)
    script = "import ansible.release; print(ansible.release.__version__)"
    version = str(session.run("python", "-c", script, silent=True, log=False)).strip()
    session.log(f"ansible-core {version} on Python {session.python}")


def run_all(session: nox.Session, commands: Iterable[str], env: Mapping[str, str]) -> None:
    """Run all commands, and fail at the end if one of them failed."""
    failed = []
    for command in commands:
        try:
            session.run(*command.split(), env=env)
        except nox.command.CommandFailed:
            failed.append(" ".join(command.split()[:2]))
    if failed:
        session.error(f"not passed: {', '.join(failed)}")


def on_each(cores: Iterable[str]) -> Callable[[Callable[[nox.Session, str], None]], None]:
    """Register a session for each of these versions, named after the function and the version."""

    def register(function: Callable[[nox.Session, str], None]) -> None:
        for core in cores:
            # A reused environment keeps its Python, so nox puts that into its name.
            @nox.session(name=f"{function.__name__}-{core}", python=[choose(CORES[core])])
            @functools.wraps(function)
            def on_core(session: nox.Session, core: str = core) -> None:
                function(session, core)

    return register


def run_side_by_side(session: nox.Session, sessions: Iterable[str], each: str = "") -> None:
    """Run other sessions with one tarball, as many at once as the processors can run.

    Arguments choose some of them; with ``each``, a version stands for that session of the version.
    """
    chosen = session.posargs or sessions
    names = [f"{each}-{name}" if each and name in CORES else name for name in chosen]
    if LICENSES in names:
        names.remove(LICENSES)
        session.run(*NOX, LICENSES, external=True)
    install(session, CORE)
    tarball = build_collection(session, REPOSITORY / ".nox" / "dist")
    commands = {name: (*NOX, name) for name in names}
    variables = {"COLLECTION_TARBALL": str(tarball)}
    if failed := side_by_side.run(commands, REPOSITORY / ".nox" / "logs", variables):
        session.error(f"not passed: {', '.join(failed)}")


@nox.session(python=[PYTHON])
def test(session: nox.Session) -> None:
    """Run the tests on the newest ansible-core for which this machine has a Python."""
    install(session, CORE, "-r", "tests/requirements.txt")
    # Most tests wait for an Ansible command.
    parallel = ("--numprocesses=auto", "--maxprocesses=8", "--dist=worksteal")
    session.run("pytest", *(session.posargs or parallel))


@nox.session(python=[PYTHON])
def matrix(session: nox.Session) -> None:
    """Run the tests on every supported ansible-core; arguments choose parts of the matrix."""
    run_side_by_side(session, MATRIX, "matrix_test")


@on_each(CORES)
def matrix_test(session: nox.Session, core: str) -> None:
    """Run the tests on one ansible-core, on some with the oldest requests."""
    requests = OLDEST_REQUESTS if core in OLD_REQUESTS else ()
    install(session, core, "-r", "tests/requirements.txt", *requests)
    session.run("pytest", *(session.posargs or TESTS), env={"FUZZ_CASES": "500"})


@nox.session(python=[choose(("3.15", "3.14", "3.13"))])
def devel(session: nox.Session) -> None:
    """Run the tests and ansible-test on the newest pre-release of ansible-core."""
    install(session, "devel", "-r", "tests/requirements.txt", *containerless.REQUIREMENTS)
    session.run("pytest", *(session.posargs or TESTS))
    run_ansible_test(session, "sanity")


@on_each(NEIGHBOURS)
def neighbours(session: nox.Session, core: str) -> None:
    """Run the collection together with a real Redis, ansible-runner, ansible-navigator and sshd."""
    install(session, core, "-r", "tests/requirements-neighbours.txt")
    session.run("pytest", "tests/neighbours", *session.posargs)


@on_each(RULEBOOKS)
def rulebook(session: nox.Session, core: str) -> None:
    """Run the event source in a real ansible-rulebook."""
    install(session, core, "-r", "tests/requirements-rulebook.txt")
    session.run("pytest", "tests/rulebook", "tests/unit/support/test_meanings.py", *session.posargs)


@nox.session(python=[PYTHON])
def load(session: nox.Session) -> None:
    """Run the tests with many servers, or with many commands at once."""
    install(session, CORE, "-r", "tests/requirements.txt")
    arguments = session.posargs or ("tests/e2e/test_load.py",)
    session.run("pytest", "-m", "slow", *arguments)


@nox.session(python=[PYTHON])
def demo(session: nox.Session) -> None:
    """Show the collection at work against a sandbox of the API."""
    sys.stderr.write(f"Preparing ansible-core {CORE} on Python {PYTHON}\n")
    install(session, CORE)
    session.run("python", "-B", "tests/demo", *session.posargs)


@nox.session(python=[PYTHON])
def live(session: nox.Session) -> None:
    """Check a real account, read-only, and print a report without anything private."""
    install(session, CORE)
    env = {
        "ANSIBLE_COLLECTIONS_PATH": str(link_collection(Path(session.create_tmp()))),
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "ANSIBLE_LOCALHOST_WARNING": "false",
    }
    session.run("ansible-playbook", "server_management.cloud.check_api", *session.posargs, env=env)


@nox.session(python=[PYTHON])
def bench(session: nox.Session) -> None:
    """Measure the inventory plugin beside its peers, and write docs/benchmarks.md."""
    session.install("-r", "tests/requirements-bench.txt")
    session.run("python", "-B", "tests/benchmark", *session.posargs)


@nox.session(python=[PYTHON])
def gates(session: nox.Session) -> None:
    """Run all checks of Ansible's community and of Galaxy; arguments choose some of them."""
    run_side_by_side(session, GATES, "ansible_test")


@nox.session(python=[PYTHON])
def check(session: nox.Session) -> None:
    """Run matrix and gates as one queue, so that no processor waits at the end of the matrix."""
    run_side_by_side(session, (*MATRIX, *GATES))


@nox.session(python=[PYTHON])
def lint(session: nox.Session) -> None:
    """Check the whole tree: formatting, style, types, YAML, changelog, ansible-lint."""
    install(session, CORE, "-r", "tests/requirements-lint.txt")
    # mypy and ansible-lint look for a collection under its full name.
    collections = link_collection(Path(session.create_tmp()))
    env = {"ANSIBLE_COLLECTIONS_PATH": str(collections), "MYPYPATH": str(collections)}
    code = f"{collections}/{PLACE}"
    run_all(session, (*CHECKS, f"mypy {code}/plugins {code}/extensions tests noxfile.py"), env)


@nox.session(python=[PYTHON])
def docs(session: nox.Session) -> None:
    """Check the documentation and build the site without a network; a warning is an error."""
    install(session, CORE, "-r", "tests/requirements-docs.txt")
    collections = link_collection(Path(session.create_tmp()))
    site = REPOSITORY / ".nox" / "site"
    shutil.rmtree(site, ignore_errors=True)
    (site / "rst").mkdir(mode=0o755, parents=True)
    env = {"ANSIBLE_COLLECTIONS_PATH": str(collections), "SITE": str(site)}
    with session.chdir(collections / PLACE):
        run_all(session, DOCS, env)
    session.log(f"The site is at {site.as_uri()}/html/index.html")


@nox.session(python=[PYTHON])
def packaging(session: nox.Session) -> None:
    """Install the collection in each way, and create the context of an execution environment."""
    install(session, CORE, "-r", "tests/requirements.txt", "ansible-builder~=3.2")
    session.run("pytest", "tests/install", *session.posargs)


@nox.session(python=[PYTHON])
def galaxy(session: nox.Session) -> None:
    """Rehearse a release with a real Galaxy server, and install the collection from there."""
    install(session, CORE, "-r", "tests/requirements.txt", "pulp-ansible~=0.30.0")
    session.run("pytest", "tests/galaxy", *session.posargs, env={"TOOLS": sys.prefix})


@on_each(ANSIBLE_TESTS)
def ansible_test(session: nox.Session, core: str) -> None:
    """Run ansible-test on one ansible-core."""
    install(session, core, "-r", "tests/requirements.txt", *containerless.REQUIREMENTS)
    run_ansible_test(session, *ANSIBLE_TESTS[core])


def run_ansible_test(session: nox.Session, *kinds: str) -> None:
    """Run these kinds of ansible-test in a copy of the collection, without containers."""
    collection, env = containerless.prepare(session)
    with session.chdir(collection):
        options = f"--local --python {session.python}"
        run_all(session, [f"ansible-test {kind} {options}" for kind in kinds], env)


@nox.session(python=[PYTHON])
def importer(session: nox.Session) -> None:
    """Import the tarball as Galaxy does, and treat each warning as an error."""
    install(session, CORE, "galaxy-importer~=0.4.44")
    tarball = build_collection(session, Path(session.create_tmp()).absolute() / "dist")
    if faults := galaxy_import.run(session, tarball, REPOSITORY / "plugins"):
        session.error("\n".join(["not passed:", *faults]))


@nox.session(python=[PYTHON])
def picture(session: nox.Session) -> None:
    """Draw the picture of README.md from the quick start."""
    install(session, CORE, "rich~=15.0")
    session.run("python", "-B", "tests/support/picture.py")


@nox.session(python=[PYTHON])
def release(session: nox.Session) -> None:
    """Check everything and build the release; ``final`` also requires what Galaxy does."""
    if session.posargs not in ([], ["final"]):
        session.error("the only possible argument is final")
    stop_at_obstacles(session)
    for name in RELEASE:
        session.run(*NOX, name, external=True)
    # A check may have changed files that another one had checked.
    stop_at_obstacles(session)
    install(session, CORE)
    session.log(f"Built: {build_collection(session, REPOSITORY / '.nox' / 'release', 'HEAD')}")


def stop_at_obstacles(session: nox.Session) -> None:
    """Fail if the checked-out commit cannot be released."""
    if obstacles := find_obstacles(REPOSITORY, final=bool(session.posargs)):
        session.error("\n".join(["not released:", *obstacles]))


def build_collection(session: nox.Session, folder: Path, commit: str = "") -> Path:
    """Build a commit, or the files that git does not ignore, into an emptied folder.

    ``ansible-galaxy`` would also pack ignored files of the working tree.
    """
    place = Path(session.create_tmp()).absolute()
    tree, archive = place / "tree", place / "tree.tar"
    for emptied in (folder, tree):
        shutil.rmtree(emptied, ignore_errors=True)
    if commit:
        session.run("git", "archive", f"--output={archive}", commit, external=True)
        shutil.unpack_archive(archive, tree)
    else:
        copy_sources(tree)
    output = ("--output-path", str(folder))
    session.run("ansible-galaxy", "collection", "build", str(tree), *output)
    (tarball,) = folder.glob("*.tar.gz")
    return tarball
