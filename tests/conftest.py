# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every test has: the collection under its name, no user's settings, no skip in CI."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Generator
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for `sandbox` and `support`

from support.promises import PROMISES, Tally

REPOSITORY = Path(__file__).resolve().parents[1]
pytest_plugins = ["support.fixtures"]

# For the runs that repeat, on another ansible-core, what one run did at length.
settings.register_profile("quick", max_examples=10, deadline=None)

FOREIGN = ("ANSIBLE_", "SERVER_MANAGEMENT_")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
IN_CI = os.environ.get("CI", "").lower() in ("1", "true")

CORE = metadata.version("ansible-core")

AnyReport = TypeVar("AnyReport", pytest.TestReport, pytest.CollectReport)


class Recorder:
    """Write what the run showed of each promise, one file for each line of ansible-core."""

    def __init__(self, folder: Path) -> None:
        self._tally = Tally()
        self._path = folder / f"{'.'.join(CORE.split('.')[:2])}.json"

    def pytest_sessionstart(self) -> None:
        """Take away what an earlier run wrote: a run that is cut short shows nothing."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.unlink(missing_ok=True)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count one phase of a test, wherever it ran."""
        self._tally.add(report.nodeid, report.user_properties, report.outcome, report.when)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write the file of a run that came to its end."""
        if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            counts = json.dumps(self._tally.counts(), indent=2)
            self._path.write_text(f"{counts}\n", encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Make the working tree importable as the collection, unless ansible-test has done so."""
    folder_of_runs = os.environ.get("PROMISES", "")
    if folder_of_runs and not (hasattr(config, "workerinput") or config.option.collectonly):
        config.pluginmanager.register(Recorder(Path(folder_of_runs)))
    if config.pluginmanager.hasplugin("ansible_pytest_collections"):
        # ansible-test does not read pyproject.toml, and refuses a mark that it does not know.
        config.addinivalue_line("markers", "promise(key): the promise of the design that is shown")
        return
    for name in list(os.environ):
        if name.startswith(FOREIGN) or name.upper() in PROXIES:
            del os.environ[name]
    folder = tempfile.TemporaryDirectory(prefix="server_management_tests_")
    config.add_cleanup(folder.cleanup)
    place = Path(folder.name)
    (place / "ansible.cfg").touch()
    os.environ["ANSIBLE_CONFIG"] = str(place / "ansible.cfg")
    os.environ["ANSIBLE_HOME"] = str(place / "home")
    _link_collection(place)


def pytest_report_header() -> str:
    """Say which ansible-core the tests run on."""
    return f"ansible-core: {CORE}"


def _link_collection(place: Path) -> None:
    namespace = place / "ansible_collections" / "server_management"
    namespace.mkdir(parents=True)
    (namespace / "cloud").symlink_to(REPOSITORY, target_is_directory=True)
    # Not at the top: Ansible reads its configuration when it is imported.
    from ansible.plugins.loader import init_plugin_loader

    init_plugin_loader([str(place)])


def _no_skip(report: AnyReport) -> AnyReport:
    """Turn a skip into a failure where everything must run; an expected failure is no skip."""
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and nothing may be skipped in CI: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Refuse tests that were skipped in CI."""
    return _no_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Refuse whole files that were skipped in CI, and promises that nobody made."""
    return _known_promises(_no_skip((yield)))


def _known_promises(report: pytest.CollectReport) -> pytest.CollectReport:
    unknown: set[str] = set()
    for item in report.result or ():
        if not isinstance(item, pytest.Item):
            continue
        keys = {key for mark in item.iter_markers("promise") for key in mark.args or ("",)}
        item.user_properties += [("promise", key) for key in sorted(keys)]
        unknown |= keys - PROMISES.keys()
    if unknown:
        report.outcome = "failed"
        report.longrepr = f"no such promise: {', '.join(map(repr, sorted(unknown)))}"
    return report
