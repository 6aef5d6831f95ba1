# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Select servers by the values of their fields, and explain why there are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from ._errors import OptionError
from ._models import SELECTING_OPTIONS, Server
from ._options import GetOption
from ._text import as_word, first_of, summarise

# The values that servers must have, by the option that gives them.
Wanted = dict[str, list[str]]


def wanted_values(get_option: GetOption) -> Wanted:
    """Return the values of those SELECTING_OPTIONS that are given.

    Raises OptionError for an empty list or value: usually a template has rendered to nothing.
    """
    wanted: Wanted = {}
    for option in SELECTING_OPTIONS:
        values = get_option(option)
        if values is None:
            continue
        if not values:
            raise OptionError(f"{option}: the list is empty.", "Leave the option out to keep all.")
        if not all(value.strip() for value in values):
            advice = "Check the template that it comes from, or leave the value out."
            raise OptionError(f"{option}: has an empty value.", advice)
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
    found = []
    for option in wanted:
        field = SELECTING_OPTIONS[option]
        found.append(f"{field}: {_describe_values(_count_values(servers, field))}")
    options = ", ".join(wanted)
    shown = "; ".join(found)
    return [f"{options}: no server matches all of these options; the account has {shown}."]


def explain_unknown(servers: Collection[Server], wanted: Wanted) -> list[str]:
    """Return one message for each option of ``wanted`` with values that no server has."""
    messages = []
    for option, values in wanted.items():
        counts = _count_values(servers, SELECTING_OPTIONS[option])
        unknown = {value.strip() for value in values} - counts.keys()
        if servers and unknown:
            shown = _describe_values(counts)
            message = f"{option}: no server has {summarise(unknown)}; the account has {shown}."
            messages.append(message)
    return messages


def _count_values(servers: Iterable[Server], field: str) -> Counter[str]:
    """Return the number of servers with each value of a field, without white space around it."""
    values = [server.text(field).strip() for server in servers if server.text(field)]
    return Counter(sorted(values))


def _describe_values(counts: Counter[str]) -> str:
    """Name the five most frequent values, each with its number of servers."""
    named = [f"{as_word(text)} ({count})" for text, count in counts.most_common()]
    return first_of(named, 5) or "none"
