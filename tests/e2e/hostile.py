# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hostile servers, and beside each what it must become in the inventory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from support import meanings

CANARY = "hostile-canary"
EXECUTE = f"{{{{ lookup('ansible.builtin.pipe', 'touch $HOME/{CANARY}') }}}}"
READ = "{{ lookup('ansible.builtin.file', '/etc/passwd') }}"
STATEMENT = f"{{% set x = lookup('ansible.builtin.pipe', 'touch $HOME/{CANARY}') %}}"
HEADER = "#jinja2: variable_start_string:'[[', variable_end_string:']]'\n[[ 7 * 7 ]]"

NO_ADDRESS = "no-usable-ipv4.invalid."
MISSING: Any = object()
BY_ID = "<id>"
WITH_ID = "<name>_<id>"
GROUPS = {"region": "region_eu_1", "plan": "plan_small", "status": "status_running"}
DOCUMENTED = ("id", "name", "status", "plan", "region", "ipv4", "created_at")
# Of another source in the same inventory.
STATIC = "[static_group]\nstatic-1 ansible_host=198.51.100.1\n"


@dataclass(frozen=True)
class Case:
    """A change to one server, and what is to be seen of it.

    ``host`` is its host name, by default the title; ``groups`` are those that differ, None for no
    group of the field; ``variables`` are those that differ from the fields, MISSING for none.
    """

    title: str
    change: Mapping[str, Any]
    host: str = ""
    address: bool = True
    groups: Mapping[str, str | None] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)

    @property
    def server(self) -> dict[str, Any]:
        """Return the element of the response."""
        server = {
            "id": f"srv_{self.title}",
            "name": self.title,
            "status": "running",
            "plan": "small",
            "region": "eu-1",
            "ipv4": "203.0.113.9",
            "created_at": "2026-01-01T00:00:00Z",
            **self.change,
        }
        return {key: value for key, value in server.items() if value is not MISSING}

    @property
    def host_name(self) -> str:
        """Return the name that the host must have."""
        identifier: str = self.server["id"]
        names = {BY_ID: identifier, WITH_ID: f"{self.server.get('name')}_{identifier}"}
        return names.get(self.host, self.host or self.title)

    @property
    def host_vars(self) -> dict[str, Any]:
        """Return all variables that the host must have."""
        expected = {
            f"server_{key}": value
            for key, value in self.server.items()
            if isinstance(value, str) or key not in DOCUMENTED
        }
        expected["ansible_host"] = self.server["ipv4"] if self.address else NO_ADDRESS
        expected.update(self.variables)
        return {key: value for key, value in expected.items() if value is not MISSING}

    @property
    def host_groups(self) -> set[str]:
        """Return all groups that must hold the host."""
        named = {**GROUPS, **self.groups}.values()
        return {"server_management", *(name for name in named if name)}


def nested(levels: int) -> list[Any]:
    """Return lists in lists."""
    value: list[Any] = []
    for _level in range(levels - 1):
        value = [value]
    return value


def group_name(text: str) -> str:
    """Return the name of a group as Ansible makes it safe."""
    return re.sub("[^A-Za-z0-9_]", "_", text)


def _name(title: str, name: Any, host: str) -> Case:
    return Case(title, {"name": name}, host)


CONTROL = Case("control", {})

