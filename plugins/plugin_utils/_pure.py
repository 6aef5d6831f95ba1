# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Remember the results of expressions, so that Ansible is asked only once for the same values.

Ansible's helpers cost about a millisecond for each host and expression. The result of most
expressions depends on the values of the variables in them alone:

pure
    An expression that consists of variables, operators, methods of text, and filters and tests of
    Jinja or Ansible that depend on their arguments alone. Its result is remembered for the key of
    its variables.
portable
    A pure expression whose parts Ansible and Jinja treat alike, if all its variables are text that
    can't be a template: Jinja evaluates it, which pays off for values that differ for each host.
    Portable expressions exclude what differs between Ansible's environments: constant folding,
    tests and attributes of undefined values, and filters and tests that a user's plugin replaces.

Both are allow-lists over the parsed expression. If Jinja raises anything, or returns an unexpected
type, Ansible evaluates the expression. A test compares random expressions with Ansible's results.

A key keeps what an expression could observe: the types of values (``1`` is not ``true``), the order
of mappings, and that a variable is absent.

In this utility, None instead of a pure expression, a key or a value means that Ansible must be
asked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ansible.inventory.host import Host as AnsibleHost
from ansible.plugins.loader import filter_loader, test_loader
from jinja2 import StrictUndefined, Template, nodes
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ..module_utils._text import is_plain
from ._ansible import HAS_EXPRESSIONS, as_data, is_data, is_trusted, setting, text_of
from ._hosts import RESERVED_VARIABLES, Host

IS_USED = True  # False: Ansible evaluates each expression for each host, with the same results

_Key = tuple[Hashable, ...]
_ABSENT = (None,)  # the key of a variable that does not exist
_UNKNOWN = object()
_HOST_NAMES = ("inventory_hostname", "inventory_hostname_short")
_MOST_REMEMBERED = 1024  # results of one expression
# Lists and mappings are copied when they become variables, and when an expression reads them.
_REMEMBERED = (str, int, float, type(None), list, tuple, dict)
# Braces and number signs can end an expression inside a template, and Ansible and Jinja treat
# backslashes differently.
_TEMPLATE_SIGNS = ("\\", "{", "}", "#")
_PORTABLE_FILTERS = {
    "capitalize", "default", "d", "first", "join", "last", "length", "lower", "replace", "title",
    "trim", "upper",
}  # fmt: skip
_PORTABLE_TESTS = {
    "defined", "undefined", "eq", "equalto", "==", "ne", "!=", "in", "none", "string",
}  # fmt: skip
_PURE_FILTERS = _PORTABLE_FILTERS | {
    "b64decode", "b64encode", "basename", "bool", "combine", "dict2items", "dirname", "flatten",
    "float", "hash", "int", "items2dict", "list", "md5", "regex_escape", "regex_findall",
    "regex_replace", "regex_search", "reverse", "sha1", "sort", "split", "splitext", "string",
    "ternary", "to_json", "union", "unique",
}  # fmt: skip
_PURE_TESTS = _PORTABLE_TESTS | {
    "boolean", "contains", "even", "false", "falsy", "ge", "gt", "iterable", "le", "lt", "mapping",
    "match", "number", "odd", "regex", "search", "sequence", "subset", "superset", "true", "truthy",
    "version",
}  # fmt: skip
_METHODS = {
    "capitalize", "count", "endswith", "find", "isalnum", "isalpha", "isdigit", "islower",
    "isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace", "rfind",
    "rpartition", "rsplit", "rstrip", "split", "startswith", "strip", "swapcase", "title", "upper",
    "zfill",
}  # fmt: skip
_TYPES = (str, int, float, list, tuple, dict)
_LEAVES = (nodes.Name, nodes.Const, nodes.Keyword, nodes.Operand)
_OPERATORS = (
    nodes.Concat, nodes.Add, nodes.Compare, nodes.And, nodes.Or, nodes.Not, nodes.CondExpr,
)  # fmt: skip
_COLLECTIONS = (nodes.List, nodes.Tuple)
_OTHERS = (nodes.Neg, nodes.Getitem, nodes.Slice)


