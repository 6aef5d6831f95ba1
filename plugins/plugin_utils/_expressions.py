# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The expressions of an inventory file, and what they add to hosts.

Ansible evaluates every expression, one at a time: its method ``_compose`` returns values, the
function ``holds`` asks for conditions, and its helper for keyed_groups works on a recorder instead
of an inventory. So nothing is added to the inventory before all expressions of all hosts have been
evaluated. An expression sees the variables that its host would have, with what other sources say
about the host and what the expressions before it have added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.inventory.host import Host as AnsibleHost
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.template import Templar
from ansible.utils.path import basedir
from ansible.utils.vars import combine_vars

from ..module_utils._errors import OptionError
from ..module_utils._options import GetOption
from ..module_utils._text import Show, count_of, first_of, is_plain, one_line
from ._ansible import OMISSION, TEMPLATE_GLOBALS, compile_once, holds, reason_text, trust
from ._composed import ComposedHost, GroupTree, Recorder
from ._groups import safe_group_name
from ._hints import Meanings, hint_for
from ._hosts import Host, replace_addresses
from ._inventory import variables_of
from ._memory import Memory

# Asks Ansible for the result of an expression, or of an entry of keyed_groups, with variables.
_Ask = Callable[[Any, dict[str, Any]], Any]
_FAILED = object()  # instead of the result of an expression that failed
_NUMBERS = (bool, int, float)  # as expressions, they stand for themselves
_WITHOUT_DEFAULT = (
    "Leave the default out, or, for compose, groups and keyed_groups, give the variable to hosts "
    "in a source that is read before. group_vars are not known here, and filters and hostnames "
    "see only the fields of servers."
)


