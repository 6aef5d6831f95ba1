# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measure the inventory plugin beside others; write the tables and the picture of the benchmarks.

make bench                          all figures, in about 15 minutes
make bench ARGS="--start"           only the cost of the start, printed
make bench ARGS="--rounds 1"        fewer runs
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from sandbox.account import make_servers
from support.collection import REPOSITORY, build, copy_sources, install
from support.run import Runner

TOOLS = Path(__file__).resolve().parent
PAGE = REPOSITORY / "docs" / "benchmarks.md"
# For each ansible-core, the release of the PyPI package ansible, which has the other plugins.
RELEASES = {"2.21": "14.5.0", "2.19": "12.3.0", "2.16": "9.13.0"}
PYTHON = "3.12"
NEWEST = next(iter(RELEASES))  # what is measured in full
SIZES = (10, 1_000, 10_000)
MANY = SIZES[-1]
API = "http://api.invalid"  # the place of the simulated API in an inventory file
CACHE = "/cache"  # the place of the cache

EMPTY, DIRECT, STATIC = "empty inventory", "direct calls", "static JSON"
OURS, KEYED, READ = "this collection", "this collection, keyed", "this collection, cache read"
VULTR, HCLOUD = "vultr.cloud, keyed", "hetzner.hcloud, keyed"
SHOWN = (OURS, KEYED, STATIC, VULTR, HCLOUD)  # the usual alternatives
ELSEWHERE = (EMPTY, DIRECT, OURS, KEYED)  # what is measured on the other cores
STARTED = (EMPTY, DIRECT, OURS, READ)
TITLES = {
    "parse": "CPU time of `parse()`",
    "whole": "CPU time of the whole process",
    "memory": "Memory",
}
HEADS = [f"{size:,} hosts" for size in SIZES]
# For each ansible-core, number of hosts and source: what was measured in each round.
Figures = dict[tuple[str, int, str], list[dict[str, float]]]
GROUPED_BY = ("region", "plan", "status")

_VERSIONS = """\
import importlib.metadata as metadata, json, platform
names = ("ansible", "ansible-core", "jinja2", "requests")
print(json.dumps({"Python": platform.python_version(), **{n: metadata.version(n) for n in names}}))
"""
_SVG = """\
{licence}-->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
  aria-label="{title}" font-family="sans-serif" font-size="13">
<style>
  text {{ fill: #24292f; }}
  .ours {{ fill: #0969da; }}
  .other {{ fill: #8c959f; }}
  @media (prefers-color-scheme: dark) {{ text {{ fill: #d1d7e0; }} .ours {{ fill: #4493f8; }} }}
</style>
<text x="0" y="16" font-weight="bold">{title}</text>
{body}
</svg>
"""
_WIDTH, _LABELS, _LINE, _HEAD = 760, 180, 24, 36  # pixels
# The files that each plugin accepts.
FILES = {
    "server_management.cloud.servers": "benchmark.server_management.yml",
    "vultr.cloud.vultr": "vultr.yml",
    "hetzner.hcloud.hcloud": "hcloud.yml",
    "direct": "direct.yml",
    "yaml": "static.json",
}


def _ours(**options: Any) -> dict[str, Any]:
    plugin = "server_management.cloud.servers"
    return {"plugin": plugin, "base_url": f"{API}/ours", "api_token": "token", **options}


def _keyed(address: str, *keys: str) -> dict[str, Any]:
    """Return keyed_groups by these variables, and one compose entry."""
    groups = [{"key": key, "prefix": name} for key, name in zip(keys, GROUPED_BY, strict=True)]
    return {"keyed_groups": groups, "compose": {"ansible_host": address}}


