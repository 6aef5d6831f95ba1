# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is probably meant by an expression that fails, or has no effect.

A hint is right or absent: following it must not make a wrong value silent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ..module_utils._models import FIELDS
from ..module_utils._options import nearest
from ..module_utils._text import first_of, one_line
from ._ansible import SINCE_2_19
from ._hosts import ADDRESSES

_DEFAULT_PREFIX = "server_management_"
_CONDITIONS = ("filters", "groups")
_ONLY_FIELDS = ("filters", "hostnames")  # what these see

# A template, or a part of one in a text, and what is in its braces; not the braces of
# replace('{{', '').
_has_braces = re.compile(r"""(?s)(?:^\{\{|\{\{(?=[^'"]*\}\}))(.*?)\}\}|^\{[{%]""").search
_asks_lookup = re.compile(r"\b(?:lookup|query|q)\(").search
_undefined_name = re.compile(r"'(\w+)' is undefined").search
_text_has_no_attribute = re.compile(r"(?:str'?|str object'|Text object') has no attribute").search
_first_name = re.compile(r"[A-Za-z_]\w*\b(?!\()").match
# Variables that people set to constant text, and expressions that look like it: one word, the name
# of a plugin, a path, or arguments of a command.
_is_often_text = re.compile(
    r"ansible_(?:\w*user|connection|become_method|network_os|shell_type)"
    r"|\w+_(?:interpreter|args|file)"
).fullmatch
_looks_like_text = re.compile(
    r"[A-Za-z_][\w-]*|\w+\.\w+\.\w+|[\w.~-]*/[\w./@~-]+|-[A-Za-z][^']*"
).fullmatch
# What follows a list or a mapping: ipv4[0] with community.general.linode, region.slug with
# community.digitalocean, but not region.upper(). An item of a text would be one character.
_ITEM = (
    r"(?:\[(?:-?\d+\]|['\"])|\.(?:get\b|\w+\b(?!\())"
    r"|\s*\|\s*(?:first|join|last|list|map|reject|select|sort|unique)\b)"
)
_asks_for_tags = re.compile(r"(?i)(?:^|_)(?:tags?|labels)(?:_|$)").search
_type_of_condition = re.compile(r"Conditional result .* of type '(\w+)'").search
_FORMS_OF_CONDITIONS = {
    "str": "compare it with a text: == '…'",
    **dict.fromkeys(("int", "float"), "compare it with a number, without quotes: > 0"),
    **dict.fromkeys(("list", "tuple", "dict"), "ask for its length: (…) | length > 0"),
}


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


def hint_for(option: str, entry: str, source: str, reason: str, meanings: Meanings) -> str:
    """Return what is probably meant by an expression: the first hint that is true, or nothing.

    ``entry`` is the name that compose or groups gives to the result. ``reason`` is empty if the
    expression does not fail.
    """
    if reason and not SINCE_2_19 and option not in _CONDITIONS and _asks_lookup(source):
        return "before ansible-core 2.19, lookups are not possible here: use group_vars"
    braces = _has_braces(source)
    if braces:
        content = one_line(braces[1] or f"{meanings.prefix}id").strip()
        instead = f"write {content} instead of {{{{ {content} }}}}"
        return f"expressions have no braces: {instead}, outside quotes; ~ joins quoted text to it"
    if option == "compose" and entry == "inventory_hostname":
        return "it has no effect; for the names of hosts, use hostnames"
    if not reason:
        return ""
    undefined = _undefined_name(reason)
    name = undefined[1] if undefined else ""
    if name and not re.search(rf"\b{name}\b", source):
        return ""  # it is in the value of a variable, as a template
    first = _first_name(source)
    if first and "AnsibleUndefined" in reason and first[0] not in meanings.others:
        name = first[0]  # from a filter, before ansible-core 2.19
    return _what_is_meant(option, entry, name, source, reason, meanings)


def _what_is_meant(  # noqa: C901, PLR0911  # a plain ladder
    option: str, entry: str, name: str, source: str, reason: str, meanings: Meanings
) -> str:
    """Continue ``hint_for`` for an expression that fails; ``name`` is undefined, if it has one."""
    fields = meanings.fields
    is_composed = option == "compose"
    if is_composed and name in meanings.composed and name != entry:
        return f"entries of compose don't see each other: write the expression of {name} here"
    if name in meanings.extra_vars:
        return "it is an extra variable: set use_extra_vars: true"
    if name in meanings.others:
        return "only some hosts have this variable: add the filter default"
    near = _near_field(name, meanings)
    names = name or "|".join(fields.values())
    item = re.search(rf"\b({names}){_ITEM}", source)
    if is_composed and entry in ADDRESSES and (item or near != "ipv4"):
        return "the address is the API's ipv4 already: leave it out"
    if near and not item:
        return f"did you mean {fields[near]}?"
    if item and (near in FIELDS or _text_has_no_attribute(reason)):
        return f"{fields.get(near) or item[1]} is text, and not a list or a mapping"
    condition = _type_of_condition(reason)
    if condition and condition[1] in ("str", "NoneType") and "regex_search" in source:
        return "use the test `is search('…')` instead of the filter regex_search"
    if condition:
        return _FORMS_OF_CONDITIONS.get(condition[1], "")
    if option == "hostnames" and re.match(r"(?i)(?:tag|label)s?\W", source):
        return "the API has no tags; the server's name is the default: leave hostnames out"
    hint = _fields(name, meanings)
    is_field = source.startswith(meanings.prefix or _DEFAULT_PREFIX)
    if is_composed and not is_field and _is_often_text(entry) and _looks_like_text(source):
        quoted = json.dumps(f"'{source}'", ensure_ascii=False)
        hint += f"; if text is meant, write {quoted}, with quotes inside the quotes"
    elif hint and option not in _ONLY_FIELDS:
        hint += "; variables of another source are known if it is read before this file"
    return hint.removeprefix("; ")


def _near_field(name: str, meanings: Meanings) -> str:
    """Return the field whose name is near to what follows the prefix, or an empty text.

    Prefixes are not compared, since a long one makes all names similar.
    """
    for prefix in (meanings.prefix, _DEFAULT_PREFIX, "server_"):
        name = name.removeprefix(prefix)
    return nearest(name, meanings.fields)


def _fields(name: str, meanings: Meanings) -> str:
    """Return which fields there are instead of a name, if an expression has one."""
    if not name or not meanings.fields:
        return ""
    tags = "the API has no tags: use the name; " if _asks_for_tags(name) else ""
    use = f"each with {meanings.prefix} before it"
    if not meanings.prefix:
        use = "and name with a hostvars_prefix"
    return f"{tags}the fields of servers are {first_of(sorted(meanings.fields), 10)}, {use}"
