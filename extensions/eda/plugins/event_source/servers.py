# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Event source for ansible-rulebook: the changes of an account's servers."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

DOCUMENTATION = r"""
name: servers
short_description: Reports servers that appear, change or are gone
version_added: 1.0.0
description:
  - Polls the list of servers, compares it with the last one by the servers' ids, and puts an event
    on the rulebook's queue for each difference. The API itself has no events.
  - C(server_management.inventory_hostname) is the server's host name. C(meta.hosts), to which
    ansible-rulebook limits playbooks, is that name for C(appeared) and C(changed), and C(localhost)
    for C(gone), C(failed) and C(recovered), which are not about a host of the inventory.
  - A failing API never ends the rulebook and never looks like servers that are gone. There is one
    event C(failed), and when the API works again one event C(recovered), which comes before the
    differences that were found. If a rule deletes or disables something, set O(min_servers). An
    account that is suddenly empty is then also a failure.
  - An invalid argument, or a missing O(base_url), token or Python library, ends the rulebook before
    any request, with an error that names it.
  - The token file is read at each poll, so a token can be rotated without a restart. A file that is
    missing or empty is a failure like any other.
  - Retries and timeouts are as in the inventory plugin. Between two polls, the source
    waits as long as C(Retry-After) asks, but at most one hour.
  - Every text of an event consists of letters, digits, underscores, spaces and C(.:/@+,-). Each
    other character becomes an underscore, because ansible-rulebook passes events to playbooks as
    trusted variables, in which a template would run on the control node. A field whose name has
    other characters is dropped. The names of altered and dropped fields are in
    C(server_management.replaced).
  - A server whose id has other characters gets no events. A warning in the log names it.
author:
  - The server_management.cloud contributors (!UNKNOWN)
extends_documentation_fragment:
  - server_management.cloud.connection
options:
  interval:
    description:
      - The number of seconds to wait between two polls, at least 1. The wait starts when the
        rulebook has accepted all events of the last poll.
    type: float
    default: 60
  min_servers:
    description:
      - The minimum number of servers in the account. A listing with fewer is a failure, with the
        C(code) V(too_few_servers), and its missing servers are not reported as gone.
      - With the default, an empty account, or a token for another account, looks as if every server
        were gone. If a rule destroys something when a server is gone, set this to the smallest
        number of servers that you ever have, and at least to V(1).
    type: int
    default: 0
  hosts:
    description:
      - How the inventory names hosts, for C(inventory_hostname) in the events.
      - V(name) is for the default of the inventory plugin, and V(id) for
        C(hostnames=[server_management_id]).
    type: str
    choices: [name, id]
    default: name
  initial:
    description:
      - Whether to report the servers of the first listing as C(appeared). Otherwise, only changes
        after the start of the rulebook are reported.
    type: bool
    default: false
notes:
  - Options of the connection that are not set are taken from the environment, from
    E(SERVER_MANAGEMENT_BASE_URL), E(SERVER_MANAGEMENT_API_TOKEN),
    E(SERVER_MANAGEMENT_API_TOKEN_FILE) and others, as in the inventory plugin.
  - Relative paths in O(api_token_file) and O(ca_path) are relative to the working directory of
    C(ansible-rulebook).
  - The inventory of the rulebook must not have C(cache=true), because a cached inventory does not
    contain a server that has just appeared.
  - With O(allow_partial=true), servers that a partial listing does not have are not reported as
    gone.
"""

EXAMPLES = r"""
- name: React to changes
  hosts: all
  sources:
    # SERVER_MANAGEMENT_BASE_URL and SERVER_MANAGEMENT_API_TOKEN_FILE are in the environment.
    - server_management.cloud.servers:
        interval: 30
  rules:
    - name: Set up each server that runs and has an address
      condition: >-
        (event.server_management.event == "appeared"
        or event.server_management.changed contains "status"
        or event.server_management.changed contains "ipv4")
        and event.server_management.server.status == "running"
        and event.server_management.server.ipv4 is match("[1-9]")
      action:
        run_playbook:
          name: server_management.cloud.set_up_server

- name: Watch another account
  hosts: all
  sources:
    - server_management.cloud.servers:
        base_url: https://api.example.com
        min_servers: 1
        api_token_file: ~/.config/server_management/token
        hosts: id
        initial: true
  rules:
    - name: Print each change of a status
      condition: event.server_management.changed contains "status"
      action:
        debug:
          msg: >-
            {{ event.server_management.inventory_hostname }}:
            from {{ event.server_management.before.status }}
            to {{ event.server_management.server.status }}
"""

_COLLECTION = "ansible_collections.server_management.cloud"


async def main(queue: asyncio.Queue[dict[str, Any]], args: dict[str, Any]) -> None:
    """Put an event on the queue for each change, until cancelled."""
    await _polling().watch(queue.put, args)


def _polling() -> ModuleType:
    """Import the collection's code from the place of this file.

    ansible-rulebook runs this file by its path, without Ansible's loader, and the Python path may
    have other collections or another version of this one. Raises RuntimeError for an older Python,
    which ansible-rulebook allows, and for a copy of this file outside the collection.
    """
    root = Path(__file__, "../../../../..").resolve()
    if not (root / "plugins/plugin_utils/_polling.py").exists():
        message = (
            f"{__file__} works only inside its collection, because it uses other files of it. "
            "Install the collection, and write server_management.cloud.servers as the source in "
            "the rulebook."
        )
        raise RuntimeError(message)
    if _COLLECTION not in sys.modules:
        collection = ModuleType(_COLLECTION)
        collection.__path__ = [str(root)]
        sys.modules[_COLLECTION] = collection
    plugins = f"{_COLLECTION}.plugins"
    # First, because an import statement would look for the parents of a package that is not loaded.
    importlib.import_module(f"{plugins}.module_utils")
    return importlib.import_module(f"{plugins}.plugin_utils._polling")