NAMES = [
    _name("name-expression", EXECUTE, "_lookup_ansible.builtin.pipe_touch_HOME_hostile-canary_"),
    _name("name-read", READ, "_lookup_ansible.builtin.file_etc_passwd_"),
    _name("name-statement", "{% for x in y %}", "_for_x_in_y_"),
    _name("name-comment", "{# open", "_open"),
    _name("name-header", "#jinja2: trim_blocks:True", "_jinja2_trim_blocks_True"),
    _name("name-line-statement", "# for x in y", "_for_x_in_y"),
    _name("name-option", "-oProxyCommand=touch", BY_ID),
    _name("name-long-option", "--become", BY_ID),
    _name("name-parent-path", "../../etc/passwd", BY_ID),
    _name("name-path", "/etc/shadow", "_etc_shadow"),
    _name("name-home", "~root", "_root"),
    _name("name-shell", "a;touch x|$(b)`c`", "a_touch_x_b_c_"),
    _name("name-url", "http://x.example/y", "http_x.example_y"),
    _name("name-user", "root@host-a", "root_host-a"),
    _name("name-port", "host-b:22", "host-b_22"),
    _name("name-range", "host[01:20]", "host_01_20_"),
    _name("name-pattern", "!host-c,&host-d", "_host-c_host-d"),
    # The unit tests of names and addresses have the other forms of what must not be used.
    *(
        _name(f"localhost-{number}", name, WITH_ID)
        for number, name in enumerate(("localhost", "LocalHost.", "127.0.0.1", "0x7f000001"))
    ),
    *(
        _name(f"group-{name}", name, WITH_ID)
        for name in ("all", "ungrouped", "server_management", "static_group")
    ),
    *(
        _name(f"group-{name}", name, BY_ID)
        for name in (
            *("region_eu_1", "plan_small", "status_running"),
            # No group has these names, but one could get them.
            *("status_stopped", "region_us_1", "plan_large"),
        )
    ),
    _name("group-of-another", "region_only_here", BY_ID),
    Case("group-made", {"region": "only-here"}, groups={"region": "region_only_here"}),
    _name("name-control", "a\x00b\x07c\x7f", "a_b_c_"),
    _name("name-ansi", "\x1b[31mred\x1b[0m", "_31mred_0m"),
    _name("name-newline", "one\nansible_connection=local", "one_ansible_connection_local"),
    _name("name-right-to-left", "\u202emoc.live", "_moc.live"),
    _name("name-zero-width", "we\u200bb", "we_b"),
    _name("name-homograph", "w\u0435b-x", "w_b-x"),
    Case(
        "name-surrogate",
        {"name": "sur\ud800x"},
        "sur_ud800x",
        variables={"server_name": "sur\\ud800x"},
    ),
    _name("name-10-kB", "x" * 10_240, BY_ID),
    _name("name-253", "y" * 253, "y" * 253),
    _name("name-254", "z" * 254, BY_ID),
    _name("name-empty", "", BY_ID),
    _name("name-blank", "   ", "__srv_name-blank"),
    _name("name-loopback", "::1", "_1"),
    _name("name-not-ascii", "\u65e5\u672c", "__srv_name-not-ascii"),
    _name("name-dots", "..", BY_ID),
    _name("name-file", "control.yml", "control_yml"),
    _name("name-file-upper", "control.JSON", "control_JSON"),
    _name("name-of-an-id", "srv_control", "srv_control"),
    _name("name-with-an-id", "control_srv_control", "control_srv_control"),
    *(
        _name(f"name-{title}", value, BY_ID)
        for title, value in (
            ("number", 7),
            ("boolean", True),
            ("list", ["web"]),
            ("object", {"a": EXECUTE}),
            ("null", None),
            ("missing", MISSING),
        )
    ),
    _name("twin-1", "twin", "twin_srv_twin-1"),
    _name("twin-2", "twin", "twin_srv_twin-2"),
    _name("upper", "CASE-A", "CASE-A"),
    _name("lower", "case-a", "case-a"),
]

IDS = [
    Case("id-template", {"id": f"{EXECUTE}id", "name": "id-a"}, "id-a"),
    Case("id-template-alone", {"id": "{{ 7 * 7 }}", "name": ""}, "_7_7_"),
    *(
        Case(f"id-{title}", {"id": identifier})
        for title, identifier in (
            *(("localhost", "localhost"), ("path", "../x"), ("option", "-c"), ("group", "all")),
            ("10-kB", "i" * 10_240),
        )
    ),
    Case("id-file", {"id": "control.yaml", "name": ""}, "control_yaml"),
    Case("id-control", {"id": "id\n\x1b[0m", "name": ""}, "id_0m"),
]

ADDRESSES = [
    Case(f"address-{number}", {"ipv4": address}, address=False)
    for number, address in enumerate(
        [
            *(EXECUTE, "203.0.113.1 -oProxyCommand=touch", "-oProxyCommand=touch", "localhost"),
            *("web.example.com", "203.0.113.1\n", "2001:db8::1", "0.0.0.0", ""),
        ]
    )
] + [
    Case("address-null", {"ipv4": None}, address=False),
    Case("address-missing", {"ipv4": MISSING}, address=False),
]

