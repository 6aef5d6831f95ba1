# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: server_info
short_description: Lists the servers of an account
version_added: 1.0.0
description:
  - Lists the servers of an account, all of them or those that match each given option, such as
    O(name) or O(regions).
  - The module reads the whole listing, or the task fails (see O(allow_partial)). No server is
    missing because a request failed.
  - The R(module guide, ansible_collections.server_management.cloud.docsite.guide_modules) has more
    examples.
author:
  - The server_management.cloud contributors (!UNKNOWN)
extends_documentation_fragment:
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
  id:
    description: Keep only the server with this id.
    type: str
  name:
    description: Keep only the servers with this name. Several servers can have the same name.
    type: str
  statuses:
    description: Keep only the servers with one of these statuses.
    type: list
    elements: str
  regions:
    description:
      - Keep only the servers in one of these regions.
      - If neither O(id) nor O(name) is set, you get a warning about a value that no server has, and
        about values that no server has together. It names values that the account has. O(statuses)
        does not cause a warning.
    type: list
    elements: str
  plans:
    description: Keep only the servers with one of these plans. See also O(regions).
    type: list
    elements: str
notes:
  - Ansible treats an option as not set if it is null, or, since ansible-core 2.19, if its template
    renders to C(none). All servers then match the option. An empty text or list is an error.
  - White space around the values that select servers is ignored, also around the values of the API.
seealso:
  - module: server_management.cloud.fleet_info
  - plugin: server_management.cloud.servers
    plugin_type: inventory
"""

EXAMPLES = r"""
# SERVER_MANAGEMENT_BASE_URL and SERVER_MANAGEMENT_API_TOKEN are set in the environment.
- name: Read all servers
  server_management.cloud.server_info:
  register: account

- name: Show their addresses
  ansible.builtin.debug:
    msg: "{{ account.servers | selectattr('ipv4', 'defined') | items2dict('name', 'ipv4') }}"

- name: Read the running servers in two regions
  server_management.cloud.server_info:
    base_url: https://api.example.com
    api_token: "{{ api_token }}"
    statuses: [running]
    regions: [eu-1, eu-2]

- name: Wait until a server is running, even while the API is unreachable
  server_management.cloud.server_info:
    name: web-01
  register: web
  # An error that waiting cannot fix, such as a rejected token, ends the loop.
  until: >-
    (web is success and web.servers | map(attribute='status', default='') | list == ['running'])
    or (web is failed and web.error.code | default('') not in temporary)
  vars:
    temporary: [unreachable, timeout, rate_limited, server_error]
  retries: 30
  delay: 10
"""

RETURN = r"""
servers:
  description:
    - The servers, in the order of the API's response.
    - The list is empty if no server matches the options. Case matters, so V(Running) does not match
      the status V(running).
    - Each server has the fields that the API gives, including those that it adds later. A field
      that is missing or does not have the documented type is left out, and you get a warning.
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
      description: The name of the server.
      returned: if the API gives one
      type: str
      sample: web-01
    status:
      description: The status of the server. V(running) is the only value that the API documents.
      returned: if the API gives one
      type: str
      sample: running
    plan:
      description: The plan of the server.
      returned: if the API gives one
      type: str
      sample: small
    region:
      description: The region that the server is in.
      returned: if the API gives one
      type: str
      sample: eu-1
    ipv4:
      description: The IPv4 address of the server.
      returned: if the API gives one
      type: str
      sample: 192.0.2.10
    created_at:
      description: When the server was created, in UTC.
      returned: if the API gives one
      type: str
      sample: "2026-01-02T03:04:05Z"
error:
  description: Why the task failed.
  returned: failure, unless Ansible itself rejects an option
  type: dict
  contains:
    code:
      description: The kind of the error, for conditions. It does not change between releases.
      returned: always
      type: str
      sample: forbidden
    status:
      description: The HTTP status of the API's response, or null if there was none.
      returned: always
      type: int
      sample: 403
    message:
      description: What was wrong. RV(ignore:msg) also contains what to do about it.
      returned: always
      type: str
      sample: The API refuses the request (HTTP 403); the token may lack the scope servers:read.
"""

from ..module_utils._models import SELECTING_OPTIONS, Record
from ..module_utils._module import Task, run
from ..module_utils._options import Rules
from ..module_utils._selection import explain, select, wanted_values

OPTIONS: Rules = {
    "id": {"type": "str"},
    "name": {"type": "str"},
    **{option: {"type": "list", "elements": "str"} for option in SELECTING_OPTIONS},
}


def execute(task: Task) -> Record:
    """List the servers that match the options."""
    params = task.params
    wanted = wanted_values(params.__getitem__)
    servers = task.list_servers()
    selected = select(servers, wanted)
    for field in ("id", "name"):
        value = params[field]
        if value is not None:
            selected = [server for server in selected if server.text(field).strip() == value]
    # A loop that waits for a server selects it by name, id or status: no match is normal there.
    wanted.pop("statuses", None)
    if params["id"] is None and params["name"] is None:
        for message in explain(servers, wanted):
            task.warn(message)
    task.warn_of_fields(selected)
    return {"servers": [server.fields for server in selected]}


def main() -> None:
    run(OPTIONS, execute)


if __name__ == "__main__":
    main()
