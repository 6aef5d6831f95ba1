# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find the expressions whose results can be remembered, or come from Jinja instead of Ansible.

Ansible's helpers cost about a millisecond for each host and expression. The terms, which the
utilities for expressions share:

pure
    The result depends on the values of the variables in the expression alone: it consists of
    variables, operators, methods of text, and filters and tests of Jinja or Ansible that depend on
    their arguments alone. Ansible's result for the same values can be remembered.
portable
    A pure expression whose parts Ansible and Jinja treat alike, if all its variables are text that
    can't be a template: Jinja evaluates it. Portable expressions exclude what differs between
    Ansible's environments: constant folding, tests and attributes of undefined values, and filters
    and tests that a user's plugin replaces.

Both are allow-lists over the parsed expression. If Jinja raises anything, or returns an unexpected
type, Ansible evaluates the expression. A test compares random expressions with Ansible's results.

When ansible-core 2.18 is no longer supported, "portable" and all that belongs to it can go: from
2.19 on, expressions are compiled once. At 10,000 hosts, the rows "keyed" and "everything" of the
benchmark then cost 1.4 and 3.4 of the direct calls instead of 0.9 and 1.1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from ansible.plugins.loader import filter_loader, test_loader
from jinja2 import StrictUndefined, Template, nodes
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ._ansible import HAS_EXPRESSIONS, is_trusted, setting

_PORTABLE_FILTERS = frozenset(
    {"capitalize", "default", "d", "first", "join", "last", "length", "lower", "replace", "title"}
    | {"trim", "upper"}
)
_PORTABLE_TESTS = frozenset(
    {"defined", "undefined", "eq", "equalto", "==", "ne", "!=", "in", "none", "string"}
)
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
_METHODS = frozenset(
    {"capitalize", "count", "endswith", "find", "isalnum", "isalpha", "isdigit", "islower"}
    | {"isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace"}
    | {"rfind", "rpartition", "rsplit", "rstrip", "split", "startswith", "strip", "swapcase"}
    | {"title", "upper", "zfill"}
)
_TYPES = (str, int, float, list, tuple, dict)
_LEAVES = (nodes.Name, nodes.Const, nodes.Keyword, nodes.Operand)
_OPERATORS = (
    nodes.Concat, nodes.Add, nodes.Compare, nodes.And, nodes.Or, nodes.Not, nodes.CondExpr,
)  # fmt: skip
_COLLECTIONS = (nodes.List, nodes.Tuple)
# Braces and number signs can end an expression inside a template, and Ansible and Jinja treat
# backslashes differently.
_TEMPLATE_SIGNS = ("\\", "{", "}", "#")
_MOST_NESTED = 20  # levels; Ansible raises RecursionError only at many more


