# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hostile servers, and beside each the name and the variables that its host must have."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from sandbox.account import SERVER
from support import special_texts

CANARY = "hostile-canary"
EXECUTE = f"{{{{ lookup('ansible.builtin.pipe', 'touch $HOME/{CANARY}') }}}}"
STATEMENT = f"{{% set x = lookup('ansible.builtin.pipe', 'touch $HOME/{CANARY}') %}}"


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
        return self.host or self.title

    @property
    def server(self):
        server = {**SERVER, "id": f"srv_{self.title}", "name": self.title}
        server.update(self.change)
        return server

    @property
    def host_vars(self):
        variables = {"ansible_host": self.address}
        for field, value in self.server.items():
            if field not in self.lost:
                variables[f"server_management_{field}"] = value
        return variables


def read_cases(text):
    """Return the cases of a YAML text: for each title, the changes and what the host must have."""
    text = text.replace("EXECUTE", EXECUTE).replace("STATEMENT", STATEMENT)
    cases = []
    for title, change in yaml.safe_load(text).items():
        expected = {}
        for name in ("host", "lost", "address"):
            if name in change:
                expected[name] = change.pop(name)
        cases.append(Case(title, change, **expected))
    return cases


OTHERS = read_cases(r"""
control: {}

# Names, and those of their hosts. The unit tests of names have the other forms.
template: {name: "EXECUTE", host: _lookup_ansible.builtin.pipe_touch_HOME_hostile-canary_}
statement: {name: "{% for x in y %}", host: _for_x_in_y_}
header: {name: "#jinja2: trim_blocks:True", host: _jinja2_trim_blocks_True}
pattern: {name: "!host-c,&host-d", host: _host-c_host-d}
range: {name: "host[01:20]", host: host_01_20_}
ansi: {name: "\e[31mred\e[0m", host: _31mred_0m}
line: {name: "one\nansible_connection=local", host: one_ansible_connection_local}
file: {name: control.yml, host: control_yml}
upper: {name: CASE-A, host: CASE-A}
lower: {name: case-a, host: case-a}
twin-1: {name: twin, host: twin_srv_twin-1}
twin-2: {name: twin, host: twin_srv_twin-2}
of-an-id: {name: srv_control, host: srv_control}
group: {name: static_group, host: static_group_srv_group}
every: {name: all, host: all_srv_every}
# No group has this name, but one could get it.
region: {name: region_eu_1, host: srv_region}
option: {name: -oProxyCommand=touch, host: srv_option}
folder: {name: ../../etc/passwd, host: srv_folder}
number: {name: 7, host: srv_number, lost: [name]}
object: {name: {a: "EXECUTE"}, host: srv_object, lost: [name]}
surrogate: {name: "sur\ud800x", host: srv_surrogate, lost: [name]}

# Ids.
id-template: {id: "EXECUTEid"}
id-alone: {id: "{{ 7 * 7 }}", name: "", host: _7_7_}
id-control: {id: "id\n\e[0m", name: "", host: id_0m}
id-local: {id: localhost}

# Values of documented fields.
address-template: {ipv4: "EXECUTE", address: no-usable-ipv4.invalid.}
address-option:
  {ipv4: 203.0.113.1 -oProxyCommand=touch, address: no-usable-ipv4.invalid.}
region-template: {region: "EXECUTE"}
region-number: {region: 7, lost: [region]}
plan-comment: {plan: "{# open"}
plan-header:
  {plan: "#jinja2: variable_start_string:'[[', variable_end_string:']]'\n[[ 7 * 7 ]]"}
plan-object: {plan: {a: 1}, lost: [plan]}
status-ansi: {status: "\e[31m\n"}
created-template: {created_at: "STATEMENT"}
numbers: {a: 1000000000000000000000000000000, b: -1.5e+300, c: false, d: null}
""")
FIELDS = read_cases(r"""
# Values of a field that the API does not document.
field-statement: {x_undocumented: "STATEMENT"}
field-header:
  {x_undocumented: "#jinja2: variable_start_string:'[[', variable_end_string:']]'\n[[ 7 * 7 ]]"}
field-line-statement: {x_undocumented: "# set x = 1\n## x"}
field-read: {x_undocumented: "{{ lookup('ansible.builtin.file', '/etc/passwd') }}"}
field-raw: {x_undocumented: "{% raw %}{{ 7 }}{% endraw %}"}
field-list: {x_undocumented: ["EXECUTE", ["STATEMENT", {a: "EXECUTE"}]]}
field-key: {x_undocumented: {"EXECUTE": "EXECUTE", "{# k": 1}}
field-omit: {x_undocumented: __omit_place_holder__0123456789}
field-tag: {x_undocumented: "!unsafe x"}
field-unsafe: {x_undocumented: {__ansible_unsafe: x, "y": "EXECUTE"}}
field-vault: {x_undocumented: {__ansible_vault: "EXECUTE", "y": 1}}
field-type:
  {x_undocumented: {__ansible_type: _AnsibleTaggedStr, value: "EXECUTE", tags: [{}]}}
field-trusted: {x_undocumented: {__ansible_type: TrustedAsTemplate}}
field-half: {left: "{{ 7 *", right: "7 }}"}
field-connection: {ansible_host: 198.51.100.9, ansible_connection: ssh}
field-structure: {hosts: [evil], children: {evil: {}}, vars: {a: 1}}
field-names:
  {bad-key: "EXECUTE", a.b: "EXECUTE", a b: "EXECUTE", "EXECUTE": "EXECUTE", été: "EXECUTE",
   lost: [bad-key, a.b, a b, "EXECUTE", été]}
field-empty-name: {"": 1}
""")
LONG = Case("id-long", {"id": "i" * 10_240})
SPECIAL = [*special_texts.TEXTS, dict.fromkeys(special_texts.TEXTS)]
FIELDS.append(Case("field-special-texts", {"x_undocumented": SPECIAL}))

CASES = [*OTHERS, LONG, *FIELDS]
