# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hostile servers, and beside each the name and the variables that its host must have."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.account import SERVER
from support import meanings

CANARY = "hostile-canary"
EXECUTE = f"{{{{ lookup('ansible.builtin.pipe', 'touch $HOME/{CANARY}') }}}}"
STATEMENT = f"{{% set x = lookup('ansible.builtin.pipe', 'touch $HOME/{CANARY}') %}}"
HEADER = "#jinja2: variable_start_string:'[[', variable_end_string:']]'\n[[ 7 * 7 ]]"
MISSING: Any = object()
# Another source in the same inventory.
STATIC = "[static_group]\nstatic-1 ansible_host=198.51.100.1\n"


@dataclass(frozen=True)
class Case:
    """A server with the id ``srv_<title>``, changed in some fields; an ``ipv4`` there is unusable.

    ``host`` is its host name, by default the title. ``lost`` are the fields that become no
    variable, apart from documented ones that are not text.
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
        return self.host or self.title

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
        """Return the variables that the host must have."""
        variables = {f"server_management_{key}": value for key, value in self.fields.items()}
        address = "no-usable-ipv4.invalid." if "ipv4" in self.change else SERVER["ipv4"]
        return {**variables, "ansible_host": address}

    @property
    def host_groups(self) -> set[str]:
        """Return the groups that must have the host."""
        values = {key: self.fields.get(key) for key in ("region", "plan", "status")}
        named = {f"{key}_{value}" for key, value in values.items() if value}
        return {"server_management", *(re.sub("[^A-Za-z0-9_]", "_", name) for name in named)}


CONTROL = Case("control", {})

# The unit tests of names have the other forms.
NAMES = [
    Case(title, {"name": name}, host)
    for title, name, host in (
        ("template", EXECUTE, "_lookup_ansible.builtin.pipe_touch_HOME_hostile-canary_"),
        ("statement", "{% for x in y %}", "_for_x_in_y_"),
        ("header", "#jinja2: trim_blocks:True", "_jinja2_trim_blocks_True"),
        ("literal", "{0}", "_0_"),
        ("pattern", "!host-c,&host-d", "_host-c_host-d"),
        ("range", "host[01:20]", "host_01_20_"),
        ("ansi", "\x1b[31mred\x1b[0m", "_31mred_0m"),
        ("line", "one\nansible_connection=local", "one_ansible_connection_local"),
        ("file", "control.yml", "control_yml"),
        ("long", "y" * 253, "y" * 253),
        ("upper", "CASE-A", "CASE-A"),
        ("lower", "case-a", "case-a"),
        ("blank", "   ", "_"),
        ("loopback", "0x7f000001", "0x7f000001_srv_loopback"),
        ("twin-1", "twin", "twin_srv_twin-1"),
        ("twin-2", "twin", "twin_srv_twin-2"),
        ("of-an-id", "srv_control", "srv_control"),
        ("group", "static_group", "static_group_srv_group"),
        ("every", "all", "all_srv_every"),
        # No group has the last of these names, but one could get it.
        ("region", "region_eu_1", "srv_region"),
        ("status", "status_stopped", "srv_status"),
        ("option", "-oProxyCommand=touch", "srv_option"),
        ("folder", "../../etc/passwd", "srv_folder"),
        ("empty", "", "srv_empty"),
        ("number", 7, "srv_number"),
        ("missing", MISSING, "srv_missing"),
        ("object", {"a": EXECUTE}, "srv_object"),
    )
]
NAMES.append(Case("surrogate", {"name": "sur\ud800x"}, "srv_surrogate", lost=["name"]))

IDS = [
    Case("id-template", {"id": f"{EXECUTE}id"}),
    Case("id-alone", {"id": "{{ 7 * 7 }}", "name": ""}, "_7_7_"),
    Case("id-file", {"id": "control.yaml", "name": ""}, "control_yaml"),
    Case("id-control", {"id": "id\n\x1b[0m", "name": ""}, "id_0m"),
    Case("id-local", {"id": "localhost"}),
    Case("id-long", {"id": "i" * 10_240}),
]

VALUES = [
    Case("address-template", {"ipv4": EXECUTE}),
    Case("address-option", {"ipv4": "203.0.113.1 -oProxyCommand=touch"}),
    Case("address-name", {"ipv4": "localhost"}),
    Case("address-null", {"ipv4": None}),
    Case("address-missing", {"ipv4": MISSING}),
    Case("region-template", {"region": EXECUTE}),
    Case("region-number", {"region": 7}),
    Case("region-surrogate", {"region": "s\udfff"}, lost=["region"]),
    Case("plan-comment", {"plan": "{# open"}),
    Case("plan-header", {"plan": HEADER}),
    Case("plan-object", {"plan": {"a": 1}}),
    Case("status-ansi", {"status": "\x1b[31m\n"}),
    Case("status-empty", {"status": ""}),
    Case("status-missing", {"status": MISSING}),
    Case("created-template", {"created_at": STATEMENT}),
]

UNUSABLE = ("bad-key", "a.b", "a b", EXECUTE, "\u00e9t\u00e9")
FIELDS = [
    *(
        Case(f"field-{title}", {"x_undocumented": value})
        for title, value in (
            ("statement", STATEMENT),
            ("header", HEADER),
            ("line-statement", "# set x = 1\n## x"),
            ("read", "{{ lookup('ansible.builtin.file', '/etc/passwd') }}"),
            ("raw", "{% raw %}{{ 7 }}{% endraw %}"),
            ("list", [EXECUTE, [STATEMENT, {"a": EXECUTE}]]),
            ("key", {EXECUTE: EXECUTE, "{# k": 1}),
            ("omit", "__omit_place_holder__0123456789"),
            ("tag", "!unsafe x"),
            ("unsafe", {"__ansible_unsafe": "x", "y": EXECUTE}),
            ("vault", {"__ansible_vault": EXECUTE, "y": 1}),
            ("type", {"__ansible_type": "_AnsibleTaggedStr", "value": EXECUTE, "tags": [{}]}),
            ("trusted", {"__ansible_type": "TrustedAsTemplate"}),
            ("meanings", [*meanings.TEXTS, dict.fromkeys(meanings.TEXTS)]),
        )
    ),
    Case("field-half", {"left": "{{ 7 *", "right": "7 }}"}),
    Case("field-connection", {"ansible_host": "198.51.100.9", "ansible_connection": "ssh"}),
    Case("field-structure", {"hosts": ["evil"], "children": {"evil": {}}, "vars": {"a": 1}}),
    Case("field-names", dict.fromkeys(UNUSABLE, EXECUTE), lost=UNUSABLE),
    Case("field-empty-name", {"": 1}),
    Case("field-numbers", {"a": 10**30, "b": -1.5e300, "c": False, "d": None}),
]

CASES = [CONTROL, *NAMES, *IDS, *VALUES, *FIELDS]