VALUES = [
    Case(
        "region-template",
        {"region": EXECUTE},
        groups={"region": group_name(f"region_{EXECUTE}")},
    ),
    Case("plan-comment", {"plan": "{# open"}, groups={"plan": "plan____open"}),
    Case("status-statement", {"status": "{% if %}"}, groups={"status": "status____if___"}),
    Case("plan-header", {"plan": HEADER}, groups={"plan": group_name(f"plan_{HEADER}")}),
    Case("status-ansi", {"status": "\x1b[31m\n"}, groups={"status": "status___31m_"}),
    Case("region-number", {"region": 7}, groups={"region": None}),
    Case("region-null", {"region": None}, groups={"region": None}),
    Case("plan-list", {"plan": ["small"]}, groups={"plan": None}),
    Case("plan-object", {"plan": {"a": 1}}, groups={"plan": None}),
    Case("status-boolean", {"status": True}, groups={"status": None}),
    Case("status-empty", {"status": ""}, groups={"status": None}),
    Case("status-missing", {"status": MISSING}, groups={"status": None}),
    Case("created-template", {"created_at": STATEMENT}),
    Case(
        "region-surrogate",
        {"region": "s\udfff"},
        groups={"region": "region_s_udfff"},
        variables={"server_region": "s\\udfff"},
    ),
]

FIELDS = [
    Case("field-template", {"note": EXECUTE}),
    Case("field-statement", {"note": STATEMENT}),
    Case("field-header", {"note": HEADER}),
    Case("field-line-statement", {"note": "# set x = 1\n## x"}),
    Case("field-read", {"note": READ}),
    Case("field-half", {"left": "{{ 7 *", "right": "7 }}"}),
    Case("field-raw", {"note": "{% raw %}{{ 7 }}{% endraw %}"}),
    Case("field-list", {"tags": [EXECUTE, [STATEMENT, {"a": READ}]]}),
    Case("field-key", {"tags": {EXECUTE: EXECUTE, "{# k": 1}}),
    Case("field-omit", {"note": "__omit_place_holder__0123456789"}),
    Case("field-vault-text", {"note": "$ANSIBLE_VAULT;1.1;AES256\n6162"}),
    Case("field-lookalike-tag", {"note": "!unsafe x", "other": "!vault |"}),
    Case("field-unsafe", {"note": {"__ansible_unsafe": "x", "y": EXECUTE}}),
    Case("field-vault", {"note": {"__ansible_vault": EXECUTE, "y": 1}}),
    Case(
        "field-type",
        {"note": {"__ansible_type": "_AnsibleTaggedStr", "value": EXECUTE, "tags": [{}]}},
    ),
    Case("field-trusted", {"note": {"__ansible_type": "TrustedAsTemplate"}}),
    Case("field-payload", {"note": {"__payload__": EXECUTE}}),
    Case(
        "field-ansible-names",
        {"ansible_host": "198.51.100.9", "ansible_connection": "ssh", "vars": {"ansible_port": 1}},
    ),
    Case("field-structure", {"hosts": ["evil"], "children": {"evil": {}}, "groups": ["evil"]}),
    Case("field-dash", {"bad-key": 1}, variables={"server_bad-key": MISSING}),
    Case("field-dot", {"a.b": 1}, variables={"server_a.b": MISSING}),
    Case("field-space", {"a b": EXECUTE}, variables={"server_a b": MISSING}),
    Case("field-template-name", {EXECUTE: 1}, variables={f"server_{EXECUTE}": MISSING}),
    Case("field-unicode-name", {"\u00e9t\u00e9": 1}, variables={"server_\u00e9t\u00e9": MISSING}),
    Case("field-empty-name", {"": 1}),
    Case("field-keywords", {"if": 1, "class": 2, "None": 3}),
    Case("field-numbers", {"a": 10**30, "b": -1.5e300, "c": False, "d": None}),
    Case("field-deep", {"deep": nested(30)}),
    Case("field-meanings", {"texts": list(meanings.TEXTS), "keys": dict.fromkeys(meanings.TEXTS)}),
    Case("field-many", {f"f{number}": number for number in range(200)}),
]

CASES = [CONTROL, *NAMES, *IDS, *ADDRESSES, *VALUES, *FIELDS]
