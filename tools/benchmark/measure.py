# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the contenders one after another, and collect the cost of each run."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.account import make_servers

from .contenders import CONTENDERS, EMPTY, groups_of
from .environments import Environment
from .jobs import Job

_DRIVER = Path(__file__).with_name("driver.py")


@dataclass(frozen=True)
class Sample:
    """The cost of a run: CPU and wall-clock time in seconds, maximum memory in bytes.

    The figures of the whole process are None if only parse() was measured.
    """

    parse_cpu: float
    parse_wall: float
    parse_peak: float
    cpu: float | None = None
    wall: float | None = None
    peak: float | None = None


class Results:
    """All samples so far, and what they amount to.

    Whatever else a machine does makes a run slower, never faster: the lowest figure is the closest
    to what a program needs. The speed of shared machines changes within minutes, so programs are
    compared by runs that followed each other.
    """

    def __init__(self) -> None:
        self._samples: dict[tuple[str, int, str], list[Sample]] = {}

    def add(self, job: Job, sample: Sample) -> None:
        """Add the cost of a run."""
        self._samples.setdefault((job.core, job.size, job.contender), []).append(sample)

    def lowest(self, core: str, size: int, contender: str, figure: str) -> float | None:
        """Return the lowest value of a figure, or None if it was not measured."""
        return min(self._figures(core, size, contender, figure), default=None)

    def ratio(self, core: str, size: int, pair: tuple[str, str], figure: str) -> float | None:
        """Return the median ratio of a figure of two contenders, or None.

        If one was measured more often, the lowest figures are compared.
        """
        first, second = (self._figures(core, size, contender, figure) for contender in pair)
        if not (first and second):
            return None
        if len(first) != len(second):
            return min(first) / min(second)
        return statistics.median(one / other for one, other in zip(first, second, strict=True))

    def _figures(self, core: str, size: int, contender: str, figure: str) -> list[float]:
        samples = self._samples.get((core, size, contender), [])
        return [value for sample in samples if (value := getattr(sample, figure)) is not None]


@contextmanager
def standins() -> Iterator[str]:
    """Serve the simulated APIs in a separate process during the block; yield their URL."""
    command = [sys.executable, "-B", "-m", "tools.benchmark.standins"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path[:2])}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, encoding="ascii") as process:
        try:
            yield str(process.stdout and process.stdout.readline()).strip()
        finally:
            process.terminate()


class Bench:
    """Run contenders in their environments, on files below a working folder."""

    def __init__(self, environments: Mapping[str, Environment], origin: str, work: Path) -> None:
        self._environments = environments
        self._origin = origin
        self._work = work
        self._output = work / "output"
        self._errors = work / "errors"
        self._figures = work / "figures.json"

    def check(self, job: Job) -> None:
        """Raise RuntimeError if the hosts or groups of a run differ from the expected ones."""
        self.run(Job(job.core, job.size, job.contender, is_whole=True))
        if not CONTENDERS[job.contender].has_groups:
            return
        found = json.loads(self._output.read_text(encoding="utf-8"))
        for name, hosts in groups_of(job.size).items():
            if sorted(found[name]["hosts"]) != sorted(hosts):
                raise RuntimeError(f"{job}: other hosts in {name} than expected")
        for server in make_servers(job.size):
            address = found["_meta"]["hostvars"][server["name"]]["ansible_host"]
            if isinstance(address, dict):  # since core 2.19, around untrusted text
                address = address["__ansible_unsafe"]
            if address != server["ipv4"]:
                raise RuntimeError(f"{job}: another ansible_host than expected")

    def run(self, job: Job) -> Sample:
        """Run a job and return its cost; raise RuntimeError if it fails or loses a host."""
        contender = CONTENDERS[job.contender]
        folder = self._work / job.core / str(job.size) / contender.name.replace(" ", "_")
        path = folder / contender.file
        if not path.exists():
            folder.mkdir(parents=True)
            path.write_text(contender.text(self._origin, job.size), encoding="utf-8")
            path.chmod(0o755 if contender.plugin == "script" else 0o644)
        cache = folder / "cache"
        if contender.cache == "written":
            shutil.rmtree(cache, ignore_errors=True)
        elif contender.cache == "read" and not cache.exists():
            self._run(job, path, cache)
        return self._run(job, path, cache)

    def _run(self, job: Job, path: Path, cache: Path) -> Sample:
        runner = self._environments[job.core].runner
        self._figures.unlink(missing_ok=True)
        command = ["python", str(_DRIVER), str(self._figures), CONTENDERS[job.contender].plugin]
        command += ["continue" if job.is_whole else "stop", "-i", str(path), "--list"]
        environment = {
            **runner.environment,
            "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true",
            "ANSIBLE_INVENTORY_CACHE_CONNECTION": str(cache),
        }
        status, wall, usage = self._spend(command, environment)
        if status != 0 or not self._figures.exists():
            raise RuntimeError(f"{job} failed:\n{self._errors.read_text(encoding='utf-8')}")
        figures = json.loads(self._figures.read_text(encoding="ascii"))
        hosts = figures.pop("hosts", None)
        if hosts != (0 if job.contender == EMPTY else job.size):
            raise RuntimeError(f"{job} gave {hosts} hosts")
        if not job.is_whole:
            return Sample(**{**figures, "peak": None})
        return Sample(**figures, cpu=usage.ru_utime + usage.ru_stime, wall=wall)

    def _spend(self, command: list[str], environment: dict[str, str]) -> tuple[int, float, Any]:
        """Run a command and return its exit status, wall-clock seconds and resource usage."""
        with self._output.open("wb") as output, self._errors.open("wb") as errors:
            begin = time.perf_counter()
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=self._work,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
            )
            try:
                status, usage = os.wait4(process.pid, 0)[1:]
            except BaseException:
                process.kill()
                process.wait()
                raise
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, time.perf_counter() - begin, usage


def rounds(jobs: list[Job], count: int) -> Iterable[tuple[int, list[Job]]]:
    """Yield the jobs of each round, in the same order from another starting point."""
    for number in range(count):
        start = number * len(jobs) // count
        yield number, jobs[start:] + jobs[:start]
