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
from antsibull_nox.sessions import prepare_collections

REPOSITORY = Path(__file__).resolve().parent
sys.path.insert(0, str(REPOSITORY / "tests"))

from gates import containerless, galaxy_import, side_by_side
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
# Versions that are tested with the oldest supported requests instead of the newest.
OLD_REQUESTS = ("2.21", "2.18", "2.16")
OLDEST_REQUESTS = ("requests==2.28.0", "urllib3~=1.26.0")
# The tests that run on each version: all but those of the sandbox and of the tools.
TESTS = (
    *("tests/unit/plugins", "tests/unit/extensions", "tests/unit/test_consistency.py"),
    *("tests/e2e", "--hypothesis-profile=quick"),
)
FUZZ_CASES = "500"  # inventory files with about five expressions each
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
    "2.22": ("sanity", "integration"),
    "2.21": (SANITY, "units"),
    "2.20": (SANITY,),
    "2.19": (SANITY,),
    "2.18": (SANITY,),
    "2.17": (SANITY,),
    "2.16": (SANITY, "integration"),
}
# The newest version in the package index, with pre-releases.
DEVEL = "devel"
DEVEL_PYTHONS = ("3.15", "3.14", "3.13")

# How all tests run without arguments: most of them wait for an Ansible command.
SIDE_BY_SIDE = ("--numprocesses=auto", "--maxprocesses=8", "--dist=worksteal")

# The linters with which Galaxy's importer checks event sources, and their settings there.
EVENT_SOURCES = "extensions/eda/plugins"
IMPORTER_IGNORES = "D100,D104,INP001,FA102,UP001,UP010,I001,FA100,PLR0913,E501"
IMPORTER_DISABLES = "R0801,E0401,C0103,R0913,R0902,R0903"
CHECKS = (
    ("ruff", "format", "--check", "--diff", "."),
    ("ruff", "check", "."),
    ("yamllint", "--strict", "."),
    ("shellcheck", ".ci/run"),
    ("antsibull-changelog", "lint"),
    ("ansible-lint", "--offline"),
    ("zizmor", "--offline", "--pedantic", ".github"),
    ("ruff", "check", "--isolated", "--select=ALL", f"--ignore={IMPORTER_IGNORES}", EVENT_SOURCES),
    ("pylint", f"--disable={IMPORTER_DISABLES}", f"{EVENT_SOURCES}/event_source/servers.py"),
)

STRICT_DOCS = ("--plugin-docs", "--validate-collection-refs", "self", "--check-extra-docs-refs")

# The sessions of `make gates`, long ones first: they run side by side.
GATES = (
    "galaxy",
    *(f"ansible_test-{core}" for core in ANSIBLE_TESTS),
    "lint",
    "importer",
    "packaging",
    "extra-checks",
    "docs",
)

# Runs before the other gates: files that they create for a moment would count as unlicensed.
LICENSES = "license-check"

# What `make release` runs before it builds anything.
RELEASE = ("demo", "test", "check")

PLACE = "ansible_collections/server_management/cloud"
NOX = (sys.executable, "-m", "nox", "--session")
# The tarball that sessions share, and the output of sessions that run side by side.
DIST = REPOSITORY / ".nox" / "dist"
LOGS = REPOSITORY / ".nox" / "logs"
# Where the documentation site is built, and its configuration.
SITE = REPOSITORY / ".nox" / "site"
SPHINX = REPOSITORY / "docs" / "docsite" / "sphinx"


def find_pythons() -> None:
    """Append every Python of this machine to PATH, and remove the shims of version managers.

    A shim may exist for a Python that is not active, and fail.
    """
    folders = [
        folder
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if Path(folder).name != "shims"
    ]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = sorted(pyenv.glob("versions/*/bin"))
    own = f"python{sys.version_info.major}.{sys.version_info.minor}"
    # Not if another folder has it: that of Debian's Python has every other program, too, and
    # .ci/run hides some of them.
    if shutil.which(own, path=os.pathsep.join(folders)) is None:
        found.insert(0, Path(sys.base_prefix, "bin"))
    os.environ["PATH"] = os.pathsep.join([*folders, *map(str, found)])


def choose(pythons: Sequence[str]) -> str:
    """Return the first of these Pythons that this machine has, or the last one."""
    return next((python for python in pythons if shutil.which(f"python{python}")), pythons[-1])


