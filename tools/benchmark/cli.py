# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the benchmark from the command line."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from .environments import RELEASES, Environment, prepare
from .jobs import SIZES, choose_jobs
from .measure import Bench, Results, rounds, standins
from .plot import plot
from .report import report

_REPOSITORY = Path(__file__).resolve().parents[2]


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="bench", description="Measure the inventory plugin beside its peers."
    )
    add = parser.add_argument
    add("--cores", nargs="+", choices=RELEASES, default=list(RELEASES), metavar="CORE")
    add("--sizes", nargs="+", type=int, default=list(SIZES), metavar="HOSTS")
    add("--rounds", type=int, default=7, metavar="N", help="default: %(default)s")
    add("--only", nargs="+", default=[""], metavar="TEXT", help="sources with this in their names")
    add("--full", action="store_true", help="every contender on every core, which takes an hour")
    add(
        "--output",
        type=Path,
        default=_REPOSITORY / "docs",
        metavar="FOLDER",
        help="where benchmarks.md and benchmarks.svg are written (default: docs)",
    )
    add(
        "--environments",
        type=Path,
        default=_REPOSITORY / ".nox" / "benchmark",
        metavar="FOLDER",
        help="where the virtual environments are kept (default: .nox/benchmark)",
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Measure, write the page and the plot, and return the exit status."""
    options = _parser().parse_args(arguments)
    # As an exception, it ends the started processes like Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix="server_management_bench_") as folder:
        try:
            environments = _prepare(options, Path(folder))
            results = _measure(options, environments, Path(folder))
        except KeyboardInterrupt:
            return 128 + signal.SIGINT
    options.output.mkdir(parents=True, exist_ok=True)
    versions = {core: environment.versions for core, environment in environments.items()}
    page = report(results, versions, options.sizes, options.rounds, _command(options))
    (options.output / "benchmarks.md").write_text(page, encoding="utf-8")
    (options.output / "benchmarks.svg").write_text(
        plot(results, options.cores[0], options.sizes), encoding="utf-8"
    )
    return 0


def _command(options: argparse.Namespace) -> str:
    """Return the command that measures the same, without the options for folders."""
    words = []
    for name in ("cores", "sizes", "rounds", "only", "full"):
        value, default = getattr(options, name), _parser().get_default(name)
        if value != default:
            words.append(f"--{name}")
            values = value if isinstance(value, list) else [] if value is True else [value]
            words += map(str, values)
    return f'make bench ARGS="{" ".join(words)}"' if words else "make bench"


def _prepare(options: argparse.Namespace, work: Path) -> dict[str, Environment]:
    environments = {}
    for core in options.cores:
        _report_progress(f"Preparing ansible-core {core}")
        environments[core] = prepare(core, options.environments / core, work / f"core-{core}")
    return environments


def _measure(
    options: argparse.Namespace, environments: dict[str, Environment], work: Path
) -> Results:
    jobs = choose_jobs(options.cores, options.sizes, options.only, options.full)
    results = Results()
    with standins() as origin:
        bench = Bench(environments, origin, work)
        _report_progress("Checking that all give the same hosts and groups")
        for job in dict.fromkeys(job for job in jobs if job.size == min(options.sizes)):
            bench.check(job)
        begin = time.monotonic()
        for number, order in rounds(jobs, options.rounds):
            for job in order:
                results.add(job, bench.run(job))
            spent = (time.monotonic() - begin) / 60
            _report_progress(
                f"Round {number + 1} of {options.rounds} done after {spent:.1f} minutes"
            )
    return results


def _report_progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