class _Environment(ImmutableSandboxedEnvironment):
    """A sandbox whose only attributes are the methods of the list above."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return attr in _METHODS


_environment = _Environment(undefined=StrictUndefined, optimized=False)


class PureExpression:
    """A pure expression, which reads the variables in ``names``; ``compiled`` if it is portable."""

    def __init__(self, names: Iterable[str], compiled: Template | None) -> None:
        self.names = tuple(sorted(names))
        self.compiled = compiled
        # Created only once: Template.render and similar functions create one each time.
        self._variables: dict[str, Any] = {}
        self._context = Context(_environment, self._variables, None, {})

    def evaluate(self, key: tuple[Hashable, ...]) -> Any:
        """Return the value that Jinja computes, or None if Ansible has to compute it.

        ``key`` has the key of each of ``names``: that of text is the text.
        """
        if self.compiled is None:
            return None
        for text in key:
            if text.__class__ is not str:
                return None
        self._variables.update(zip(self.names, key, strict=True))
        try:
            deque(self.compiled.root_render_func(self._context), maxlen=0)
        except Exception:  # noqa: BLE001  # a user's expression; Ansible then reports the error
            return None
        return self._context.vars.pop("value")


def analyse(expression: Any, is_condition: bool) -> PureExpression | None:
    """Return a pure expression, or None if Ansible must evaluate it each time."""
    if not isinstance(expression, str) or not is_trusted(expression) or _is_ambiguous(expression):
        return None
    try:
        parser = Parser(_environment, str(expression), state="variable")
        tree = parser.parse_expression()
        names = {node.name for node in _find(tree, nodes.Name)}
        # Before ansible-core 2.19, "if a if b else c" is a syntax error.
        is_invalid = is_condition and not HAS_EXPRESSIONS and bool(_find(tree, nodes.CondExpr))
        if (
            not parser.stream.eos
            or is_invalid
            or "self" in names  # the template, for Jinja
            or not _all_nodes(tree, _is_pure)
        ):
            return None
        compiled = _compile(tree) if _all_nodes(tree, _is_portable) else None
    except Exception:  # noqa: BLE001  # a user's expression; Ansible reports what is wrong
        return None
    return PureExpression(names, compiled)


def _is_ambiguous(expression: str) -> bool:
    """Return whether Ansible may parse an expression differently from Jinja."""
    return bool(
        setting("DEFAULT_JINJA2_EXTENSIONS")  # which may change the language
        or any(sign in expression for sign in _TEMPLATE_SIGNS)
        or expression.count("(") + expression.count("[") > _MOST_NESTED
        # Between the braces of a template, a leading sign controls white space.
        or (not HAS_EXPRESSIONS and expression.strip()[:1] in ("-", "+"))
    )


def _compile(tree: nodes.Expr) -> Template:
    body = [nodes.Assign(nodes.Name("value", "store", lineno=1), tree, lineno=1)]
    return _environment.from_string(nodes.Template(body, lineno=1))


def _find(tree: nodes.Node, kind: type[nodes.Node]) -> list[Any]:
    return [node for node in (tree, *tree.find_all(kind)) if isinstance(node, kind)]


def _all_nodes(
    tree: nodes.Node, is_allowed: Callable[[nodes.Node], bool], depth: int = _MOST_NESTED
) -> bool:
    children = list(tree.iter_child_nodes())
    if isinstance(tree, nodes.Call) and isinstance(tree.node, nodes.Getattr):
        # The method is checked with its call, so that only the value before it remains.
        children = [tree.node.node, *(child for child in children if child is not tree.node)]
    return (
        depth > 0
        and is_allowed(tree)
        and all(_all_nodes(child, is_allowed, depth - 1) for child in children)
    )


def _is_pure(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Filter):
        name = node.name.removeprefix("ansible.builtin.")
        return name in _PURE_FILTERS and _is_builtin(node, filter_loader)
    if isinstance(node, nodes.Test):
        name = node.name.removeprefix("ansible.builtin.")
        return name in _PURE_TESTS and _is_builtin(node, test_loader)
    if isinstance(node, nodes.Call):
        return isinstance(node.node, nodes.Getattr) and node.node.attr in _METHODS
    if isinstance(node, nodes.Getattr):
        # The item of a mapping; an attribute could be a method.
        return not any(hasattr(kind, node.attr) for kind in _TYPES)
    others = (nodes.Neg, nodes.Getitem, nodes.Slice)
    return isinstance(node, (*_LEAVES, *_OPERATORS, *_COLLECTIONS, *others))


def _is_portable(node: nodes.Node) -> bool:
    """Return whether a node of a pure expression is also portable."""
    if isinstance(node, _LEAVES) or _is_number(node):
        return True
    if isinstance(node, nodes.Slice):
        parts = (node.start, node.stop, node.step)
        return all(part is None or _is_number(part) for part in parts)
    if isinstance(node, _COLLECTIONS):
        return all(isinstance(item, nodes.Const) for item in node.items)
    # Ansible may compute a part without variables earlier, and handle its errors differently.
    return bool(_find(node, nodes.Name)) and (
        isinstance(node, _OPERATORS)
        or (isinstance(node, nodes.Getitem) and _is_portable_index(node.arg))
        or (isinstance(node, (nodes.Call, nodes.Filter, nodes.Test)) and _is_portable_call(node))
    )


def _is_portable_index(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Slice) or _is_number(node)


def _is_portable_call(node: nodes.Call | nodes.Filter | nodes.Test) -> bool:
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        return False
    if isinstance(node, nodes.Filter):
        # Ansible before 2.19 marks the results of these filters to stay text in a playbook.
        is_marked = not HAS_EXPRESSIONS and node.name in (setting("STRING_TYPE_FILTERS") or ())
        return node.name in _PORTABLE_FILTERS and not is_marked
    if isinstance(node, nodes.Test):
        return node.name in _PORTABLE_TESTS and isinstance(node.node, (nodes.Name, nodes.Const))
    return True


def _is_number(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Neg):
        node = node.node
    return isinstance(node, nodes.Const) and node.value.__class__ is int


def _is_builtin(node: nodes.Filter | nodes.Test, loader: Any) -> bool:
    """Return whether a filter or test is from Jinja or Ansible, and not a user's plugin."""
    try:
        plugin = loader.get(node.name)
    except KeyError:  # not the name of a plugin, as "=="
        plugin = None
    return plugin is None or plugin.ansible_name.startswith("ansible.builtin.")
