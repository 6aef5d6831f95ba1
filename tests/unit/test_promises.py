# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each promise has tests that show it, and the guide's table says no more than they do."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.collection import REPOSITORY
from support.promises import BEGIN, END, GUIDE, PROMISES, find_faults, main, read_rows

TESTS = REPOSITORY / "tests"
SHOWN = {"tests": 2, "cases": 5, "failed": 0}
PAGE = f"Before.\n\n{BEGIN}{END}\nAfter.\n"
MARKED = """
import pytest

pytestmark = pytest.mark.promise("data")


@pytest.mark.promise("lost")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_with_parameters(number):
    assert number < 3


def test_with_many_cases(record_property):
    record_property("cases", 40)


def test_that_is_skipped():
    pytest.skip("it shows nothing")
"""


def run_pytest(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a file of tests with the hooks of this project's conftest.py, and without its tests."""
    (folder / "test_marked.py").write_text(source)
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    for name in [name for name in environment if name.startswith("PYTEST_")]:
        del environment[name]
    environment.update(PYTHONPATH=str(TESTS), PROMISES=str(folder / "runs"))
    command = (sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider")
    chosen = ("-c", str(REPOSITORY / "pyproject.toml"), "--rootdir", str(folder), str(folder))
    return subprocess.run(
        [*command, *chosen, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def write_runs(folder: Path, **changed: Mapping[str, dict[str, int] | None]) -> Path:
    """Write runs that show everything, but for what is changed; core2_16 stands for 2.16."""
    for core, changes in changed.items():
        counts = {**dict.fromkeys(PROMISES, SHOWN), **changes}
        path = folder / f"{core.removeprefix('core').replace('_', '.')}.json"
        path.write_text(json.dumps({key: value for key, value in counts.items() if value}))
    return folder


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    path = tmp_path / "guide.rst"
    path.write_text(PAGE)
    return path


def test_a_run_counts_tests_cases_and_failures(tmp_path: Path) -> None:
    # In a process of its own, as the tests of a whole run are.
    result = run_pytest(tmp_path, MARKED, "-n1")
    assert "1 failed, 3 passed, 1 skipped" in result.stdout
    (path,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(r"2\.\d+\.json", path.name)
    assert json.loads(path.read_text()) == {
        "data": {"tests": 2, "cases": 43, "failed": 1},
        "lost": {"tests": 1, "cases": 3, "failed": 1},
    }


def test_a_mark_with_an_unknown_key_is_an_error(tmp_path: Path) -> None:
    source = MARKED.replace('"data"', "").replace('"lost"', '"loss"')
    result = run_pytest(tmp_path, source, "--collect-only")
    assert result.returncode == pytest.ExitCode.INTERRUPTED
    assert "no such promise: '', 'loss'" in result.stdout
    assert not (tmp_path / "runs").exists()


def test_two_cores_that_show_everything_make_a_table(tmp_path: Path, guide: Path) -> None:
    one_more = {"lost": {"tests": 3, "cases": 9, "failed": 0}}
    runs = write_runs(tmp_path, core2_9={}, core2_16=one_more)
    assert main([str(runs)], guide) == 0
    page = guide.read_text()
    assert page.startswith("Before.\n\n")
    assert page.endswith("\nAfter.\n")
    rows = read_rows(page)
    assert [row[0] for row in rows] == list(PROMISES.values())
    assert (PROMISES["lost"], "3", "9", "2.9, 2.16", "shown") in rows
    assert (PROMISES["data"], "2", "5", "2.9, 2.16", "shown") in rows
    assert main([str(runs)], guide) == 0
    assert guide.read_text() == page


@pytest.mark.parametrize(
    ("lost", "fault"),
    [
        (None, "lost: no test on ansible-core 2.16"),
        ({**SHOWN, "failed": 1}, "lost: 1 failed on ansible-core 2.16"),
    ],
    ids=["no test", "failed"],
)
def test_what_one_core_does_not_show_is_not_shown(
    tmp_path: Path,
    guide: Path,
    capsys: pytest.CaptureFixture[str],
    lost: dict[str, int] | None,
    fault: str,
) -> None:
    runs = write_runs(tmp_path, core2_16={"lost": lost}, core2_22={})
    assert main([str(runs)], guide) == 1
    assert capsys.readouterr().err == f"{fault}\n"
    assert (PROMISES["lost"], "2", "5", "2.22", "not shown") in read_rows(guide.read_text())


def test_no_run_shows_nothing() -> None:
    assert find_faults({}) == ["there is no run to make a table of"]


def test_a_check_minds_promises_and_cores_and_not_numbers(
    tmp_path: Path, guide: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(write_runs(tmp_path, core2_16={}))], guide)
    page = guide.read_text()
    more = {"lost": {"tests": 7, "cases": 900, "failed": 0}}
    assert main([str(write_runs(tmp_path, core2_16=more)), "--check"], guide) == 0
    assert main([str(write_runs(tmp_path, core2_22={})), "--check"], guide) == 1
    assert "the table in guide.rst is not that of these runs" in capsys.readouterr().err
    assert guide.read_text() == page


def test_a_guide_without_a_place_for_the_table_is_an_error(tmp_path: Path, guide: Path) -> None:
    guide.write_text("Nothing.\n")
    with pytest.raises(ValueError, match="lost the comments"):
        main([str(write_runs(tmp_path, core2_16={}))], guide)


def test_the_guide_names_files_that_show_each_promise() -> None:
    page = GUIDE.read_text(encoding="utf-8")
    assert [row[0] for row in read_rows(page)] == list(PROMISES.values())
    named = re.findall(r"^``(\w+)``\n((?:  .+\n)+)", page, re.MULTILINE)
    assert [key for key, _files in named] == list(PROMISES)
    for key, files in named:
        for file in re.findall(r"``(\S+\.py)``", files):
            assert f'promise("{key}")' in (TESTS / file).read_text(encoding="utf-8"), file
