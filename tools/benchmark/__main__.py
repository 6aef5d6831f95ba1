# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measure the inventory plugin beside others, and write docs/benchmarks.md and benchmarks.svg.

make bench                          the figures of the page, in about 12 minutes
make bench ARGS="--start"           only the cost of the start, printed
make bench ARGS="--rounds 1 --cores 2.21 --output /tmp/bench"    fewer figures, elsewhere
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from support.collection import REPOSITORY, build, copy_sources, install
from support.run import Runner
from tools.benchmark import page, sources
from tools.benchmark.sources import DIRECT, EMPTY, KEYED, LATER, OURS, SOURCES

# For each ansible-core, the release of the PyPI package ansible, which has the other plugins, and
# the Python. The first one is measured in full.
RELEASES = {"2.21": ("14.5.0", "3.12"), "2.19": ("12.3.0", "3.12"), "2.16": ("9.13.0", "3.12")}
SIZES = (10, 1_000, 10_000)
ELSEWHERE = (EMPTY, DIRECT, OURS, KEYED)  # what is measured on the other cores
FROM = tuple(SOURCES).index(LATER)
PARSED = tuple(SOURCES)[FROM:]  # of these, only parse() is measured, with many servers
_VERSIONS = """\
import importlib.metadata as metadata, json, platform
names = ("ansible", "ansible-core", "jinja2", "requests")
print(json.dumps({"Python": platform.python_version(), **{n: metadata.version(n) for n in names}}))
"""
# Without the garbage collector, whose runs depend on chance.
_COUNTED = """\
import gc, sys
gc.disable()
sys.argv[0] = "ansible-inventory"
from ansible.cli.inventory import main
main()
"""


class Bench:
    """The environments, and the runs in them, below a working folder."""

    def __init__(self, origin: str, work: Path) -> None:
        self.figures: page.Figures = {}
        self.versions: dict[str, dict[str, str]] = {}
        self._origin = origin
        self._work = work
        self._runners: dict[str, Runner] = {}

    def prepare(self, core: str) -> None:
        """Create the environment of a core if it does not exist, and install the collection."""
        release, version = RELEASES[core]
        place = REPOSITORY / ".nox" / "benchmark" / f"{core}-{release}"
        python = place / "bin" / "python"
        if not (place / "ready").exists():
            uv = ("uv", "--quiet", "--no-python-downloads")
            subprocess.run([*uv, "venv", "--clear", "--python", version, place], check=True)
            packages = (f"ansible=={release}", "requests", "python-dateutil")
            command = (*uv, "pip", "install", "--python", python, *packages)
            subprocess.run(command, check=True)
            (place / "ready").touch()
        folder = self._work / core
        runner = Runner(folder / "home", folder / "collections", python)
        runner.environment["ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"] = "true"
        runner.environment["ANSIBLE_LOCALHOST_WARNING"] = "false"
        tarball = build(runner, folder / "tarball", copy_sources(folder / "sources"))
        collections = install(runner, tarball, folder / "collections")
        direct = collections / "ansible_collections/server_management/benchmark/plugins/inventory"
        direct.mkdir(parents=True)
        shutil.copy(Path(__file__).with_name("direct.py"), direct)
        self._runners[core] = runner
        self.versions[core] = self._read_versions(runner)

    def _read_versions(self, runner: Runner) -> dict[str, str]:
        versions: dict[str, str] = runner.run("python", "-c", _VERSIONS).ok().json()
        listed = runner.galaxy("collection", "list", "--format", "json").ok().json()
        for found in listed.values():
            for name in ("hetzner.hcloud", "vultr.cloud"):
                versions |= {name: found[name]["version"]} if name in found else {}
        return versions

    def check(self, core: str) -> None:
        """Raise RuntimeError if sources create other groups by region, plan or status."""
        for name in tuple(SOURCES)[1:FROM]:
            output = self._measure(core, SIZES[0], name)[1]
            for group, hosts in sources.groups_of(SIZES[0]).items():
                if sorted(json.loads(output)[group]["hosts"]) != sorted(hosts):
                    raise RuntimeError(f"{name}: other hosts in {group} than expected")

    def run(self, core: str, size: int, name: str) -> None:
        """Run a source, and add its figures."""
        figures = self._measure(core, size, name)[0]
        self.figures.setdefault((core, size, name), []).append(figures)

    def _measure(self, core: str, size: int, name: str) -> tuple[dict[str, float], bytes]:
        """Return CPU seconds and peak memory in bytes, and the standard output."""
        runner, path = self._runners[core], self._write(core, size, name)
        driver, written = Path(__file__).with_name("driver.py"), self._work / "figures.json"
        after = "stop" if name in PARSED else "continue"
        command = ("python", driver, written, SOURCES[name].plugin, after, "-i", path, "--list")
        written.unlink(missing_ok=True)
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                command, env=runner.environment, cwd=self._work, stdout=output, stderr=errors
            )
            status, usage = os.wait4(process.pid, 0)[1:]
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            errors.seek(0)
            figures = json.loads(written.read_text(encoding="ascii")) if written.exists() else {}
            if process.returncode or figures.get("hosts") != (0 if name == EMPTY else size):
                raise RuntimeError(f"{name}, {core}, {size} hosts: {errors.read().decode()}")
            return {**figures, "whole": usage.ru_utime + usage.ru_stime}, output.read()

    def _write(self, core: str, size: int, name: str) -> Path:
        """Return the inventory file of a source; write it, and fill its cache, the first time."""
        source = SOURCES[name]
        folder = self._work / core / str(size) / name.replace(" ", "_")
        path = folder / source.file
        if not path.exists():
            folder.mkdir(parents=True)
            path.write_text(source.text(self._origin, size), encoding="utf-8")
            if source.options.get("cache"):
                with path.open("a", encoding="utf-8") as file:
                    file.write(f"cache_connection: {folder / 'cache'}\n")
                self._runners[core].inventory("-i", path, "--list").ok()
        return path

    def count(self, core: str) -> dict[str, int]:
        """Return the instructions of ``ansible-inventory --list`` with 10 hosts for each source."""
        valgrind = ("valgrind", "--tool=cachegrind", "--cache-sim=no")
        found = {}
        for name in (EMPTY, DIRECT, OURS, sources.READ):
            path = self._write(core, SIZES[0], name)
            command = ("python", "-c", _COUNTED, "-i", path, "--list")
            environment = {**self._runners[core].environment, "PYTHONHASHSEED": "0"}
            runs = [command, command, (*valgrind, "--cachegrind-out-file=/dev/null", *command)]
            for each in runs:  # the first two write the bytecode and the cache
                done = subprocess.run(each, env=environment, check=True, capture_output=True)
            counted = re.search(rb"I\s+refs:\s+([\d,]+)", done.stderr)
            found[name] = int(counted[1].replace(b",", b"")) if counted else 0
        return found


