# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The expressions of an inventory file, and what they add to hosts.

Ansible's own helpers evaluate every expression, one at a time, in a scratch inventory.
Nothing is added to the real inventory before all expressions of all hosts have been evaluated. An
expression sees the variables that its host would have, with what other sources say about the host
and what the expressions before it have added.

The utility _pure remembers results, so that Ansible is asked less often; they would be the same
without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.template import Templar
from ansible.utils.vars import combine_vars

from ..module_utils._errors import OptionError
from ..module_utils._options import GetOption
from ..module_utils._text import Show, count_of, is_plain, one_line
from ._ansible import OMISSION, compile_once, keep_text, reason_text, trust
from ._groups import safe_group_name
from ._hosts import ADDRESSES, NO_ADDRESS, Host, is_address
from ._pure import Evaluate, Expression
from ._scratch import Added, ComposedHost, ScratchInventory

_NUMBERS = (bool, int, float)  # as expressions, they stand for themselves
_FAILED = object()  # instead of the value of a variable
# A template, or a part of one in a text; not the braces of replace('{{', '').
_has_braces = re.compile(r"""^\s*\{[{%]|\{\{[^'"]*\}\}""").search
_NO_BRACES = (
    "expressions have no braces: "
    "write server_management_name instead of {{ server_management_name }}"
)


