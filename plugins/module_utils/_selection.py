# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Select servers by the values of their fields, and explain why there are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from ._models import SELECTING_OPTIONS, Server
from ._options import GetOption, is_empty
from ._text import as_word, first_of, summarise

# The values that servers must have, by the option that gives them.
Wanted = dict[str, list[str]]


def wanted_values(get_option: GetOption) -> Wanted:
    """Return the values of those SELECTING_OPTIONS that are given.

    Raises OptionError for an empty list or value.
    """
    wanted: Wanted = {}
    for option in SELECTING_OPTIONS:
        values = get_option(option)
        if values is None:
            continue
        if not values or not all(value.strip() for value in values):
            raise is_empty(option, "to keep all")
        wanted[option] = values
    return wanted


def select(servers: Iterable[Server], wanted: Wanted) -> list[Server]:
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


def explain(servers: Collection[Server], wanted: Wanted) -> list[str]:
    """Return one message for each option of ``wanted`` with values that no server has.

    If there is none and no server matches all options, there is one message for all of them. The
    list is empty if the account has no servers.
    """
    if not servers:
        return []
    messages = explain_unknown(servers, wanted)
    if messages or select(servers, wanted):
        return messages
    fields = [SELECTING_OPTIONS[option] for option in wanted]
    found = "; ".join(f"{field}: {_describe_values(servers, field)}" for field in fields)
    options = ", ".join(wanted)
    return [f"{options}: no server matches all of these options; the account has {found}."]


def explain_unknown(servers: Collection[Server], wanted: Wanted) -> list[str]:
    """Return one message for each option of ``wanted`` with values that no server has."""
    messages = []
    for option, values in wanted.items():
        field = SELECTING_OPTIONS[option]
        existing = {server.text(field).strip() for server in servers}
        unknown = {value.strip() for value in values} - existing
        if servers and unknown:
            shown = _describe_values(servers, field)
            message = f"{option}: no server has {summarise(unknown)}; the account has {shown}."
            messages.append(message)
    return messages


def explain_case(servers: Collection[Server], statuses: Collection[str]) -> list[str]:
    """Return a message if some statuses differ only in case from those of the account.

    Any other status may be one that no server has yet, for which a playbook waits.
    """
    given = {status.strip() for status in statuses}
    left_out = {server.text("status").strip() for server in servers} - given
    folded = {status.casefold() for status in left_out}
    misspelled = [status for status in given if status.casefold() in folded]
    return explain_unknown(servers, {"statuses": misspelled})


def _describe_values(servers: Iterable[Server], field: str) -> str:
    """Name the five most frequent values of a field, each with its number of servers."""
    texts = [server.text(field) for server in servers if server.text(field)]
    if not texts:
        return "none"
    counts = Counter(sorted(texts))
    named = [f"{as_word(text)} ({count})" for text, count in counts.most_common()]
    return first_of(named, 5)
