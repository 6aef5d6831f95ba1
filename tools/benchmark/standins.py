# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Simulate the API of each plugin on loopback, with the same servers in a single response.

The base URL of each API is http://127.0.0.1:PORT/<API>/<number of servers>. Each response is built
only once, so that requests cost the same for all plugins. The other plugins need no requests for
further pages, unlike with their real APIs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from sandbox.account import make_servers

Server = dict[str, str]


def _ours(servers: list[Server]) -> dict[str, Any]:
    return {"data": servers, "has_more": False}


def _later(servers: list[Server]) -> dict[str, Any]:
    """Return the servers with fields that the API could add later."""
    more = [
        {
            **server,
            "tags": ["prod", server["region"]],
            "notes": [server["id"], server["name"]],
            "labels": {"role": server["name"].partition("-")[0], "tier": server["plan"]},
            "cpus": number % 4 + 1,
        }
        for number, server in enumerate(servers)
    ]
    return {"data": more, "has_more": False}


def _vultr(servers: list[Server]) -> dict[str, Any]:
    instances = [
        {
            "id": server["id"],
            "label": server["name"],
            "status": server["status"],
            "plan": server["plan"],
            "region": server["region"],
            "main_ip": server["ipv4"],
            "date_created": server["created_at"],
        }
        for server in servers
    ]
    meta = {"total": len(instances), "links": {"next": "", "prev": ""}}
    return {"instances": instances, "meta": meta}


def _hcloud(servers: list[Server]) -> dict[str, Any]:
    return {"servers": [_hcloud_server(*pair) for pair in enumerate(servers, 1)]}


def _hcloud_server(number: int, server: Server) -> dict[str, Any]:
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


_FORMS: dict[tuple[str, str], Callable[[list[Server]], dict[str, Any]]] = {
    ("server_management", "api/v1/servers"): _ours,
    ("later", "api/v1/servers"): _later,
    ("vultr", "instances"): _vultr,
    ("hcloud", "servers"): _hcloud,
    ("hcloud", "locations"): lambda servers: {"locations": []},
}


@cache
def response(path: str) -> bytes:
    """Return the response to a path, empty if there is none."""
    api, count, resource = path.partition("?")[0].lstrip("/").split("/", 2)
    form = _FORMS.get((api, resource))
    return json.dumps(form(make_servers(int(count)))).encode() if form else b""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Send the response to the path."""
        body = response(self.path)
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: object) -> None:
        """Log nothing."""


def main() -> None:
    """Print the URL, and serve until the process is ended."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
