# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: volume_attachment
short_description: Attaches or detaches a block-storage volume (waits for storage:write)
version_added: 1.0.0
description:
  - Waits for the scope C(storage:write), which the API has announced and not yet opened. Until then
    it checks its options and fails, in check mode too, and sends no request.
  - How the API will tell volumes apart, by name or by id, is not documented.
author:
  - The server_management.cloud contributors (!UNKNOWN)
extends_documentation_fragment:
  - server_management.cloud.connection
  - server_management.cloud.attributes
  - server_management.cloud.attributes.waiting
  - server_management.cloud.live.volume_attachment
options:
  volume:
    description: The volume to attach or detach.
    type: str
    required: true
  server:
    description: The server to attach it to, or to detach it from.
    type: str
    required: true
  state:
    description:
      - V(present) means that O(volume) is attached to O(server).
      - V(absent) means that it is not.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: server_management.cloud.volume
  - ref: ansible_collections.server_management.cloud.docsite.api_status
    description: What the API offers today.
"""

EXAMPLES = r"""
# The URL and the token are in the environment: SERVER_MANAGEMENT_BASE_URL and
# SERVER_MANAGEMENT_API_TOKEN.
- name: Attach a volume
  server_management.cloud.volume_attachment:
    volume: data-01
    server: web-01
  register: attachment
  # As long as the scope is not open.
  failed_when: attachment is failed and attachment.live | default(true)
"""

RETURN = r"""
operation:
  description: The operation that is needed, V(attach) or V(detach).
  returned: failure, if the options are right
  type: str
  sample: attach
scope:
  description: The scope that the operation needs.
  returned: failure, if the options are right
  type: str
  sample: storage:write
live:
  description: Whether the API offers the operation.
  returned: failure, if the options are right
  type: bool
  sample: false
error:
  description: Why the task failed.
  returned: failure, unless Ansible itself refuses an option
  type: dict
  contains:
    code:
      description: The kind of the error, for conditions; it does not change between releases.
      returned: always
      type: str
      sample: not_yet_live
    status:
      description: Null, since no request was sent.
      returned: always
      type: int
    message:
      description: What was wrong.
      returned: always
      type: str
      sample: "api_token: is required."
"""

from collections.abc import Mapping
from typing import Any, NoReturn

from ansible_collections.server_management.cloud.plugins.module_utils._module import Task, run
from ansible_collections.server_management.cloud.plugins.module_utils._operations import (
    Operation,
    operation,
    refuse,
)

OPTIONS: dict[str, dict[str, Any]] = {
    "volume": {"type": "str", "required": True},
    "server": {"type": "str", "required": True},
    "state": {"type": "str", "default": "present", "choices": ["present", "absent"]},
}


def plan(params: Mapping[str, Any]) -> Operation:
    """Return the operation that the task asks for."""
    name = "attach" if params["state"] == "present" else "detach"
    return operation("volume_attachment", name)


def execute(task: Task) -> NoReturn:
    """Say what the task waits for."""
    refuse(plan(task.params))


def main() -> None:
    """Run the module."""
    run(OPTIONS, execute)


if __name__ == "__main__":
    main()
