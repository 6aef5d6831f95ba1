# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What all modules share: Ansible's side, the client, and one place for errors.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ansible_collections.server_management.cloud.plugins.module_utils._client import Client
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    MissingLibrary,
    NotYetLive,
    OptionError,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import FIELDS, Server
from ansible_collections.server_management.cloud.plugins.module_utils._options import (
    connection_argument_spec,
    connection_from,
)


class Task:
    """What one task asks for: its checked options, and the account that they are about."""

    def __init__(self, module: AnsibleModule, client: Client) -> None:
        self.params: Mapping[str, Any] = module.params
        self.check_mode: bool = module.check_mode
        self.warn: Callable[[str], None] = module.warn
        self._client = client

    def list_servers(self) -> list[Server]:
        """Read all servers of the account, and warn of fields that could not be used."""
        servers = self._client.list_servers()
        unusable = Counter(field for server in servers for field in server.unusable)
        if unusable:
            counts = ", ".join(f"{name} ({unusable[name]})" for name in FIELDS if unusable[name])
            self.warn(f"Fields that are missing or not text, with the number of servers: {counts}.")
        return servers


def run(
    options: Mapping[str, Any], execute: Callable[[Task], dict[str, Any]], **rules: Any
) -> None:
    """Check the task's options, let ``execute`` return its result, and hand that to Ansible.

    ``options`` are those beside the connection's; ``rules`` are AnsibleModule's, such as
    ``required_one_of``. A CloudError becomes a failed task, whoever raises it.
    """
    module = AnsibleModule(
        argument_spec={**connection_argument_spec(), **options}, supports_check_mode=True, **rules
    )
    try:
        for option in options:
            if module.params[option] == "":
                raise OptionError(f"{option}: must not be empty.")
        connection = connection_from(module.params.__getitem__, module.ansible_version)
        result = execute(Task(module, Client(connection, module.warn)))
    except CloudError as error:
        module.fail_json(**failure(error))
    module.exit_json(**result)


def failure(error: CloudError) -> dict[str, Any]:
    """Return what a task that fails says."""
    is_missing = isinstance(error, MissingLibrary)
    result: dict[str, Any] = {
        "changed": False,
        "msg": missing_required_lib("requests") if is_missing else str(error),
        "error": {"code": error.code, "status": error.status, "message": error.message},
    }
    if isinstance(error, NotYetLive):
        result.update(operation=error.operation, scope=error.scope, live=False)
    return result
