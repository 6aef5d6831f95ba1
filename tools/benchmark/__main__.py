# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measure the inventory plugin beside others, and print the table of docs/benchmarks.md.

A figure is the median of ratios. Each ratio is of two runs, one right after the other, because
other programs on the machine slow down both. The arguments are the number of such pairs, and
optionally the versions of ansible-core.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from sandbox.account import make_servers
from support.collection import REPOSITORY, link_collection
from support.run import Runner

TOOLS = REPOSITORY / "tools" / "benchmark"
WORK = REPOSITORY / ".nox" / "benchmark"
# For each ansible-core, the release of the PyPI package ansible, which has the other plugins.
RELEASES = {"2.21": "14.5.0", "2.16": "9.13.0"}
FEW = 10
LONGEST = 1200.0  # seconds for one command
SIZES = (FEW, 1_000, 10_000)

# Runs ansible-inventory, and prints the CPU seconds in which a source is read.
MEASURED = """\
import sys, time
from ansible.cli.inventory import main
from ansible.inventory.manager import InventoryManager

parse_source = InventoryManager.parse_source

def timed(self, source, cache=False):
    begin = time.process_time()
    parsed = parse_source(self, source, cache=cache)
    print(f"read in {time.process_time() - begin} s", file=sys.stderr)
    return parsed

InventoryManager.parse_source = timed
sys.argv[0] = "ansible-inventory"
sys.exit(main())
"""


def options(prefix: str, region: str, plan: str) -> dict[str, dict[str, Any]]:
    """Return the options of each kind, with the names that a plugin gives to its variables."""
    groups = []
    for name, field in {"region": region, "plan": plan, "status": "status"}.items():
        groups.append({"key": f"{prefix}{field}", "prefix": name})
    compose = {"ansible_host": f"{prefix}ipv4"}
    # Of this collection; a plugin ignores options of others.
    keyed = {"group_by": [], "keyed_groups": groups, "compose": compose}
    conditions = {
        "web": f"{prefix}name.startswith('web')",
        "small": f"{prefix}{plan} == 'small' and {prefix}status == 'running'",
    }
    return {"": {}, ", keyed": keyed, ", conditions": {**keyed, "groups": conditions}}


FIELDS = ("server_management_", "region", "plan")
OURS = {"plugin": "server_management.cloud.servers", "api_token": "token"}
HCLOUD = {"plugin": "hetzner.hcloud.hcloud", "api_token": "token"}
# For each plugin, how its files end, their first options and its names.
PLUGINS = {
    "plain plugin": ("plain.yml", {"plugin": "plain"}, FIELDS),
    "this collection": ("server_management.yml", OURS, FIELDS),
    "hetzner.hcloud": ("hcloud.yml", HCLOUD, ("hcloud_", "location", "server_type")),
}
DIRECT = "plain plugin"  # without expressions
CACHED = "this collection, cache read"
CACHE = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": "~/cache"}
# The name and the content of the inventory file of each source.
SOURCES: dict[str, tuple[str, dict[str, Any]]] = {
    "empty inventory": ("empty.yml", {"all": {}}),
    CACHED: ("cached.server_management.yml", {**OURS, **CACHE}),
}
for plugin, (ending, first, names) in PLUGINS.items():
    for kind, others in options(*names).items():
        SOURCES[plugin + kind] = (f"{plugin}{kind}.{ending}", {**first, **others})


def hcloud(server: dict[str, str]) -> dict[str, Any]:
    """Return a server as the API of Hetzner Cloud does."""
    location = {"id": 1, "name": server["region"]}
    address = {"id": 1, "ip": server["ipv4"], "blocked": False, "dns_ptr": ""}
    return {
        "id": int(server["id"].removeprefix("srv_"), 16),
        "name": server["name"],
        "status": server["status"],
        "created": server["created_at"],
        "server_type": {"id": 1, "name": server["plan"], "architecture": "x86"},
        "location": location,
        "datacenter": {"id": 1, "name": server["region"], "location": location},
        "public_net": {"ipv4": address, "ipv6": None, "floating_ips": []},
        "private_net": [],
        "image": None,
        "labels": {},
    }


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *_arguments: Any) -> None:
        """Print nothing."""


