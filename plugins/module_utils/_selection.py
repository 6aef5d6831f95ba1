# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Select servers by the values of their fields, and explain what they leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from ._models import SELECTING_OPTIONS, Server
from ._options import GetOption, is_empty
from ._text import as_word, first_of, summarise

# The values that servers must have, by the option that gives them.
Wanted = dict[str, list[str]]


def wanted_values(get_option: GetOption) -> Wanted:
    """Return the values of those SELECTING_OPTIONS that are given, without white space around them.

    Raises OptionError for an empty list or value.
    """
    wanted: Wanted = {}
    for option in SELECTING_OPTIONS:
        values = get_option(option)
        if values is None:
            continue
        wanted[option] = [value.strip() for value in values]
        if not values or "" in wanted[option]:
            raise is_empty(option, "to keep all")
    return wanted


def select(servers: Iterable[Server], wanted: Wanted) -> list[Server]:
    """Keep the servers that match every option of ``wanted``, as ``wanted_values`` returns it.

    White space around the values of the API is ignored, too.
    """
    selected = list(servers)
    for option, values in wanted.items():
        field = SELECTING_OPTIONS[option]
        kept = set(values)
        selected = [server for server in selected if kept.intersection(_values(server, field))]
    return selected


def explain(servers: Collection[Server], wanted: Wanted) -> list[str]:
    """Return one message for each option of ``wanted`` with values that no server has.

    If there is none and no server matches all options, there is one message for all of them. The
    list is empty if the account has no servers.
    """
    messages = explain_unknown(servers, wanted)
    if messages or not servers or select(servers, wanted):
        return messages
    found = describe_values(servers, [SELECTING_OPTIONS[option] for option in wanted])
    return [
        f"{', '.join(wanted)}: no server matches all of these options; the account has "
        f"{'; '.join(found)}."
    ]


def describe_values(servers: Collection[Server], fields: Iterable[str]) -> list[str]:
    """Name the most frequent values of each of these fields, with their numbers of servers."""
    return [f"{field}: {_describe(_count_values(servers, field))}" for field in fields]


def explain_unknown(servers: Collection[Server], wanted: Wanted) -> list[str]:
    """Return one message for each option of ``wanted`` with values that no server has."""
    messages = []
    for option, values in wanted.items():
        counts = _count_values(servers, SELECTING_OPTIONS[option])
        unknown = set(values) - counts.keys()
        if servers and unknown:
            shown = summarise(unknown)
            messages.append(
                f"{option}: no server has {shown}; the account has {_describe(counts)}."
            )
    return messages


def _values(server: Server, field: str) -> list[str]:
    """Return the values of a field, without white space around them."""
    return [value.strip() for value in server.values(field)]


def _count_values(servers: Iterable[Server], field: str) -> Counter[str]:
    """Return the number of servers with each of these values."""
    values: list[str] = []
    for server in servers:
        values += _values(server, field)
    return Counter(sorted(values))


def _describe(counts: Counter[str]) -> str:
    """Name the five most frequent values, each with its number of servers."""
    named = [f"{as_word(text)} ({count})" for text, count in counts.most_common()]
    return first_of(named, 5) or "none"