def newest_core() -> tuple[str, str]:
    """Return the newest stable ansible-core that this machine has a Python for, and the Python."""
    stable = [core for core in CORES if core not in PRE_RELEASES]
    for core in stable:
        python = choose(CORES[core])
        if shutil.which(f"python{python}"):
            return core, python
    # A Python that is newer than those in the table.
    return stable[0], f"{sys.version_info.major}.{sys.version_info.minor}"


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
    """Install the newest patch release of a version of ansible-core, and the requirements."""
    versions = f">={core}.0a1,=={core}.*" if core in PRE_RELEASES else f"~={core}.0"
    if core == DEVEL:
        versions = f">={next(iter(CORES))}.0a1"
    session.install(f"ansible-core{versions}", "-r", "requirements.txt", *requirements)
    script = "import ansible.release; print(ansible.release.__version__)"
    version = str(session.run("python", "-c", script, silent=True, log=False)).strip()
    session.log(f"ansible-core {version} on Python {session.python}")


def run_all(
    session: nox.Session,
    commands: Iterable[tuple[str, ...]],
    place: Path = REPOSITORY,
    env: Mapping[str, str] | None = None,
) -> None:
    """Run all commands in a folder, and fail at the end if one of them failed."""
    failed = []
    for command in commands:
        try:
            with session.chdir(place):
                session.run(*command, env=env)
        except nox.command.CommandFailed:
            failed.append(" ".join(command[:2]))
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


def run_side_by_side(session: nox.Session, names: Iterable[str]) -> None:
    """Run other sessions with one tarball, as many at once as the processors can run."""
    session.run(*NOX, "build", external=True)
    (tarball,) = DIST.glob("*.tar.gz")
    commands = {name: (*NOX, name) for name in names}
    failed = side_by_side.run(commands, LOGS, {"COLLECTION_TARBALL": str(tarball)})
    if failed:
        session.error(f"not passed: {', '.join(failed)}")


@nox.session(python=[PYTHON])
def test(session: nox.Session) -> None:
    """Run the tests on the newest ansible-core for which this machine has a Python."""
    install(session, CORE, "-r", "tests/requirements.txt")
    session.run("pytest", *(session.posargs or SIDE_BY_SIDE))


@nox.session(python=False)
def matrix(session: nox.Session) -> None:
    """Run the tests on every supported ansible-core; arguments choose parts of the matrix."""
    chosen = session.posargs or MATRIX
    names = [f"matrix_test-{part}" if part in CORES else part for part in chosen]
    run_side_by_side(session, names)


@on_each(CORES)
def matrix_test(session: nox.Session, core: str) -> None:
    """Run the tests on one ansible-core, on some with the oldest requests."""
    requests = OLDEST_REQUESTS if core in OLD_REQUESTS else ()
    install(session, core, "-r", "tests/requirements.txt", *requests)
    session.run("pytest", *(session.posargs or TESTS), env={"FUZZ_CASES": FUZZ_CASES})


@nox.session(python=[choose(DEVEL_PYTHONS)])
def devel(session: nox.Session) -> None:
    """Run the tests and ansible-test on the newest pre-release of ansible-core."""
    install(session, DEVEL, "-r", "tests/requirements.txt", *containerless.REQUIREMENTS)
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


@nox.session(python=False)
def gates(session: nox.Session) -> None:
    """Run all checks of Ansible's community and of Galaxy; arguments choose some of them."""
    if not session.posargs:
        session.run(*NOX, LICENSES, external=True)
    chosen = session.posargs or GATES
    names = [f"ansible_test-{gate}" if gate in ANSIBLE_TESTS else gate for gate in chosen]
    run_side_by_side(session, names)


@nox.session(python=False)
def check(session: nox.Session) -> None:
    """Run matrix and gates as one queue, so that no processor waits at the end of the matrix."""
    session.run(*NOX, LICENSES, external=True)
    run_side_by_side(session, (*MATRIX, *GATES))


@nox.session(python=[PYTHON])
def lint(session: nox.Session) -> None:
    """Check the whole tree: formatting, style, types, YAML, changelog, ansible-lint."""
    install(session, CORE, "-r", "tests/requirements-lint.txt")
    # mypy and ansible-lint look for a collection under its full name.
    collections = link_collection(Path(session.create_tmp()))
    code = [f"{collections}/{PLACE}/{folder}" for folder in ("plugins", "extensions")]
    mypy = ("mypy", *code, "tests", "noxfile.py")
    env = {"ANSIBLE_COLLECTIONS_PATH": str(collections), "MYPYPATH": str(collections)}
    run_all(session, (*CHECKS, mypy), env=env)


