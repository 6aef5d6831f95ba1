# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: server
short_description: "Not yet live: creates, resizes, reinstalls or deletes a server"
version_added: 1.0.0
description:
  - Not yet live. The API has announced creating, resizing, reinstalling and deleting servers, but
    has not released it.
  - Until then, a task that has something to change fails and changes nothing.
  - "This module is a preview: its options may change until the operation is live."
  - Reading the servers of the account is live and requires the scope C(servers:read), so the module
    already finds differences. If nothing has to change, the task is C(ok). In check mode, it
    predicts the change and warns that the operation is not yet live.
  - To compare many servers, use M(server_management.cloud.fleet_info), which reads the listing only
    once.
author:
  - The server_management.cloud contributors (!UNKNOWN)
extends_documentation_fragment:
  - server_management.cloud.listing.whole_account
  - server_management.cloud.connection
  - server_management.cloud.connection.module
  - server_management.cloud.attributes
attributes:
  check_mode:
    support: full
    details: Predicts the change, with a warning if the operation is not yet live.
  diff_mode:
    support: full
    details: A value that only the API can set is shown as V(unknown).
  idempotent:
    support: partial
    details: O(state=reinstalled) reinstalls the server each time.
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
      - The name of the server. If several servers have it, the task fails and lists their ids.
      - Exactly one of O(name) and O(id) is required. A new server needs O(name).
    type: str
  id:
    description: The id of an existing server.
    type: str
  plan:
    description:
      - The plan that the server should have. If the server has another plan, it is resized.
      - Required for a new server. Ignored if O(state=absent).
      - If O(state=reinstalled), it is an error if the server has another plan.
    type: str
  region:
    description:
      - The region of the server. Required for a new server.
      - It is an error if the server is in another region, whatever O(state) is. The API has not
        announced a way to move a server.
    type: str
  state:
    description:
      - V(present) means that the server exists, with O(plan) if it is set.
      - V(absent) means that the server does not exist.
      - V(reinstalled) means that the server is reinstalled, each time that the task runs.
    type: str
    choices: [present, absent, reinstalled]
    default: present
notes:
  - White space around O(name), O(id), O(plan) and O(region) is ignored, as it is around the values
    of the API. Two servers whose names differ only in it have the same name here.
seealso:
  - module: server_management.cloud.fleet_info
  - module: server_management.cloud.server_info
"""

EXAMPLES = r"""
# SERVER_MANAGEMENT_BASE_URL and SERVER_MANAGEMENT_API_TOKEN are set in the environment.
- name: Show the difference, with --check --diff
  server_management.cloud.server:
    name: web-01
    plan: medium
    region: eu-1

- name: Predict a deletion
  server_management.cloud.server:
    id: srv_4f2a91c07d
    state: absent
  check_mode: true

- name: Reinstall a server
  server_management.cloud.server:
    name: web-01
    state: reinstalled
  register: reinstallation
  # Not a failure while the operation is not yet live.
  failed_when: reinstallation is failed and reinstallation.live | default(true)
"""

RETURN = r"""
server:
  description:
    - The server as the API lists it, with the same fields as in
      RV(server_management.cloud.server_info#module:servers).
  returned: success, if the server exists
  type: dict
  sample: {id: srv_4f2a91c07d, name: web-01, status: running, plan: small, region: eu-1}
operation:
  description: The operation that the task needs, V(create), V(resize), V(reinstall) or V(delete).
  returned: if something has to change
  type: str
  sample: resize
scope:
  description: The scope that the operation needs.
  returned: if something has to change
  type: str
  sample: servers:write
live:
  description: Whether the API offers the operation.
  returned: if something has to change
  type: bool
  sample: false
diff:
  description:
    - The fields of the server before and after the change, empty if it does not exist then, and the
      name or id that the task sets. A value that only the API can set is V(unknown).
  returned: in check mode, if something has to change
  type: dict
  sample:
    before: {name: web-01, plan: small}
    after: {name: web-01, plan: medium}
    before_header: web-01
    after_header: web-01
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

from typing import Any

from ..module_utils._changes import decide, label_of
from ..module_utils._module import Task, run
from ..module_utils._operations import operation

OPTIONS = {
    "id": {"type": "str"},
    "name": {"type": "str"},
    "plan": {"type": "str"},
    "region": {"type": "str"},
    "state": {"type": "str", "default": "present", "choices": ["present", "absent", "reinstalled"]},
}


def execute(task: Task) -> dict[str, Any]:
    """Find the server, and predict or refuse the change that the options require."""
    servers = task.list_whole_account()
    change = decide(task.params, servers)
    result: dict[str, Any] = {}
    if change.before:
        result["server"] = change.before
    if not change.operation:
        return result
    wanted = operation("server", change.operation)
    if not task.check_mode:
        wanted.refuse()
    if not wanted.live:
        task.warn(f"{wanted.not_yet_live}; without check mode, this task fails.")
    header = label_of(task.params)
    result.update(changed=True, operation=wanted.name, scope=wanted.scope, live=wanted.live)
    result["diff"] = {
        "before": change.before,
        "after": change.after,
        "before_header": header,
        "after_header": header,
    }
    return result


def main() -> None:
    run(OPTIONS, execute, required_one_of=[("name", "id")], mutually_exclusive=[("name", "id")])


if __name__ == "__main__":
    main()
