# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inventory sources that are compared, and the simulated APIs that they read.

The base URL of each API is http://127.0.0.1:PORT/<API>/<number of servers>. All have the same
servers, in a single response that is built only once.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import yaml

from sandbox.account import make_servers

EMPTY, DIRECT, STATIC = "empty inventory", "direct calls", "static JSON"
OURS, KEYED = "this collection", "this collection, keyed"
EVERYTHING, READ = "this collection, everything", "this collection, cache read"
VULTR, HCLOUD = "vultr.cloud, keyed", "hetzner.hcloud, keyed"
# With fields that the API could add later, which expressions read.
LATER = "direct calls, more fields"
LIST, ABSENT = "this collection, a list", "this collection, an absent field"
NAMES, EACH = "this collection, group_names", "this collection, a list for each host"
GROUPED_BY = ("region", "plan", "status")


@dataclass(frozen=True)
class Source:
    """An inventory file; its options are those of ``plugin``, whose parse() is measured."""

    plugin: str
    file: str
    api: str = "server_management"
    url_option: str = "base_url"
    options: Mapping[str, Any] = field(default_factory=dict)

    def text(self, origin: str, size: int) -> str:
        """Return the content of the file."""
        if self.plugin == "yaml":
            return json.dumps(_static(size) if self.file == "static.json" else {"all": {}})
        url = f"{origin}/{self.api}/{size}"
        return str(yaml.safe_dump({"plugin": self.plugin, self.url_option: url, **self.options}))


def _keyed(address: str, **keys: str) -> dict[str, Any]:
    """Return three keyed_groups and one compose entry for variables with these names."""
    groups = [{"key": key, "prefix": prefix} for prefix, key in keys.items()]
    return {"keyed_groups": groups, "compose": {"ansible_host": address}}


def _ours(api: str = "server_management", **options: Any) -> Source:
    file = "benchmark.server_management.yml"
    return Source(
        "server_management.cloud.servers", file, api, options={"api_token": "token", **options}
    )


_DIRECT = "server_management.benchmark.direct"
_OURS_KEYED = _keyed("server_ipv4", **{name: f"server_{name}" for name in GROUPED_BY})
_VULTR = {
    "api_key": "key",
    "attributes": ["id", "label", *GROUPED_BY, "main_ip", "date_created"],
    **_keyed("vultr_main_ip", **{name: f"vultr_{name}" for name in GROUPED_BY}),
}
_HCLOUD = {
    "api_token": "token",
    "hostvars_prefix": "hcloud_",  # not the default in older versions
    **_keyed(
        "hcloud_ipv4", region="hcloud_location", plan="hcloud_server_type", status="hcloud_status"
    ),
}
SOURCES = {
    EMPTY: Source("yaml", "empty.yml"),
    DIRECT: Source(_DIRECT, "direct.yml"),
    STATIC: Source("yaml", "static.json"),
    OURS: _ours(),
    KEYED: _ours(group_by=[], **_OURS_KEYED),
    EVERYTHING: _ours(
        filters=[{"exclude": "server_name.startswith('test')"}],
        groups={"webservers": "server_name.startswith('web')", "up": "server_status == 'running'"},
        keyed_groups=[{"key": f"server_{name}", "prefix": f"by_{name}"} for name in GROUPED_BY],
        compose={"fqdn": "server_name ~ '.' ~ server_region ~ '.example.com'"},
    ),
    READ: _ours(cache=True, cache_plugin="ansible.builtin.jsonfile"),
    VULTR: Source("vultr.cloud.vultr", "vultr.yml", "vultr", "api_endpoint", _VULTR),
    HCLOUD: Source("hetzner.hcloud.hcloud", "hcloud.yml", "hcloud", "api_endpoint", _HCLOUD),
    LATER: Source(_DIRECT, "direct.yml", "later"),
    LIST: _ours(
        "later",
        compose={"tier": "server_x_undocumented | first"},
        keyed_groups=[{"key": "server_x_undocumented", "prefix": "tag"}],
    ),
    ABSENT: _ours(
        "later",
        compose={"rack": "server_rack | default('x')"},
        keyed_groups=[{"key": "server_row | default('none')", "prefix": "row"}],
    ),
    NAMES: _ours(
        "later",
        compose={"groups_found": "group_names | length"},
        groups={"both": "'region_eu_1' in group_names and 'status_running' in group_names"},
    ),
    EACH: _ours(
        "later",
        compose={"note": "server_notes | join('-')", "first": "server_notes | first"},
    ),
}


