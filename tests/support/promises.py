# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is promised, which tests show it, and the table of both in the guide about trust."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "docsite" / "rst" / "guide_trust.rst"
BEGIN = ".. The table of promises begins here: tests/support/promises.py writes it.\n"
END = ".. The table of promises ends here.\n"

PROMISES = {
    "whole": "A listing is read whole or not at all",
    "atomic": "A source that fails leaves no trace",
    "lost": "No host is lost",
    "misdirected": "No host is misdirected",
    "data": "Text of the API is never rendered as a template",
    "home": "The token goes to the origin of ``base_url`` alone",
    "secret": "The token is shown nowhere",
    "cache": "The cache belongs to its account and is checked again",
    "bounded": "Time and memory have a limit",
    "silent": "Nothing fails in silence",
    "quiet": "No warning when all is well",
    "stable": "The same servers give the same inventory",
    "honest": "A module that waits for its scope says so and changes nothing",
}
HEADER = ("Promise", "Tests", "Cases", "ansible-core", "Result")

# One run on one ansible-core: for each promise its "tests", "cases" and "failed".
Counts = Mapping[str, Mapping[str, int]]


@dataclass
class Tally:
    """What the reports of one run say of each promise."""

    cases: dict[str, dict[str, int]] = field(default_factory=dict)
    failed: dict[str, set[str]] = field(default_factory=dict)

    def add(
        self, test: str, properties: Iterable[tuple[str, object]], outcome: str, phase: str | None
    ) -> None:
        """Take in the report of one phase of a test: what is skipped shows nothing."""
        known = list(properties)
        keys = [str(value) for name, value in known if name == "promise"]
        counted = [int(str(value)) for name, value in known if name == "cases"]
        for key in keys:
            if outcome == "failed":
                self.failed.setdefault(key, set()).add(test)
            if outcome == "failed" or (outcome == "passed" and phase == "call"):
                self.cases.setdefault(key, {})[test] = counted[-1] if counted else 1

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the numbers of each promise: a test with parameters is one test of many cases."""
        return {
            key: {
                "tests": len({test.partition("[")[0] for test in cases}),
                "cases": sum(cases.values()),
                "failed": len(self.failed.get(key, ())),
            }
            for key, cases in sorted(self.cases.items())
        }


def read_runs(folder: Path) -> dict[str, Counts]:
    """Return the counts of each ansible-core that a run in this folder was on, oldest first."""
    paths = sorted(folder.glob("*.json"), key=lambda path: _version(path.stem))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def find_faults(runs: Mapping[str, Counts]) -> list[str]:
    """Say which promise has no test, or a test that failed, on which ansible-core."""
    if not runs:
        return ["there is no run to make a table of"]
    return [fault for core, counts in runs.items() for fault in _faults(core, counts)]


def _faults(core: str, counts: Counts) -> Iterator[str]:
    for key in PROMISES:
        if key not in counts:
            yield f"{key}: no test on ansible-core {core}"
        elif failed := counts[key]["failed"]:
            yield f"{key}: {failed} failed on ansible-core {core}"


def make_rows(runs: Mapping[str, Counts]) -> list[tuple[str, ...]]:
    """Return a row for each promise, with the numbers of the newest ansible-core."""
    newest = list(runs.values())[-1] if runs else {}
    return [_row(key, newest.get(key, {}), runs) for key in PROMISES]


def _row(key: str, numbers: Mapping[str, int], runs: Mapping[str, Counts]) -> tuple[str, ...]:
    passed = [core for core, counts in runs.items() if key in counts and not counts[key]["failed"]]
    result = "shown" if runs and len(passed) == len(runs) else "not shown"
    tests, cases = str(numbers.get("tests", 0)), str(numbers.get("cases", 0))
    return PROMISES[key], tests, cases, ", ".join(passed) or "none", result


def make_table(rows: Iterable[tuple[str, ...]]) -> str:
    """Return the table in reStructuredText."""
    cells = "".join(
        f"   * - {row[0]}\n" + "".join(f"     - {cell}\n" for cell in row[1:])
        for row in (HEADER, *rows)
    )
    return f".. list-table::\n   :header-rows: 1\n   :widths: 40 8 8 32 12\n\n{cells}"


def read_rows(page: str) -> list[tuple[str, ...]]:
    """Return the rows of the table that a page has, without the header."""
    lines = [
        line[5:] for line in _split(page)[1].splitlines() if line.startswith(("   * ", "     -"))
    ]
    cells = [line.removeprefix("- ") for line in lines]
    size = len(HEADER)
    return [tuple(cells[at : at + size]) for at in range(size, len(cells), size)]


def replace_table(page: str, table: str) -> str:
    """Return the page with another table between its two comments."""
    before, _old, after = _split(page)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def differs(page: str, rows: Iterable[tuple[str, ...]]) -> bool:
    """Compare promises, lines of ansible-core and results: numbers of cases come and go."""
    return [_lasting(row) for row in read_rows(page)] != [_lasting(row) for row in rows]


def main(arguments: list[str] | None = None, guide: Path = GUIDE) -> int:
    """Write the table of a folder of runs into the guide, or only compare the two."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", type=Path, help="where runs of the tests wrote what they showed")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    runs = read_runs(options.folder)
    faults = find_faults(runs)
    page = guide.read_text(encoding="utf-8")
    rows = make_rows(runs)
    if not options.check:
        guide.write_text(replace_table(page, make_table(rows)), encoding="utf-8")
    elif differs(page, rows):
        command = f"python tests/support/promises.py {options.folder}"
        faults.append(f"the table in {guide.name} is not that of these runs: {command}")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def _lasting(row: tuple[str, ...]) -> tuple[str, ...]:
    return (row[0], *row[3:])


def _split(page: str) -> tuple[str, str, str]:
    before, begin, rest = page.partition(BEGIN)
    table, end, after = rest.partition(END)
    if not (begin and end):
        message = "the guide has lost the comments around its table"
        raise ValueError(message)
    return before, table, after


def _version(core: str) -> tuple[int, ...]:
    return tuple(int(part) for part in core.split("."))


if __name__ == "__main__":
    sys.exit(main())
