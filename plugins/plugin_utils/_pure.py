# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an expression sees of a host, and results that are remembered for equal values.

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

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ansible.inventory.data import InventoryData
from ansible.inventory.host import Host as AnsibleHost
from ansible.plugins.loader import filter_loader, test_loader
from ansible.utils.vars import combine_vars
from jinja2 import Environment, nodes
from jinja2.parser import Parser

from ..module_utils._errors import OptionError
from ..module_utils._text import is_plain
from ._ansible import mark_all
from ._groups import GROUPS_OF_ANSIBLE
from ._hosts import RESERVED_VARIABLES, Host

IS_USED = True  # False: Ansible evaluates each expression for each host, with the same results

_Key = tuple[Hashable, ...]
_ABSENT = (None,)  # the key of a variable that does not exist
_UNKNOWN = object()
_HOST_NAMES = ("inventory_hostname", "inventory_hostname_short")
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


class KnownInventory:
    """What an inventory has from other sources, and which groups are inside which.

    ``variables`` are those that each host of this source has.
    """

    def __init__(self, inventory: InventoryData) -> None:
        self.hosts: Mapping[str, AnsibleHost] = inventory.hosts
        example = InventoryData()
        example.current_source = inventory.current_source
        example.add_host("host")
        self.variables: dict[str, Any] = example.hosts["host"].vars
        self._parents: dict[str, set[str]] = {}
        for group in inventory.groups.values():
            self._parents[group.name] = {parent.name for parent in group.parent_groups}

    def with_ancestors(self, groups: Iterable[str]) -> set[str]:
        """Return groups, and the groups that they are in."""
        found: set[str] = set()
        remaining = list(groups)
        while remaining:
            name = remaining.pop()
            if name not in found:
                found.add(name)
                remaining += self._parents.get(name, ())
        return found

    def put_into(self, parent: str, child: str) -> None:
        """Put a group into another one. Raises OptionError if Ansible can't do that."""
        parents = self._parents.setdefault(child, set())
        if parent in parents:
            return
        if child in GROUPS_OF_ANSIBLE:
            problem = f"keyed_groups: the group {child} can't be inside another group."
            raise OptionError(problem, "Set prefix.")
        if child in self.with_ancestors([parent]):
            raise OptionError(f"keyed_groups: the group {child} would be inside itself.")
        parents.add(parent)


class ComposedHost:
    """A host, with the variables and groups that expressions have added to it so far.

    Without ``inventory``, the host has no name yet.
    """

    def __init__(self, host: Host, inventory: KnownInventory | None = None) -> None:
        self.host = host
        self.inventory = inventory
        self.variables: dict[str, Any] = {}
        self.groups: list[str] = []
        # Whether other sources say something about the host.
        self.is_known = inventory is not None and host.name in inventory.hosts

    def add(self, variables: Mapping[str, Any], groups: Iterable[str]) -> None:
        """Add variables and groups, which the next expressions see."""
        self.variables.update(variables)
        self.groups += groups
        self.__dict__.pop("all_variables", None)

    @cached_property
    def all_variables(self) -> dict[str, Any]:
        """The variables that Ansible's Host.get_vars() would return for the host."""
        variables: dict[str, Any] = mark_all(self.host.variables)
        if self.inventory is None:
            return variables
        others = self.inventory.variables
        if self.is_known:
            others = {**others, **self.inventory.hosts[self.host.name].vars}
        variables = combine_vars(combine_vars(others, variables), self.variables)
        magic = AnsibleHost(self.host.name, gen_uuid=False).get_magic_vars()
        magic["group_names"] = self.group_names(self.inventory)
        # The name and the groups can be text from the API.
        variables.update(mark_all(magic))
        return variables

    def group_names(self, inventory: KnownInventory) -> list[str]:
        """Return the names of all groups of the host, as Ansible's variable has them."""
        groups = [*self.host.groups, *self.groups]
        if self.is_known:
            groups += [group.name for group in inventory.hosts[self.host.name].groups]
        return sorted(inventory.with_ancestors(groups) - {"all"})


@dataclass(eq=False)
class Expression:
    """An expression of the file, and its remembered results.

    Ansible is asked by ``evaluate``. ``hidden`` are variables whose values are not known, because
    extra vars have their names. ``failed`` is the result for hosts for which the expression fails.
    """

    label: str
    source: Any
    evaluate: Callable[[ComposedHost], Any]
    hidden: Collection[str] = ()
    failed: Any = False
    is_pure: bool = True

    def __post_init__(self) -> None:
        self._names = variables_in(self.source) if IS_USED and self.is_pure else None
        # An extra var can be a template that has another value each time.
        if self._names and any(name in self.hidden for name in self._names):
            self._names = None
        self._results: dict[_Key, Any] = {}

    def result(self, host: ComposedHost) -> Any:
        """Return the result for a host."""
        key = None if self._names is None else _key(host, self._names)
        if key is None:
            return self.evaluate(host)
        result = self._results.get(key, _UNKNOWN)
        if result is _UNKNOWN:
            result = self.evaluate(host)
            if len(self._results) < _MOST_REMEMBERED and isinstance(result, _REMEMBERED):
                self._results[key] = result
        return result


def _key(host: ComposedHost, names: tuple[str, ...]) -> _Key | None:
    """Return a key for the values of these variables; None if the result can't be remembered."""
    if host.is_known:  # other sources can set any of them
        return None
    keys = tuple([_key_of_variable(host, name) for name in names])
    return None if None in keys else keys


def _key_of_variable(composed: ComposedHost, name: str) -> Hashable | None:
    if composed.inventory:
        if name in _HOST_NAMES:
            magic = AnsibleHost(composed.host.name, gen_uuid=False).get_magic_vars()
            return _key_of(magic[name], is_api=True)
        if name == "group_names":
            return _key_of(composed.group_names(composed.inventory), is_api=True)
        if name in composed.variables:
            return _key_of(composed.variables[name], is_api=False)
    if name in composed.host.variables:
        return _key_of(composed.host.variables[name], is_api=True)
    # A reserved name can be a function of Jinja, or a variable of Ansible.
    return None if name in RESERVED_VARIABLES else _ABSENT


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
    return None if None in keys else (kind, keys)


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
    if not parser.stream.eos or not all(map(_is_pure, parts)):
        return None
    return tuple(sorted({part.name for part in parts if isinstance(part, nodes.Name)}))


def _is_pure(node: nodes.Node) -> bool:
    """Return whether a part of an expression depends on its own parts alone."""
    if isinstance(node, nodes.Filter):
        return _is_builtin(node.name, _FILTERS, filter_loader)
    if isinstance(node, nodes.Test):
        return _is_builtin(node.name, _TESTS, test_loader)
    if isinstance(node, nodes.Call):
        return isinstance(node.node, nodes.Getattr) and node.node.attr in _METHODS
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
