# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: volume_attachment
short_description: "Not yet live: attaches or detaches a block-storage volume"
version_added: 1.0.0
description:
  - Not yet live. The provider has announced these operations, but has not released them.
  - Until then, the module checks its options and fails, even in check mode, and sends no request.
  - "This module is a preview: its options may change until the operation is live."
  - The API does not document whether it will identify volumes by name or by id.
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
      - Attaching a volume is not yet live. It needs the scope C(storage:write).
      - Detaching a volume is not yet live. It needs the scope C(storage:write).
options:
  volume:
    description: The volume to attach or detach.
    type: str
    required: true
  server:
    description: The server to attach the volume to, or to detach it from.
    type: str
    required: true
  state:
    description:
      - V(present) means that O(volume) is attached to O(server).
      - V(absent) means that O(volume) is not attached to O(server).
    type: str
    choices: [present, absent]
    default: present
notes:
  - White space around O(volume) and O(server) is ignored.
seealso:
  - module: server_management.cloud.volume
"""

EXAMPLES = r"""
# SERVER_MANAGEMENT_BASE_URL and SERVER_MANAGEMENT_API_TOKEN are set in the environment.
- name: Attach a volume
  server_management.cloud.volume_attachment:
    volume: data-01
    server: web-01
    state: present
  register: attachment
  # Not a failure while the operation is not yet live.
  failed_when: attachment is failed and attachment.live | default(true)
"""

RETURN = r"""
operation:
  description: The operation that the task needs, V(attach) or V(detach).
  returned: failure, if the options are valid
  type: str
  sample: attach
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
      Attaching a volume is not yet live: it needs the scope `storage:write`,
      and the API has announced but not released this operation; nothing was changed.
"""

from typing import NoReturn

from ..module_utils._module import Task, run
from ..module_utils._operations import operation

OPTIONS = {
    "volume": {"type": "str", "required": True},
    "server": {"type": "str", "required": True},
    "state": {"type": "str", "default": "present", "choices": ["present", "absent"]},
}


def execute(task: Task) -> NoReturn:
    """Raise the error of an operation that is not yet live."""
    name = "attach" if task.params["state"] == "present" else "detach"
    operation("volume_attachment", name).refuse()


def main() -> None:
    run(OPTIONS, execute)


if __name__ == "__main__":
    main()
