# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The servers of an account: validated, selected, and described for messages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import MalformedResponse, OptionError
from ._text import brief, count_of, summarise

# The fields that the API documents for a server; all are text.
FIELDS = ("id", "name", "status", "plan", "region", "ipv4", "created_at")
GROUP_FIELDS = ("region", "plan", "status")  # each of their values makes a group of hosts

# The options that keep the servers with certain values of a field, and that field.
OPTION_FIELDS = {
    "id": "id", "name": "name", "statuses": "status", "regions": "region", "plans": "plan"
}  # fmt: skip

_REPORT = "The API does not document such a response: check base_url, then ask the provider."


@dataclass(frozen=True)
class Server:
    """One server: ``fields`` has the documented fields that were usable, and all other fields."""

    id: str
    fields: Mapping[str, Any]

    def text(self, field: str) -> str:
        """Return a documented field, or an empty text if the API gave none."""
        text: str = self.fields.get(field, "")
        return text

    @property
    def unusable(self) -> list[str]:
        """Return the documented fields that were missing or not text."""
        return [field for field in FIELDS if field not in self.fields]


def server_from_api(element: Any, position: int) -> Server:
    """Validate one element of a listing; ``position`` (from 0) is only for the message.

    Documented fields of the wrong type are dropped. Raises MalformedResponse if the element is not
    an object, or has no ``id`` that is a non-empty text.
    """
    if not isinstance(element, dict):
        raise MalformedResponse(f"Element {position} of data is not an object.", _REPORT)
    identifier = element.get("id")
    # Escaping what can't be encoded could make two ids equal.
    if not isinstance(identifier, str) or not identifier or _valid_text(identifier) != identifier:
        raise MalformedResponse(f"Element {position} of data has no text id.", _REPORT)
    if not _is_ascii(element):
        usable = {
            key: value
            for key, value in element.items()
            if isinstance(value, str) or key not in FIELDS
        }
        element = map_texts(usable, _valid_text, _valid_text)
    return Server(identifier, element)


def merge(servers: dict[str, Server], elements: Iterable[Any]) -> None:
    """Validate the elements of one response and add them to ``servers``, each id once.

    If two elements with the same id differ, their content decides which one is kept, and not their
    order, so that the same listing in another order gives the same servers.
    """
    for position, element in enumerate(elements):
        server = server_from_api(element, position)
        known = servers.setdefault(server.id, server)
        if known is not server:
            servers[server.id] = max(known, server, key=_canonical)


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
    is_group = OPTION_FIELDS[option] in GROUP_FIELDS
    return frozenset(values).union(map(str.strip, values) if is_group else ())


def describe_source(
    account: Collection[Server], obtained: str, hosts: int, used: Iterable[str]
) -> str:
    """Describe on one line what a source did; ``used`` are the options that select hosts."""
    after = " and ".join(used)
    after = f" after {after}" if after else ""
    return f"{count_of(len(account), 'server')} {obtained}; {count_of(hosts, 'host')}{after}"


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


def describe_unusable(servers: Iterable[Server]) -> str:
    """Name the documented fields that servers lack, each with the number of servers; "" if none."""
    counts = Counter(field for server in servers for field in server.unusable)
    if not counts:
        return ""
    named = ", ".join(f"{field} ({counts[field]})" for field in FIELDS if counts[field])
    return f"Fields that are missing or not text, with the number of servers: {named}."


def _is_ascii(element: dict[str, Any]) -> bool:
    """Return whether all keys and values are ASCII text, so that there is nothing to validate."""
    try:
        return "".join(element.values()).isascii() and "".join(element).isascii()
    except TypeError:
        return False


def _canonical(server: Server) -> str:
    return json.dumps(server.fields, sort_keys=True)


def map_texts(value: Any, change: Callable[[str], str], rename: Callable[[str], str]) -> Any:
    """Return a JSON value with its texts changed, and the keys of its objects renamed."""
    if isinstance(value, str):
        return change(value)
    if not isinstance(value, (Mapping, list)):
        return value
    if isinstance(value, list):
        return [map_texts(item, change, rename) for item in value]
    return {
        key: map_texts(item, change, rename) for key, item in _rename_keys(value, rename).items()
    }


def _rename_keys(fields: Mapping[str, Any], rename: Callable[[str], str]) -> dict[str, Any]:
    """Rename keys; those that become the same get numbers: "a_1" after "a".

    Keys that ``rename`` does not change stay as they are, whatever the order. ``numbers`` has the
    last number of each key, so that many equal keys take linear time.
    """
    result = {key: value for key, value in fields.items() if rename(key) == key}
    if len(result) == len(fields):
        return result
    numbers: Counter[str] = Counter()
    for key in sorted(fields.keys() - result.keys()):
        free = renamed = rename(key)
        while free in result:
            numbers[renamed] += 1
            free = f"{renamed}_{numbers[renamed]}"
        result[free] = fields[key]
    return result


def _valid_text(text: str) -> str:
    """Escape lone surrogates, which JSON can contain, but neither a file nor a terminal."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
