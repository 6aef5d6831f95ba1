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
from typing import NamedTuple

from jinja2 import nodes

from ..module_utils._models import FIELDS
from ..module_utils._options import GetOption
from ..module_utils._text import first_of, one_line
from ..module_utils._unknown_names import nearest
from ._ansible import SINCE_2_19
from ._expression import Expression
from ._hosts import ADDRESSES

_DEFAULT_PREFIX = "server_management_"
# As whole expressions, these are often the same or true for all hosts.
_ALONE = (nodes.Const, nodes.Name, nodes.Or)
_CONDITIONS = ("filters", "groups")
ONLY_FIELDS = ("filters", "hostnames")  # what these see

# A template, or a part of one in a text, and what is in its braces; not the braces of
# replace('{{', '').
_has_braces = re.compile(r"""(?s)(?:^\{\{|\{\{(?=[^'"]*\}\}))(.*?)(?:\}\}|$)""").search
_has_statement = re.compile(r"""^\{%|\{%(?=[^'"]*%\})""").search
_asks_lookup = re.compile(r"\b(?:lookup|query|q)\(").search
# Variables that people set to constant text, and expressions that look like it: one word, the name
# of a plugin, a path, or arguments of a command.
_is_often_text = re.compile(
    r"ansible_(?:\w*user|connection|become_method|network_os|shell_type)"
    r"|\w+_(?:interpreter|args|file)"
).fullmatch
_looks_like_text = re.compile(
    r"[A-Za-z_][\w-]*|\w+\.\w+\.\w+|[\w.~-]*/[\w./@~-]+|-[A-Za-z][^']*"
).fullmatch
_begins_with_tag = re.compile(r"(?i)(?:tags?|labels?)[:.]").match  # tag:Name
asks_for_tags = re.compile(r"(?i)(?:\b|_)(?:tags?|labels)(?:_|\b)").search
_types_of_condition = re.compile(r"Conditional result .* of type '(\w+)'").findall
_EXAMPLES_OF_NAMES = {"groups": "'web' in {}", "keyed_groups": "{}.split('-')[0]"}
_FORMS_OF_CONDITIONS = {
    "str": "compare it with a text: == '…'; each side of `or` needs its own comparison",
    **dict.fromkeys(("int", "float"), "compare it with a number, without quotes: > 0"),
    **dict.fromkeys(("list", "tuple", "dict"), "ask for its length: (…) | length > 0"),
}


class Mistake(NamedTuple):
    """An expression that fails, or that gives all hosts the same result.

    ``name`` is undefined, if that is the reason; ``is_known``: some hosts have it.
    """

    label: str
    expression: Expression
    name: str = ""
    reason: str = ""
    is_known: bool = False


