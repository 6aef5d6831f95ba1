# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hostile servers, and beside each what it must become in the inventory."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.account import SERVER
from support import meanings

CANARY = "hostile-canary"
EXECUTE = f"{{{{ lookup('ansible.builtin.pipe', 'touch $HOME/{CANARY}') }}}}"
READ = "{{ lookup('ansible.builtin.file', '/etc/passwd') }}"
STATEMENT = f"{{% set x = lookup('ansible.builtin.pipe', 'touch $HOME/{CANARY}') %}}"
HEADER = "#jinja2: variable_start_string:'[[', variable_end_string:']]'\n[[ 7 * 7 ]]"

NO_ADDRESS = "no-usable-ipv4.invalid."
MISSING: Any = object()
# Another source in the same inventory.
STATIC = "[static_group]\nstatic-1 ansible_host=198.51.100.1\n"


@dataclass(frozen=True)
class Case:
    """A change to one server; each ``ipv4`` in it is unusable.

    ``host`` is its host name, with fields in braces and by default the title; ``lost`` are the
    fields that become no variable, apart from documented ones that are not text.
    """

    title: str
    change: Mapping[str, Any]
    host: str = ""
    lost: Collection[str] = ()

    @property
    def server(self) -> dict[str, Any]:
        """Return the element of the response."""
        server = {**SERVER, "id": f"srv_{self.title}", "name": self.title, **self.change}
        return {key: value for key, value in server.items() if value is not MISSING}

    @property
    def host_name(self) -> str:
        """Return the name that the host must have."""
        return (self.host or self.title).format(**self.server)

    @property
    def fields(self) -> dict[str, Any]:
        """Return the fields that must become variables."""
        return {
            key: value
            for key, value in self.server.items()
            if key not in self.lost and (isinstance(value, str) or key not in SERVER)
        }

    @property
    def host_vars(self) -> dict[str, Any]:
        """Return all variables that the host must have."""
        address = NO_ADDRESS if "ipv4" in self.change else SERVER["ipv4"]
        return {
            "ansible_host": address,
            **{f"server_{key}": value for key, value in self.fields.items()},
        }

    @property
    def host_groups(self) -> set[str]:
        """Return all groups that must have the host."""
        values = {key: self.fields.get(key) for key in ("region", "plan", "status")}
        named = {f"{key}_{value}" for key, value in values.items() if value}
        return {"server_management", *(re.sub("[^A-Za-z0-9_]", "_", name) for name in named)}


def nested(levels: int) -> list[Any]:
    """Return lists in lists."""
    value: list[Any] = []
    for _level in range(levels - 1):
        value = [value]
    return value


def _field(title: str, value: Any) -> Case:
    """Return a server with a field that is not documented."""
    return Case(f"field-{title}", {"x_undocumented": value})


CONTROL = Case("control", {})

# The unit tests of names have the other forms. Names that are not text are lost.
RENAMED: dict[str, tuple[str, str]] = {
    "expression": (EXECUTE, "_lookup_ansible.builtin.pipe_touch_HOME_hostile-canary_"),
    "read": (READ, "_lookup_ansible.builtin.file_etc_passwd_"),
    "statement": ("{% for x in y %}", "_for_x_in_y_"),
    "comment": ("{# open", "_open"),
    "header": ("#jinja2: trim_blocks:True", "_jinja2_trim_blocks_True"),
    "line-statement": ("# for x in y", "_for_x_in_y"),
    "path": ("/etc/shadow", "_etc_shadow"),
    "shell": ("a;touch x|$(b)`c`", "a_touch_x_b_c_"),
    "user": ("root@host-a", "root_host-a"),
    "port": ("host-b:22", "host-b_22"),
    "range": ("host[01:20]", "host_01_20_"),
    "pattern": ("!host-c,&host-d", "_host-c_host-d"),
    "control": ("a\x00b\x07c\x7f", "a_b_c_"),
    "ansi": ("\x1b[31mred\x1b[0m", "_31mred_0m"),
    "newline": ("one\nansible_connection=local", "one_ansible_connection_local"),
    "right-to-left": ("\u202emoc.live", "_moc.live"),
    "homograph": ("w\u0435b-x", "w_b-x"),
    "file": ("control.yml", "control_yml"),
    "253": ("y" * 253, "y" * 253),
    "loopback": ("::1", "_1"),
    "blank": ("   ", "__{id}"),
    "not-ascii": ("\u65e5\u672c", "__{id}"),
    "localhost": ("LocalHost.", "{name}_{id}"),
    "this-machine": ("0x7f000001", "{name}_{id}"),
    "twin-1": ("twin", "{name}_{id}"),
    "twin-2": ("twin", "{name}_{id}"),
    "upper": ("CASE-A", "CASE-A"),
    "lower": ("case-a", "case-a"),
    "of-an-id": ("srv_control", "srv_control"),
    "with-an-id": ("control_srv_control", "control_srv_control"),
    **{
        f"group-{name}": (name, "{name}_{id}")
        for name in ("all", "ungrouped", "server_management", "static_group")
    },
    # No group has the last of these names, but one could get it.
    **{
        f"group-{name}": (name, "{id}")
        for name in ("region_eu_1", "region_only_here", "status_stopped")
    },
    **{
        f"unusable-{number}": (name, "{id}")
        for number, name in enumerate(
            ["-oProxyCommand=touch", "--become", "..", "../../etc/passwd", "", "z" * 254]
        )
    },
}
NAMES = [
    *(Case(f"name-{title}", {"name": name}, host) for title, (name, host) in RENAMED.items()),
    *(
        Case(f"name-no-text-{number}", {"name": name}, "{id}")
        for number, name in enumerate([7, True, None, MISSING, ["web"], {"a": EXECUTE}])
    ),
    Case("name-surrogate", {"name": "sur\ud800x"}, "{id}", lost=["name"]),
    Case("group-made", {"region": "only-here"}),
]

