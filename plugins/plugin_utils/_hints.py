# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Expressions that fail, or have no effect, and what is probably meant by them.

A hint is right or absent: following it must not make a wrong value silent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..module_utils._models import FIELDS
from ..module_utils._text import one_line
from ..module_utils._unknown_names import nearest
from ._ansible import SINCE_2_19, reason_text
from ._hosts import ADDRESSES, Host
from ._memory import Memory

_DEFAULT_PREFIX = "server_management_"
_ONLY_FIELDS = ("filters", "hostnames")  # what these see

# A template, or a part of one in a text, and what is in its braces; not the braces of
# replace('{{', '').
_has_braces = re.compile(r"""(?s)(?:^\{\{|\{\{(?=[^'"]*\}\}))(.*?)\}\}|^\{[{%]""").search
_asks_lookup = re.compile(r"\b(?:lookup|query|q)\(").search
_text_has_no_attribute = re.compile(r"(?:str'?|str object'|Text object') has no attribute").search
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


@dataclass(eq=False)
class Expression:
    """An expression of the file, and the error for each host for which it failed.

    ``entry`` names it among those of its option. ``content`` is what Ansible is asked about: the
    text of ``source``, or the entry of keyed_groups with it.
    """

    option: str
    entry: str
    source: str
    content: Any
    memory: Memory
    failures: dict[Host, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The option and the entry, for a message."""
        return one_line(f"{self.option}: {self.entry}")

    @property
    def reason(self) -> str:
        """Why it failed for the first of these hosts."""
        errors = [(host.label, error) for host, error in self.failures.items()]
        return reason_text(min(errors)[1])

    @property
    def undefined(self) -> str:
        """The name that is undefined, if it failed for that reason."""
        found = re.search(r"'(\w+)' is undefined", self.reason)
        return found[1] if found else ""

    def misuse(self, prefix: str) -> str:
        """Return what has no effect in it, whether it fails or not."""
        braces = _has_braces(self.source)
        if braces:
            content = one_line(braces[1] or f"{prefix}id").strip()
            instead = f"write {content} instead of {{{{ {content} }}}}"
            return (
                f"expressions have no braces: {instead}, outside quotes; ~ joins quoted text to it"
            )
        if self.option == "compose" and self.entry == "inventory_hostname":
            return "it has no effect; for the names of hosts, use hostnames"
        return ""


class Meanings(NamedTuple):
    """What an expression can mean.

    ``fields`` has the variable of each field of the API, and ``list_of_fields`` names them for a
    message; ``others`` are all variables that some hosts have, and ``extra_vars`` those that are
    not used.
    """

    prefix: str
    fields: Mapping[str, str]
    list_of_fields: str
    others: Collection[str]
    composed: Collection[str]
    extra_vars: Collection[str]


def hint_for(expression: Expression, meanings: Meanings) -> str:
    """Return what is probably meant by an expression that fails.

    It is the first hint that is true, or nothing.
    """
    source = expression.source
    if not SINCE_2_19 and expression.option not in ("filters", "groups") and _asks_lookup(source):
        return "before ansible-core 2.19, lookups are not possible here: use group_vars"
    misuse = expression.misuse(meanings.prefix)
    if misuse:
        return misuse
    name = expression.undefined
    if name and not re.search(rf"\b{name}\b", source):
        return ""  # it is in the value of a variable, as a template
    return _what_is_meant(expression, name, meanings)


# A plain ladder.
def _what_is_meant(expression: Expression, name: str, meanings: Meanings) -> str:  # noqa: C901, PLR0911
    """Continue ``hint_for``; ``name`` is undefined, if the expression has such a name."""
    option = expression.option
    source = expression.source
    fields = meanings.fields
    is_composed = option == "compose"
    if is_composed and name in meanings.composed and name != expression.entry:
        return f"entries of compose don't see each other: write the expression of {name} here"
    if name in meanings.extra_vars:
        return "it is an extra variable: set use_extra_vars: true"
    known = fields.values() if option in _ONLY_FIELDS else meanings.others
    if name in known:
        return "only some hosts have this variable: add the filter default"
    near = _near_field(name, meanings)
    names = name or "|".join(fields.values())
    item = re.search(rf"\b({names}){_ITEM}", source)
    if is_composed and expression.entry in ADDRESSES and (item or near != "ipv4"):
        return "the address is the API's ipv4 already: leave it out"
    if near and not item:
        return f"did you mean {fields[near]}?"
    if item and (near in FIELDS or _text_has_no_attribute(expression.reason)):
        return f"{fields.get(near) or item[1]} is text, and not a list or a mapping"
    condition = _type_of_condition(expression.reason)
    if condition and condition[1] in ("str", "NoneType") and "regex_search" in source:
        return "use the test `is search('…')` instead of the filter regex_search"
    if condition:
        return _FORMS_OF_CONDITIONS.get(condition[1], "")
    if option == "hostnames" and re.match(r"(?i)(?:tag|label)s?\W", source):
        return "the API has no tags; the server's name is the default: leave hostnames out"
    hint = meanings.list_of_fields if name and fields else ""
    if hint and _asks_for_tags(name):
        hint = f"the API has no tags: use the name; {hint}"
    is_text = is_composed and _is_often_text(expression.entry) and _looks_like_text(source)
    if is_text and not source.startswith(meanings.prefix or _DEFAULT_PREFIX):
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
