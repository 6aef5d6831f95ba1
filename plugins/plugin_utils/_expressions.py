# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The expressions of an inventory file, and what they add to hosts.

Nothing is added to Ansible's inventory before all expressions of all hosts have been evaluated. An
expression sees the variables that its host has in a scratch inventory, with what other sources say
about the host and what the expressions before it have added. Ansible's own helpers evaluate it.

The utility _pure remembers results, so that Ansible is asked less often; they would be the same
without it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.inventory.host import Host as AnsibleHost
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.template import Templar
from ansible.utils.vars import combine_vars

from ..module_utils._errors import OptionError
from ..module_utils._text import is_plain, one_line
from ._ansible import HAS_EXPRESSIONS, as_data, compile_once, is_omission, keep_text, reason_text
from ._groups import GROUPS_OF_ANSIBLE, label_keyed_groups, safe_group_name
from ._hosts import Host
from ._pure import Expression, View

_NUMBERS = (bool, int, float)  # as expressions, they stand for themselves
_MAGIC = ("inventory_hostname", "inventory_hostname_short", "group_names")
_undefined_name = re.compile(r"'(\w+)' is undefined").search
_template_in_text = re.compile(r"""(['"])[^'"]*\{\{[^'"]*\}\}[^'"]*\1""").search


class Added(NamedTuple):
    """What expressions add to one host; ``parents`` are (parent, child) pairs of groups."""

    variables: dict[str, Any]
    groups: list[str]
    parents: list[tuple[str, str]]


_NOTHING = Added({}, [], [])
_FAILED = object()


