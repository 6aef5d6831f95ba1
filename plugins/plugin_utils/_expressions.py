# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the expressions of an inventory file make of a server: variables, groups and choices.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible.errors import AnsibleError, AnsibleParserError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.utils.path import basedir
from ansible.utils.vars import combine_vars
from jinja2 import TemplateError

from ansible_collections.server_management.cloud.plugins.module_utils._answers import clean
from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host

try:
    from ansible.errors import AnsibleValueOmittedError
except ImportError:  # ansible-core before 2.19, where omit is not known to inventories

    class AnsibleValueOmittedError(AnsibleError):  # type: ignore[no-redef]
        """Never raised here."""


# What evaluating somebody's expression, with any filter or lookup in it, may raise.
EXPRESSION_ERRORS = (
    AnsibleError,
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


@dataclass
class Composed:
    """What the expressions add to one host."""

    variables: dict[str, Any] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)


class _Recorder:
    """Stand where Ansible's helpers expect the inventory, and write down what they ask for."""

    def __init__(self) -> None:
        self.groups: list[str] = []
        self.parents: list[tuple[str, str]] = []

    def add_group(self, group: str) -> str:
        if not group or not isinstance(group, str):
            raise AnsibleError(f"Invalid group name: {group!r}")
        return group

    def add_host(self, host: str, group: str) -> None:
        self.groups.append(group)

    def add_child(self, group: str, child: str) -> None:
        self.parents.append((group, child))


