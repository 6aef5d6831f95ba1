# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inventory sources that are compared: the same servers, with the file of each source."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from sandbox.account import make_servers

GROUPED_BY = ("region", "plan", "status")
EMPTY = "empty inventory"
DIRECT = "direct calls"
SCRIPT = "script source"
STATIC = "static JSON"
OURS = "this collection"
OURS_KEYED = "this collection, keyed"
OURS_EVERYTHING = "this collection, everything"
OURS_WRITTEN = "this collection, cache written"
OURS_READ = "this collection, cache read"
# With fields that the API could add later, which expressions read.
DIRECT_LATER = "direct calls, more fields"
LIST = "this collection, a list"
ABSENT = "this collection, an absent field"
GROUP_NAMES = "this collection, group_names"
EACH = "this collection, a list for each host"
CONDITIONS = "this collection, conditions with and"
NESTED = "this collection, a nested field"
LOOKUP = "this collection, a lookup"
MAPPING = "this collection, keyed by a mapping"
VULTR = "vultr.cloud"
VULTR_KEYED = "vultr.cloud, keyed"
HCLOUD = "hetzner.hcloud"
HCLOUD_KEYED = "hetzner.hcloud, keyed"


@dataclass(frozen=True)
class Contender:
    """An inventory source: the parse() of ``plugin`` is measured, with an inventory ``file``.

    ``text`` returns the file for a URL of the simulated APIs and a number of servers. With
    ``has_groups``, there are groups by region, plan and status. ``cache`` is "written" if the cache
    is removed before each run, and "read" if each run finds one.
    """

    name: str
    plugin: str
    file: str
    text: Callable[[str, int], str]
    has_groups: bool = True
    cache: str = ""


def _keyed(names: Mapping[str, str], address: str) -> dict[str, Any]:
    """Return three keyed_groups and one compose entry for variables with these names."""
    return {
        "keyed_groups": [{"key": names[field], "prefix": field} for field in GROUPED_BY],
        "compose": {"ansible_host": address},
    }


