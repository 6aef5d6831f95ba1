# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: server
short_description: Creates, resizes, reinstalls or deletes a server (waits for servers:write)
version_added: 1.0.0
description:
  - Waits for the scope C(servers:write), which the API has announced and not yet opened. Until
    then, a task that has something to change fails and changes nothing.
  - It reads the account's servers, which is live, so it already finds drift. Where nothing is to
    do the task is C(ok), and in check mode it predicts what it would do, with a warning that this
    is not yet live.
author:
  - The server_management.cloud contributors (!UNKNOWN)
extends_documentation_fragment:
  - server_management.cloud.connection
  - server_management.cloud.attributes
  - server_management.cloud.live.server
attributes:
  check_mode:
    details: Predicts what would happen, with a warning for what is not yet live.
  diff_mode:
    support: full
    details: A value that only the API can tell is shown as V(unknown).
  idempotent:
    support: partial
    details: O(state=reinstalled) reinstalls each time.
options:
  name:
    description:
      - The name of the server. It is an error if several servers have it.
      - Exactly one of O(name) and O(id) is required; a new server needs O(name).
    type: str
  id:
    description: The id of a server that exists.
    type: str
  plan:
    description:
      - The plan that the server should have. A server with another one is resized.
      - Required for a new server. Ignored with O(state=absent).
      - With O(state=reinstalled) another plan than the server has is an error.
    type: str
  region:
    description:
      - The region of the server. Required for a new server.
      - Another region than the server has is an error, whatever O(state) is. The API has announced
        no way to move a server.
    type: str
  state:
    description:
      - V(present) means that the server exists, with O(plan) if that is given.
      - V(absent) means that there is no such server.
      - V(reinstalled) means that the server is reinstalled, each time that the task runs.
    type: str
    choices: [present, absent, reinstalled]
    default: present
seealso:
  - module: server_management.cloud.server_info
  - ref: ansible_collections.server_management.cloud.docsite.api_status
    description: What the API offers today.
  - ref: ansible_collections.server_management.cloud.docsite.guide_modules
    description: How to use the modules.
"""

EXAMPLES = r"""
# The URL and the token are in the environment: SERVER_MANAGEMENT_BASE_URL and
# SERVER_MANAGEMENT_API_TOKEN.
- name: Report drift, with --check --diff
  server_management.cloud.server:
    name: web-01
    plan: medium
    region: eu-1

- name: See what a deletion would do
  server_management.cloud.server:
    id: srv_4f2a91c07d
    state: absent
  check_mode: true

- name: Reinstall a server
  server_management.cloud.server:
    name: web-01
    state: reinstalled
  register: reinstallation
  # As long as the scope is not open.
  failed_when: reinstallation is failed and reinstallation.live | default(true)
