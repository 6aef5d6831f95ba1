# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tell which expressions give the same answer for the same variables, and evaluate the simple ones.

This utility is private to the collection: it may change in any release.

Ansible compiles an expression anew for each host. What is decided here, from the parsed expression
and by lists of what is allowed, is where that can be spared without changing a result: an answer
may be remembered where nothing but the variables that the expression names can change it, and an
expression of plain Jinja over texts may be compiled once. All else is left to Ansible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, nodes
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

# Filters and tests of Jinja that Ansible leaves as they are, and that give text for text.
_SIMPLE_FILTERS = frozenset(
    {"capitalize", "default", "d", "first", "join", "last", "length", "lower", "replace", "title"}
    | {"trim", "upper"}
)
_SIMPLE_TESTS = frozenset(
    {"defined", "undefined", "eq", "equalto", "==", "ne", "!=", "in", "none", "string"}
)
# Those of Ansible that depend on their arguments alone.
_STEADY_FILTERS = _SIMPLE_FILTERS | {
    "b64decode", "b64encode", "basename", "bool", "combine", "dict2items", "dirname", "flatten",
    "float", "hash", "int", "items2dict", "list", "md5", "regex_escape", "regex_findall",
    "regex_replace", "regex_search", "reverse", "sha1", "sort", "split", "splitext", "string",
    "ternary", "to_json", "union", "unique",
}  # fmt: skip
_STEADY_TESTS = _SIMPLE_TESTS | {
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
_STRUCTURE = (
    nodes.Name, nodes.Const, nodes.Concat, nodes.Add, nodes.Compare, nodes.Operand, nodes.And,
    nodes.Or, nodes.Not, nodes.Neg, nodes.CondExpr, nodes.Getitem, nodes.Slice, nodes.List,
    nodes.Tuple, nodes.Keyword,
)  # fmt: skip


class _Environment(ImmutableSandboxedEnvironment):
    """A sandbox that knows no attribute but the methods of the list, and asks nothing else."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return attr in _METHODS


_environment = _Environment(undefined=StrictUndefined)


@dataclass(frozen=True)
class PureExpression:
    """An expression whose value depends on the variables in ``names``, and on nothing else.

    ``name`` is set where the expression is that variable alone; ``compiled`` where plain Jinja
    gives what Ansible would, as long as all its variables and its value are texts.
    """

    names: tuple[str, ...]
    name: str | None
    compiled: Template | None

    def evaluate(self, values: dict[str, Any]) -> Any:
        """Return the value by plain Jinja, or None where only Ansible can tell.

        ``values`` has a text for each of ``names``, and may have more.
        """
        if self.compiled is None:
            return None
        # Made by hand: Template.render and its like merge all of Jinja's globals each time.
        context = Context(_environment, values, None, {})
        try:
            deque(self.compiled.root_render_func(context), maxlen=0)
        except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError):
            return None
        return context.vars["value"]


def analyse(expression: Any) -> PureExpression | None:
    """Return what there is to know of an expression; None where its value must be asked for."""
    if not isinstance(expression, str) or any(sign in expression for sign in _TEMPLATE_SIGNS):
        return None
    try:
        template = _environment.parse(f"{{{{ {expression} }}}}")
    except TemplateError:
        return None
    if len(template.body) != 1 or not isinstance(template.body[0], nodes.Output):
        return None
    outputs = template.body[0].nodes
    if len(outputs) != 1 or isinstance(outputs[0], nodes.TemplateData):
        return None
    tree = outputs[0]
    if not _all_nodes(tree, _is_steady):
        return None
    names = {
        node.name for node in (tree, *tree.find_all(nodes.Name)) if isinstance(node, nodes.Name)
    }
    compiled = None
    if _all_nodes(tree, _is_simple):
        compiled = _environment.from_string(f"{{% set value = {expression} %}}")
    name = tree.name if isinstance(tree, nodes.Name) else None
    return PureExpression(tuple(sorted(names)), name, compiled)


# A backslash is read differently inside an expression and inside a template.
_TEMPLATE_SIGNS = ("\\", "{", "}", "#")


def _all_nodes(tree: nodes.Node, is_allowed: Callable[[nodes.Node], bool]) -> bool:
    children = list(tree.iter_child_nodes())
    if isinstance(tree, nodes.Call) and isinstance(tree.node, nodes.Getattr):
        # The method is looked at with the call; what is left is the value that has it.
        children = [tree.node.node, *(child for child in children if child is not tree.node)]
    return is_allowed(tree) and all(_all_nodes(child, is_allowed) for child in children)


def _is_simple(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Filter):
        return node.name in _SIMPLE_FILTERS
    if isinstance(node, nodes.Test):
        return node.name in _SIMPLE_TESTS
    return _is_structure(node)


def _is_steady(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Filter):
        return node.name.removeprefix("ansible.builtin.") in _STEADY_FILTERS
    if isinstance(node, nodes.Test):
        return node.name.removeprefix("ansible.builtin.") in _STEADY_TESTS
    return _is_structure(node)


def _is_structure(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Call):
        return isinstance(node.node, nodes.Getattr) and node.node.attr in _METHODS
    return isinstance(node, _STRUCTURE)