class Hints:
    """The hints for the expressions of a file.

    ``fields`` has the variable of each field of the API; ``texts`` are those of documented fields.
    ``extra_vars`` are not used.
    """

    def __init__(
        self, get_option: GetOption, fields: Mapping[str, str], extra_vars: Collection[str]
    ) -> None:
        # For the first message that needs it.
        self._list_of_fields = f"the fields of servers are {first_of(sorted(fields.values()), 10)}"
        self._prefix = get_option("hostvars_prefix")
        self._fields = fields
        self._extra_vars = extra_vars
        self._composed = get_option("compose")
        self.texts = {fields[name] for name in FIELDS if name in fields}

    def explain(self, mistakes: Collection[Mistake]) -> str:
        """Return the hints for a message about these mistakes, in parentheses."""
        hints: dict[str, list[str]] = {}
        for mistake in mistakes:
            for hint in self._hints_for(mistake):
                hints.setdefault(hint, []).append(mistake.label)
        texts = []
        for hint, labels in hints.items():
            text = hint
            if len(labels) < len(mistakes):  # it could be wrong for another expression
                text = f"for {first_of(labels, 3)}: {hint}"
            texts.append(text)
        if self._list_of_fields in hints:
            self._list_of_fields = ""
        shown = "; ".join(texts)
        return f" ({shown})" if shown else ""

    def _hints_for(self, mistake: Mistake) -> Iterable[str]:
        """Return the first hint that is true, or the fields of servers and how to write text."""
        expression = mistake.expression
        is_condition = expression.option in _CONDITIONS
        if not SINCE_2_19 and not is_condition and _asks_lookup(expression.source):
            return ["before ansible-core 2.19, lookups are not possible here: use group_vars"]
        misuse = misuse_of(expression)
        if misuse:
            return [misuse]
        if mistake.name and mistake.name not in expression.names:
            return []  # it is in the value of a variable, as a template
        hint = self._other_variable(mistake) or self._field(mistake) or self._condition(mistake)
        if hint:
            return [hint]
        return filter(None, self._fields_and_text(mistake))

    def _other_variable(self, mistake: Mistake) -> str:
        """Return what to do if the name is a variable that the expression does not always have."""
        expression = mistake.expression
        name = mistake.name
        if expression.option == "compose" and name in self._composed and name != expression.entry:
            return f"entries of compose don't see each other: write the expression of {name} here"
        if name in self._extra_vars:
            return "it is an extra variable: set use_extra_vars: true"
        if mistake.is_known:
            return "only some hosts have this variable: add the filter default"
        return ""

    def _field(self, mistake: Mistake) -> str:
        """Return which field is meant, or that it is text; for the address, that it is there."""
        expression = mistake.expression
        name = mistake.name
        near = self._near_field(name)
        taken = {variable for variable, _item in expression.taken()}
        if name:
            taken = {self._fields.get(near, "")} if name in taken else set()
        texts = [
            f"{text} is text, and not a list or a mapping" for text in sorted(self.texts & taken)
        ]
        if is_address(expression) and (near != "ipv4" or expression.source != name):
            texts.append("the address is the API's ipv4 already: leave it out")
        if near and not texts:
            texts.append(f"did you mean {self._fields[near]}?")
        return "; ".join(texts)

    def _condition(self, mistake: Mistake) -> str:
        """Return what to do if a condition is neither true nor false."""
        expression = mistake.expression
        kind = "".join(_types_of_condition(mistake.reason))
        if kind in ("str", "NoneType") and "regex_search" in expression.source:
            return "use the test `is search('…')` instead of the filter regex_search"
        form = _FORMS_OF_CONDITIONS.get(kind, "")
        can_be_for_all = expression.option == "groups" and isinstance(expression.whole, _ALONE)
        if kind == "str" and can_be_for_all:
            return f"for all hosts, write true, or {form}"
        return form

    def _fields_and_text(self, mistake: Mistake) -> list[str]:
        """Return what the expression can use, and how to write constant text."""
        expression = mistake.expression
        option = expression.option
        source = expression.source
        fields = self._list_of_fields if mistake.name else ""
        text = ""
        if mistake.name and option not in ONLY_FIELDS:
            text = "use a field, leave it out, or define it in a source that is read before"
        is_constant = option == "compose" and _is_often_text(expression.entry)
        is_selector = expression.whole is None and _begins_with_tag(source)
        if is_selector or asks_for_tags(mistake.name):
            text = "the API has no tags: use the name, in a new expression"
            example = _EXAMPLES_OF_NAMES.get(option)
            if example and "name" in self._fields:
                text += f" such as {example.format(self._fields['name'])}"
            if is_constant:  # a server's name is not a user
                text = "the API has no tags: leave it out, or write text, in quotes inside quotes"
        if is_constant and _looks_like_text(source):
            quoted = json.dumps(f"'{source}'", ensure_ascii=False)
            text = f"if text is meant, write {quoted}, with quotes inside the quotes"
        return [text, fields]

    def _near_field(self, name: str) -> str:
        """Return the field whose name is near to what follows the prefix, or an empty text.

        Prefixes are not compared, since a long one makes all names similar.
        """
        for prefix in (self._prefix, _DEFAULT_PREFIX, "server_"):
            name = name.removeprefix(prefix)
        return nearest(name, self._fields)


def is_address(expression: Expression) -> bool:
    """Return whether an expression is for the address of the host."""
    return expression.option == "compose" and expression.entry in ADDRESSES


def misuse_of(expression: Expression) -> str:
    """Return what has no effect in an expression, whether it fails or not."""
    source = expression.source
    braces = _has_braces(source)
    if braces:
        content = one_line(braces[1]).strip()
        instead = f"write {content} instead of {{{{ {content} }}}}"
        return f"expressions have no braces: {instead}, outside quotes; ~ joins quoted text to it"
    if _has_statement(source):
        form = "the condition alone" if expression.option in _CONDITIONS else "'a' if … else 'b'"
        return f"expressions have no statements: write {form} instead of {{% if … %}}"
    if expression.option == "compose" and expression.entry == "inventory_hostname":
        return "it has no effect; for the names of hosts, use hostnames"
    return ""
