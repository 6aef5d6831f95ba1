# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measure the inventory plugin beside others, and replace the tables of docs/benchmarks.md.

make bench                     all tables, in about 10 minutes
make bench ARGS="1"            one round instead of three
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tempfile
import threading
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
RELEASES = {"2.21": "14.5.0", "2.16": "9.13.0"}
PYTHON = "3.12"
SIZES = (10, 1_000, 10_000)
API = "http://api.invalid"  # the place of the simulated API in an inventory file
CACHE = "/cache"  # the place of the cache
CACHE_READ = "this collection, cache read"
PEER = "hetzner.hcloud, keyed"  # its release for the oldest core does not know this API
FIELDS = ("region", "plan", "status")


def keyed(address: str, *keys: str, **compose: str) -> dict[str, Any]:
    """Return keyed_groups by region, plan and status, and entries of compose."""
    groups = [{"key": key, "prefix": name} for key, name in zip(keys, FIELDS, strict=True)]
    return {"keyed_groups": groups, "compose": {"ansible_host": address, **compose}}


SERVER = ("server_ipv4", "server_region", "server_plan", "server_status")
DIFFERENT = {"fqdn": "server_name ~ '.' ~ server_region ~ '.example.com'"}
PLAIN = {"plugin": "plain", "base_url": f"{API}/ours"}
OURS = {**PLAIN, "plugin": "server_management.cloud.servers", "api_token": "token"}
OURS_KEYED = {**OURS, "group_by": [], **keyed(*SERVER)}
HCLOUD = {"plugin": "hetzner.hcloud.hcloud", "api_endpoint": f"{API}/hcloud", "api_token": "token"}
HCLOUD_KEYS = ("hcloud_ipv4", "hcloud_location", "hcloud_server_type", "hcloud_status")
CACHED = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": CACHE}

# The name and the content of the inventory file of each row.
SOURCES: dict[str, tuple[str, dict[str, Any]]] = {
    "empty inventory": ("empty.json", {"plugin": "yaml"}),
    "direct calls": ("direct.yml", PLAIN),
    "plain plugin, keyed": ("keyed.yml", {**PLAIN, **keyed(*SERVER)}),
    "plain plugin, different": ("different.yml", {**PLAIN, **keyed(*SERVER, **DIFFERENT)}),
    "this collection": ("defaults.server_management.yml", OURS),
    "this collection, keyed": ("keyed.server_management.yml", OURS_KEYED),
    "this collection, different": (
        "different.server_management.yml",
        {**OURS_KEYED, **keyed(*SERVER, **DIFFERENT)},
    ),
    CACHE_READ: ("cached.server_management.yml", {**OURS, **CACHED}),
    PEER: ("hcloud.yml", {**HCLOUD, **keyed(*HCLOUD_KEYS)}),
}
STARTS = ("empty inventory", "direct calls", "this collection", CACHE_READ)
COMMANDS = ("this collection", "this collection, keyed", PEER)
PARSED = [name for name in SOURCES if name not in ("empty inventory", CACHE_READ)]


