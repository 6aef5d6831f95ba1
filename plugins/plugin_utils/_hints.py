# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is probably meant by an expression that fails, or has no effect.

A hint is right or absent: following it must not make a wrong value silent.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ..module_utils._text import first_of, one_line

_DEFAULT_PREFIX = "server_management_"

# A template, or a part of one in a text, and what is in its braces; not the braces of
# replace('{{', '').
_has_braces = re.compile(r"""(?s)(?:^\{\{|\{\{(?=[^'"]*\}\}))(.*?)\}\}|^\{[{%]""").search
_undefined_name = re.compile(r"'(\w+)' is undefined").search
# Variables that people set to constant text, and expressions that look like it: one word, a path,
# or arguments of a command.
_is_often_text = re.compile(
    r"ansible_(?:\w*user|connection|become_method|network_os|shell_type)"
    r"|\w+_(?:interpreter|args|file)"
).fullmatch
_looks_like_text = re.compile(r"[A-Za-z_][\w-]*|[\w.~-]*/[\w./@~-]+|-[A-Za-z][^']*").fullmatch
_AS_A_LIST = r"(?:\[-?\d+\]|\.\d|\s*\|\s*(?:first|join|last|list|map|reject|select|sort|unique))"
_asks_for_tags = re.compile(r"(?i)(?:^|_)(?:tags?|labels)(?:_|$)").search


class Meanings(NamedTuple):
    """What an expression can mean.

    ``fields`` has the variable of each field of the API; ``others`` are all variables that some
    hosts have, and ``extra_vars`` those that are not used.
    """

    prefix: str
    fields: Mapping[str, str]
    others: Collection[str]
    composed: Collection[str]
    extra_vars: Collection[str]


def hint_for(  # noqa: C901, PLR0911, PLR0912  # a plain ladder
    option: str, entry: str, source: str, reason: str, meanings: Meanings
) -> str:
    """Return what is probably meant by an expression: the first hint that is true, or nothing.

    ``entry`` is the name that compose or groups gives to the result. ``reason`` is empty if the
    expression does not fail.
    """
    braces = _has_braces(source)
    if braces:
        content = one_line(braces[1] or f"{meanings.prefix}name").strip()
        instead = f"write {content} instead of {{{{ {content} }}}}"
        return f"expressions have no braces: {instead}, outside quotes; ~ joins quoted text to it"
    if option == "compose" and entry == "inventory_hostname":
        return "it has no effect; for the names of hosts, use hostnames"
    if not reason:
        return ""
    undefined = _undefined_name(reason)
    name = undefined[1] if undefined else ""
    if not re.search(rf"\b{name}\b", source):
        return ""  # it is in the value of a variable, as a template
    if option == "compose" and name in meanings.composed and name != entry:
        return f"entries of compose don't see each other: write the expression of {name} here"
    if name in meanings.extra_vars:
        return "it is an extra variable: set use_extra_vars: true"
    meant = _field_near(name, source, meanings)
    if meant:
        return f"did you mean {meant}?"
    if name in meanings.others:
        return "only some hosts have this variable: add the filter default"
    if option == "compose" and entry == "ansible_host" and name:
        return "ansible_host is the API's ipv4 already: leave it out"
    is_text = _is_often_text(entry) and _looks_like_text(source)
    is_field = source.startswith(meanings.prefix or _DEFAULT_PREFIX)
    if option == "compose" and is_text and not is_field:
        quoted = json.dumps(f"'{source}'", ensure_ascii=False)
        instead = f"write {quoted}, with quotes inside the quotes"
        return f"if text is meant, {instead}; group_vars are not known here"
    if option == "hostnames" and re.match(r"(?i)(?:tag|label)s?\W", source):
        return "the API has no tags; the server's name is the default: leave hostnames out"
    if "Conditional result" in reason:
        return "compare it, for example with ==, or use the test: is search('…')"
    if not name or not meanings.fields:
        return ""
    fields = first_of(sorted(meanings.fields), 10)
    shown = f"the fields of servers are {fields}, each with {meanings.prefix} before it"
    tags = "the API has no tags; " if _asks_for_tags(name) else ""
    return f"{tags}{shown}"


def _field_near(name: str, source: str, meanings: Meanings) -> str:
    """Return another variable of the API that has the name with another prefix, or a similar one.

    Prefixes are not compared, since a long one makes all names similar. An expression that takes an
    item of a list, such as ipv4[0] with community.general.linode, would take a character here.
    """
    if name in meanings.fields.values() or re.search(rf"\b{name}{_AS_A_LIST}", source):
        return ""
    for prefix in (meanings.prefix, _DEFAULT_PREFIX, "server_"):
        name = name.removeprefix(prefix)
    # "regoin" is near to "region"; "tags" is not near to "status", nor "ipv6" to "ipv4".
    near = difflib.get_close_matches(name, meanings.fields, n=1, cutoff=0.82)
    return meanings.fields[near[0]] if near else ""
