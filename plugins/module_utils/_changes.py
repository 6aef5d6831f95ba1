# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find a declared server in the account, compare it, and decide on a change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ._errors import MalformedResponse, OptionError
from ._models import FIELDS, Fields, Server
from ._text import as_word, summarise

# What is declared for a server, by option; None or left out if nothing is.
Declared = Mapping[str, Any]

UNKNOWN = "unknown"  # in a prediction: a value that only the API can set
MAX_IDS = 20  # of servers with the same name, in a message


class ServerIndex:
    """The servers of an account, found by id or by name without white space around it."""

    def __init__(self, servers: Iterable[Server]) -> None:
        self._by_id: dict[str, list[Server]] = {}
        self._by_name: dict[str, list[Server]] = {}
        for server in servers:
            name = server.text("name").strip()
            self._by_id[server.id] = [server]
            self._by_name.setdefault(name, []).append(server)

    def find(self, declared: Declared) -> list[Server]:
        """Return the server with the declared id, or all servers with the declared name."""
        if declared.get("name"):
            return self._by_name.get(declared["name"], [])
        return self._by_id.get(declared["id"], [])


def differences(
    server: Server, declared: Declared, fields: Iterable[str]
) -> dict[str, dict[str, str | None]]:
    """Return the declared fields whose value differs from the server's.

    Each is mapped to ``expected`` and ``actual``, which is None if the API gives no such field. A
    field that is not declared is not compared, nor is white space around a value of the API.
    """
    found = {}
    for field in fields:
        expected = declared.get(field)
        if expected and server.text(field).strip() != expected:
            found[field] = {"expected": expected, "actual": server.fields.get(field)}
    return found


def label_of(declared: Declared) -> str:
    """Return the name or id by which a server is declared, for a message."""
    return as_word(declared.get("name") or declared["id"])


class Change(NamedTuple):
    """The change that a task requires; ``operation`` is empty if it requires none.

    ``before`` has the fields of the server, ``after`` the same fields after the change. Without a
    server they are empty.
    """

    operation: str
    before: Fields
    after: Fields


def decide(params: Declared, servers: Iterable[Server]) -> Change:
    """Decide what the options of the module ``server`` require.

    Raises OptionError if no operation can fulfil them, and MalformedResponse if the API does not
    give a field that has to be compared.
    """
    server = _find_one(params, servers)
    state = params["state"]
    if server is None:
        if state == "absent":
            return Change("", {}, {})
        return _create(params)
    label = label_of(params)
    if _differs(server, params, "region"):
        actual = as_word(server.text("region"))
        raise OptionError(
            f"region: {label} is in {actual} and cannot be moved to {as_word(params['region'])}.",
            "The API has not announced a way to move a server.",
        )
    before = dict(server.fields)
    if state == "absent":
        return Change("delete", before, {})
    is_resized = _differs(server, params, "plan")
    if state == "reinstalled":
        if is_resized:
            raise OptionError(
                f"plan: {label} has the plan {as_word(server.text('plan'))}.",
                "Reinstalling does not resize: omit plan, or resize the server first.",
            )
        return Change("reinstall", before, {**before, "status": UNKNOWN})
    if is_resized:
        return Change("resize", before, {**before, "plan": params["plan"]})
    return Change("", before, before)


def _find_one(params: Declared, servers: Iterable[Server]) -> Server | None:
    found = ServerIndex(servers).find(params)
    if not found:
        return None
    if len(found) > 1:
        ids = summarise((server.id for server in found), MAX_IDS)
        raise OptionError(
            f"name: {len(found)} servers are named {label_of(params)}: {ids}.",
            "Use id to select one of them.",
        )
    return found[0]


def _create(params: Declared) -> Change:
    """Decide on a server that the account does not have."""
    label = label_of(params)
    if params["id"]:
        raise OptionError(
            f"id: the account has no server with the id {label}.",
            "To create a server, set name, plan and region instead of id.",
        )
    if params["state"] == "reinstalled":
        raise OptionError(
            f"name: the account has no server named {label} to reinstall.",
            "Check the name, or use state=present to create the server.",
        )
    missing = [option for option in ("plan", "region") if not params[option]]
    if missing:
        raise OptionError(
            f"{' and '.join(missing)}: required, because the account has no server named {label}."
        )
    predicted = {field: params.get(field) or UNKNOWN for field in FIELDS}
    return Change("create", {}, predicted)


def _differs(server: Server, params: Declared, field: str) -> bool:
    """Return whether an option requires another value than the server has."""
    if not differences(server, params, [field]):
        return False
    if not server.fields.get(field):
        raise MalformedResponse(
            f"The API gives no usable {field} for the server {as_word(server.id)}.",
            f"Omit {field} to continue without comparing it.",
        )
    return True