# The inventory files of the contenders.
SOURCES = {
    EMPTY: {"plugin": "yaml"},
    DIRECT: {"plugin": "direct", "base_url": f"{API}/ours"},
    STATIC: {"plugin": "yaml"},
    OURS: _ours(),
    KEYED: _ours(
        group_by=[], **_keyed("server_ipv4", "server_region", "server_plan", "server_status")
    ),
    "this collection, everything": _ours(
        filters=[{"exclude": "server_name.startswith('test')"}],
        compose={
            "fqdn": "server_name ~ '.' ~ server_region ~ '.example.com'",
            "rack": "server_rack | default('none')",
        },
        keyed_groups=[
            *({"key": f"server_{name}", "prefix": f"by_{name}"} for name in GROUPED_BY),
            {"key": "server_region.split('-')", "prefix": "place"},
        ],
        groups={
            "webservers": "server_name.startswith('web')",
            "up": "'status_running' in group_names",
        },
    ),
    READ: _ours(cache=True, cache_plugin="ansible.builtin.jsonfile", cache_connection=CACHE),
    VULTR: {
        "plugin": "vultr.cloud.vultr",
        "api_endpoint": f"{API}/vultr",
        "api_key": "key",
        "attributes": ["id", "label", *GROUPED_BY, "main_ip", "date_created"],
        **_keyed("vultr_main_ip", "vultr_region", "vultr_plan", "vultr_status"),
    },
    HCLOUD: {
        "plugin": "hetzner.hcloud.hcloud",
        "api_endpoint": f"{API}/hcloud",
        "api_token": "token",
        **_keyed("hcloud_ipv4", "hcloud_location", "hcloud_server_type", "hcloud_status"),
    },
}


def groups_of(servers: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return the names of the hosts in each group by region, plan and status."""
    groups: dict[str, list[str]] = {}
    for server in servers:
        for name in GROUPED_BY:
            group = f"{name}_{server[name]}".replace("-", "_")
            groups.setdefault(group, []).append(server["name"])
    return groups


def static_of(servers: Iterable[Mapping[str, str]]) -> dict[str, Any]:
    """Return the content of a static inventory with the same hosts, variables and groups."""
    hosts = {
        server["name"]: {
            **{f"server_{name}": value for name, value in server.items()},
            "ansible_host": server["ipv4"],
        }
        for server in servers
    }
    groups = {name: {"hosts": dict.fromkeys(known)} for name, known in groups_of(servers).items()}
    return {"all": {"children": {"server_management": {"hosts": hosts}, **groups}}}


def _vultr(server: Mapping[str, str]) -> dict[str, str]:
    names = {"name": "label", "ipv4": "main_ip", "created_at": "date_created"}
    return {names.get(name, name): value for name, value in server.items()}


def _hcloud(server: Mapping[str, str]) -> dict[str, Any]:
    address = {"id": 1, "ip": server["ipv4"], "blocked": False, "dns_ptr": ""}
    return {
        "id": int(server["id"].removeprefix("srv_"), 16),
        "name": server["name"],
        "status": server["status"],
        "created": server["created_at"],
        "server_type": {"id": 1, "name": server["plan"], "architecture": "x86"},
        "location": {"id": 1, "name": server["region"]},
        "public_net": {"ipv4": address, "ipv6": None, "floating_ips": []},
        "private_net": [],
        "image": None,
        "labels": {},
    }


def responses(servers: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return the response of each simulated API to a path: the same servers, on a single page."""
    links = {"next": "", "prev": ""}
    return {
        "ours/api/v1/servers": {"data": servers, "has_more": False},
        "vultr/instances": {"instances": [*map(_vultr, servers)], "meta": {"links": links}},
        "hcloud/servers": {"servers": [*map(_hcloud, servers)]},
        "hcloud/locations": {"locations": []},
    }


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *values: object) -> None:
        """Log nothing."""