def chosen(cores: list[str]) -> Iterator[tuple[str, int, str]]:
    """Yield the runs of one round."""
    for core in cores:
        for size in SIZES:
            for name in SOURCES if core == cores[0] else ELSEWHERE:
                if (name != EMPTY or size == SIZES[0]) and (
                    name not in PARSED or size == SIZES[-1]
                ):
                    yield core, size, name


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Measure the inventory plugin.")
    add = parser.add_argument
    add("--cores", nargs="+", choices=RELEASES, default=list(RELEASES), metavar="CORE")
    add("--rounds", type=int, default=5, metavar="N", help="default: %(default)s")
    add("--start", action="store_true", help="only count the instructions of a start")
    add("--output", type=Path, default=REPOSITORY / "docs", metavar="FOLDER")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Measure, write the page and the picture, and return the exit status."""
    options = _parse(arguments)
    # As an exception, it ends the started processes like Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    newest = options.cores[0]
    with (
        tempfile.TemporaryDirectory(prefix="server_management_bench_") as folder,
        sources.simulated_apis() as origin,
    ):
        bench = Bench(origin, Path(folder))
        for core in [newest] if options.start else options.cores:
            print(f"Preparing ansible-core {core}", flush=True)
            bench.prepare(core)
        if shutil.which("valgrind"):
            print("Counting the instructions of a start", flush=True)
            started = bench.count(newest)
        else:
            print("valgrind is not installed: the instructions of a start are not counted")
            started = {}
        if options.start:
            print(page.start(started))
            return 0 if started else 1
        bench.check(newest)
        for number in range(options.rounds):
            print(f"Round {number + 1} of {options.rounds}", flush=True)
            for run in chosen(options.cores):
                bench.run(*run)
    options.output.mkdir(parents=True, exist_ok=True)
    text = page.write(bench.figures, bench.versions, SIZES, options.rounds, started)
    (options.output / "benchmarks.md").write_text(text, encoding="utf-8")
    picture = page.draw(bench.figures, newest, SIZES[-1])
    (options.output / "benchmarks.svg").write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
