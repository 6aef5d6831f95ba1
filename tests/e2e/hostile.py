# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hostile servers, and beside each the name and the variables that its host must have."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox.account import SERVER
from support import meanings

CANARY = "hostile-canary"
EXECUTE = f"{{{{ lookup('ansible.builtin.pipe', 'touch $HOME/{CANARY}') }}}}"
STATEMENT = f"{{% set x = lookup('ansible.builtin.pipe', 'touch $HOME/{CANARY}') %}}"
HEADER = "#jinja2: variable_start_string:'[[', variable_end_string:']]'\n[[ 7 * 7 ]]"


@dataclass(frozen=True)
class Case:
    """A server with the id ``srv_<title>`` and other changes, and the host that it must become.

    The name of the host is the title, unless there is another ``host``. The ``lost`` fields become
    no variables.
    """

    title: str
    change: Mapping[str, Any]
    host: str = ""
    lost: Collection[str] = ()
    address: str = SERVER["ipv4"]

    @property
    def host_name(self):
        """Return the name that the host must have."""
        return self.host or self.title

    @property
    def server(self):
        """Return the element of the response."""
        server = {**SERVER, "id": f"srv_{self.title}", "name": self.title}
        server.update(self.change)
        return server

    @property
    def host_vars(self):
        """Return the variables that the host must have."""
        variables = {"ansible_host": self.address}
        for field, value in self.server.items():
            if field not in self.lost:
                variables[f"server_management_{field}"] = value
        return variables


CONTROL = Case("control", {})

# Names, and those of their hosts. The unit tests of names have the other forms.
NAMED = {
    "template": (EXECUTE, "_lookup_ansible.builtin.pipe_touch_HOME_hostile-canary_"),
    "statement": ("{% for x in y %}", "_for_x_in_y_"),
    "header": ("#jinja2: trim_blocks:True", "_jinja2_trim_blocks_True"),
    "pattern": ("!host-c,&host-d", "_host-c_host-d"),
    "range": ("host[01:20]", "host_01_20_"),
    "ansi": ("\x1b[31mred\x1b[0m", "_31mred_0m"),
    "line": ("one\nansible_connection=local", "one_ansible_connection_local"),
    "file": ("control.yml", "control_yml"),
    "upper": ("CASE-A", "CASE-A"),
    "lower": ("case-a", "case-a"),
    "twin-1": ("twin", "twin_srv_twin-1"),
    "twin-2": ("twin", "twin_srv_twin-2"),
    "of-an-id": ("srv_control", "srv_control"),
    "group": ("static_group", "static_group_srv_group"),
    "every": ("all", "all_srv_every"),
    # No group has this name, but one could get it.
    "region": ("region_eu_1", "srv_region"),
    "option": ("-oProxyCommand=touch", "srv_option"),
    "folder": ("../../etc/passwd", "srv_folder"),
}
NAMES = [
    *[Case(title, {"name": name}, host) for title, (name, host) in NAMED.items()],
    Case("number", {"name": 7}, "srv_number", lost=["name"]),
    Case("object", {"name": {"a": EXECUTE}}, "srv_object", lost=["name"]),
    Case("surrogate", {"name": "sur\ud800x"}, "srv_surrogate", lost=["name"]),
]

IDS = [
    Case("id-template", {"id": f"{EXECUTE}id"}),
    Case("id-alone", {"id": "{{ 7 * 7 }}", "name": ""}, "_7_7_"),
    Case("id-control", {"id": "id\n\x1b[0m", "name": ""}, "id_0m"),
    Case("id-local", {"id": "localhost"}),
    Case("id-long", {"id": "i" * 10_240}),
]

NO_ADDRESS = "no-usable-ipv4.invalid."
VALUES = [
    Case("address-template", {"ipv4": EXECUTE}, address=NO_ADDRESS),
    Case("address-option", {"ipv4": "203.0.113.1 -oProxyCommand=touch"}, address=NO_ADDRESS),
    Case("region-template", {"region": EXECUTE}),
    Case("region-number", {"region": 7}, lost=["region"]),
    Case("plan-comment", {"plan": "{# open"}),
    Case("plan-header", {"plan": HEADER}),
    Case("plan-object", {"plan": {"a": 1}}, lost=["plan"]),
    Case("status-ansi", {"status": "\x1b[31m\n"}),
    Case("created-template", {"created_at": STATEMENT}),
    Case("numbers", {"a": 10**30, "b": -1.5e300, "c": False, "d": None}),
]

# Values of a field that the API does not document.
UNDOCUMENTED = {
    "field-statement": STATEMENT,
    "field-header": HEADER,
    "field-line-statement": "# set x = 1\n## x",
    "field-read": "{{ lookup('ansible.builtin.file', '/etc/passwd') }}",
    "field-raw": "{% raw %}{{ 7 }}{% endraw %}",
    "field-list": [EXECUTE, [STATEMENT, {"a": EXECUTE}]],
    "field-key": {EXECUTE: EXECUTE, "{# k": 1},
    "field-omit": "__omit_place_holder__0123456789",
    "field-tag": "!unsafe x",
    "field-unsafe": {"__ansible_unsafe": "x", "y": EXECUTE},
    "field-vault": {"__ansible_vault": EXECUTE, "y": 1},
    "field-type": {"__ansible_type": "_AnsibleTaggedStr", "value": EXECUTE, "tags": [{}]},
    "field-trusted": {"__ansible_type": "TrustedAsTemplate"},
    "field-meanings": [*meanings.TEXTS, dict.fromkeys(meanings.TEXTS)],
}
UNUSABLE = ("bad-key", "a.b", "a b", EXECUTE, "\u00e9t\u00e9")
FIELDS = [
    *[Case(title, {"x_undocumented": value}) for title, value in UNDOCUMENTED.items()],
    Case("field-half", {"left": "{{ 7 *", "right": "7 }}"}),
    Case("field-connection", {"ansible_host": "198.51.100.9", "ansible_connection": "ssh"}),
    Case("field-structure", {"hosts": ["evil"], "children": {"evil": {}}, "vars": {"a": 1}}),
    Case("field-names", dict.fromkeys(UNUSABLE, EXECUTE), lost=UNUSABLE),
    Case("field-empty-name", {"": 1}),
]

CASES = [CONTROL, *NAMES, *IDS, *VALUES, *FIELDS]