class _Environment(ImmutableSandboxedEnvironment):
    """A sandbox whose only attributes are the methods of the list above."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return attr in _METHODS


_environment = _Environment(undefined=StrictUndefined, optimized=False)


class View:
    """A host as its expressions see it; without ``scratch``, a server that has no name yet.

    ``scratch`` is the inventory that Ansible would ask; see the utility _expressions.
    """

    def __init__(self, host: Host, scratch: Any = None) -> None:
        self.host = host
        self.scratch = scratch
        # Whether other sources say something about the host.
        self.is_known = scratch is not None and host.name in scratch.others
        # What expressions have added so far.
        self.composed: dict[str, Any] = {}
        self.groups = list(host.groups)

    @cached_property
    def variables(self) -> dict[str, Any]:
        """All variables of the host, for Ansible."""
        variables: dict[str, Any] = (
            self.scratch.variables(self) if self.scratch else as_data(self.host.variables)
        )
        return variables

    def add(self, variables: Mapping[str, Any], groups: Iterable[str]) -> None:
        """Add variables and groups for the next expressions."""
        self.composed.update(variables)
        self.groups += groups
        self.__dict__.pop("variables", None)


class Pure(NamedTuple):
    """A pure expression, which reads the variables in ``names``; ``compiled`` if it is portable."""

    names: tuple[str, ...]
    compiled: Template | None


@dataclass
class Expression:
    """An expression of the file, and its remembered results.

    Ansible is asked by ``ask(source, view)``; the result is ``finish(value, view)``. ``hidden`` has
    the variables that can't be read, because extra vars have their names. ``failed`` is the result
    for hosts for which the expression fails.
    """

    ask: Callable[[Any, View], Any]
    hidden: Collection[str]
    label: str
    source: Any
    finish: Callable[[Any, View], Any] = lambda value, view: value
    failed: Any = False
    is_condition: bool = False
    is_pure: bool = True

    def __post_init__(self) -> None:
        pure = analyse(self.source, self.is_condition) if IS_USED and self.is_pure else None
        # An extra var can be a template that has another value each time.
        self._pure = None if pure and any(name in self.hidden for name in pure.names) else pure
        self._results: dict[_Key | None, Any] = {}
        # Created only once: Template.render and similar functions create one each time.
        self._variables: dict[str, Any] = {}
        self._context = Context(_environment, self._variables, None, {})

    def result(self, view: View) -> Any:
        """Return the result for a host."""
        key = _key(view, self._pure.names) if self._pure else None
        result = self._results.get(key, _UNKNOWN)
        if result is _UNKNOWN:
            value = self._by_jinja(key)
            result = self.finish(self.ask(self.source, view) if value is None else value, view)
            is_new = key is not None and len(self._results) < _MOST_REMEMBERED
            if is_new and isinstance(result, _REMEMBERED):
                self._results[key] = result
        return result

    def _by_jinja(self, key: _Key | None) -> Any:
        """Return the value that Jinja computes from texts, which are their own keys."""
        compiled = self._pure and self._pure.compiled
        if key is None or not self._pure or not compiled or not set(map(type, key)) <= {str}:
            return None
        self._variables.update(zip(self._pure.names, key, strict=True))
        try:
            deque(compiled.root_render_func(self._context), maxlen=0)
        except Exception:  # noqa: BLE001  # a user's expression; Ansible then reports the error
            return None
        value: Any = self._context.vars.pop("value")
        if self.is_condition or value.__class__ is not str:
            return value if self.is_condition and value.__class__ is bool else None
        if HAS_EXPRESSIONS:
            return value
        if not is_plain(value) or value.startswith(("True", "False")):  # Ansible converts these
            return None
        return as_data(value) if key else value


def _key(view: View, names: tuple[str, ...]) -> _Key | None:
    """Return a key for the values of these variables."""
    if view.is_known:  # other sources can set any of them
        return None
    keys = tuple([_key_of_variable(view, name) for name in names])
    return None if None in keys else keys


def _key_of_variable(view: View, name: str) -> Hashable | None:
    if view.scratch:
        if name in _HOST_NAMES:
            magic = AnsibleHost(view.host.name, gen_uuid=False).get_magic_vars()
            return _key_of(magic[name], is_api=True)
        if name == "group_names":  # includes the groups that they are in
            return tuple(view.groups), len(view.scratch.parents)
        if name in view.composed:
            return _key_of(view.composed[name], is_api=False)
    if name in view.host.variables:
        return _key_of(view.host.variables[name], is_api=True)
    # A reserved name can be a function of Jinja, or a variable of Ansible.
    return None if name in RESERVED_VARIABLES else _ABSENT


def _key_of(value: Any, is_api: bool) -> Hashable | None:
    """Return a key for a value, which is from the API if ``is_api``.

    The key of text that can't be a template, and that Ansible treats like text from the API, is the
    text itself.
    """
    if isinstance(value, str):
        text = value if value.__class__ is str else text_of(value)
        if text is None or not is_plain(text):
            return None
        return text if is_api or is_data(value) else (str, text)
    kind = value.__class__
    if value is None or isinstance(value, (int, float)):
        return kind, repr(value)  # 0.0 is not -0.0
    if isinstance(value, dict):
        value = [part for item in value.items() for part in item]
    elif not isinstance(value, (list, tuple)):
        return None
    keys = tuple(_key_of(item, is_api) for item in value)
    return None if None in keys else (kind, keys)


def analyse(expression: Any, is_condition: bool) -> Pure | None:
    """Return a pure expression."""
    if not isinstance(expression, str) or not is_trusted(expression) or _is_ambiguous(expression):
        return None
    try:
        parser = Parser(_environment, str(expression), state="variable")
        tree = parser.parse_expression()
        parts = _parts(tree)
        if not parser.stream.eos or not all(map(_is_pure, parts)):
            return None
        # Before ansible-core 2.19, "if a if b else c" is a syntax error.
        if is_condition and not HAS_EXPRESSIONS and _find(tree, nodes.CondExpr):
            return None
        compiled = _compile(tree) if all(map(_is_portable, parts)) else None
    except Exception:  # noqa: BLE001  # a user's expression; Ansible reports what is wrong
        return None
    return Pure(tuple(sorted({node.name for node in _find(tree, nodes.Name)})), compiled)


def _is_ambiguous(expression: str) -> bool:
    """Return whether Ansible may parse an expression differently from Jinja."""
    return bool(
        setting("DEFAULT_JINJA2_EXTENSIONS")  # which may change the language
        or any(sign in expression for sign in _TEMPLATE_SIGNS)
        # Between the braces of a template, a leading sign controls white space.
        or (not HAS_EXPRESSIONS and expression.strip()[:1] in ("-", "+"))
    )


def _compile(tree: nodes.Expr) -> Template | None:
    if setting("DEFAULT_JINJA2_NATIVE") and not HAS_EXPRESSIONS:  # text can become a number
        return None
    body = [nodes.Assign(nodes.Name("value", "store", lineno=1), tree, lineno=1)]
    return _environment.from_string(nodes.Template(body, lineno=1))


def _find(tree: nodes.Node, kind: type[nodes.Node]) -> list[Any]:
    return [node for node in (tree, *tree.find_all(kind)) if isinstance(node, kind)]


def _parts(tree: nodes.Node) -> list[nodes.Node]:
    """Return all nodes, without names of methods, which are checked with their calls."""
    called = [call.node for call in _find(tree, nodes.Call)]
    return [node for node in _find(tree, nodes.Node) if not any(node is name for name in called)]


def _is_pure(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Name):
        return node.name != "self"  # the template, for Jinja
    if isinstance(node, nodes.Filter):
        return _is_builtin(node.name, _PURE_FILTERS, filter_loader)
    if isinstance(node, nodes.Test):
        return _is_builtin(node.name, _PURE_TESTS, test_loader)
    if isinstance(node, nodes.Call):
        return isinstance(node.node, nodes.Getattr) and node.node.attr in _METHODS
    if isinstance(node, nodes.Getattr):
        # The item of a mapping; an attribute could be a method.
        return not any(hasattr(kind, node.attr) for kind in _TYPES)
    return isinstance(node, (*_LEAVES, *_OPERATORS, *_COLLECTIONS, *_OTHERS))


def _is_builtin(name: str, names: set[str], loader: Any) -> bool:
    """Return whether a filter or test has one of these names, and is not a user's plugin."""
    if name.removeprefix("ansible.builtin.") not in names:
        return False
    try:
        plugin = loader.get(name)
    except KeyError:  # not the name of a plugin, as "=="
        plugin = None
    return plugin is None or plugin.ansible_name.startswith("ansible.builtin.")


def _is_portable(node: nodes.Node) -> bool:
    """Return whether a node of a pure expression is also portable."""
    if isinstance(node, _LEAVES) or _is_index(node):
        return True
    if isinstance(node, _COLLECTIONS):
        return all(isinstance(item, nodes.Const) for item in node.items)
    # Ansible may compute a part without variables earlier, and handle its errors differently.
    return bool(_find(node, nodes.Name)) and (
        isinstance(node, (*_OPERATORS, nodes.Call))
        or (isinstance(node, nodes.Filter) and node.name in _PORTABLE_FILTERS)
        or (
            isinstance(node, nodes.Test)
            and node.name in _PORTABLE_TESTS
            and isinstance(node.node, (nodes.Name, nodes.Const))
        )
        or (isinstance(node, nodes.Getitem) and _is_index(node.arg))
    )


def _is_index(node: nodes.Node) -> bool:
    """Return whether a node is a whole number, or a slice of whole numbers."""
    return all(
        isinstance(part, (nodes.Neg, nodes.Slice))
        or (isinstance(part, nodes.Const) and part.value.__class__ is int)
        for part in _find(node, nodes.Node)
    )
