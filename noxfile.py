# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sessions that ``make`` runs, each in its own environment."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import nox
from antsibull_nox import load_antsibull_nox_toml
from antsibull_nox.collection.build import build_collection

REPOSITORY = Path(__file__).resolve().parent
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests")]

from support.collection import PLACE, copy_sources, link_collection
from tools import containerless, versions
from tools.versions import CORES, NEWEST, OLD_REQUESTS, OLDEST, PRE_RELEASES, RELEASED

# The oldest version and every second one are tested with the oldest requests, not the newest.
REQUIREMENTS = dict.fromkeys(list(CORES)[:0:-2], OLD_REQUESTS)
TEST_REQUIREMENTS = ("-r", "tests/requirements.txt")
# The newest release runs all tests. End-to-end tests also run on the oldest version, the first one
# with the new templating, and pre-releases.
UNIT_TESTS = (
    *("tests/unit/plugins", "tests/unit/extensions", "tests/unit/test_consistency.py"),
    "--hypothesis-profile=quick",
)
END_TO_END_TESTS = (*UNIT_TESTS, "tests/e2e")
TESTS = {
    **dict.fromkeys(CORES, UNIT_TESTS),
    **dict.fromkeys((OLDEST, "2.19", *PRE_RELEASES), END_TO_END_TESTS),
}
# Sessions that test with other programs: each runs the tests in a folder of tests/programs/, with
# its requirements.
PROGRAMS = {
    **{f"awx_and_ssh-{core}": core for core in (RELEASED, OLDEST)},
    **{f"rulebook-{core}": core for core in (NEWEST, OLDEST)},
}
# What ansible-test runs on each version. There are no ignore files. pylint takes half of the time
# of all sanity tests, so it runs only on the newest one. One version shows that the others work.
SANITY = "sanity --skip-test pylint"
ANSIBLE_TESTS = {
    **dict.fromkeys(CORES, (SANITY,)),
    NEWEST: ("sanity", "integration"),
    "2.20": (SANITY, "units"),
    # yamllint of 2.16 accepts only one document in EXAMPLES.
    "2.16": (f"{SANITY} --skip-test yamllint",),
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

# They run in a copy of the working tree.
DOCS = (
    "antsibull-docs lint-collection-docs --plugin-docs --validate-collection-refs self "
    "--check-extra-docs-refs .",
    "antsibull-docs --config-file docs/docsite/sphinx/antsibull-docs.cfg collection --use-current "
    "--squash-hierarchy --fail-on-error --dest-dir .nox/site/rst server_management.cloud",
    "sphinx-build -W --keep-going -q -c docs/docsite/sphinx -d .nox/site/doctrees "
    ".nox/site/rst .nox/site/html",
)

MATRIX = (*(f"matrix_test-{core}" for core in CORES), *PROGRAMS)
GATES = (
    *(f"ansible_test-{core}" for core in ANSIBLE_TESTS),
    *("lint", "importer", "packaging", "license-check", "extra-checks", "docs"),
)
# The sessions that run others side by side, long ones first.
PARALLEL = {"matrix": MATRIX, "gates": GATES, "check": MATRIX + GATES}

versions.find_pythons()
CORE, PYTHON = versions.newest_core(
    {core: CORES[core] for core in CORES if core not in PRE_RELEASES}
)
if os.environ.get("NOX_QUIET"):
    logging.getLogger("nox").setLevel(logging.ERROR)

os.environ["ANTSIBULL_NOX_IGNORE_INSTALLED_COLLECTIONS"] = "true"
# A proxy that inspects TLS has its certificate there; pip uses them, too.
os.environ.setdefault("UV_SYSTEM_CERTS", "true")
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
    version = f">={core}.0a1,=={core}.*" if core in PRE_RELEASES else f"~={core}.0"
    session.install(f"ansible-core{version}", "-r", "requirements.txt", *requirements)


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


@nox.session(python=[PYTHON])
def test(session: nox.Session) -> None:
    """Run the tests on the newest ansible-core for which this machine has a Python."""
    install(session, CORE, *TEST_REQUIREMENTS)
    parallel = ("--numprocesses=auto", "--maxprocesses=8", "--maxschedchunk=1", "--maxfail=100")
    session.run("pytest", *(session.posargs or parallel))


for _core, _pythons in CORES.items():
    # A reused environment keeps its Python, so nox puts that into the session's name.
    @nox.session(name=f"matrix_test-{_core}", python=[versions.choose(_pythons)])
    def matrix_test(session: nox.Session, core: str = _core) -> None:
        """Run the tests on one ansible-core, on some with the oldest requests."""
        install(session, core, *TEST_REQUIREMENTS, *REQUIREMENTS.get(core, ()))
        tests = ("-m", "") if core == CORE else TESTS[core]
        session.run("pytest", *(session.posargs or tests))


for _kind in PARALLEL:

    @nox.session(name=_kind, python=False)
    def parallel(session: nox.Session, kind: str = _kind) -> None:
        """Run sessions side by side; a version of ansible-core stands for its session."""
        each = "ansible_test" if kind == "gates" else "matrix_test"
        chosen = [f"{each}-{name}" if name in CORES else name for name in session.posargs]
        session.run(sys.executable, "tools/side_by_side.py", *(chosen or PARALLEL[kind]))


@nox.session(python=[versions.choose(sorted(CORES[NEWEST], reverse=True))])
def devel(session: nox.Session) -> None:
    """Run the tests and ansible-test on the newest pre-release of ansible-core."""
    session.install(f"ansible-core>={NEWEST}.0a1", "-r", "requirements.txt")
    session.install(*TEST_REQUIREMENTS, *containerless.REQUIREMENTS)
    session.run("pytest", *(session.posargs or END_TO_END_TESTS))
    run_ansible_test(session, "sanity")


for _name, _core in {**PROGRAMS, "packaging": CORE}.items():

    @nox.session(name=_name, python=[versions.choose(CORES[_core])])
    def programs(session: nox.Session, name: str = _name, core: str = _core) -> None:
        """Run the collection together with other programs."""
        folder = f"tests/programs/{name.partition('-')[0]}"
        install(session, core, "-r", f"{folder}/requirements.txt")
        # test_packaging.py makes a release with these tools.
        session.run("pytest", folder, *session.posargs, env={"TOOLS": sys.prefix})


@nox.session(python=[PYTHON])
def lint(session: nox.Session) -> None:
    """Check the whole tree: formatting, style, types, YAML, changelog, ansible-lint."""
    install(session, CORE, "-r", "tests/requirements-lint.txt")
    # mypy and ansible-lint look for a collection under its full name.
    collections = link_collection(Path(session.create_tmp()))
    env = {"ANSIBLE_COLLECTIONS_PATH": str(collections), "MYPYPATH": str(collections)}
    code = f"{collections}/{PLACE}"
    types = f"mypy {code}/plugins {code}/extensions tests tools noxfile.py"
    run_all(session, (*CHECKS, types), env)


@nox.session(python=[PYTHON])
def docs(session: nox.Session) -> None:
    """Check the documentation and build the site without a network; a warning is an error."""
    install(session, CORE, "-r", "tests/requirements-docs.txt")
    site = REPOSITORY / ".nox" / "site"
    shutil.rmtree(site, ignore_errors=True)
    with TemporaryDirectory() as collections:
        # Of a link to a tree without git, antsibull-docs would copy the tree into itself.
        copy = copy_sources(Path(collections) / PLACE)
        built = copy / ".nox" / "site"
        (built / "rst").mkdir(mode=0o755, parents=True)
        env = {"ANSIBLE_COLLECTIONS_PATH": collections, "SITE": str(built)}
        with session.chdir(copy):
            run_all(session, DOCS, env)
        shutil.move(built, site)
    session.log(f"The site is at {site.as_uri()}/html/index.html")


for _core in ANSIBLE_TESTS:

    @nox.session(name=f"ansible_test-{_core}", python=[versions.choose(CORES[_core])])
    def ansible_test(session: nox.Session, core: str = _core) -> None:
        """Run ansible-test on one ansible-core."""
        install(session, core, *TEST_REQUIREMENTS, *containerless.REQUIREMENTS)
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
    tarball = build_collection(session)[0]
    if tarball is None:  # nox only installs
        return
    checks = ("RUN_FLAKE8", "CHECK_REQUIRED_TAGS")
    env = {f"GALAXY_IMPORTER_{name}": "true" for name in checks}
    with session.chdir(tarball.parent):
        command = ("python", "-m", "galaxy_importer.main", tarball.name)
        log = str(session.run(*command, env=env, silent=True))
    session.log(log)
    # Its exit status is 0 with these, too.
    if faults := re.findall(r"(?m)^ *(?:WARNING|ERROR|CRITICAL)\b.*", log):
        session.error("\n".join(["not passed:", *faults]))


@nox.session(python=[PYTHON])
def demo(session: nox.Session) -> None:
    """Show the collection at work against a sandbox of the API."""
    sys.stderr.write(f"Preparing ansible-core {CORE} on Python {PYTHON}\n")
    install(session, CORE)
    session.run("python", "-B", "tools/demo.py", *session.posargs)


@nox.session(python=[PYTHON])
def live(session: nox.Session) -> None:
    """Check a real account, read-only, and print a report without anything private."""
    install(session, CORE)
    env = {"ANSIBLE_COLLECTIONS_PATH": str(link_collection(Path(session.create_tmp())))}
    play = ("-i", "localhost,", "server_management.cloud.check_api")
    session.run("ansible-playbook", *play, *session.posargs, env=env)


@nox.session(python=[PYTHON])
def bench(session: nox.Session) -> None:
    """Measure the inventory plugin beside its peers, and print the tables of docs/benchmarks.md."""
    session.install("PyYAML~=6.0", "uv~=0.13")
    session.run("python", "-B", "tools/benchmark", *session.posargs)


@nox.session(python=[PYTHON])
def release(session: nox.Session) -> None:
    """Build the commit; ``ansible-galaxy`` would also pack ignored files of the working tree."""
    install(session, CORE)
    # A check may have changed files that another one had checked.
    session.run("python", "tools/release.py", *session.posargs)
    tree, output = f"{session.create_tmp()}/tree", ".nox/release"
    session.run("rm", "-rf", tree, output, external=True)
    session.run("git", "archive", f"--output={tree}.tar", "HEAD", external=True)
    shutil.unpack_archive(f"{tree}.tar", tree)
    session.run("python", "tools/release.py", "readme", tree)
    session.run("ansible-galaxy", "collection", "build", tree, "--output-path", output)
