# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The expressions of an inventory file, and what they add to hosts.

Hosts are named and composed again if one has the name of a group. The utility _evaluator evaluates
single expressions; with ``is_fast=False``, Ansible evaluates all, with the same results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from ansible.template import Templar

from ..module_utils._errors import OptionError
from ..module_utils._text import is_plain, one_line, summarise
from ._ansible import compile_once, is_omission, reason_text
from ._evaluator import NUMBERS, Evaluator, Expression, syntax_error
from ._groups import ReservedNames, label_keyed_groups, safe_group_name
from ._host_vars import HostVars, OtherSources
from ._hosts import Host, name_hosts
from ._names import Naming

# The options that Expressions reads.
OPTIONS = (
    "compose", "filters", "groups", "hostnames", "keyed_groups", "leading_separator", "strict",
    "use_extra_vars",
)  # fmt: skip
_HOSTNAMES = "hostnames: "
_ATTEMPTS = 3  # to name and compose the hosts


class Composed(NamedTuple):
    """The variables and groups that the expressions add to one host."""

    variables: dict[str, Any]
    groups: list[str]


class Expressions:
    """The expressions of an inventory file.

    ``failures`` has, for each expression, the number of hosts for which it failed and the first
    error. ``parents`` has the (parent, child) pairs of groups that keyed_groups require, in order.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        templar: Templar,
        extra_vars: Mapping[str, Any],
        is_fast: bool = True,
    ) -> None:
        extra_vars = extra_vars if options["use_extra_vars"] else {}
        if is_fast:
            compile_once(templar)
        self._evaluator = Evaluator(options, templar, extra_vars)
        self._strict = options["strict"]
        new = partial(Expression, extra_vars=extra_vars, is_fast=is_fast)
        self._filters = [
            (verb, new(condition, is_condition=True))
            for entry in options["filters"] or []
            for verb, condition in entry.items()
        ]
        self._hostnames = [
            (f"{_HOSTNAMES}{one_line(str(source))}", new(source))
            for source in options["hostnames"] or []
        ]
        self._variables = {name: new(source) for name, source in (options["compose"] or {}).items()}
        # A list, because a-b and a_b are the same group.
        self._groups = [
            (name, safe_group_name(str(name)), new(condition, is_condition=True))
            for name, condition in (options["groups"] or {}).items()
        ]
        self._keyed_groups = label_keyed_groups(options["keyed_groups"] or [])
        self._keys = [
            # A templated parent_group needs the host's variables, so Ansible must evaluate its key.
            new(
                entry["key"], is_fast=is_fast and bool(is_plain(str(entry.get("parent_group", ""))))
            )
            for entry in self._keyed_groups.values()
        ]
        self.failures: dict[str, tuple[int, str]] = {}
        self.parents: dict[tuple[str, str], None] = {}

    def is_kept(self, host: Host) -> bool:
        """Return whether the first condition that is true, if any, includes the host.

        Raises OptionError if a condition fails: a host must not be kept by accident.
        """
        host_vars = HostVars(host)
        for verb, condition in self._filters:
            try:
                if self._evaluator.holds(condition, host_vars):
                    return bool(verb == "include")
            except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
                label = f"filters: {verb}: {condition.source}"
                syntax = syntax_error(error)
                if syntax is not None:
                    raise OptionError(f"{label}: syntax error: {one_line(syntax)}") from None
                server, reason = one_line(host.server.id), reason_text(str(error))
                raise OptionError(f"{label}: failed for the server {server}: {reason}") from None
        return True

    def preferences(self, host: Host) -> list[str]:
        """Return the result of each expression of hostnames; an empty text if it is not usable.

        With strict, the first failure raises OptionError. Without it, ``failures`` counts.
        """
        host_vars = HostVars(host)
        found = []
        for label, expression in self._hostnames:
            try:
                value = self._evaluator.value(expression, host_vars)
            except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
                if not is_omission(error):
                    server = one_line(host.server.id)
                    self._fail(label, f"failed for the server {server}: ", error)
                value = ""
            if isinstance(value, str):
                found.append(str.__str__(value))  # without any mark
            else:
                found.append(str(value) if isinstance(value, NUMBERS) else "")
        return found

    def compose_all(self, hosts: list[Host], inventory: Any) -> list[Composed]:
        """Evaluate compose, groups and keyed_groups for hosts that have their names.

        With strict, the first failure raises OptionError. Without it, ``failures`` counts.
        """
        self.failures = {
            label: found for label, found in self.failures.items() if label.startswith(_HOSTNAMES)
        }
        self.parents.clear()
        if not (self._variables or self._groups or self._keyed_groups):
            return [Composed({}, []) for host in hosts]
        others = OtherSources(inventory)
        return [self._compose_host(HostVars(host, others), others) for host in hosts]

    def _compose_host(self, host_vars: HostVars, others: OtherSources) -> Composed:
        host, variables = host_vars.host.name, {}
        for name, expression in self._variables.items():
            try:
                value = self._evaluator.value(expression, host_vars)
                _check_json(value)
                variables[name] = value
            except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
                self._fail(f"compose: {name}", f"Could not set {name} for host {host}: ", error)
        # Entries of compose can't use each other's results, and neither can those of groups.
        host_vars.composed = variables
        groups = []
        for name, group, condition in self._groups:
            try:
                if self._evaluator.holds(condition, host_vars):
                    groups.append(group)
            except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
                message = f"Could not add host {host} to group {group}: "
                self._fail(f"groups: {name}", message, error)
        host_vars.groups += groups
        for (label, entry), key in zip(self._keyed_groups.items(), self._keys, strict=True):
            try:
                recorder = self._evaluator.keyed_groups(entry, key, host_vars)
            except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
                self._fail(label, "", error)
                continue
            host_vars.groups += recorder.groups
            for parent, child in recorder.parents:
                self.parents[parent, child] = None
                others.add_parent(parent, child)
        return Composed(variables, host_vars.groups)

    def _fail(self, label: str, message: str, error: Exception) -> None:
        reason = reason_text(str(error))
        if self._strict:
            # With the cause, Ansible would print the reason twice.
            raise OptionError(f"{label}: {message}{reason}") from None
        if is_omission(error):
            return
        count, first = self.failures.get(label, (0, reason))
        self.failures[label] = count + 1, first


def name_and_compose(
    hosts: list[Host],
    expressions: Expressions,
    group_names: ReservedNames,
    is_taken: Callable[[str, str], bool],
    inventory: Any,
) -> Naming:
    """Name the hosts, sort them, and add the variables and groups of the expressions to them.

    Not all groups are known before the hosts are composed. If a host turns out to have the name of
    a group, naming and composing are repeated without that name. Other names can make expressions
    return other groups, so the number of attempts is limited.
    """
    for _attempt in range(_ATTEMPTS):
        naming = name_hosts(hosts, group_names, is_taken)
        composed = expressions.compose_all(hosts, inventory)
        made = {group for extra in composed for group in extra.groups}
        made.update(name for pair in expressions.parents for name in pair)
        clashing = made.intersection(host.name for host in hosts)
        if not clashing:
            break
        group_names.add(made)
    else:
        raise OptionError(
            f"keyed_groups: creates groups with the names of hosts: {summarise(clashing)}.",
            "Set prefix.",
        )
    for host, extra in zip(hosts, composed, strict=True):
        host.variables.update(extra.variables)
        host.groups += extra.groups
    return naming


def _check_json(value: Any) -> None:
    """Raise TypeError if a value can't be in JSON, in which ansible-inventory lists variables."""
    if isinstance(value, (str, int, date, type(None))):  # dates are listed as text
        return
    if isinstance(value, (list, tuple)):
        for item in value:
            _check_json(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, (str, int, float, type(None))):
                raise TypeError(f"The key {key!r} can't be in JSON.")
            _check_json(item)
    elif not (isinstance(value, float) and math.isfinite(value)):
        raise TypeError(f"The result {value!r} can't be in JSON.")