IDS = [
    Case("id-template", {"id": f"{EXECUTE}id", "name": "id-a"}, "id-a"),
    Case("id-template-alone", {"id": "{{ 7 * 7 }}", "name": ""}, "_7_7_"),
    Case("id-file", {"id": "control.yaml", "name": ""}, "control_yaml"),
    Case("id-control", {"id": "id\n\x1b[0m", "name": ""}, "id_0m"),
    *(
        Case(f"id-{number}", {"id": identifier})
        for number, identifier in enumerate(("localhost", "../x", "-c", "all", "i" * 10_240))
    ),
]

ADDRESSES = [
    Case(f"address-{number}", {"ipv4": address})
    for number, address in enumerate(
        [
            *(EXECUTE, "203.0.113.1 -oProxyCommand=touch", "-oProxyCommand=touch", "localhost"),
            *("web.example.com", "203.0.113.1\n", "2001:db8::1", "0.0.0.0", "", None, MISSING),
        ]
    )
]

VALUES = [
    Case("region-template", {"region": EXECUTE}),
    Case("plan-comment", {"plan": "{# open"}),
    Case("status-statement", {"status": "{% if %}"}),
    Case("plan-header", {"plan": HEADER}),
    Case("status-ansi", {"status": "\x1b[31m\n"}),
    Case("region-number", {"region": 7}),
    Case("region-null", {"region": None}),
    Case("plan-list", {"plan": ["small"]}),
    Case("plan-object", {"plan": {"a": 1}}),
    Case("status-boolean", {"status": True}),
    Case("status-empty", {"status": ""}),
    Case("status-missing", {"status": MISSING}),
    Case("created-template", {"created_at": STATEMENT}),
    Case("region-surrogate", {"region": "s\udfff"}, lost=["region"]),
]

UNUSABLE = ("bad-key", "a.b", "a b", EXECUTE, "\u00e9t\u00e9")
FIELDS = [
    _field("template", EXECUTE),
    _field("statement", STATEMENT),
    _field("header", HEADER),
    _field("line-statement", "# set x = 1\n## x"),
    _field("read", READ),
    _field("raw", "{% raw %}{{ 7 }}{% endraw %}"),
    _field("list", [EXECUTE, [STATEMENT, {"a": READ}]]),
    _field("key", {EXECUTE: EXECUTE, "{# k": 1}),
    _field("omit", "__omit_place_holder__0123456789"),
    _field("vault-text", "$ANSIBLE_VAULT;1.1;AES256\n6162"),
    _field("tag", "!unsafe x"),
    _field("unsafe", {"__ansible_unsafe": "x", "y": EXECUTE}),
    _field("vault", {"__ansible_vault": EXECUTE, "y": 1}),
    _field("type", {"__ansible_type": "_AnsibleTaggedStr", "value": EXECUTE, "tags": [{}]}),
    _field("trusted", {"__ansible_type": "TrustedAsTemplate"}),
    _field("payload", {"__payload__": EXECUTE}),
    _field("deep", nested(30)),
    _field("meanings", [*meanings.TEXTS, dict.fromkeys(meanings.TEXTS)]),
    Case("field-half", {"left": "{{ 7 *", "right": "7 }}"}),
    Case(
        "field-ansible-names",
        {"ansible_host": "198.51.100.9", "ansible_connection": "ssh", "vars": {"ansible_port": 1}},
    ),
    Case("field-structure", {"hosts": ["evil"], "children": {"evil": {}}, "groups": ["evil"]}),
    Case("field-names", dict.fromkeys(UNUSABLE, EXECUTE), lost=UNUSABLE),
    Case("field-empty-name", {"": 1}),
    Case("field-keywords", {"if": 1, "class": 2, "None": 3}),
    Case("field-numbers", {"a": 10**30, "b": -1.5e300, "c": False, "d": None}),
    Case("field-many", {f"f{number}": number for number in range(200)}),
]

CASES = [CONTROL, *NAMES, *IDS, *ADDRESSES, *VALUES, *FIELDS]
