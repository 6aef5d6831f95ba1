# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Results of expressions that are remembered for equal values.

Ansible needs 0.1 to 1 ms for each host and expression. Most expressions are pure: they consist of
variables, constants, operators, methods of text, and filters and tests that depend on their
arguments alone. The result of a pure expression is the same for all hosts in which its variables
have the same values, and is remembered for them. Every other expression, and each value that could
be a template, is left to Ansible for each host.

Three allow-lists say which methods, filters and tests are pure. A key keeps what an expression
could observe: the types of values (``1`` is not ``true``), the order of mappings, and that a
variable is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from ansible.plugins.loader import filter_loader, test_loader
from jinja2 import Environment, nodes
from jinja2.parser import Parser

from ..module_utils._text import is_plain
from ._hosts import RESERVED_VARIABLES
from ._scratch import ComposedHost

IS_USED = True  # False: Ansible evaluates each expression for each host, with the same results

_Key = tuple[Hashable, ...]
_ABSENT = (None,)  # the key of a variable that does not exist
_MOST_REMEMBERED = 1024  # results of one expression
# Lists and mappings are copied when they become variables, and when an expression reads them.
_REMEMBERED = (str, int, float, type(None), list, tuple, dict)
# Braces can end an expression inside a template, and Ansible up to 2.18 renders those in its text.
# Ansible and Jinja treat backslashes differently.
_TEMPLATE_SIGNS = ("{", "}", "\\")
_FILTERS = {
    "b64decode", "b64encode", "basename", "bool", "capitalize", "combine", "d", "default",
    "dict2items", "dirname", "first", "flatten", "float", "hash", "int", "items2dict", "join",
    "last", "length", "list", "lower", "md5", "regex_escape", "regex_findall", "regex_replace",
    "regex_search", "replace", "reverse", "sha1", "sort", "split", "splitext", "string", "ternary",
    "title", "to_json", "trim", "union", "unique", "upper",
}  # fmt: skip
_TESTS = {
    "!=", "==", "boolean", "contains", "defined", "eq", "equalto", "even", "false", "falsy", "ge",
    "gt", "in", "iterable", "le", "lt", "mapping", "match", "ne", "none", "number", "odd", "regex",
    "search", "sequence", "string", "subset", "superset", "true", "truthy", "undefined", "version",
}  # fmt: skip
_METHODS = {
    "capitalize", "count", "endswith", "find", "isalnum", "isalpha", "isdigit", "islower",
    "isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rfind",
    "rpartition", "rsplit", "rstrip", "split", "startswith", "strip", "swapcase", "title", "upper",
    "zfill",
}  # fmt: skip


# Returns the result of an expression for a host.
Evaluate = Callable[[Any, ComposedHost], Any]


class Expression:
    """An expression of the file, its remembered results, and the servers for which it failed.

    ``evaluate`` asks Ansible for the result of ``source`` for a host. Results are remembered for
    the values of the variables ``names``; not at all if that is None. ``failed`` is the result for
    hosts for which the expression fails, ``failures`` has the ids of their servers, and ``reason``
    is that of the first failure.
    """

    def __init__(
        self,
        label: str,
        source: Any,
        evaluate: Evaluate,
        failed: Any = False,
    ) -> None:
        self.label = label
        self.source = source
        self.names = variables_in(source) if IS_USED else None
        self.failed = failed
        self.failures: set[str] = set()
        self.reason = ""
        self._evaluate = evaluate
        self._results: dict[_Key, Any] = {}

    def result(self, host: ComposedHost) -> Any:
        """Return the result for a host."""
        key = self._key(host)
        if key is None:
            return self._evaluate(self.source, host)
        if key in self._results:
            return self._results[key]
        result = self._evaluate(self.source, host)
        if len(self._results) < _MOST_REMEMBERED and isinstance(result, _REMEMBERED):
            self._results[key] = result
        return result

    def _key(self, host: ComposedHost) -> _Key | None:
        """Return a key for the values of the variables; None if a result can't be remembered."""
        if self.names is None:
            return None
        if host.known:  # other sources can set any variable
            return None
        keys = tuple([_key_of_variable(host, name) for name in self.names])
        if None in keys:
            return None
        return keys


def _key_of_variable(composed: ComposedHost, name: str) -> Hashable | None:
    if name == "group_names" and composed.host.name:
        return _key_of(composed.magic_variables()[name], is_api=True)
    if name in RESERVED_VARIABLES:  # a function of Jinja, or a variable of Ansible
        return None
    if name in composed.variables:
        if name in composed.host.variables:  # the setting hash_behaviour can merge the two
            return None
        return _key_of(composed.variables[name], is_api=False)
    if name in composed.host.variables:
        return _key_of(composed.host.variables[name], is_api=True)
    return _ABSENT


def _key_of(value: Any, is_api: bool) -> Hashable | None:
    """Return a key for a value, which is from the API if ``is_api``.

    Ansible distinguishes text from the API, and other text by its marks.
    """
    kind = value.__class__
    if isinstance(value, str):
        if not is_plain(value):  # Ansible up to 2.18 could render it
            return None
        return value if is_api else (kind, str.__str__(value))
    if value is None or isinstance(value, (int, float)):
        return kind, repr(value)  # 0.0 is not -0.0
    if isinstance(value, dict):
        value = [part for item in value.items() for part in item]
    elif not isinstance(value, (list, tuple)):
        return None
    keys = tuple(_key_of(item, is_api) for item in value)
    if None in keys:
        return None
    return kind, keys


def variables_in(expression: Any) -> tuple[str, ...] | None:
    """Return the names of the variables in a pure expression, or None for any other one."""
    if not isinstance(expression, str) or any(sign in expression for sign in _TEMPLATE_SIGNS):
        return None
    try:
        parser = Parser(Environment(autoescape=True), str(expression), state="variable")
        tree = parser.parse_expression()
        parts = [tree, *tree.find_all(nodes.Node)]
    except Exception:  # noqa: BLE001  # a user's expression; Ansible reports what is wrong
        return None
    if not parser.stream.eos:
        return None
    names = set()
    for part in parts:
        if not _is_pure(part):
            return None
        if isinstance(part, nodes.Name):
            names.add(part.name)
    return tuple(names)


def _is_pure(node: nodes.Node) -> bool:
    """Return whether a part of an expression depends on its own parts alone."""
    if isinstance(node, nodes.Filter):
        return _is_builtin(node.name, _FILTERS, filter_loader)
    if isinstance(node, nodes.Test):
        return _is_builtin(node.name, _TESTS, test_loader)
    if isinstance(node, nodes.Call):
        called = node.node
        return isinstance(called, nodes.Getattr) and called.attr in _METHODS
    return True  # a variable, a constant or an operator


def _is_builtin(name: str, names: set[str], loader: Any) -> bool:
    """Return whether a filter or test has one of these names, and is not a user's plugin."""
    if name.removeprefix("ansible.builtin.") not in names:
        return False
    try:
        plugin = loader.get(name)
    except KeyError:  # not the name of a plugin, as "=="
        return True
    return plugin is None or plugin.ansible_name.startswith("ansible.builtin.")