_DIRECT_OPTIONS = {"plugin": "server_management.benchmark.direct"}
_OURS_OPTIONS = {"plugin": "server_management.cloud.servers", "api_token": "token"}
_OURS_KEYED = {
    "group_by": [],
    **_keyed({field: f"server_{field}" for field in GROUPED_BY}, "server_ipv4"),
}
_OURS_EVERYTHING = {
    "filters": [{"exclude": "server_name.startswith('test')"}],
    "groups": {"webservers": "server_name.startswith('web')", "up": "server_status == 'running'"},
    "keyed_groups": [{"key": f"server_{field}", "prefix": f"by_{field}"} for field in GROUPED_BY],
    "compose": {"fqdn": "server_name ~ '.' ~ server_region ~ '.example.com'"},
}
# Two expressions each, besides the default groups.
_EXPRESSIONS: dict[str, dict[str, Any]] = {
    LIST: {
        "compose": {"tier": "server_tags | first"},
        "keyed_groups": [{"key": "server_tags", "prefix": "tag"}],
    },
    ABSENT: {
        "compose": {"rack": "server_rack | default('x')"},
        "keyed_groups": [{"key": "server_row | default('none')", "prefix": "row"}],
    },
    GROUP_NAMES: {
        "compose": {"groups_found": "group_names | length"},
        "groups": {"both": "'region_eu_1' in group_names and 'status_running' in group_names"},
    },
    EACH: {
        "compose": {"note": "server_notes | join('-')", "first": "server_notes | first"},
    },
    CONDITIONS: {
        "groups": {
            "up": "server_status == 'running' and server_region in ['eu-1', 'eu-2']",
            "large": "server_cpus > 2 and server_plan != 'small'",
        },
    },
    NESTED: {
        "compose": {"role": "server_labels.role | default('none')"},
        "groups": {"web": "server_labels.role == 'web'"},
    },
    LOOKUP: {
        "compose": {"home": "lookup('ansible.builtin.env', 'HOME')", "year": "now().year"},
    },
    MAPPING: {
        "keyed_groups": [
            {"key": "server_labels", "prefix": "label"},
            {"key": "server_cpus | string", "prefix": "cpus"},
        ],
    },
}
EXPRESSIONS = tuple(_EXPRESSIONS)
_CACHE = {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_timeout": 86400}
_VULTR_OPTIONS = {"plugin": "vultr.cloud.vultr", "api_key": "key"}
_VULTR_KEYED = {
    "attributes": ["id", "label", *GROUPED_BY, "main_ip", "date_created"],
    **_keyed({field: f"vultr_{field}" for field in GROUPED_BY}, "vultr_main_ip"),
}
_HCLOUD_OPTIONS = {"plugin": "hetzner.hcloud.hcloud", "api_token": "token"}
_HCLOUD_KEYED = {
    "hostvars_prefix": "hcloud_",  # not the default in older versions
    **_keyed(
        {"region": "hcloud_location", "plan": "hcloud_server_type", "status": "hcloud_status"},
        "hcloud_ipv4",
    ),
}


def _with_url(api: str, endpoint: str, *options: Mapping[str, Any]) -> Callable[[str, int], str]:
    """Return a function for the file of a plugin whose option ``endpoint`` is the API's URL."""

    def text(origin: str, size: int) -> str:
        content = {endpoint: f"{origin}/{api}/{size}"}
        for some in options:
            content.update(some)
        return str(yaml.safe_dump(content, sort_keys=False))

    return text


def _ours(
    name: str, *options: Mapping[str, Any], cache: str = "", api: str = "server_management"
) -> Contender:
    text = _with_url(api, "base_url", _OURS_OPTIONS, *options)
    file = "benchmark.server_management.yml"
    return Contender(name, _OURS_OPTIONS["plugin"], file, text, cache=cache)


def _vultr(name: str, *options: Mapping[str, Any]) -> Contender:
    text = _with_url("vultr", "api_endpoint", _VULTR_OPTIONS, *options)
    return Contender(name, _VULTR_OPTIONS["plugin"], "vultr.yml", text, bool(options))


def _hcloud(name: str, *options: Mapping[str, Any]) -> Contender:
    text = _with_url("hcloud", "api_endpoint", _HCLOUD_OPTIONS, *options)
    return Contender(name, _HCLOUD_OPTIONS["plugin"], "hcloud.yml", text, bool(options))


def _empty(origin: str, size: int) -> str:
    return "all: {}\n"


def _script(origin: str, size: int) -> str:
    groups = {name: {"hosts": hosts} for name, hosts in groups_of(size).items()}
    response = {
        "_meta": {"hostvars": _variables(size)},
        "server_management": {"hosts": list(_variables(size))},
        **groups,
    }
    return f"#!/bin/sh\ncat <<'END'\n{json.dumps(response)}\nEND\n"


def _static(origin: str, size: int) -> str:
    groups = {name: {"hosts": dict.fromkeys(hosts)} for name, hosts in groups_of(size).items()}
    common_group = {"server_management": {"hosts": _variables(size)}}
    return json.dumps({"all": {"children": {**common_group, **groups}}})


CONTENDERS = {
    contender.name: contender
    for contender in (
        Contender(EMPTY, "yaml", "empty.yml", _empty, has_groups=False),
        Contender(
            DIRECT,
            _DIRECT_OPTIONS["plugin"],
            "direct.yml",
            _with_url("server_management", "base_url", _DIRECT_OPTIONS),
        ),
        Contender(SCRIPT, "script", "script", _script),
        Contender(STATIC, "yaml", "static.json", _static),
        _ours(OURS),
        _ours(OURS_KEYED, _OURS_KEYED),
        _ours(OURS_EVERYTHING, _OURS_EVERYTHING),
        _ours(OURS_WRITTEN, _CACHE, cache="written"),
        _ours(OURS_READ, _CACHE, cache="read"),
        Contender(
            DIRECT_LATER,
            _DIRECT_OPTIONS["plugin"],
            "direct.yml",
            _with_url("later", "base_url", _DIRECT_OPTIONS),
        ),
        *(_ours(name, options, api="later") for name, options in _EXPRESSIONS.items()),
        _vultr(VULTR),
        _vultr(VULTR_KEYED, _VULTR_KEYED),
        _hcloud(HCLOUD),
        _hcloud(HCLOUD_KEYED, _HCLOUD_KEYED),
    )
}


def groups_of(size: int) -> dict[str, list[str]]:
    """Return the names of the hosts in each group by region, plan and status."""
    groups: dict[str, list[str]] = {}
    for server in make_servers(size):
        for field in GROUPED_BY:
            group = f"{field}_{server[field]}".replace("-", "_")
            groups.setdefault(group, []).append(server["name"])
    return groups


def _variables(size: int) -> dict[str, dict[str, str]]:
    """Return the variables of each host."""
    return {
        server["name"]: {
            **{f"server_{field}": value for field, value in server.items()},
            "ansible_host": server["ipv4"],
        }
        for server in make_servers(size)
    }
