# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: volume
short_description: "Not yet live: provisions a block-storage volume"
version_added: 1.0.0
description:
  - Not yet live. The provider has announced this operation, but has not released it.
  - Until then, the module checks its options and fails, even in check mode, and sends no request.
  - "This module is a preview: its options may change until the operation is live."
  - The API does not document the fields of a volume, nor the unit of its size.
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
      - Provisioning a volume is not yet live. It needs the scope C(storage:write).
      - Deleting a volume is not yet live. It needs the scope C(storage:write), and the API has not
        announced this operation.
options:
  name:
    description: The name of the volume.
    type: str
    required: true
  size:
    description:
      - The size of the volume. The unit is not documented yet.
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
      - V(absent) means that the volume does not exist. The provider has not announced that volumes
        can be deleted.
    type: str
    choices: [present, absent]
    default: present
notes:
  - White space around O(name) and O(region) is ignored.
seealso:
  - module: server_management.cloud.volume_attachment
"""

EXAMPLES = r"""
# SERVER_MANAGEMENT_BASE_URL and SERVER_MANAGEMENT_API_TOKEN are set in the environment.
- name: Provision a volume
  server_management.cloud.volume:
    name: data-01
    size: 50
    region: eu-1
    state: present
  register: volume
  # Not a failure while the operation is not yet live.
  failed_when: volume is failed and volume.live | default(true)
"""

RETURN = r"""
operation:
  description: The operation that the task needs, V(provision) or V(delete).
  returned: failure, if the options are valid
  type: str
  sample: provision
scope:
  description: The scope that the operation needs.
  returned: failure, if the options are valid
  type: str
  sample: storage:write
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
      Provisioning a volume is not yet live: it needs the scope `storage:write`,
      and the API has announced but not released this operation; nothing was changed.
"""

from typing import NoReturn

from ..module_utils._module import Task, run
from ..module_utils._operations import operation

OPTIONS = {
    "name": {"type": "str", "required": True},
    "size": {"type": "int"},
    "region": {"type": "str"},
    "state": {"type": "str", "default": "present", "choices": ["present", "absent"]},
}


def execute(task: Task) -> NoReturn:
    """Raise the error of an operation that is not yet live."""
    name = "provision" if task.params["state"] == "present" else "delete"
    operation("volume", name).refuse()


def main() -> None:
    run(OPTIONS, execute, required_if=[("state", "present", ("size", "region"))])


if __name__ == "__main__":
    main()
