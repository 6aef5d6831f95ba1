# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The expressions of an inventory file, and what they add to hosts.

Ansible's own helpers evaluate every expression, one at a time, for a host of a scratch inventory.
Nothing is added to the real inventory before all expressions of all hosts have been evaluated. An
expression sees the variables that its host would have, with what other sources say about the host
and what the expressions before it have added.

The utility _pure remembers results, so that Ansible is asked less often; they would be the same
without it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.template import Templar
from ansible.utils.vars import combine_vars

from ..module_utils._errors import OptionError
from ..module_utils._models import Server, summarise_servers
from ..module_utils._text import count_of, is_plain, one_line
from ._ansible import compile_once, is_omission, keep_text, reason_text, trust
from ._groups import label_keyed_groups, safe_group_name
from ._hosts import NO_ADDRESS, RESERVED_VARIABLES, Host
from ._pure import ComposedHost, Expression, KnownInventory

_NUMBERS = (bool, int, float)  # as expressions, they stand for themselves
_ADDRESSES = ("ansible_host", "ansible_ssh_host")
# Neither white space nor control characters, and nothing that ssh reads as an option.
_address = re.compile(r"(?!-)[^\s\x00-\x1f\x7f-\x9f]+").fullmatch
_FAILED = object()
_undefined_name = re.compile(r"'(\w+)' is undefined").search
# A template, or a part of one in a text; not the braces of replace('{{', '').
_has_braces = re.compile(r"""^\s*\{[{%]|\{\{[^'"]*\}\}""").search
_NO_BRACES = "expressions have no braces: write server_name instead of {{ server_name }}"


class KeyedGroups(NamedTuple):
    """What an entry of keyed_groups adds: groups of the host, and (parent, child) pairs."""

    groups: Sequence[str] = ()
    parents: Sequence[tuple[str, str]] = ()


class ScratchInventory(InventoryData):
    """An inventory with one host, to which one of Ansible's helpers adds groups.

    Groups are not put into others, since one can be inside itself; ``parents`` has the pairs.
    """

    def __init__(self, host: str) -> None:
        self.parents: list[tuple[str, str]] = []
        super().__init__()
        self.parents.clear()  # of "ungrouped"
        self.add_host(host)

    def add_child(self, group: str, child: str) -> bool:
        self.parents.append((group, child))
        return True


