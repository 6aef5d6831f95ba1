# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: fleet_info
short_description: Compares the servers of an account with a declared fleet
version_added: 1.0.0
description:
  - Compares the servers of an account with those that O(servers) declares, and reports the servers
    that are missing, different or not declared, or share a declared name.
  - It reads the listing of the account once, however many servers are declared. It changes nothing,
    and a difference does not fail the task. To fail on a difference, use RV(in_sync) and
    RV(report).
  - The playbook C(server_management.cloud.check_fleet) fails with RV(report) in a pipeline. See
    the R(recipes, ansible_collections.server_management.cloud.docsite.guide_recipes).
author:
  - The server_management.cloud contributors (!UNKNOWN)
extends_documentation_fragment:
  - server_management.cloud.listing.whole_account
  - server_management.cloud.connection
  - server_management.cloud.connection.module
  - server_management.cloud.attributes
  - server_management.cloud.attributes.info
attributes:
  live:
    support: full
    details:
      - Listing servers is live. It needs the scope C(servers:read).
options:
  servers:
    description:
      - The declared fleet. Each entry declares one server, by exactly one of O(servers[].name) and
        O(servers[].id).
      - Only the fields that an entry declares are compared.
      - Values are text. Quote those that YAML reads as a number or boolean. White space around a
        value is ignored, also around the values of the API. An empty value and a server that is
        declared twice are errors that name the entry.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description:
          - The name of the server. If several servers have it, they are reported in RV(ambiguous).
        type: str
      id:
        description: The id of the server.
        type: str
      plan:
        description: The plan that the server should have.
        type: str
      region:
        description: The region that the server should be in.
        type: str
      status:
        description:
          - The status that the server should have. V(running) is the only value that the API
            documents.
        type: str
  allow_unexpected:
    description:
      - Whether the account may have servers that are not declared.
      - If V(true), RV(unexpected) still lists them, but they do not affect RV(in_sync) and are not
        in RV(report).
    type: bool
    default: false
seealso:
  - module: server_management.cloud.server_info
  - module: server_management.cloud.server
"""

EXAMPLES = r"""
# SERVER_MANAGEMENT_BASE_URL and SERVER_MANAGEMENT_API_TOKEN are set in the environment.
- name: Compare the account with the declared fleet
  server_management.cloud.fleet_info:
    servers:
      - name: web-01
        plan: small
        region: eu-1
        status: running
      - name: web-02
        plan: medium
      - id: srv_b7035fa612
        region: eu-2
  register: fleet

- name: Fail if they differ, with one line for each server
  ansible.builtin.assert:
    that: fleet.in_sync
    fail_msg: "{{ fleet.report }}"

- name: Compare only the declared servers
  server_management.cloud.fleet_info:
    servers:
      - name: web-01
        plan: medium
    allow_unexpected: true
  register: web

- name: Show the differences
  ansible.builtin.debug:
    var: web.report
"""

RETURN = r"""
in_sync:
  description:
    - Whether the account has exactly the declared servers, with the declared values. Servers that
      are not declared are ignored if O(allow_unexpected=true).
  returned: success
  type: bool
  sample: false
report:
  description:
    - One line of text for each server with a finding, sorted by name, and empty if RV(in_sync) is
      true. Servers that are not declared are left out if O(allow_unexpected=true).
    - The text is meant for people. Use the other values in conditions.
  returned: success
  type: list
  elements: str
  sample:
    - app-01 is missing
    - db-01 is the name of 2 servers (srv_2, srv_3)
    - tmp-01 (srv_7d20c5b9e1) is not declared
    - web-01 has the plan small instead of medium
missing:
  description: The entries of O(servers) that no server in the account matches, as declared.
  returned: success
  type: list
  elements: dict
  sample: [{name: app-01, plan: small}]
different:
  description: The declared servers with a value that is not the declared one, sorted by name.
  returned: success
  type: list
  elements: dict
  contains:
    id:
      description: The id of the server.
      returned: always
      type: str
      sample: srv_4f2a91c07d
    name:
      description: The name of the server, or null if the API gives none.
      returned: always
      type: str
      sample: web-01
    differences:
      description:
        - The declared fields that differ, each with V(expected) and V(actual).
          V(actual) is null if the API gives no such field.
      returned: always
      type: dict
      sample:
        plan:
          expected: medium
          actual: small
unexpected:
  description:
    - The servers that are not declared, sorted by name, with the same fields as in
      RV(server_management.cloud.server_info#module:servers). They are listed even if
      O(allow_unexpected=true).
    - Servers with a name in RV(ambiguous) are not in this list.
  returned: success
  type: list
  elements: dict
  sample: [{id: srv_7d20c5b9e1, name: tmp-01, status: running, plan: small, region: eu-1}]
ambiguous:
  description: The declared names that several servers have, in the order of their entries.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The declared name.
      returned: always
      type: str
      sample: db-01
    ids:
      description: The ids of the servers with this name, sorted.
      returned: always
      type: list
      elements: str
      sample: [srv_2, srv_3]
error:
  description: Why the task failed, as in RV(server_management.cloud.server_info#module:error).
  returned: failure, unless Ansible itself rejects an option
  type: dict
  sample:
    code: forbidden
    status: 403
    message: The API refuses the request (HTTP 403); the token may lack the scope servers:read.
"""

from ..module_utils._fleet import compare, declared_servers
from ..module_utils._models import DECLARED_FIELDS, Record
from ..module_utils._module import Task, run

OPTIONS = {
    "servers": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "name": {"type": "str"},
            "id": {"type": "str"},
            **{field: {"type": "str"} for field in DECLARED_FIELDS},
        },
        "required_one_of": [("name", "id")],
        "mutually_exclusive": [("name", "id")],
    },
    "allow_unexpected": {"type": "bool", "default": False},
}


def execute(task: Task) -> Record:
    """Compare the fleet with the account."""
    entries = declared_servers(task.params["servers"])
    allow_unexpected = task.params["allow_unexpected"]
    if not entries and allow_unexpected:
        task.warn("servers: the list is empty and allow_unexpected is set: nothing is compared.")
    servers = task.list_whole_account()
    return compare(entries, servers, allow_unexpected)


def main() -> None:
    run(OPTIONS, execute)


if __name__ == "__main__":
    main()