def serve(folder: Path) -> str:
    """Serve the files of a folder until this process ends, and return the URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def write_files(folder: Path, url: str) -> None:
    """Write what the simulated APIs serve, and the inventory files, for each number of hosts."""
    for size in SIZES:
        place, servers = folder / str(size), make_servers(size)
        contents: dict[str, Any] = dict(responses(servers))
        static = {EMPTY: static_of([]), STATIC: static_of(servers)}
        for name, options in SOURCES.items():
            contents[f"{name}/{FILES[options['plugin']]}"] = static.get(name, options)
        for name, content in contents.items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(content).replace(API, f"{url}/{size}")
            path.write_text(text.replace(CACHE, f"{place}/cache"), encoding="utf-8")


def prepare(core: str, work: Path) -> Runner:
    """Create the environment of a core if it does not exist, and install the collection."""
    place = REPOSITORY / ".nox" / "benchmark" / f"{core}-{RELEASES[core]}"
    python = place / "bin" / "python"
    if not (place / "ready").exists():
        uv = ("uv", "--quiet", "--no-python-downloads")
        subprocess.run([*uv, "venv", "--clear", "--python", PYTHON, place], check=True)
        packages = (f"ansible=={RELEASES[core]}", "requests", "python-dateutil")
        subprocess.run([*uv, "pip", "install", "--python", python, *packages], check=True)
        (place / "ready").touch()
    folder = work / core
    runner = Runner(folder / "home", folder / "collections", python)
    runner.environment["ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED"] = "true"
    runner.environment["ANSIBLE_INVENTORY_PLUGINS"] = str(TOOLS)  # direct.py
    tarball = build(runner, folder / "tarball", copy_sources(folder / "sources"))
    install(runner, tarball, folder / "collections")
    return runner


def command(folder: Path, name: str) -> list[str]:
    """Return the command that lists a source."""
    plugin = SOURCES[name]["plugin"]
    path = folder / name / FILES[plugin]
    return ["python", str(TOOLS / "measured.py"), plugin, "-i", str(path), "--list"]


def measure(runner: Runner, folder: Path, name: str) -> tuple[dict[str, float], str]:
    """Run a source; return its figures, CPU seconds and bytes of memory, and the output."""
    before = _cpu_seconds()
    result = runner.run(*command(folder, name)).ok()
    figures = json.loads(result.stderr.splitlines()[-1])
    return {**figures, "whole": _cpu_seconds() - before}, result.stdout


def _cpu_seconds() -> float:
    """Return the CPU time of all finished commands."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def check(runner: Runner, folder: Path) -> None:
    """Raise RuntimeError if sources create other groups by region, plan or status."""
    for name in SOURCES:
        listing = json.loads(measure(runner, folder, name)[1])
        for group, hosts in groups_of(make_servers(SIZES[0])).items():
            found = listing.get(group, {}).get("hosts", [])
            if name != EMPTY and sorted(found) != sorted(hosts):
                raise RuntimeError(f"{name}: other hosts in {group} than expected")


def count(runner: Runner, folder: Path) -> dict[str, int]:
    """Return the instructions of ``ansible-inventory --list`` for each source."""
    valgrind = ("--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
    same = {"PYTHONHASHSEED": "0"}
    found = {}
    for name in STARTED:
        done = runner.run("valgrind", *valgrind, *command(folder, name), env=same).ok()
        counted = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
        found[name] = int(counted[1].replace(",", "")) if counted else 0
    return found


def chosen() -> Iterator[tuple[str, int, str]]:
    """Yield the core, the number of hosts and the source of each run of a round."""
    for core in RELEASES:
        for size in SIZES:
            for name in SOURCES if core == NEWEST else ELSEWHERE:
                if name != EMPTY or size == SIZES[0]:
                    yield core, size, name


def table(heads: Iterable[str], rows: Mapping[str, Iterable[str]]) -> str:
    """Return a table in Markdown."""
    lines = [["", *heads], *([name, *cells] for name, cells in rows.items())]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)


def start(counted: Mapping[str, int]) -> str:
    """Return the table of the instructions of a start."""
    rows = {name: (f"{n:,}", f"{n / counted[EMPTY]:.3f}") for name, n in counted.items()}
    return table(("instructions", "relative to an empty inventory"), rows)


def ratios(figures: Figures, core: str) -> str:
    """Return the tables of one core."""
    parts = [f"## ansible-core {core}"]
    for figure, title in TITLES.items():
        rows = {
            name: [_ratio(figures, (core, size, name), figure) for size in SIZES]
            for name in (SOURCES if core == NEWEST else ELSEWHERE)
        }
        parts += [f"{title}, relative to direct calls", table(HEADS, rows)]
    return "\n\n".join(parts)


def _ratio(figures: Figures, run: tuple[str, int, str], figure: str) -> str:
    """Return the ratio to direct calls in the same rounds, or "-" if it was not measured."""
    pairs = zip(figures.get(run, []), figures[run[0], run[1], DIRECT], strict=False)
    found = [one[figure] / other[figure] for one, other in pairs]
    return f"{median(found):.2f}" if found else "-"