def write_files(folder: Path) -> None:
    """Serve the APIs of all sizes from a folder until this process ends; write the files there."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    SimpleHTTPRequestHandler.log_message = lambda *_args: None  # type: ignore[method-assign]
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for size in SIZES:
        servers = make_servers(size)
        contents: dict[str, Any] = {
            "ours/api/v1/servers": {"data": servers, "has_more": False},
            "hcloud/servers": {"servers": [hcloud(server) for server in servers]},
            "hcloud/locations": {"locations": []},
            **dict(SOURCES.values()),
            "empty.json": {"all": {}},
        }
        for name, content in contents.items():
            path = folder / str(size) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(content).replace(API, f"http://127.0.0.1:{server.server_port}/{size}")
            path.write_text(text.replace(CACHE, f"{folder}/{size}/cache"), encoding="utf-8")


def hcloud(server: dict[str, str]) -> dict[str, Any]:
    """Return a server as the API of Hetzner Cloud does."""
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
    runner.environment["ANSIBLE_INVENTORY_PLUGINS"] = str(TOOLS)  # plain.py
    tarball = build(runner, folder / "tarball", copy_sources(folder / "sources"))
    install(runner, tarball, folder / "collections")
    return runner


def command(folder: Path, name: str) -> list[str]:
    """Return the command that lists a source."""
    file, options = SOURCES[name]
    enabled = f"ANSIBLE_INVENTORY_ENABLED={options['plugin']}"
    return [enabled, "python", str(TOOLS / "measured.py"), "-i", str(folder / file), "--list"]


def measure(runner: Runner, folder: Path, name: str) -> tuple[float, float]:
    """Run a source, and return the CPU seconds of its parse() and of the whole command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = runner.run("env", *command(folder, name)).ok()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    hosts = result.json()["_meta"]["hostvars"]
    if len(hosts) != int(folder.name) and name != "empty inventory":
        raise RuntimeError(f"{name}: {len(hosts)} hosts instead of {folder.name}")
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    seconds = re.findall(r"^parsed in (.+) s$", result.stderr, re.MULTILINE)
    return float(seconds[0]), whole


def count(runner: Runner, folder: Path, name: str) -> int:
    """Return the instructions of a command, without Python's garbage collector."""
    measure(runner, folder, name)  # fills the caches
    valgrind = ("--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
    same = {"PYTHONHASHSEED": "0"}
    enabled, *python = command(folder, name)
    done = runner.run("env", enabled, "valgrind", *valgrind, *python, env=same).ok()
    return int(re.findall(r"I\s+refs:\s+([\d,]+)", done.stderr)[0].replace(",", ""))


def replace_table(name: str, heads: list[str], rows: dict[str, list[str]]) -> None:
    """Replace a table of the page."""
    lines = [["", *heads], ["---"] * (len(heads) + 1)]
    lines += [[row, *cells] for row, cells in rows.items()]
    table = "\n".join(f"| {' | '.join(line)} |".replace("|  |", "| |") for line in lines)
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    before, _begin, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(end)[2]
    PAGE.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}", encoding="utf-8")


def main(rounds: int) -> None:
    """Measure, and replace the tables."""
    newest = next(iter(RELEASES))
    parse: dict[tuple[str, int, str], list[float]] = {}  # ratios to direct calls
    whole: dict[tuple[int, str], list[float]] = {}  # seconds
    with tempfile.TemporaryDirectory(prefix="server_management_bench_") as place:
        work = Path(place)
        write_files(work)
        runners = {core: prepare(core, work) for core in RELEASES}
        for number in range(rounds):
            print(f"Round {number + 1} of {rounds}", flush=True)
            for core, runner in runners.items():
                for size in SIZES:
                    names = [n for n in PARSED if core == newest or n != PEER]
                    known = {n: measure(runner, work / str(size), n) for n in names}
                    for name, (took, command_took) in known.items():
                        ratio = took / known["direct calls"][0]
                        parse.setdefault((core, size, name), []).append(ratio)
                        if core == newest:
                            whole.setdefault((size, name), []).append(command_took)
        counts = {name: count(runners[newest], work / "10", name) for name in STARTS}
    heads = [f"{size:,} hosts" for size in SIZES]
    seconds = {n: [f"{min(whole[size, n]):.1f}" for size in SIZES] for n in COMMANDS}
    replace_table("commands", heads, seconds)
    for core in RELEASES:
        ratios = {
            name: [f"{median(parse[core, size, name]):.2f}" for size in SIZES]
            for name in PARSED
            if (core, SIZES[0], name) in parse
        }
        replace_table(core, heads, ratios)
    empty = counts["empty inventory"]
    starts = {name: [f"{n:,}", f"{n / empty:.3f}"] for name, n in counts.items()}
    replace_table("start", ["instructions", "relative to an empty inventory"], starts)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
