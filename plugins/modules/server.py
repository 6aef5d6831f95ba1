# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: server
short_description: "Not yet live: creates, resizes, reinstalls or deletes a server"
version_added: 1.0.0
description:
  - Not yet live. The provider has announced these operations, but has not released them.
  - Until then, the module checks its options and fails, even in check mode, and sends no request.
  - "This module is a preview: its options may change until the operation is live."
  - To compare servers with what they should be, use M(server_management.cloud.fleet_info).
author:
  - The server_management.cloud contributors (!UNKNOWN)
extends_documentation_fragment:
  - server_management.cloud.listing.unused
  - server_management.cloud.connection
  - server_management.cloud.connection.module
  - server_management.cloud.attributes
  - server_management.cloud.attributes.not_yet_live
attributes:
  live:
    support: none
    details:
      - Creating a server is not yet live. It needs the scope C(servers:write).
      - Resizing a server is not yet live. It needs the scope C(servers:write).
      - Reinstalling a server is not yet live. It needs the scope C(servers:write).
      - Deleting a server is not yet live. It needs the scope C(servers:write).
options:
  name:
    description:
      - The name of the server.
      - Exactly one of O(name) and O(id) is required.
    type: str
  id:
    description: The id of an existing server.
    type: str
  plan:
    description: The plan of the server.
    type: str
  region:
    description: The region of the server.
    type: str
  state:
    description:
      - V(present) creates a server with O(name), and resizes the server with O(id).
      - V(absent) deletes the server.
      - V(reinstalled) reinstalls the server.
    type: str
    choices: [present, absent, reinstalled]
    default: present
notes:
  - White space around O(name), O(id), O(plan) and O(region) is ignored.
seealso:
  - module: server_management.cloud.fleet_info
  - module: server_management.cloud.server_info
"""

EXAMPLES = r"""
# SERVER_MANAGEMENT_BASE_URL and SERVER_MANAGEMENT_API_TOKEN are set in the environment.
- name: Create a server
  server_management.cloud.server:
    name: web-01
    plan: small
    region: eu-1
  register: creation
  # Not a failure while the operation is not yet live.
  failed_when: creation is failed and creation.live | default(true)

- name: Resize a server
  server_management.cloud.server:
    id: srv_4f2a91c07d
    plan: medium
  register: resize
  failed_when: resize is failed and resize.live | default(true)

- name: Reinstall a server
  server_management.cloud.server:
    name: web-01
    state: reinstalled
  register: reinstallation
  failed_when: reinstallation is failed and reinstallation.live | default(true)
"""

RETURN = r"""
operation:
  description: The operation that the task needs, V(create), V(resize), V(reinstall) or V(delete).
  returned: failure, if the options are valid
  type: str
  sample: create
scope:
  description: The scope that the operation needs.
  returned: failure, if the options are valid
  type: str
  sample: servers:write
live:
  description: Whether the API offers the operation.
  returned: failure, if the options are valid
  type: bool
  sample: false
error:
  description: Why the task failed, as in RV(server_management.cloud.server_info#module:error).
  returned: failure, unless Ansible itself rejects an option
  type: dict
  sample:
    code: not_yet_live
    status: null
    message: >-
      Creating a server is not yet live: it needs the scope `servers:write`,
      and the API has announced but not released this operation; nothing was changed.
"""

from typing import NoReturn

from ..module_utils._module import Task, run
from ..module_utils._operations import operation

OPTIONS = {
    "id": {"type": "str"},
    "name": {"type": "str"},
    "plan": {"type": "str"},
    "region": {"type": "str"},
    "state": {"type": "str", "default": "present", "choices": ["present", "absent", "reinstalled"]},
}


def execute(task: Task) -> NoReturn:
    """Raise the error of an operation that is not yet live."""
    state = task.params["state"]
    if state == "absent":
        name = "delete"
    elif state == "reinstalled":
        name = "reinstall"
    elif task.params["name"]:
        name = "create"
    else:
        name = "resize"
    operation("server", name).refuse()


def main() -> None:
    run(OPTIONS, execute, required_one_of=[("name", "id")], mutually_exclusive=[("name", "id")])


if __name__ == "__main__":
    main()
