# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Select servers by the values of their fields, and explain why there are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from ._errors import OptionError
from ._models import SELECTING_OPTIONS, Server
from ._options import GetOption
from ._text import brief, first_of, in_quotes, summarise


def wanted_values(get_option: GetOption) -> dict[str, list[str]]:
    """Return the values of those SELECTING_OPTIONS that are given.

    Raises OptionError for an empty list or value: usually a template has rendered to nothing.
    """
    wanted = {}
    for option in SELECTING_OPTIONS:
        values = get_option(option)
        if values is None:
            continue
        if not values:
            raise OptionError(f"{option}: the list is empty.", "Leave the option out to keep all.")
        if not all(value.strip() for value in values):
            raise OptionError(f"{option}: has an empty value.", "Leave it out.")
        wanted[option] = values
    return wanted


def select(servers: Iterable[Server], wanted: Mapping[str, list[str]]) -> list[Server]:
    """Keep the servers that match every option of ``wanted``, as ``wanted_values`` returns it.

    White space around values is ignored, in the options and in the API: Ansible splits
    "eu-1, eu-2" only at the comma.
    """
    selected = list(servers)
    for option, values in wanted.items():
        kept = {value.strip() for value in values}
        field = SELECTING_OPTIONS[option]
        selected = [server for server in selected if server.text(field).strip() in kept]
    return selected


def explain_empty(servers: Collection[Server], wanted: Mapping[str, list[str]]) -> list[str]:
    """Return one message for each option of ``wanted`` that matches no server of the account.

    If each option matches some servers, but no server matches all of them, there is one message for
    all options. The list is empty if ``select`` keeps servers, or if the account has none.
    """
    if not servers or select(servers, wanted):
        return []
    messages = []
    for option, values in wanted.items():
        if not select(servers, {option: values}):
            messages.append(_no_server_has(option, values, servers))
    if messages:
        return messages
    parts = []
    for option in wanted:
        field = SELECTING_OPTIONS[option]
        parts.append(f"{field}: {_known_values(servers, field)}")
    options = ", ".join(wanted)
    known = "; ".join(parts)
    return [f"{options}: no server matches all of these options; the account has {known}."]


def explain_unknown(servers: Collection[Server], wanted: Mapping[str, list[str]]) -> list[str]:
    """Return one message for each option of ``wanted`` with values that no server has.

    The list is empty if the account has no servers.
    """
    if not servers:
        return []
    messages = []
    for option, values in wanted.items():
        field = SELECTING_OPTIONS[option]
        known = {server.text(field).strip() for server in servers}
        unknown = [value for value in values if value.strip() not in known]
        if unknown:
            messages.append(_no_server_has(option, unknown, servers))
    return messages


def explain_case(servers: Collection[Server], statuses: Iterable[str]) -> list[str]:
    """Return a message if some statuses differ only in case from those of the account.

    Any other status may be one that no server has yet, for which a playbook waits.
    """
    wanted = {status.strip() for status in statuses}
    known = {server.text("status").strip() for server in servers}
    left_out = {status.casefold() for status in known - wanted}
    misspelled = [status for status in wanted - known if status.casefold() in left_out]
    if not misspelled:
        return []
    return [_no_server_has("statuses", misspelled, servers)]


def _no_server_has(option: str, values: Iterable[str], servers: Iterable[Server]) -> str:
    field = SELECTING_OPTIONS[option]
    known = _known_values(servers, field)
    return f"{option}: no server has {summarise(values)}; the account has {known}."


def _known_values(servers: Iterable[Server], field: str) -> str:
    """Name the five most frequent values of a field, each with its number of servers."""
    texts = [server.text(field) for server in servers if server.text(field)]
    if not texts:
        return "none"
    counts = Counter(sorted(texts))
    named = [f"{in_quotes(brief(text))} ({count})" for text, count in counts.most_common()]
    return first_of(named, 5)