def serve(folder: Path) -> str:
    """Serve the APIs of all sizes from files until this process ends, and return the address."""
    for size in SIZES:
        servers = make_servers(size)
        responses = {
            "api/v1/servers": {"data": servers, "has_more": False},
            "servers": {"servers": [hcloud(server) for server in servers]},
            "locations": {"locations": []},
        }
        for name, response in responses.items():
            path = folder / str(size) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(response), encoding="utf-8")
    handler = partial(QuietHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def prepare(core: str) -> Runner:
    """Install a core with the other plugins, and write the inventory files."""
    home = WORK / core
    environment = home / "environment"
    uv = ("uv", "--quiet", "--no-python-downloads")
    subprocess.run([*uv, "venv", "--allow-existing", "--python=3.12", environment], check=True)
    packages = (f"ansible=={RELEASES[core]}", "requests", "python-dateutil")
    subprocess.run([*uv, "pip", "install", "--python", environment, *packages], check=True)
    runner = Runner(home, link_collection(home / "collections"), environment / "bin" / "python")
    runner.environment["ANSIBLE_INVENTORY_PLUGINS"] = str(TOOLS)  # plain.py
    for file, content in SOURCES.values():
        (home / file).write_text(json.dumps(content), encoding="utf-8")
    return runner


def measure(runner: Runner, api: str, size: int, name: str) -> float:
    """Run ansible-inventory with a source, and return CPU seconds.

    With few servers, the start of Ansible is nearly everything, so these are the seconds of the
    whole command. With many, they are those in which the source is read.
    """
    env = {"SERVER_MANAGEMENT_BASE_URL": f"{api}/{size}", "HCLOUD_ENDPOINT": f"{api}/{size}"}
    file, _content = SOURCES[name]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ("python", "-c", MEASURED, "-i", file, "--list")
    result = runner.run(*command, env=env, time_limit=LONGEST).ok()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    hosts = len(result.json()["_meta"]["hostvars"])
    if hosts != size and name != "empty inventory":
        raise RuntimeError(f"{name}: {hosts} hosts instead of {size}")
    if size == FEW:
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    (read,) = re.findall(r"read in (\S+) s", result.stderr)
    return float(read)


def ratio(runner: Runner, api: str, size: int, pair: tuple[str, str], count: int) -> float:
    """Return how much a source costs of the one that it is compared with.

    With few servers, that is an empty inventory.
    """
    name, base = pair
    if size == FEW:
        base = "empty inventory"
    ratios = []
    for _number in range(count):
        compared = measure(runner, api, size, base)
        ratios.append(measure(runner, api, size, name) / compared)
    return median(ratios)


def print_table(core: str, runner: Runner, api: str, count: int) -> None:
    """Measure all rows, and print a table in Markdown."""
    print(f"\nansible-core {core}\n")
    print("| source | 10 hosts, to an empty inventory | 1,000 hosts | 10,000 hosts | to |")
    print("| --- | --- | --- | --- | --- |")
    for name in sorted(SOURCES.keys() - {"empty inventory", DIRECT}):
        base = "this collection" if name == CACHED else DIRECT
        figures = [f"{ratio(runner, api, size, (name, base), count):.2f}" for size in SIZES]
        print(f"| {name} | {' | '.join(figures)} | {base} |", flush=True)


def main(count: int, *cores: str) -> None:
    """Print a table for each version of ansible-core."""
    api = serve(WORK / "api")
    for core in cores or RELEASES:
        runner = prepare(core)
        for size in SIZES:
            measure(runner, api, size, CACHED)  # fills the cache
        print_table(core, runner, api, count)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, *sys.argv[2:])
