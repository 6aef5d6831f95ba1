# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: volume
short_description: Provisions a block-storage volume (waits for storage:write)
version_added: 1.0.0
description:
  - Waits for the scope C(storage:write), which the API has announced and not yet opened. Until then
    it checks its options and fails, in check mode too, and sends no request.
  - What a volume's record holds, and in what unit its size is, is not documented by the API.
author:
  - The server_management.cloud contributors (!UNKNOWN)
extends_documentation_fragment:
  - server_management.cloud.connection
  - server_management.cloud.attributes
  - server_management.cloud.attributes.waiting
  - server_management.cloud.live.volume
options:
  name:
    description: The name of the volume.
    type: str
    required: true
  size:
    description:
      - The size of the volume, 1 or more, in the unit that the API will have.
      - Required with O(state=present).
    type: int
  region:
    description:
      - The region of the volume.
      - Required with O(state=present).
    type: str
  state:
    description:
      - V(present) means that the volume exists.
      - V(absent) means that there is no such volume. The API has announced that volumes will be
        provisioned, attached and detached, and has not said that they can be deleted.
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: server_management.cloud.volume_attachment
  - ref: ansible_collections.server_management.cloud.docsite.api_status
    description: What the API offers today.
"""

EXAMPLES = r"""
# The URL and the token are in the environment: SERVER_MANAGEMENT_BASE_URL and
# SERVER_MANAGEMENT_API_TOKEN.
- name: Provision a volume
  server_management.cloud.volume:
    name: data-01
    size: 50
    region: eu-1
  register: volume
  # As long as the scope is not open.
  failed_when: volume is failed and volume.live | default(true)
"""

RETURN = r"""
operation:
  description: The operation that is needed, V(provision) or V(delete).
  returned: failure, if the options are right
  type: str
  sample: provision
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

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._module import Task, run
from ansible_collections.server_management.cloud.plugins.module_utils._operations import (
    Operation,
    operation,
    refuse,
)

OPTIONS: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "required": True},
    "size": {"type": "int"},
    "region": {"type": "str"},
    "state": {"type": "str", "default": "present", "choices": ["present", "absent"]},
}


def plan(params: Mapping[str, Any]) -> Operation:
    """Return the operation that the task asks for, after a check of its options."""
    if params["size"] is not None and params["size"] < 1:
        raise OptionError(f"size: must be 1 or more, and is {params['size']}.")
    return operation("volume", "provision" if params["state"] == "present" else "delete")


def execute(task: Task) -> NoReturn:
    """Say what the task waits for."""
    refuse(plan(task.params))


def main() -> None:
    """Run the module."""
    run(OPTIONS, execute, required_if=[("state", "present", ("size", "region"))])


if __name__ == "__main__":
    main()