class Expressions(BaseInventoryPlugin, Constructable):
    """The expressions of an inventory file.

    ``hosts`` are those of all servers, for hints. ``failures`` has, for each expression, the ids of
    the servers for which it failed, and the first reason. ``parents`` has the (parent, child) pairs
    of groups that keyed_groups require, in order.
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
        self._warn = warn
        keep_text(templar)
        compile_once(templar)
        self.hosts: list[Host] = []
        self.failures: dict[str, tuple[set[str], str]] = {}
        self.parents: dict[tuple[str, str], None] = {}
        self._without_address: dict[str, list[Server]] = {}
        self._read_options()

    def _read_options(self) -> None:
        """Create the expressions of each option."""
        expression = partial(Expression, hidden=self._vars)
        self._filters = []
        for entry in self.get_option("filters") or []:
            for verb, source in entry.items():
                label = f"filters: {verb}: {source}"
                condition = expression(label, source, partial(self._holds, source))
                self._filters.append((verb, condition))
        self._hostnames = []
        for source in self.get_option("hostnames") or []:
            label = f"hostnames: {one_line(str(source))}"
            name = expression(label, source, partial(self._name_text, source), failed="")
            self._hostnames.append(name)
        self._compositions = {}
        for name, source in (self.get_option("compose") or {}).items():
            value = partial(self._variable, source)
            self._compositions[name] = expression(f"compose: {name}", source, value, failed=_FAILED)
        self._groups = []  # not a mapping: a-b and a_b are the same group
        for name, source in (self.get_option("groups") or {}).items():
            condition = expression(f"groups: {name}", source, partial(self._holds, source))
            self._groups.append((safe_group_name(str(name)), condition))
        self._keyed_groups = []
        for label, entry in label_keyed_groups(self.get_option("keyed_groups") or []).items():
            groups = partial(self._groups_of, entry)
            # The parent of keyed_groups is a template, which can depend on the host.
            is_pure = bool(is_plain(str(entry.get("parent_group", ""))))
            self._keyed_groups.append(
                expression(label, entry["key"], groups, failed=KeyedGroups(), is_pure=is_pure)
            )

    def is_kept(self, host: Host) -> bool:
        """Return whether the first condition that is true, if any, includes the host.

        Raises OptionError if a condition fails: a host must not be kept by accident.
        """
        unnamed = ComposedHost(host)
        for verb, condition in self._filters:
            if self._result(condition, unnamed, strict=True):
                return bool(verb == "include")
        return True

    def preferences(self, host: Host) -> list[str]:
        """Return the result of each expression of hostnames; an empty text if it is not usable.

        If no result is usable because an expression failed, there are none, and the failure alone
        explains the name. With strict, the first failure raises OptionError.
        """
        unnamed = ComposedHost(host)
        names = [self._result(expression, unnamed) for expression in self._hostnames]
        has_failed = any(host.server.id in servers for servers, _reason in self.failures.values())
        if has_failed and not any(names):
            return []
        return names

    def compose_all(self, hosts: list[Host], inventory: InventoryData) -> list[ComposedHost]:
        """Evaluate compose, groups and keyed_groups for hosts that have their names.

        With strict, the first failure raises OptionError. Without it, ``failures`` counts.
        """
        self.parents.clear()
        self._without_address.clear()
        known = KnownInventory(inventory)
        return [self._compose_host(host, known) for host in hosts]

    def report(self, hosts: Collection[Host]) -> None:
        """Warn of what expressions did not give to hosts, and of braces in expressions."""
        total = count_of(len(hosts), "host")
        for label, (failed, reason) in self.failures.items():
            first = ", first with" if len(failed) > 1 else ""
            self._warn(f"{label}: failed for {len(failed):,} of {total}{first}: {reason}")
        for name, without in self._without_address.items():
            servers = f"{count_of(len(without), 'server')}: {summarise_servers(without)}"
            self._warn(f"compose: {name}: not an address for {servers}, so it is {NO_ADDRESS}")
        conditions = [condition for _name, condition in (*self._filters, *self._groups)]
        others = [*self._hostnames, *self._compositions.values(), *self._keyed_groups]
        for expression in (*conditions, *others):
            if _has_braces(str(expression.source)) and expression.label not in self.failures:
                self._warn(f"{expression.label}: {_NO_BRACES}.")

    def _compose_host(self, host: Host, inventory: KnownInventory) -> ComposedHost:
        """Evaluate the options in Ansible's order: each sees the results of those before it.

        Entries of compose don't see each other's results, and neither do those of groups.
        """
        composed = ComposedHost(host, inventory)
        variables = {}
        for name, expression in self._compositions.items():
            value = self._result(expression, composed)
            if value is not _FAILED:
                variables[name] = value
        for name in _ADDRESSES:
            if name in variables and not _is_address(variables[name]):
                variables[name] = NO_ADDRESS
                # The API's address can be unusable, too, which is reported with all such servers.
                if host.variables.get(name) != NO_ADDRESS:
                    self._without_address.setdefault(name, []).append(host.server)
        composed.add(variables, [])
        composed.add({}, [name for name, it in self._groups if self._result(it, composed)])
        for entry in self._keyed_groups:
            added = self._result(entry, composed)
            composed.add({}, added.groups)
            for parent, child in added.parents:
                inventory.put_into(parent, child)
                self.parents[parent, child] = None
        return composed

    def _result(self, expression: Expression, host: ComposedHost, strict: bool = False) -> Any:
        """Return the result of an expression for a host."""
        try:
            return expression.result(host)
        except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
            is_omitted = is_omission(error)
            if is_omitted and expression in self._hostnames:
                return expression.failed  # the next preference is used, also with strict
            server_id = host.host.server.id
            if strict or self.get_option("strict"):
                name = one_line(host.host.name or server_id)
                reason = self._reason(error, expression, host.host)
                message = f"{expression.label}: failed for {name}: {reason}"
                raise OptionError(message) from None  # with the cause, the reason is printed twice
            if is_omitted:
                return expression.failed
            if expression.label not in self.failures:
                reason = self._reason(error, expression, host.host)
                self.failures[expression.label] = set(), reason
            self.failures[expression.label][0].add(server_id)
            return expression.failed

    def _reason(self, error: Exception, expression: Expression, host: Host) -> str:
        """Return the reason of an error, and what is probably meant."""
        reason = reason_text(str(error))
        hint = self._hint(reason, expression, host)
        return f"{reason} ({hint})" if hint else reason

    def _hint(self, reason: str, expression: Expression, host: Host) -> str:
        """Return what is probably meant by an expression that failed, or an empty text."""
        if _has_braces(str(expression.source)):
            return _NO_BRACES
        undefined = _undefined_name(reason)
        if not undefined:
            return ""
        import difflib  # only here: most files have no failing expression

        name = undefined[1]
        known = set(host.variables).union(*(other.variables for other in self.hosts))
        if name in known:
            return "only some servers have this field: add the filter default"
        prefixed = f"{self.get_option('hostvars_prefix')}{name}"
        near = [prefixed] if prefixed in known else []
        near += difflib.get_close_matches(name, known, n=1, cutoff=0.8)  # as server_nmae
        if near:
            return f"did you mean {near[0]}?"
        # A variable that Ansible has only in plays, such as hostvars, is not meant as text.
        is_text = str(expression.source).strip() == name and name not in RESERVED_VARIABLES
        if is_text and expression in self._compositions.values():
            return f"""text needs quotes inside the quotes: "'{name}'\""""
        return ""

    def _value(self, source: Any, host: ComposedHost) -> Any:
        """Return the value of an expression."""
        if isinstance(source, _NUMBERS):
            return source
        return self._compose(source, host.all_variables)

    def _variable(self, source: Any, host: ComposedHost) -> Any:
        """Return a value that ansible-inventory can list; other values raise an error."""
        value = self._value(source, host)
        if not isinstance(value, str):
            json.dumps(value, allow_nan=False, default=_date_text)
        return value

    def _name_text(self, source: Any, host: ComposedHost) -> str:
        """Return a value as the name of a host; an empty text if it can't be one."""
        value = self._value(source, host)
        if isinstance(value, str):
            return str.__str__(value)  # without any mark
        return str(value) if isinstance(value, _NUMBERS) else ""

    def _holds(self, condition: Any, host: ComposedHost) -> bool:
        """Return whether a condition is true."""
        if isinstance(condition, _NUMBERS):
            return bool(condition)
        made = self._ask(self._add_host_to_composed_groups, {"it": condition}, host)
        return "it" in made.groups

    def _groups_of(self, entry: dict[str, Any], host: ComposedHost) -> KeyedGroups:
        """Return what an entry of keyed_groups adds to a host."""
        if isinstance(entry["key"], _NUMBERS):
            # As text, which Ansible up to 2.18 would convert back if it were not in a list.
            entry = {**entry, "key": trust(f"['{entry['key']}']")}
        try:
            made = self._ask(self._add_host_to_keyed_groups, [entry], host)
        except AnsibleParserError:
            # For the helper, an empty key is always an error; here, only with strict.
            if self.get_option("strict") or self._compose(entry["key"], host.all_variables):
                raise
            return KeyedGroups()
        groups = [group.name for group in made.groups.values() if group.hosts]
        return KeyedGroups(groups, made.parents)

    def _ask(
        self, helper: Callable[..., None], entries: Any, host: ComposedHost
    ) -> ScratchInventory:
        """Let a helper of Ansible add groups to a host; return the inventory with them."""
        name = host.host.name or "host"
        self.inventory = ScratchInventory(name)
        # Not all helpers add extra vars themselves.
        variables = combine_vars(host.all_variables, self._vars)
        try:
            helper(entries, variables, name, strict=True, fetch_hostvars=False)
        except AnsibleParserError as error:
            cause = error.__context__ or error  # without the names of the host and the group
            raise cause from cause.__cause__
        return self.inventory


def _is_address(value: Any) -> bool:
    """Return whether a value can be the address or the name of a server."""
    return isinstance(value, str) and bool(_address(value))


def _date_text(value: Any) -> str:
    if isinstance(value, date):
        return str(value)
    raise TypeError(f"The result {value!r} can't be in JSON.")