@dataclass(eq=False)
class Expression:
    """An expression of the file, and the error for each host, by name, for which it failed.

    ``entry`` names it among those of its option. ``content`` is what Ansible is asked about:
    ``source``, or the entry of keyed_groups with it.
    """

    option: str
    entry: Any
    source: Any
    content: Any
    memory: Memory
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The option and the entry, for a message."""
        return one_line(f"{self.option}: {self.entry}")


class Expressions(BaseInventoryPlugin, Constructable):
    """The expressions of an inventory file.

    It is not a second inventory plugin: Ansible's helpers are methods of these base classes.
    ``fields`` has the variable of each field of the API, for hints. ``tree`` has the groups of the
    inventory, and those that keyed_groups put into others.
    """

    def __init__(self, get_option: GetOption, templar: Templar, extra_vars: Mapping[str, Any]):
        super().__init__()
        self.get_option = get_option
        self.templar = templar
        self._vars = extra_vars if get_option("use_extra_vars") else {}
        self._unused_extra_vars = extra_vars.keys() - self._vars.keys()
        compile_once(templar)
        self.fields: dict[str, str] = {}
        self.tree = GroupTree()
        self._others: set[str] = set()
        self._composed: list[ComposedHost] = []
        # By option, in the order in which failures are reported.
        self._of: dict[str, list[Expression]] = {
            "filters": [], "hostnames": [], "compose": [], "groups": [], "keyed_groups": [],
        }  # fmt: skip
        for entry in get_option("filters") or []:
            for verb, source in entry.items():
                self._add("filters", f"{verb}: {source}", source)
        for source in get_option("hostnames") or []:
            self._add("hostnames", source, source)
        for option in ("compose", "groups"):
            entries = get_option(option) or {}
            for name, source in entries.items():
                self._add(option, name, source)
        for entry in get_option("keyed_groups") or []:
            key = entry["key"]
            expression = self._add("keyed_groups", key, key)
            if isinstance(key, _NUMBERS):
                # As text, which Ansible up to 2.18 would convert back if it were not in a list.
                key = trust(f"['{key}']")
            expression.content = {**entry, "key": key}
            # A parent that is a template can depend on the host.
            if not is_plain(str(entry.get("parent_group", ""))):
                expression.memory.is_used = False

    def _add(self, option: str, entry: Any, source: Any) -> Expression:
        # An extra var can be a template that has another value each time.
        memory = Memory(source, self._vars)
        expression = Expression(option, entry, source, source, memory)
        self._of[option].append(expression)
        return expression

    def excluding_filter(self, host: Host) -> str:
        """Return the first condition that is true, with its number, if it excludes the host.

        Raises OptionError if a condition fails: a host must not be kept by accident.
        """
        unnamed = ComposedHost(host)
        for number, expression in enumerate(self._of["filters"], 1):
            try:
                is_true = self._result(expression, unnamed, self._holds)
            except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
                reason = self._reason(expression, str(error))
                message = f"{expression.label}: failed for {host.server.label}: {reason}"
                raise OptionError(message) from None  # with the cause, the reason is printed twice
            if is_true and expression.entry.startswith("include"):
                return ""
            if is_true:
                return one_line(f"filters: {number}: {expression.entry}")
        return ""

    def preferences(self, host: Host) -> list[str]:
        """Return the result of each expression of hostnames; an empty text if it is not usable.

        If no result is usable because an expression failed, there are none, and the failure alone
        explains the name.
        """
        unnamed = ComposedHost(host)
        names = []
        has_failed = False
        for expression in self._of["hostnames"]:
            value = self._try(expression, unnamed, self._compose)
            names.append(_name_from(value))
            has_failed |= unnamed.label in expression.failures
        if has_failed and not any(names):
            return []
        return names

    def compose_all(self, hosts: Iterable[Host], inventory: InventoryData) -> set[str]:
        """Evaluate compose, groups and keyed_groups for hosts that have names.

        Returns the names of the groups that they make. The results and failures replace those of an
        earlier call; ``apply`` adds the results to the hosts.
        """
        self.tree = GroupTree(inventory.groups.values())
        self._composed = []
        for option in ("compose", "groups", "keyed_groups"):
            for expression in self._of[option]:
                expression.failures.clear()
        source = inventory.current_source
        of_all = inventory.groups["all"].get_vars()
        of_new_hosts = {**of_all, "inventory_file": source, "inventory_dir": basedir(source)}
        # Magic variables, and what other sources say about any host.
        self._others = {*of_new_hosts, *AnsibleHost("any", gen_uuid=False).get_magic_vars()}
        groups = [group for group in inventory.groups.values() if group.get_hosts()]
        for known in (*inventory.hosts.values(), *groups):
            self._others.update(known.vars)
        made = set[str]()
        for host in hosts:
            base = inventory.hosts.get(host.name)
            inherited = variables_of(base, of_all) if base else of_new_hosts
            base = base or AnsibleHost(host.name, gen_uuid=False)
            composed = ComposedHost(host, base, self.tree, inherited)
            self._add_variables(composed)
            self._add_groups(composed)
            self._add_keyed_groups(composed)
            self._composed.append(composed)
            made.update(composed.groups)
        return made.union(*self.tree.added)

    def apply(self) -> None:
        """Add the results of compose_all() to the hosts.

        Raises OptionError if a group would be inside itself.
        """
        self.tree.check_added()
        for composed in self._composed:
            host = composed.host
            host.variables = combine_vars(host.variables, composed.variables)
            host.groups += composed.groups

    def report(self, total: int, warn: Show) -> None:
        """Warn of expressions that failed for some hosts of a total, or that have no effect.

        With strict, the first failure raises OptionError.
        """
        for expression in chain(*self._of.values()):
            label = expression.label
            names = sorted(expression.failures)
            if names:
                reason = self._reason(expression, expression.failures[names[0]])
                if self.get_option("strict"):
                    raise OptionError(f"{label}: failed for {names[0]}: {reason}")
                number = f"{len(names):,} of {count_of(total, 'host')}"
                warn(f"{label}: failed for {number} ({first_of(names, 3)}): {reason}")
            elif hint := self._hint(expression, ""):
                warn(f"{label}: {hint}.")
        self._report_unknown(total, warn)

    def _report_unknown(self, total: int, warn: Show) -> None:
        """Warn of names that no host has, in expressions that fail for no host.

        A typing error, or a variable of another plugin, is silent behind a ``default``.
        """
        # With extra vars, the name can be one of another run.
        if not self.fields or self.get_option("use_extra_vars"):
            return
        fields = TEMPLATE_GLOBALS.union(self.fields.values(), ["ansible_host"])
        others = fields | self._others
        known = {"filters": fields, "hostnames": fields, "compose": others}
        with_results = others.union(self.get_option("compose") or ())
        prefix = self.get_option("hostvars_prefix")
        labels = []
        unknown = set[str]()
        for expression in chain(*self._of.values()):
            names = expression.memory.names - known.get(expression.option, with_results)
            if prefix:  # without the fields that the API may add
                names = {name for name in names if not name.startswith(prefix)}
            has_hosts = total or expression.option == "filters"
            if names and has_hosts and not expression.failures:
                labels.append(f"{expression.label} ({', '.join(sorted(names))})")
                unknown |= names
        if not labels:
            return
        advice = _WITHOUT_DEFAULT
        extra_vars = unknown & self._unused_extra_vars
        if extra_vars:
            advice = f"For {', '.join(sorted(extra_vars))}, set use_extra_vars: true. {advice}"
        warn(
            "These expressions read variables that no host has, so that `default` and `is defined` "
            f"give all hosts the same result: {first_of(labels, 10)}. {advice}"
        )

    def _add_variables(self, composed: ComposedHost) -> None:
        """Add the results of compose, which don't see each other."""
        variables = {}
        for expression in self._of["compose"]:
            value = self._try(expression, composed, self._compose)
            if value is not _FAILED:
                variables[expression.entry] = value
        replace_addresses(composed.host, variables)
        composed.variables = variables
        composed.seen = combine_vars(composed.seen, variables)

    def _add_groups(self, composed: ComposedHost) -> None:
        """Add the groups whose conditions are true; these don't see each other."""
        groups = []
        for expression in self._of["groups"]:
            is_true = self._try(expression, composed, self._holds)
            if is_true and is_true is not _FAILED:
                groups.append(safe_group_name(str(expression.entry)))
        composed.groups = groups

    def _add_keyed_groups(self, composed: ComposedHost) -> None:
        """Add the groups of each entry, which sees those of the entries before it."""
        for expression in self._of["keyed_groups"]:
            made = self._try(expression, composed, self._group)
            if made is _FAILED:
                continue
            composed.groups += made.groups
            for parent, child in made.parents:
                self.tree.add(parent, child)

    def _try(self, expression: Expression, composed: ComposedHost, ask: _Ask) -> Any:
        """Return the result of an expression for a host; note a failure, and return _FAILED."""
        try:
            return self._result(expression, composed, ask)
        except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
            # If a name is omitted, the next preference is used, also with strict.
            is_strict = composed.base and self.get_option("strict")
            if is_strict or not isinstance(error, OMISSION):
                expression.failures[composed.label] = str(error)
            return _FAILED

    def _result(self, expression: Expression, composed: ComposedHost, ask: _Ask) -> Any:
        """Return the result of an expression for a host: remembered, or what ``ask`` returns."""
        content = expression.content
        if isinstance(content, _NUMBERS):
            return content
        seen = composed.seen
        return expression.memory.result(seen, lambda: ask(content, composed.all_variables()))

    def _holds(self, condition: str, variables: dict[str, Any]) -> bool:
        return holds(self.templar, condition, combine_vars(variables, self._vars))

    def _group(self, entry: dict[str, Any], variables: dict[str, Any]) -> Recorder:
        """Let Ansible's helper add the groups of an entry to a recorder."""
        self.inventory = recorder = Recorder()
        host = variables["inventory_hostname"]
        try:
            add_to = self._add_host_to_keyed_groups
            add_to([entry], variables, host, strict=True, fetch_hostvars=False)
        except AnsibleParserError as error:
            cause = error.__context__
            if cause:  # the error of an expression, without the names of the host and the group
                raise cause from cause.__cause__
            # For the helper, an empty key is always an error; here, only with strict.
            if self.get_option("strict") or self._compose(entry["key"], variables):
                raise
        return recorder

    def _reason(self, expression: Expression, error: str) -> str:
        """Return the reason of an error, and what is probably meant."""
        reason = reason_text(error)
        hint = self._hint(expression, reason)
        return f"{reason} ({hint})" if hint else reason

    def _hint(self, expression: Expression, reason: str) -> str:
        """Return what is probably meant by an expression that fails, or has no effect."""
        others = set(self.fields.values())
        if reason and expression.option in ("compose", "groups", "keyed_groups"):
            others.update(*(composed.seen for composed in self._composed))
        prefix = self.get_option("hostvars_prefix")
        composed = self.get_option("compose") or {}
        meanings = Meanings(prefix, self.fields, others, composed, self._unused_extra_vars)
        entry = str(expression.entry)
        return hint_for(expression.option, entry, str(expression.source).strip(), reason, meanings)


def _name_from(value: Any) -> str:
    """Return a value as the name of a host; an empty text if it can't be one."""
    if isinstance(value, str):
        return str.__str__(value)  # without any mark
    if isinstance(value, _NUMBERS):
        return str(value)
    return ""