class Scratch(InventoryData):
    """A copy of the groups of an inventory, in which a host has the variables that it would have.

    Hosts don't stay in it: they would need the memory of a second inventory.
    """

    def __init__(self, inventory: Any) -> None:
        super().__init__()
        self.current_source = inventory.current_source
        self.add_host("host")
        self._vars_of_each = self.hosts.pop("host").vars  # the source
        self.others: Mapping[str, Any] = inventory.hosts
        self.parents: set[tuple[str, str]] = set()
        for group in inventory.groups.values():
            for parent in group.parent_groups:
                self._link(parent.name, group.name)

    def add_parents(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Put groups into others, given as (parent, child) pairs.

        Raises OptionError if Ansible can't do that.
        """
        for parent, child in pairs:
            if (parent, child) in self.parents:
                continue
            if child in GROUPS_OF_ANSIBLE:
                problem = f"keyed_groups: the group {child} can't be inside another group."
                raise OptionError(problem, "Set prefix.")
            try:
                self._link(parent, child)
            except Exception:  # noqa: BLE001  # Ansible raises a plain one for a group in itself
                problem = f"keyed_groups: the group {child} would be inside itself."
                raise OptionError(problem) from None

    def _link(self, parent: str, child: str) -> None:
        self.parents.add((parent, child))
        self.add_group(parent)
        self.add_group(child)
        self.add_child(parent, child)

    def variables(self, view: View) -> dict[str, Any]:
        """Return the variables of a host, as Ansible's Host.get_vars() does."""
        host = AnsibleHost(view.host.name, gen_uuid=False)
        host.vars, groups = self._vars_of_each, view.groups
        if known := self.others.get(host.name):
            host.vars = {**host.vars, **known.vars}
            groups = [*(group.name for group in known.groups), *groups]
        for added in (as_data(view.host.variables), view.composed):
            host.vars = combine_vars(host.vars, added)
        for group in groups:
            host.add_group(self.groups[self.add_group(group)])
        variables: dict[str, Any] = host.get_vars()
        # The name and the groups can be text from the API.
        variables.update(as_data({magic: variables[magic] for magic in _MAGIC}))
        return variables


class Made(InventoryData):
    """An inventory in which one of Ansible's helpers makes groups of a host.

    ``parents`` has the (parent, child) pairs, which are not linked: one can be inside itself.
    """

    def __init__(self, host: str) -> None:
        self.parents: list[tuple[str, str]] = []
        super().__init__()
        self.parents.clear()
        self.add_host(host)

    def add_child(self, group: str, child: str) -> bool:
        self.parents.append((group, child))
        return True


class _Value:
    """The value of a key, for Ansible's helper for keyed_groups, which expects an expression."""

    def __init__(self, expression: Any, value: Any) -> None:
        self._expression = expression
        self.value = value

    def __str__(self) -> str:
        """Return the expression, for messages."""
        return str(self._expression)


class Expressions(BaseInventoryPlugin, Constructable):
    """The expressions of an inventory file, which Ansible's own helpers evaluate.

    ``failures`` has, for each expression, the ids of the servers for which it failed, and the first
    reason. ``parents`` has the (parent, child) pairs of groups that keyed_groups require, in order.
    """

    NAME = "server_management.cloud.servers"

    def __init__(
        self,
        get_option: Callable[[str], Any],
        templar: Templar,
        extra_vars: Mapping[str, Any],
        warn: Callable[[str], None],
    ) -> None:
        super().__init__()
        self.get_option = get_option
        self.templar = templar
        self._vars = extra_vars if get_option("use_extra_vars") else {}
        keep_text(templar)
        compile_once(templar)
        self.failures: dict[str, tuple[set[str], str]] = {}
        self.parents: dict[tuple[str, str], None] = {}
        condition = partial(Expression, self._holds, self._vars, is_condition=True)
        value = partial(Expression, self._value, self._vars)
        self._filters = [
            (verb, condition(f"filters: {verb}: {source}", source))
            for entry in get_option("filters") or []
            for verb, source in entry.items()
        ]
        self._hostnames = [
            value(f"hostnames: {one_line(str(source))}", source, _name_text, "")
            for source in get_option("hostnames") or []
        ]
        self._composed = {
            name: value(f"compose: {name}", source, _checked, _FAILED)
            for name, source in (get_option("compose") or {}).items()
        }
        self._groups = [  # not a mapping: a-b and a_b are the same group
            (safe_group_name(str(name)), condition(f"groups: {name}", source))
            for name, source in (get_option("groups") or {}).items()
        ]
        self._keyed_groups = []
        for label, entry in label_keyed_groups(get_option("keyed_groups") or []).items():
            make, is_pure = partial(self._make_groups, entry), not _has_template(entry)
            self._keyed_groups.append(value(label, entry["key"], make, _NOTHING, is_pure=is_pure))
        warn_of_templates(self._composed.values(), warn)

    def is_kept(self, host: Host) -> bool:
        """Return whether the first condition that is true, if any, includes the host.

        Raises OptionError if a condition fails: a host must not be kept by accident.
        """
        view = View(host)
        for verb, condition in self._filters:
            if self._result(condition, view, strict=True):
                return bool(verb == "include")
        return True

    def preferences(self, host: Host) -> list[str]:
        """Return the result of each expression of hostnames; an empty text if it is not usable.

        With strict, the first failure raises OptionError. Without it, ``failures`` counts.
        """
        view = View(host)
        return [self._result(expression, view) for expression in self._hostnames]

    def compose_all(self, hosts: list[Host], inventory: Any) -> list[Added]:
        """Evaluate compose, groups and keyed_groups for hosts that have their names.

        With strict, the first failure raises OptionError. Without it, ``failures`` counts.
        """
        self.parents.clear()
        scratch = Scratch(inventory)
        return [self._compose_host(View(host, scratch), scratch) for host in hosts]

    def _compose_host(self, view: View, scratch: Scratch) -> Added:
        """Evaluate the options in Ansible's order: each sees the results of those before it.

        Entries of compose don't see each other's results, and neither do those of groups.
        """
        values = {name: self._result(it, view) for name, it in self._composed.items()}
        variables = {name: value for name, value in values.items() if value is not _FAILED}
        view.add(variables, [])
        view.add({}, [name for name, it in self._groups if self._result(it, view)])
        for entry in self._keyed_groups:
            added = self._result(entry, view)
            view.add({}, added.groups)
            if added.parents:
                scratch.add_parents(added.parents)
                self.parents.update(dict.fromkeys(added.parents))
        return Added(variables, view.groups[len(view.host.groups) :], [])

    def _result(self, expression: Expression, view: View, strict: bool = False) -> Any:
        """Return the result of an expression for a host."""
        try:
            return expression.result(view)
        except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
            label, server = expression.label, view.host.server.id
            is_empty_name = is_omission(error) and not view.scratch
            if strict or (self.get_option("strict") and not is_empty_name):
                reason = self._reason(error, expression, view)
                message = f"{label}: failed for {one_line(view.host.name or server)}: {reason}"
                raise OptionError(message) from None  # with the cause, the reason is printed twice
            if not is_omission(error):
                if label not in self.failures:
                    self.failures[label] = set(), self._reason(error, expression, view)
                self.failures[label][0].add(server)
            return expression.failed

    def _reason(self, error: Exception, expression: Expression, view: View) -> str:
        """Return the reason of an error, and what is probably meant."""
        reason = reason_text(str(error))
        undefined = _undefined_name(reason)
        if not undefined:
            return reason
        import difflib  # only here: most files have no failing expression

        name, variables = undefined[1], view.host.variables
        prefixed = f"{self.get_option('hostvars_prefix')}{name}"
        near = [prefixed] if prefixed in variables else []
        near += difflib.get_close_matches(name, variables, n=1, cutoff=0.8)  # as server_nmae
        if near:
            return f"{reason} (did you mean {near[0]}?)"
        is_text = str(expression.source).strip() == name
        quoted = f""" (text needs quotes inside the quotes: "'{name}'")"""
        return reason + (quoted if is_text else "")

    def _value(self, expression: Any, view: View) -> Any:
        """Return the value of an expression."""
        if isinstance(expression, _NUMBERS):
            return expression
        return self._compose(expression, view.variables)

    def _holds(self, condition: Any, view: View) -> bool:
        """Return whether a condition is true."""
        if isinstance(condition, _NUMBERS):
            return bool(condition)
        variables = combine_vars(view.variables, self._vars)
        try:
            made = self._made(self._add_host_to_composed_groups, {"it": condition}, variables, view)
        except AnsibleParserError as error:
            cause = error.__context__ or error  # without the name of the group
            raise cause from cause.__cause__
        return "it" in made.groups

    def _make_groups(self, entry: dict[str, Any], value: Any, view: View) -> Added:
        """Return what an entry of keyed_groups makes of the value of its key."""
        text = str(value) if isinstance(entry["key"], _NUMBERS) else value
        entry = {**entry, "key": _Value(entry["key"], text)}
        variables = view.variables if _has_template(entry) else {}
        try:
            made = self._made(self._add_host_to_keyed_groups, [entry], variables, view)
        except AnsibleParserError as error:
            # For the helper, an empty key is always an error; here, only with strict.
            if self.get_option("strict") or text or error.__context__:
                raise
            return _NOTHING
        groups = [group.name for group in made.groups.values() if group.hosts]
        return Added({}, groups, made.parents)

    def _made(
        self, helper: Callable[..., None], entries: Any, variables: dict[str, Any], view: View
    ) -> Made:
        host = view.host.name or "host"
        self.inventory = made = Made(host)
        helper(entries, variables, host, strict=True, fetch_hostvars=False)
        return made

    def _compose(self, template: Any, variables: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(template, _Value):  # of a helper for keyed_groups, which reads variables next
            self.templar.available_variables = combine_vars(variables, self._vars)
            return template.value
        return super()._compose(template, variables, *args, **kwargs)


def warn_of_templates(expressions: Iterable[Expression], warn: Callable[[str], None]) -> None:
    """Warn of braces in text that an expression contains, which Ansible up to 2.18 renders."""
    for expression in expressions:
        if HAS_EXPRESSIONS and _template_in_text(str(expression.source)):
            warn(
                f"{expression.label}: Ansible doesn't render braces inside the text of an "
                "expression. Write the variable without braces and quotes."
            )


def _has_template(entry: Mapping[str, Any]) -> bool:
    """Return whether the parent of keyed_groups can depend on the host."""
    return not is_plain(str(entry.get("parent_group", "")))


def _name_text(value: Any, _view: View) -> str:
    """Return a result as the name of a host; an empty text if it can't be one."""
    if isinstance(value, str):
        return str.__str__(value)  # without any mark
    return str(value) if isinstance(value, _NUMBERS) else ""


def _checked(value: Any, _view: View) -> Any:
    """Return a result that ansible-inventory can list; other results raise an error."""
    if not isinstance(value, str):
        json.dumps(value, allow_nan=False, default=_date_text)
    return value


def _date_text(value: Any) -> str:
    if isinstance(value, date):
        return str(value)
    raise TypeError(f"The result {value!r} can't be in JSON.")