@nox.session(python=[PYTHON])
def docs(session: nox.Session) -> None:
    """Check the documentation and build the site without a network; a warning is an error."""
    install(session, CORE, "-r", "tests/requirements-docs.txt")
    collections = link_collection(Path(session.create_tmp()))
    shutil.rmtree(SITE, ignore_errors=True)
    (SITE / "rst").mkdir(mode=0o755, parents=True)
    configured = ("antsibull-docs", "--config-file", str(SPHINX / "antsibull-docs.cfg"))
    pages = ("collection", "--use-current", "--squash-hierarchy", "--fail-on-error")
    html = ("sphinx-build", "-W", "--keep-going", "-q", "-c", str(SPHINX), "-d", f"{SITE}/doctrees")
    commands = (
        ("antsibull-docs", "lint-collection-docs", *STRICT_DOCS, "."),
        (*configured, *pages, "--dest-dir", f"{SITE}/rst", "server_management.cloud"),
        (*html, f"{SITE}/rst", f"{SITE}/html"),
    )
    env = {"ANSIBLE_COLLECTIONS_PATH": str(collections), "SITE": str(SITE)}
    run_all(session, commands, collections / PLACE, env)
    session.log(f"The site is at {SITE.as_uri()}/html/index.html")


def link_collection(folder: Path) -> Path:
    """Return a collections path in which the collection is a link to the working tree."""
    place = folder / PLACE
    if not place.is_symlink():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(REPOSITORY, target_is_directory=True)
    return folder


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
    collection = prepare_collections(
        session, install_in_site_packages=False, install_out_of_tree=True
    )
    if collection is None:  # nox runs without virtual environments
        session.error("ansible-test needs a virtual environment")
    options = ("--local", "--python", str(session.python))
    commands = [("ansible-test", *kind.split(), *options) for kind in kinds]
    run_all(session, commands, collection.current_path, containerless.prepare(session))


@nox.session(python=[PYTHON])
def build(session: nox.Session) -> None:
    """Build the tarball that sessions share."""
    install(session, CORE)
    build_collection(session, DIST)


@nox.session(python=[PYTHON])
def importer(session: nox.Session) -> None:
    """Import the tarball as Galaxy does, and treat each warning as an error."""
    install(session, CORE, "galaxy-importer~=0.4.44")
    tarball = build_collection(session, Path(session.create_tmp()).absolute() / "dist")
    with session.chdir(tarball.parent):
        command = ("python", "-m", "galaxy_importer.main", tarball.name)
        log = str(session.run(*command, env=galaxy_import.STRICT, silent=True))
    session.log(log)
    result = tarball.with_name("importer_result.json")
    faults = galaxy_import.find_faults(log, result, REPOSITORY / "plugins")
    if faults:
        session.error("\n".join(["not passed:", *faults]))


@nox.session(python=[PYTHON])
def picture(session: nox.Session) -> None:
    """Draw the picture of README.md from a run of the demo."""
    install(session, CORE, "rich~=15.0")
    output = str(session.run("python", "-B", "tests/demo", silent=True))
    printed = Path(session.create_tmp(), "demo.txt")
    printed.write_text(output, encoding="utf-8")
    session.run("python", "-B", "tests/support/picture.py", str(printed))


@nox.session(python=[PYTHON])
def release(session: nox.Session) -> None:
    """Check everything and build the release; ``final`` also requires what Galaxy does."""
    if session.posargs not in ([], ["final"]):
        session.error("the only possible argument is final")
    final = bool(session.posargs)
    if obstacles := find_obstacles(REPOSITORY, final=final):
        session.error("\n".join(["not released:", *obstacles]))
    for name in RELEASE:
        session.run(*NOX, name, external=True)
    # A check may have changed files that another one had checked.
    if obstacles := find_obstacles(REPOSITORY, final=final):
        session.error("\n".join(["not released:", *obstacles]))
    install(session, CORE)
    session.log(f"Built: {build_collection(session, REPOSITORY / '.nox' / 'release', 'HEAD')}")


def build_collection(session: nox.Session, folder: Path, tree: str | None = None) -> Path:
    """Build a tree of git into an emptied folder, by default the files that git does not ignore.

    ``ansible-galaxy`` would also pack ignored files of the working tree.
    """
    place = Path(session.create_tmp()).absolute()
    if tree is None:
        index = {"GIT_INDEX_FILE": str(place / "index")}
        session.run("git", "add", "--all", env=index, external=True)
        tree = str(session.run("git", "write-tree", env=index, external=True, silent=True)).strip()
    archive = place / "tree.tar"
    session.run("git", "archive", f"--output={archive}", tree, external=True)
    for emptied in (folder, place / "tree"):
        shutil.rmtree(emptied, ignore_errors=True)
    shutil.unpack_archive(archive, place / "tree")
    output = ("--output-path", str(folder))
    session.run("ansible-galaxy", "collection", "build", str(place / "tree"), *output)
    (tarball,) = folder.glob("*.tar.gz")
    return tarball