"""

RETURN = r"""
server:
  description:
    - The server as the API lists it, with the same fields as in
      RV(server_management.cloud.server_info#module:servers).
  returned: success, if the server exists
  type: dict
  contains:
    id:
      description: The id of the server.
      returned: always
      type: str
      sample: srv_4f2a91c07d
    name:
      description: The name of the server.
      returned: when the API gives one
      type: str
      sample: web-01
    status:
      description: The state of the server. V(running) is the only value that the API documents.
      returned: when the API gives one
      type: str
      sample: running
    plan:
      description: The plan of the server.
      returned: when the API gives one
      type: str
      sample: small
    region:
      description: The region that the server is in.
      returned: when the API gives one
      type: str
      sample: eu-1
    ipv4:
      description: The IPv4 address of the server.
      returned: when the API gives one
      type: str
      sample: 192.0.2.10
    created_at:
      description: When the server was created, in UTC.
      returned: when the API gives one
      type: str
      sample: "2026-01-02T03:04:05Z"
operation:
  description: The operation that is needed, one of V(create), V(resize), V(reinstall), V(delete).
  returned: if there is something to change
  type: str
  sample: resize
scope:
  description: The scope that the operation needs.
  returned: if there is something to change
  type: str
  sample: servers:write
live:
  description: Whether the API offers the operation.
  returned: if there is something to change
  type: bool
  sample: false
diff:
  description:
    - The server before and after, as far as can be told. What the task does not ask for stays as it
      is, and what only the API can tell is V(unknown).
  returned: in check mode, if there is something to change
  type: dict
  contains:
    before:
      description: The fields of the server as it is, or nothing.
      returned: always
      type: dict
      sample: {name: web-01, plan: small}
    after:
      description: The fields of the server as it would be, or nothing.
      returned: always
      type: dict
      sample: {name: web-01, plan: medium}
    before_header:
      description: The name or id that the task gives.
      returned: always
      type: str
      sample: web-01
    after_header:
      description: The name or id that the task gives.
      returned: always
      type: str
      sample: web-01
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
      description: The HTTP status of the API's answer, or null where there was none.
      returned: always
      type: int
      sample: 403
    message:
      description: What was wrong. RV(ignore:msg) also says what to do about it.
      returned: always
      type: str
      sample: The token lacks the scope servers:read (HTTP 403).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
    OptionError,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import FIELDS, Server
from ansible_collections.server_management.cloud.plugins.module_utils._module import Task, run
from ansible_collections.server_management.cloud.plugins.module_utils._operations import (
    operation,
    refuse,
)
from ansible_collections.server_management.cloud.plugins.module_utils._text import one_line

OPTIONS: dict[str, dict[str, Any]] = {
    "id": {"type": "str"},
    "name": {"type": "str"},
    "plan": {"type": "str"},
    "region": {"type": "str"},
    "state": {
        "type": "str",
        "default": "present",
        "choices": ["present", "absent", "reinstalled"],
    },
}
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Plan:
    """What a task comes to: ``operation`` is empty where nothing is to do.

    ``before`` has the fields of the server, none where there is no server; ``after`` what they
    would become.
    """

    operation: str
    before: Mapping[str, Any]
    after: Mapping[str, Any]


def find(params: Mapping[str, Any], servers: Iterable[Server]) -> Server | None:
    """Return the server that the task is about; OptionError where several have its name."""
    if params["id"]:
        found = [server for server in servers if server.id == params["id"]]
    else:
        found = [server for server in servers if server.text("name") == params["name"]]
    if len(found) > 1:
        ids = ", ".join(sorted(one_line(server.id) for server in found))
        raise OptionError(
            f"name: {len(found)} servers are named {one_line(params['name'])}: {ids}.",
            "Say which one with id.",
        )
    return found[0] if found else None


def plan(params: Mapping[str, Any], servers: Iterable[Server]) -> Plan:
    """Decide what to do; raises OptionError for a wish that no operation could fulfil."""
    server = find(params, servers)
    state = params["state"]
    if server is None:
        return Plan("", {}, {}) if state == "absent" else _plan_new(params)
    if _differs(server, params, "region"):
        raise OptionError(
            f"region: {_name(params)} is in {one_line(server.text('region'))}, "
            f"and can't be moved to {one_line(params['region'])}."
        )
    before = dict(server.fields)
    if state == "absent":
        return Plan("delete", before, {})
    resized = _differs(server, params, "plan")
    if state == "reinstalled":
        if resized:
            raise OptionError(
                f"plan: {_name(params)} has the plan {one_line(server.text('plan'))}.",
                "To reinstall does not resize: leave plan out, or resize first.",
            )
        return Plan("reinstall", before, {**before, "status": UNKNOWN})
    if resized:
        return Plan("resize", before, {**before, "plan": params["plan"]})
    return Plan("", before, before)


def _plan_new(params: Mapping[str, Any]) -> Plan:
    """Plan what the task asks for where there is no such server."""
    if params["id"]:
        raise OptionError(
            f"id: there is no server {_name(params)}.", "A new server needs name, plan and region."
        )
    if params["state"] == "reinstalled":
        raise OptionError(f"name: there is no server {_name(params)} to reinstall.")
    missing = [option for option in ("plan", "region") if not params[option]]
    if missing:
        raise OptionError(
            f"{' and '.join(missing)}: required, as there is no server {_name(params)} yet."
        )
    return Plan("create", {}, {field: params.get(field) or UNKNOWN for field in FIELDS})


def _differs(server: Server, params: Mapping[str, Any], field: str) -> bool:
    """Tell whether the task asks for another value than the server has."""
    wanted: str | None = params[field]
    if not wanted:
        return False
    if not server.text(field):
        raise MalformedResponse(
            f"The API gives no usable {field} for the server {one_line(server.id)}.",
            f"Leave {field} out to go on without it.",
        )
    return server.text(field) != wanted


def _name(params: Mapping[str, Any]) -> str:
    return one_line(params["name"] or params["id"])


def execute(task: Task) -> dict[str, Any]:
    """Return the result of the task."""
    planned = plan(task.params, task.list_servers())
    result: dict[str, Any] = {"server": dict(planned.before)} if planned.before else {}
    if not planned.operation:
        return result
    wanted = operation("server", planned.operation)
    if not task.check_mode:
        refuse(wanted)
    if not wanted.live:
        task.warn(f"{wanted.waits}; outside check mode this task fails and changes nothing.")
    header = _name(task.params)
    return {
        **result,
        "changed": True,
        "operation": wanted.name,
        "scope": wanted.scope,
        "live": wanted.live,
        "diff": {
            "before": dict(planned.before),
            "after": dict(planned.after),
            "before_header": header,
            "after_header": header,
        },
    }


def main() -> None:
    """Run the module."""
    run(OPTIONS, execute, required_one_of=[("name", "id")], mutually_exclusive=[("name", "id")])


if __name__ == "__main__":
    main()