def groups_of(size: int) -> dict[str, list[str]]:
    """Return the names of the hosts in each group by region, plan and status."""
    groups: dict[str, list[str]] = {}
    for server in make_servers(size):
        for name in GROUPED_BY:
            group = f"{name}_{server[name]}".replace("-", "_")
            groups.setdefault(group, []).append(server["name"])
    return groups


def _static(size: int) -> dict[str, Any]:
    hosts = {
        server["name"]: {
            **{f"server_{name}": value for name, value in server.items()},
            "ansible_host": server["ipv4"],
        }
        for server in make_servers(size)
    }
    groups = {name: {"hosts": dict.fromkeys(members)} for name, members in groups_of(size).items()}
    return {"all": {"children": {"server_management": {"hosts": hosts}, **groups}}}


def _later(number: int, server: dict[str, str]) -> dict[str, Any]:
    return {
        **server,
        "x_undocumented": ["prod", server["region"]],
        "notes": [server["id"], server["name"]],
        "labels": {"role": server["name"].partition("-")[0], "tier": server["plan"]},
        "cpus": number % 4 + 1,
    }


def _vultr(number: int, server: dict[str, str]) -> dict[str, Any]:
    names = {"name": "label", "ipv4": "main_ip", "created_at": "date_created"}
    return {names.get(name, name): value for name, value in server.items()}


def _hcloud(number: int, server: dict[str, str]) -> dict[str, Any]:
    location = {"id": 1, "name": server["region"]}
    address = {"id": number, "ip": server["ipv4"], "blocked": False, "dns_ptr": ""}
    return {
        "id": number,
        "name": server["name"],
        "status": server["status"],
        "created": server["created_at"],
        "server_type": {"id": 1, "name": server["plan"], "architecture": "x86"},
        "location": location,
        # Older versions of the plugin read the location here.
        "datacenter": {"id": 1, "name": server["region"], "location": location},
        "public_net": {"ipv4": address, "ipv6": None, "floating_ips": []},
        "private_net": [],
        "image": None,
        "labels": {},
    }


# For each path: the key of the list, what a server becomes, and what else the response has.
_FORMS: dict[str, tuple[str, Callable[[int, dict[str, str]], Any], dict[str, Any]]] = {
    "server_management/api/v1/servers": ("data", lambda _number, one: one, {"has_more": False}),
    "later/api/v1/servers": ("data", _later, {"has_more": False}),
    "vultr/instances": ("instances", _vultr, {"meta": {"links": {"next": "", "prev": ""}}}),
    "hcloud/servers": ("servers", _hcloud, {}),
}


@cache
def response(path: str) -> bytes:
    """Return the response to a path."""
    api, count, resource = path.partition("?")[0].lstrip("/").split("/", 2)
    if resource == "locations":
        return b'{"locations": []}'
    key, form, others = _FORMS[f"{api}/{resource}"]
    servers = [form(number, server) for number, server in enumerate(make_servers(int(count)), 1)]
    return json.dumps({key: servers, **others}).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Send the response to the path."""
        body = response(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: object) -> None:
        """Log nothing."""


@contextmanager
def simulated_apis() -> Iterator[str]:
    """Serve the simulated APIs in a separate process during the block; yield their URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        forked = multiprocessing.get_context("fork")
        process = forked.Process(target=server.serve_forever, daemon=True)
        process.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            process.terminate()
            process.join()