class Expressions(BaseInventoryPlugin, Constructable):
    """The expressions of an inventory file; ``all`` has them in the order of the options.

    ``hosts`` are those of all servers, for hints. ``parents`` has the (parent, child) pairs of
    groups that keyed_groups require, in order.
    """

    NAME = "server_management.cloud.servers"

    def __init__(
        self,
        get_option: GetOption,
        templar: Templar,
        extra_vars: Mapping[str, Any],
        warn: Show,
    ) -> None:
        super().__init__()
        self.get_option = get_option
        self.templar = templar
        self._vars = extra_vars if get_option("use_extra_vars") else {}
        self._warn = warn
        keep_text(templar)
        compile_once(templar)
        self.hosts: list[Host] = []
        self.parents: dict[tuple[str, str], None] = {}
        self.all: list[Expression] = []
        self.inventory = ScratchInventory(InventoryData())
        self._read_options()

    def _read_options(self) -> None:
        """Create the expressions of each option."""
        self._filters = []
        for entry in self.get_option("filters") or []:
            for verb, source in entry.items():
                expression = self._new(f"filters: {verb}: {source}", source, self._holds)
                self._filters.append((verb, expression))
        self._hostnames = []
        for source in self.get_option("hostnames") or []:
            expression = self._new(f"hostnames: {source}", source, self._name_text, failed="")
            self._hostnames.append(expression)
        self._compositions = {}
        for name, source in (self.get_option("compose") or {}).items():
            expression = self._new(f"compose: {name}", source, self._value, failed=_FAILED)
            self._compositions[name] = expression
        self._groups = []  # not a mapping: a-b and a_b are the same group
        for name, source in (self.get_option("groups") or {}).items():
            expression = self._new(f"groups: {name}", source, self._holds)
            self._groups.append((safe_group_name(str(name)), expression))
        self._keyed_groups = []
        nothing = Added([], [])
        for entry in self.get_option("keyed_groups") or []:
            source = entry["key"]
            evaluate = partial(self._groups_of, entry)
            expression = self._new(f"keyed_groups: {source}", source, evaluate, failed=nothing)
            self._keyed_groups.append(expression)
            # A parent that is a template can depend on the host.
            if not is_plain(str(entry.get("parent_group", ""))):
                expression.names = None

    def _new(
        self,
        label: str,
        source: Any,
        evaluate: Evaluate,
        failed: Any = False,
    ) -> Expression:
        expression = Expression(one_line(label), source, evaluate, failed)
        # An extra var can be a template that has another value each time.
        if expression.names and not self._vars.keys().isdisjoint(expression.names):
            expression.names = None
        self.all.append(expression)
        return expression

    def is_kept(self, host: Host) -> bool:
        """Return whether the first condition that is true, if any, includes the host.

        Raises OptionError if a condition fails: a host must not be kept by accident.
        """
        unnamed = ComposedHost(host, self.inventory)
        for verb, condition in self._filters:
            if self._result(condition, unnamed, strict=True):
                return bool(verb == "include")
        return True

    def preferences(self, host: Host) -> list[str]:
        """Return the result of each expression of hostnames; an empty text if it is not usable.

        If no result is usable because an expression failed, there are none, and the failure alone
        explains the name. With strict, the first failure raises OptionError.
        """
        unnamed = ComposedHost(host, self.inventory)
        names = [self._result(expression, unnamed) for expression in self._hostnames]
        if any(names):
            return names
        if any(host.server.id in expression.failures for expression in self._hostnames):
            return []
        return names

    def compose_all(self, hosts: list[Host], inventory: InventoryData) -> list[ComposedHost]:
        """Evaluate compose, groups and keyed_groups for hosts that have their names.

        With strict, the first failure raises OptionError.
        """
        self.parents.clear()
        self.inventory = ScratchInventory(inventory)
        return [self._compose_host(host) for host in hosts]

    def report(self, hosts: Collection[Host]) -> None:
        """Warn of expressions that failed for some of these hosts, and of braces."""
        total = count_of(len(hosts), "host")
        for expression in self.all:
            number = len(expression.failures)
            if number:
                problem = f"failed for {number:,} of {total}"
                if number > 1:
                    problem += ", first with"
                self._warn(f"{expression.label}: {problem}: {expression.reason}")
            elif _has_braces(str(expression.source)):
                self._warn(f"{expression.label}: {_NO_BRACES}.")

    def _compose_host(self, host: Host) -> ComposedHost:
        """Evaluate the options in Ansible's order: each sees the results of those before it.

        Entries of compose don't see each other's results, and neither do those of groups.
        """
        composed = ComposedHost(host, self.inventory)
        variables = {}
        for name, expression in self._compositions.items():
            value = self._result(expression, composed)
            if value is not _FAILED:
                variables[name] = value
        for name in ADDRESSES:
            if name in variables and not is_address(variables[name]):
                variables[name] = NO_ADDRESS
                # Without an address of the API, ansible_host is reported for that reason.
                if host.variables.get(name) != NO_ADDRESS:
                    host.replaced.add(name)
        composed.add(variables, [])
        groups = [name for name, condition in self._groups if self._result(condition, composed)]
        composed.add({}, groups)
        for entry in self._keyed_groups:
            added = self._result(entry, composed)
            composed.add({}, added.groups)
            for parent, child in added.parents:
                self.inventory.put_into(parent, child)
                self.parents[parent, child] = None
        return composed

    def _result(self, expression: Expression, host: ComposedHost, strict: bool = False) -> Any:
        """Return the result of an expression for a host."""
        try:
            return expression.result(host)
        except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
            server_id = host.host.server.id
            if strict or self.get_option("strict"):
                name = one_line(host.host.name or server_id)
                reason = self._reason(error, expression, host.host)
                message = f"{expression.label}: failed for {name}: {reason}"
                raise OptionError(message) from None  # with the cause, the reason is printed twice
            if not isinstance(error, OMISSION):
                if not expression.failures:
                    expression.reason = self._reason(error, expression, host.host)
                expression.failures.add(server_id)
            return expression.failed

    def _reason(self, error: Exception, expression: Expression, host: Host) -> str:
        """Return the reason of an error, and what is probably meant."""
        reason = reason_text(str(error))
        source = str(expression.source)
        if _has_braces(source):
            return f"{reason} ({_NO_BRACES})"
        from ._hints import find_hint  # only here: most files have no failing expression

        known = set(host.variables)
        for other in self.hosts:
            known.update(other.variables)
        can_be_text = expression in self._compositions.values()
        hint = find_hint(reason, known, self.get_option("hostvars_prefix"), source, can_be_text)
        if not hint:
            return reason
        return f"{reason} ({hint})"

    def _value(self, source: Any, host: ComposedHost) -> Any:
        """Return the value of an expression."""
        if isinstance(source, _NUMBERS):
            return source
        return self._compose(source, host.all_variables)

    def _name_text(self, source: Any, host: ComposedHost) -> str:
        """Return a value as the name of a host; an empty text if it can't be one."""
        try:
            value = self._value(source, host)
        except OMISSION:  # also with strict, the next preference is used
            return ""
        if isinstance(value, str):
            return str.__str__(value)  # without any mark
        if isinstance(value, _NUMBERS):
            return str(value)
        return ""

    def _holds(self, condition: Any, host: ComposedHost) -> bool:
        """Return whether a condition is true."""
        if isinstance(condition, _NUMBERS):
            return bool(condition)
        added = self._ask(self._add_host_to_composed_groups, {"it": condition}, host)
        return bool(added.parents)

    def _groups_of(self, entry: dict[str, Any], key: Any, host: ComposedHost) -> Added:
        """Return what an entry of keyed_groups, which has this key, adds to a host."""
        if isinstance(key, _NUMBERS):
            # As text, which Ansible up to 2.18 would convert back if it were not in a list.
            key = trust(f"['{key}']")
            entry = {**entry, "key": key}
        try:
            return self._ask(self._add_host_to_keyed_groups, [entry], host)
        except AnsibleParserError:
            # For the helper, an empty key is always an error; here, only with strict.
            if self.get_option("strict") or self._compose(key, host.all_variables):
                raise
            return Added([], [])

    def _ask(self, helper: Callable[..., None], entries: Any, host: ComposedHost) -> Added:
        """Return what a helper of Ansible adds to a host."""
        added = Added([], [])
        self.inventory.added = added
        # Not all helpers add extra vars themselves.
        variables = combine_vars(host.all_variables, self._vars)
        try:
            helper(entries, variables, host.host.name, strict=True, fetch_hostvars=False)
        except AnsibleParserError as error:
            cause = error.__context__ or error  # without the names of the host and the group
            raise cause from cause.__cause__
        return added
