# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One expression of an inventory file: what it reads, and its results for texts.

Ansible needs 0.1 to 1 ms for each host and expression. Many servers have the same plan, region and
status, and an expression that depends on its variables alone has the same result for all of them.
So the result of an expression that consists of variables, constants, operators, and the methods,
filters and tests below is remembered for the texts of its variables. Ansible is asked again for
every other expression, and for a variable that is neither absent nor text that can't be a template.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

from jinja2 import nodes

from ..module_utils._text import is_plain, one_line
from ._ansible import RESERVED_VARIABLES
from ._config_expressions import parts_of
from ._hosts import Host

# Braces can end an expression inside a template, and Ansible up to 2.18 renders those in its text.
# Ansible and Jinja treat backslashes differently.
_TEMPLATE_SIGNS = frozenset("{}\\")
# What people write for names, plans, regions and statuses; none returns an iterator.
_FILTERS = {
    "bool", "capitalize", "d", "default", "first", "int", "join", "last", "length", "lower",
    "regex_replace", "regex_search", "replace", "split", "string", "ternary", "title", "trim",
    "upper",
}  # fmt: skip
_TESTS = {"defined", "match", "none", "regex", "search", "truthy", "undefined"}
_METHODS = {
    "endswith", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace",
    "rpartition", "rsplit", "rstrip", "split", "startswith", "strip", "title", "upper",
}  # fmt: skip


# A variable, and its attribute, key or element, or a filter for a list or a mapping, also after a
# default.
_items = re.compile(
    r"""(?<![\w.])([A-Za-z_]\w*)(\.\w+|\[['"][^'"]+['"]\]|\[-?\d+\]"""
    r"""|\s*(?:\|\s*default\([^()]*\)\s*)?"""
    r"""\|\s*(?:first|join|last|list|map|reject|select|sort|unique)\b)"""
).findall


class Expression:
    """An expression of the file.

    ``entry`` names it among those of its option, and ``source`` is its text. ``content`` is what
    Ansible is asked about: the expression, or the entry of keyed_groups that it is in. ``names``
    are the variables that it reads, and ``whole`` is its tree, as far as Jinja can read it. Its
    results are remembered if ``is_remembered``; ``changing`` are variables that can have another
    value each time. ``failures`` has the error for each host for which it failed.
    """

    def __init__(
        self, option: str, entry: Any, content: Any, changing: Collection[str] = ()
    ) -> None:
        self.option = option
        self.entry = str(entry)
        self.source = str(content).strip()
        self.content = content
        parts = parts_of(content)
        self.whole = parts[0] if parts else None
        self.names = {part.name for part in parts if isinstance(part, nodes.Name)}
        depends_on_text = all(map(_depends_on_its_parts, parts))
        has_signs = not _TEMPLATE_SIGNS.isdisjoint(self.source)
        # Magic variables, such as group_names, are reserved: result() would take them for absent.
        reads_changing = self.names & RESERVED_VARIABLES.union(changing)
        self.is_remembered = bool(parts) and depends_on_text and not (has_signs or reads_changing)
        self.failures: dict[Host, str] = {}
        self._results: dict[Hashable, Any] = {}

    @property
    def label(self) -> str:
        """The option and the entry, for a message."""
        return one_line(f"{self.option}: {self.entry}")

    def taken(self) -> set[tuple[str, str]]:
        """Return variables, each with what it takes from them that text does not have.

        For example, ("region", ".slug"), ("region", "['slug']"), ("ipv4", "[0]"), and
        ("name", " | list").
        """
        pairs = _items(self.source)
        return {pair for pair in pairs if not hasattr(str, pair[1].strip(".[]'\""))}

    def result(self, variables: Mapping[str, Any], ask: Callable[[], Any]) -> Any:
        """Return the result for these variables; ``ask`` for one that is not remembered."""
        if not self.is_remembered:
            return ask()
        texts = []  # with their classes
        for name in self.names:
            value = variables.get(name)
            is_text = isinstance(value, str) and is_plain(value)
            if not is_text and name in variables:
                return ask()
            texts.append((value.__class__, value))
        key = tuple(texts)
        if key not in self._results:
            self._results[key] = ask()
        return self._results[key]


def _depends_on_its_parts(part: nodes.Expr) -> bool:
    """Return whether a part of an expression depends on its own parts alone."""
    if isinstance(part, nodes.Filter):
        return part.name in _FILTERS
    if isinstance(part, nodes.Test):
        return part.name in _TESTS
    if isinstance(part, nodes.Call):
        called = part.node
        return isinstance(called, nodes.Getattr) and called.attr in _METHODS
    return True  # a variable, a constant or an operator
