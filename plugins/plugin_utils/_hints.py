# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is probably meant by an expression that fails or has no effect.

A hint is right or absent: following it must not make a wrong value silent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..module_utils._models import FIELDS
from ..module_utils._text import first_of, one_line
from ..module_utils._unknown_names import nearest
from ._ansible import SINCE_2_19
from ._expression import Expression
from ._hosts import ADDRESSES

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
_is_tag = re.compile(r"(?i)(?:tag|label)s?\W").match
_asks_for_tags = re.compile(r"(?i)(?:^|_)(?:tags?|labels)(?:_|$)").search
_type_of_condition = re.compile(r"Conditional result .* of type '(\w+)'").search
_FORMS_OF_CONDITIONS = {
    "str": "compare it with a text: == '…'",
    **dict.fromkeys(("int", "float"), "compare it with a number, without quotes: > 0"),
    **dict.fromkeys(("list", "tuple", "dict"), "ask for its length: (…) | length > 0"),
}


class Mistake(NamedTuple):
    """An expression with a name that is undefined, or that fails for another reason."""

    expression: Expression
    name: str
    reason: str


class Hint(NamedTuple):
    """What is probably meant, and whether the names of the fields help."""

    text: str = ""
    lists_fields: bool = False


@dataclass
class Meanings:
    """What names in expressions can mean.

    ``fields`` has the variable of each field of the API, and ``list_of_fields`` names them for the
    first message that needs it. ``others`` are all variables that some hosts have, and
    ``extra_vars`` those that are not used.
    """

    prefix: str
    fields: Mapping[str, str]
    list_of_fields: str
    others: Collection[str]
    composed: Collection[str]
    extra_vars: Collection[str]

    def explain(self, mistakes: Iterable[Mistake]) -> str:
        """Return the hints for a message about these mistakes, in parentheses."""
        hints: dict[Hint, list[str]] = {}
        for mistake in mistakes:
            hints.setdefault(self._hint_for(mistake), []).append(mistake.expression.label)
        texts = []
        for hint, labels in hints.items():
            text = hint.text
            if text and len(hints) > 1:  # it could be wrong for another expression
                text = f"for {first_of(labels, 3)}: {text}"
            texts.append(text)
        if any(hint.lists_fields for hint in hints):
            texts.append(self.list_of_fields)
            self.list_of_fields = ""
        shown = "; ".join(filter(None, texts))
        return f" ({shown})" if shown else ""

    def _hint_for(self, mistake: Mistake) -> Hint:
        """Return the first hint that is true."""
        expression = mistake.expression
        is_condition = expression.option in ("filters", "groups")
        if not SINCE_2_19 and not is_condition and _asks_lookup(expression.source):
            return Hint("before ansible-core 2.19, lookups are not possible here: use group_vars")
        misuse = misuse_of(expression, self.prefix)
        if misuse:
            return Hint(misuse)
        if mistake.name and mistake.name not in expression.names:
            return Hint()  # it is in the value of a variable, as a template
        for question in (self._other_variable, self._field, self._condition):
            text = question(mistake)
            if text:
                return Hint(text)
        return self._fields_or_text(mistake)

    def _other_variable(self, mistake: Mistake) -> str:
        """Return what to do if the name is a variable that the expression does not always have."""
        expression = mistake.expression
        name = mistake.name
        if expression.option == "compose" and name in self.composed and name != expression.entry:
            return f"entries of compose don't see each other: write the expression of {name} here"
        if name in self.extra_vars:
            return "it is an extra variable: set use_extra_vars: true"
        known = self.fields.values() if expression.option in _ONLY_FIELDS else self.others
        return "only some hosts have this variable: add the filter default" if name in known else ""

    def _field(self, mistake: Mistake) -> str:
        """Return which field is meant, or that it is text; for the address, that it is there."""
        expression = mistake.expression
        near = self._near_field(mistake.name)
        names = mistake.name or "|".join(self.fields.values())
        item = re.search(rf"\b({names}){_ITEM}", expression.source)
        is_address = expression.option == "compose" and expression.entry in ADDRESSES
        if is_address and (item or near != "ipv4"):
            return "the address is the API's ipv4 already: leave it out"
        if near and not item:
            return f"did you mean {self.fields[near]}?"
        if item and (near in FIELDS or _text_has_no_attribute(mistake.reason)):
            return f"{self.fields.get(near) or item[1]} is text, and not a list or a mapping"
        return ""

    def _condition(self, mistake: Mistake) -> str:
        """Return what to do if a condition is neither true nor false."""
        found = _type_of_condition(mistake.reason)
        kind = found[1] if found else ""
        if kind in ("str", "NoneType") and "regex_search" in mistake.expression.source:
            return "use the test `is search('…')` instead of the filter regex_search"
        return _FORMS_OF_CONDITIONS.get(kind, "")

    def _fields_or_text(self, mistake: Mistake) -> Hint:
        """Return what the expression can use, and how to write constant text."""
        option = mistake.expression.option
        source = mistake.expression.source
        if option == "hostnames" and _is_tag(source):
            return Hint(
                "the API has no tags; the server's name is the default: leave hostnames out"
            )
        lists_fields = bool(mistake.name and self.fields)
        text = ""
        if lists_fields and option not in _ONLY_FIELDS:
            text = "variables of another source are known if it is read before this file"
        if lists_fields and _asks_for_tags(mistake.name):
            text = "the API has no tags: use the name"
        is_constant = option == "compose" and _is_often_text(mistake.expression.entry)
        is_field = source.startswith(self.prefix or _DEFAULT_PREFIX)
        if is_constant and _looks_like_text(source) and not is_field:
            quoted = json.dumps(f"'{source}'", ensure_ascii=False)
            text = f"if text is meant, write {quoted}, with quotes inside the quotes"
        return Hint(text, lists_fields)

    def _near_field(self, name: str) -> str:
        """Return the field whose name is near to what follows the prefix, or an empty text.

        Prefixes are not compared, since a long one makes all names similar.
        """
        for prefix in (self.prefix, _DEFAULT_PREFIX, "server_"):
            name = name.removeprefix(prefix)
        return nearest(name, self.fields)


def misuse_of(expression: Expression, prefix: str) -> str:
    """Return what has no effect in an expression, whether it fails or not."""
    braces = _has_braces(expression.source)
    if braces:
        content = one_line(braces[1] or f"{prefix}id").strip()
        instead = f"write {content} instead of {{{{ {content} }}}}"
        return f"expressions have no braces: {instead}, outside quotes; ~ joins quoted text to it"
    if expression.option == "compose" and expression.entry == "inventory_hostname":
        return "it has no effect; for the names of hosts, use hostnames"
    return ""