class Expressions(BaseInventoryPlugin, Constructable):
    """Evaluate expressions the way Ansible's own helpers do, and add nothing to an inventory.

    ``failures`` counts, for each expression, the hosts that it failed for, with the first error.
    """

    NAME = "server_management.cloud.servers"

    def __init__(self, plugin: Any) -> None:
        super().__init__()
        self.get_option: Callable[..., Any] = plugin.get_option
        self.templar = plugin.templar
        self._vars = plugin._vars
        self._compose_option = self.get_option("compose") or {}
        self._groups_option = {
            self._sanitize_group_name(str(name)): condition
            for name, condition in (self.get_option("groups") or {}).items()
        }
        self._keyed_groups_option = [
            _checked_keyed_group(entry) for entry in self.get_option("keyed_groups") or []
        ]
        self._strict = self.get_option("strict")
        self._key: Any = None
        self.failures: dict[str, tuple[int, str]] = {}
        self.parents: dict[tuple[str, str], None] = {}

    @property
    def group_names(self) -> set[str]:
        """The names of the groups that the option groups may make."""
        return set(self._groups_option)

    def evaluate(self, expression: Any, variables: Mapping[str, Any]) -> Any:
        """Return the value of an expression; a number or a boolean stands for itself."""
        if isinstance(expression, (bool, int, float)):
            return expression
        return self._compose(expression, variables)

    def holds(self, condition: Any, variables: Mapping[str, Any]) -> bool:
        """Tell whether a condition is met; extra vars count where use_extra_vars says so."""
        if isinstance(condition, (bool, int, float)):
            return bool(condition)
        if self.get_option("use_extra_vars"):
            variables = combine_vars(variables, self._vars)
        self.templar.available_variables = variables
        if hasattr(self.templar, "evaluate_conditional"):
            return bool(self.templar.evaluate_conditional(condition))
        template = f"{{% if {condition} %}} True {{% else %}} False {{% endif %}}"
        return bool(boolean(self.templar.template(template)))

    def texts(self, expressions: Iterable[Any], variables: Mapping[str, Any]) -> list[str]:
        """Return the text that each expression gives, empty where it fails or gives no text."""
        found = []
        for expression in expressions:
            try:
                value = self.evaluate(expression, variables)
            except EXPRESSION_ERRORS:
                value = ""
            if isinstance(value, str):
                found.append(str.__str__(value))  # without any mark
            else:
                found.append(str(value) if isinstance(value, (bool, int, float)) else "")
        return found

    def compose_all(self, hosts: Iterable[Host], inventory: Any) -> list[Composed]:
        """Evaluate compose, groups and keyed_groups for hosts that have their names.

        The expressions see what other sources say of a host, too. With strict, the first failure
        raises AnsibleParserError; without it, ``failures`` counts them.
        """
        self.failures.clear()
        self.parents.clear()
        if not (self._compose_option or self._groups_option or self._keyed_groups_option):
            return [Composed() for host in hosts]
        source = inventory.current_source
        composed = []
        for host in hosts:
            known = inventory.hosts.get(host.name)
            variables = {
                "inventory_file": source,
                "inventory_dir": basedir(source),
                **(known.get_vars() if known else {}),
                **host.variables,
                "inventory_hostname": host.name,
                "inventory_hostname_short": host.name.split(".")[0],
            }
            groups = (
                {*host.groups, *(group.name for group in known.groups)} if known else host.groups
            )
            composed.append(self._compose_host(host.name, variables, set(groups) - {"all"}))
        return composed

    def _compose_host(self, host: str, variables: Mapping[str, Any], groups: set[str]) -> Composed:
        """Evaluate everything for one host, which is in ``groups`` already."""
        composed = Composed()
        for name, expression in self._compose_option.items():
            try:
                composed.variables[name] = self.evaluate(expression, variables)
            except AnsibleValueOmittedError:
                continue
            except EXPRESSION_ERRORS as error:
                self._fail(f"compose: {name}", f"Could not set {name} for host {host}", error)
        seen = combine_vars(variables, composed.variables)
        for group, condition in self._groups_option.items():
            seen["group_names"] = sorted({*groups, *composed.groups})
            try:
                if self.holds(condition, seen):
                    composed.groups.append(group)
            except EXPRESSION_ERRORS as error:
                self._fail(f"groups: {group}", f"Could not add host {host} to group {group}", error)
        for entry in self._keyed_groups_option:
            seen["group_names"] = sorted({*groups, *composed.groups})
            composed.groups += self._keyed_groups(entry, seen, host)
        return composed

    def _keyed_groups(self, entry: dict[str, Any], seen: dict[str, Any], host: str) -> list[str]:
        self.inventory = recorder = _Recorder()
        self._key = entry  # anything true: stays so where the key can't be evaluated
        try:
            self._add_host_to_keyed_groups([entry], seen, host, strict=True, fetch_hostvars=False)
        except EXPRESSION_ERRORS as error:
            # Ansible's helper takes an empty key for a failure too, which is one with strict only.
            if self._key or self._strict:
                label = f"keyed_groups: {entry['key']}"
                self._fail(label, f"Could not make groups for host {host}", error)
            return []
        self.parents.update(dict.fromkeys(recorder.parents))
        return recorder.groups

    def _compose(self, template: Any, variables: Any, *args: Any, **kwargs: Any) -> Any:
        """Note what the expression gave: the helper for keyed groups keeps it to itself."""
        if isinstance(template, (bool, int, float)):
            self._key = str(template)
        else:
            self._key = super()._compose(template, variables, *args, **kwargs)
        return self._key

    def _fail(self, label: str, message: str, error: BaseException) -> None:
        reason = clean(str(error))
        if self._strict:
            raise AnsibleParserError(f"{message}: {reason}") from error
        count, first = self.failures.get(label, (0, reason))
        self.failures[label] = count + 1, first


def _checked_keyed_group(entry: Any) -> dict[str, Any]:
    """Return an entry of keyed_groups that Ansible's helper takes for any host."""
    if not isinstance(entry, dict) or entry.get("key") is None:
        raise OptionError("keyed_groups: each entry must be a mapping with a key.")
    if entry.get("default_value") is not None and entry.get("trailing_separator") is not None:
        raise OptionError("keyed_groups: default_value and trailing_separator exclude each other.")
    return entry
