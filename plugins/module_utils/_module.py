# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a module: pass its options to the client, and report its result or its failure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ansible.module_utils.basic import AnsibleModule, _load_params

from ._client import Client, Level
from ._errors import CloudError, IncompleteListing, MissingLibrary, NotYetLive
from ._models import FIELDS, Record, Server, describe_unusable
from ._options import RULES, Connection, connection_from, is_empty, resolve_options
from ._text import SECRET_LENGTH, Show

_ON_CONTROL_NODE = (
    "Or run the task on the control node, with `delegate_to: localhost`; if it is there already, "
    'set `ansible_python_interpreter: "{{ ansible_playbook_python }}"`.'
)
_WHOLE_ACCOUNT = (
    "Set pagination to last_id if the API can list the servers after an id. This module must see "
    "the whole account, so it ignores allow_partial."
)


class Task(NamedTuple):
    """One task: its checked options, and access to the account."""

    params: Mapping[str, Any]
    connection: Connection
    ansible_version: str
    warn: Show

    def list_servers(self) -> list[Server]:
        """Read the servers of the account, or a part of them if allow_partial is set."""
        return Client(self.connection, self.report).list_servers()

    def report(self, level: Level, text: str) -> None:
        """Show warnings and long waits; a module has no other output."""
        if level in ("warning", "wait"):
            self.warn(text)

    def list_whole_account(self) -> list[Server]:
        """Read all servers of the account, and warn about fields that could not be used.

        The option allow_partial is ignored, because a server that is not in an incomplete listing
        may exist.
        """
        connection = self.connection._replace(allow_partial=False)
        try:
            servers = self._replace(connection=connection).list_servers()
        except IncompleteListing as error:
            error.next_step = _WHOLE_ACCOUNT
            raise
        self.warn_of_fields(servers)
        return servers

    def warn_of_fields(self, servers: list[Server]) -> None:
        """Warn about documented fields that servers in the result lack."""
        for message in describe_unusable(servers, FIELDS):
            self.warn(message)


def run(options: Mapping[str, Any], execute: Callable[[Task], Record], **rules: Any) -> None:
    """Check the task's options, call ``execute``, and pass its result to Ansible.

    ``options`` are those that the module adds to the connection's; ``rules`` are AnsibleModule's,
    such as ``required_one_of``. Any CloudError becomes a failed task.
    """
    spec = {**RULES, **options}
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True, **rules)
    version = module.ansible_version
    # In module.params, an option that is left out is null or has its default, too.
    given = _load_params()
    written = {option: module.params[option] for option in RULES if option in given}
    try:
        params = {**module.params, **_stripped(module.params, options)}
        connection_options = resolve_options(written, RULES)
        connection = connection_from(connection_options, version)
        # Until ansible-core 2.22, Ansible masks only the option, and not a token from elsewhere.
        if len(connection.api_token) >= SECRET_LENGTH:
            module.no_log_values.add(connection.api_token)
        task = Task(params, connection, version, module.warn)
        result = execute(task)
    except CloudError as error:
        module.fail_json(**failed_result(error))
    module.exit_json(**result)


def failed_result(error: CloudError) -> Record:
    """Return the result of a task that fails."""
    message = str(error)
    if isinstance(error, MissingLibrary):
        message += f" {_ON_CONTROL_NODE}"
    result: Record = {
        "changed": False,
        "msg": message,
        "error": error.as_result(),
    }
    if isinstance(error, NotYetLive):
        result.update(operation=error.operation, scope=error.scope, live=False)
    return result


def _stripped(params: Mapping[str, Any], options: Iterable[str]) -> dict[str, str]:
    """Return the texts among these options without white space around them.

    A block of YAML and the output of a command end with a line break. Raises OptionError for an
    empty text.
    """
    texts = {}
    for option in options:
        value = params[option]
        if not isinstance(value, str):
            continue
        texts[option] = value.strip()
        if not texts[option]:
            raise is_empty(option)
    return texts
