# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: api_info
short_description: Checks the API and an account, and returns a report
version_added: 1.0.0
description:
  - Checks whether the collection can read an account, and how the API responds. At most three
    requests are sent, and each of them only reads.
  - RV(report) contains no token, host name or address, and no name or id of a server, so you can
    add it to an issue. RV(ignore:msg) and RV(error) may contain them.
  - If the API cannot be reached, or rejects the token, the task succeeds, with RV(works=false). An
    invalid option still fails the task.
  - The playbook C(server_management.cloud.check_api) prints the report, and fails if the API does
    not work.
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
notes:
  - O(retries) has no effect, so that the report shows each failure.
seealso:
  - module: server_management.cloud.server_info
"""

EXAMPLES = r"""
# SERVER_MANAGEMENT_BASE_URL and SERVER_MANAGEMENT_API_TOKEN are set in the environment.
- name: Check the API
  server_management.cloud.api_info:
  register: api

- name: Print the report
  ansible.builtin.debug:
    var: api.report

- name: Fail if the API does not work
  ansible.builtin.fail:
    msg: "{{ api.msg }}"
  when: not api.works
"""

RETURN = r"""
works:
  description:
    - Whether the collection can read the account with these options.
    - If it is V(false), RV(ignore:msg) describes the problem and what to do about it.
  returned: success
  type: bool
  sample: true
report:
  description: What was found, without the token, and without names, addresses and ids of servers.
  returned: success
  type: dict
  contains:
    versions:
      description: The versions of the programs and libraries, or null if one is not installed.
      returned: always
      type: dict
      sample: {collection: 1.0.0, ansible: 2.21.5, python: 3.13.0, requests: 2.32.5}
    token:
      description: V(accepted), V(rejected), V(may lack the scope servers:read) or V(not known).
      returned: always
      type: str
      sample: accepted
    status:
      description: The HTTP status of the last response, or null if the last request had none.
      returned: always
      type: int
      sample: 200
    error_code:
      description: The kind of the failure, the C(code) in RV(error), or null if there was none.
      returned: always
      type: str
      sample: unauthorized
    as_documented:
      description: Whether the list of servers is as documented, or null if none was received.
      returned: always
      type: bool
      sample: true
    deviations:
      description: The differences of the servers from the documentation, with their number.
      returned: always
      type: list
      elements: str
      sample: [created_at is missing (2)]
    further_fields:
      description: Fields of servers that are not documented, with the number of servers.
      returned: always
      type: dict
      sample: {disk_gb: 12}
    servers:
      description: >-
        The number of servers that were received, or null without a list of servers. With many
        servers, not all are read.
      returned: always
      type: int
      sample: 12
    has_more:
      description: The value of C(has_more) in the last page that was received, or null without one.
      returned: always
      type: bool
      sample: false
    headers:
      description:
        - The standard headers of the last response for rate limits, waiting (C(Retry-After)) and
          deprecation.
        - Of C(Link), only the relations and the names of query parameters, because its values can
          be ids.
      returned: always
      type: dict
      sample: {X-RateLimit-Remaining: "59", Link: "next (starting_after, limit)"}
error:
  description: >-
    Why the API does not work, or why the task failed, as in
    RV(server_management.cloud.server_info#module:error).
  returned: if RV(works=false), or failure, unless Ansible itself rejects an option
  type: dict
  sample:
    code: forbidden
    status: 403
    message: The API refuses the request (HTTP 403); the token may lack the scope servers:read.
"""

from ..module_utils._api_report import check_account
from ..module_utils._models import Record
from ..module_utils._module import Task, failed_result, run


def execute(task: Task) -> Record:
    """Check the account, and return the report with the failure, if there was one."""
    report, error = check_account(task.connection, task.report, task.ansible_version)
    result: Record = {"works": error is None, "report": report}
    if error:
        result.update(failed_result(error))
    return result


def main() -> None:
    run({}, execute)


if __name__ == "__main__":
    main()