def environment(runners: Mapping[str, Runner], rounds: int) -> str:
    """Return what was measured on, and with."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    information = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = information.partition("model name\t: ")[2].partition("\n")[0] or "unknown model"
    machine = f"{os.cpu_count()} cores of {model} ({platform.machine()}), {memory:.0f} GiB"
    versions = [runner.run("python", "-c", _VERSIONS).ok().json() for runner in runners.values()]
    rows = {name: [found[name] for found in versions] for name in versions[0]}
    return (
        f"{machine} of memory, {platform.system()}. Rounds: {rounds}.\n\n"
        f"{table([f'ansible-core {core}' for core in runners], rows)}"
    )


def draw(seconds: Mapping[str, float]) -> str:
    """Return seconds as bars in SVG, for light and dark pages."""
    scale = (_WIDTH - _LABELS - 60) / max(seconds.values())
    lines = []
    for number, (name, value) in enumerate(seconds.items()):
        y = _HEAD + number * _LINE
        kind = "ours" if name.startswith(OURS) else "other"
        length = value * scale
        lines += [
            f'<text x="{_LABELS - 10}" y="{y + 14}" text-anchor="end">{name}</text>',
            f'<rect x="{_LABELS}" y="{y}" width="{length:.1f}" height="18" class="{kind}"/>',
            f'<text x="{_LABELS + length + 8:.1f}" y="{y + 14}">{value:.1f}</text>',
        ]
    title = f"ansible-inventory --list, {MANY:,} hosts, ansible-core {NEWEST}: seconds of CPU time"
    height = _HEAD + _LINE * len(seconds)
    licence = PAGE.read_text(encoding="utf-8").partition("-->")[0]
    body = "\n".join(lines)
    return _SVG.format(licence=licence, title=title, width=_WIDTH, height=height, body=body)


def write(figures: Figures, parts: dict[str, str]) -> None:
    """Write the tables of the page, beside the other parts of it, and the picture."""
    seconds = {
        name: [min(found["whole"] for found in figures[NEWEST, size, name]) for size in SIZES]
        for name in SHOWN
    }
    rows = {name: [f"{value:.1f}" for value in values] for name, values in seconds.items()}
    parts["seconds"] = table(HEADS, rows)
    parts["cores"] = "\n\n".join(ratios(figures, core) for core in RELEASES)
    page = PAGE.read_text(encoding="utf-8")
    for name, text in parts.items():
        begin, end = (page.index(f"<!-- {mark} {name} -->") for mark in ("begin", "end"))
        page = f"{page[:begin]}<!-- begin {name} -->\n\n{text}\n\n{page[end:]}"
    PAGE.write_text(page, encoding="utf-8")
    picture = draw({name: values[-1] for name, values in seconds.items()})
    PAGE.with_suffix(".svg").write_text(picture, encoding="utf-8")


def main() -> int:
    """Measure, write the page and the picture, and return the exit status."""
    parser = argparse.ArgumentParser(prog="bench", description="Measure the inventory plugin.")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="default: %(default)s")
    parser.add_argument("--start", action="store_true", help="only count the instructions")
    options = parser.parse_args()
    figures: Figures = {}
    with tempfile.TemporaryDirectory(prefix="server_management_bench_") as folder:
        work = Path(folder)
        write_files(work, serve(work))
        cores = [NEWEST] if options.start else RELEASES
        runners = {core: prepare(core, work) for core in cores}
        check(runners[NEWEST], work / str(SIZES[0]))
        parts = {}
        if shutil.which("valgrind"):
            parts["start"] = start(count(runners[NEWEST], work / str(SIZES[0])))
        if options.start:
            print(parts.get("start", "valgrind is not installed"))
            return not parts
        for size in SIZES[1:]:  # fills the caches
            measure(runners[NEWEST], work / str(size), READ)
        for number in range(options.rounds):
            print(f"Round {number + 1} of {options.rounds}", flush=True)
            for run in chosen():
                core, size, name = run
                found = measure(runners[core], work / str(size), name)[0]
                figures.setdefault(run, []).append(found)
        parts["machine"] = environment(runners, options.rounds)
    write(figures, parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
