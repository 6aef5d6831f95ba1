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

# The options of the module ``server``.
Params = Mapping[str, Any]

UNKNOWN = "unknown"  # in a prediction: a value that only the API can set
MAX_IDS = 20  # of servers with the same name, in a message


def label_of(params: Params) -> str:
    """Return the name or id by which a server is declared, for a message."""
    return as_word(params["name"] or params["id"])


class Change(NamedTuple):
    """The change that a task requires; ``operation`` is empty if it requires none.

    ``before`` has the fields of the server, ``after`` the same fields after the change. Without a
    server they are empty.
    """

    operation: str
    before: Fields
    after: Fields


def decide(params: Params, servers: Iterable[Server]) -> Change:
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


def _find_one(params: Params, servers: Iterable[Server]) -> Server | None:
    key = "name" if params["name"] else "id"
    found = [server for server in servers if server.text(key).strip() == params[key]]
    if not found:
        return None
    if len(found) > 1:
        ids = summarise((server.id for server in found), MAX_IDS)
        raise OptionError(
            f"name: {len(found)} servers are named {label_of(params)}: {ids}.",
            "Use id to select one of them.",
        )
    return found[0]


def _create(params: Params) -> Change:
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


def _differs(server: Server, params: Params, field: str) -> bool:
    """Return whether an option requires another value than the server has."""
    expected = params[field]
    actual = server.text(field).strip()
    if not expected or actual == expected:
        return False
    if not actual:
        raise MalformedResponse(
            f"The API gives no usable {field} for the server {as_word(server.id)}.",
            f"Omit {field} to continue without comparing it.",
        )
    return True
