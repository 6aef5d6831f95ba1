# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: usage_info
short_description: "Not yet live: reads the usage of an account"
version_added: 1.0.0
description:
  - Not yet live. The provider has announced this operation, but has not released it.
  - Until then, the module checks its options and fails, even in check mode, and sends no request.
  - "This module is a preview: its options may change until the operation is live."
  - The API does not document the fields of a usage record.
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
      - Reading the usage is not yet live. It needs the scope C(billing:read).
"""

EXAMPLES = r"""
# SERVER_MANAGEMENT_BASE_URL and SERVER_MANAGEMENT_API_TOKEN are set in the environment.
- name: Read the usage
  server_management.cloud.usage_info:
  register: usage
  # Not a failure while the operation is not yet live.
  failed_when: usage is failed and usage.live | default(true)
"""

RETURN = r"""
operation:
  description: The operation that the task needs, V(read).
  returned: failure, if the options are valid
  type: str
  sample: read
scope:
  description: The scope that the operation needs.
  returned: failure, if the options are valid
  type: str
  sample: billing:read
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
      Reading the usage is not yet live: it needs the scope `billing:read`,
      and the API has announced but not released this operation.
"""

from ..module_utils._module import run
from ..module_utils._operations import operation


def main() -> None:
    run({}, operation("usage_info", "read").refuse)


if __name__ == "__main__":
    main()
