# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Select servers by the values of their fields, and explain why there are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from ._errors import OptionError
from ._models import GROUP_OPTIONS, OPTION_FIELDS, Server
from ._text import brief, summarise


def select(servers: Iterable[Server], wanted: Mapping[str, list[str] | None]) -> list[Server]:
    """Keep the servers that match every option of ``wanted``.

    ``wanted`` maps options of OPTION_FIELDS to the values to keep, or to None for any value. White
    space around values of groups is ignored: Ansible splits "eu-1, eu-2" only at the comma. Raises
    OptionError for an empty list or value: usually a template has rendered to nothing.
    """
    choices: dict[str, frozenset[str]] = {}
    for option, values in wanted.items():
        if values is None:
            continue
        if not values:
            raise OptionError(f"{option}: the list is empty.", "Leave the option out to keep all.")
        if not all(value.strip() for value in values):
            raise OptionError(f"{option}: has an empty value.", "Leave it out.")
        choices[OPTION_FIELDS[option]] = _spellings(option, values)
    return [
        server
        for server in servers
        if all(server.text(field) in values for field, values in choices.items())
    ]


def _spellings(option: str, values: Collection[str]) -> frozenset[str]:
    """Return the values of an option, those of a group also without white space around them."""
    return frozenset(values).union(map(str.strip, values) if option in GROUP_OPTIONS else ())


def explain_empty(servers: Collection[Server], wanted: Mapping[str, list[str] | None]) -> list[str]:
    """Return one message for each option of ``wanted`` that matches no server of the account.

    If each option matches some servers, but no server matches all of them, there is one message for
    all options. The list is empty if ``select`` keeps servers, or if the account has none.
    """
    used = {option: values for option, values in wanted.items() if values is not None}
    if not servers or select(servers, used):
        return []
    alone = [option for option in used if not select(servers, {option: used[option]})]
    messages = [_no_server_has(option, used[option] or (), servers) for option in alone]
    if not alone:
        fields = "; ".join(
            f"{OPTION_FIELDS[option]}: {describe_values(servers, OPTION_FIELDS[option])}"
            for option in used
        )
        messages.append(
            f"{', '.join(used)}: no server matches all of these options; the account has {fields}."
        )
    return messages


def explain_unknown(
    servers: Collection[Server], wanted: Mapping[str, list[str] | None]
) -> list[str]:
    """Return one message for each option of ``wanted`` with values that no server has.

    The list is empty if the account has no servers.
    """
    messages = []
    for option, values in wanted.items():
        known = {server.text(OPTION_FIELDS[option]) for server in servers}
        unknown = [value for value in values or () if known.isdisjoint(_spellings(option, [value]))]
        if unknown and servers:
            messages.append(_no_server_has(option, unknown, servers))
    return messages


def _no_server_has(option: str, values: Iterable[str], servers: Iterable[Server]) -> str:
    known = describe_values(servers, OPTION_FIELDS[option])
    return f"{option}: no server has {summarise(values)}; the account has {known}."


def describe_values(servers: Iterable[Server], field: str, shown: int = 5) -> str:
    """Name the most frequent values of a field on one line, each with its number of servers."""
    counts = Counter(text for server in servers if (text := server.text(field)))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{brief(value)} ({count})" for value, count in ordered[:shown]]
    more = len(ordered) - shown
    return (", ".join(named) or "none") + (f" and {more} more" if more > 0 else "")
