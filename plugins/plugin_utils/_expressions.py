# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Evaluate the expressions of an inventory file as Ansible's own helpers do.

This utility is private to the collection: it may change in any release.

Some values are remembered or computed without Ansible: see the utilities _values and _pure for
which, and why that is safe. With ``is_fast=False``, Ansible evaluates everything, with the same
results.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from ansible.template import Templar

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._text import (
    is_plain,
    one_line,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._evaluator import (
    Evaluator,
    is_omission,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._groups import (
    label_keyed_groups,
    safe_group_name,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._hosts import Host
from ansible_collections.server_management.cloud.plugins.plugin_utils._subjects import (
    Subject,
    Surroundings,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._values import (
    NUMBERS,
    Expression,
    syntax_error,
)

# The options that Expressions reads.
OPTIONS = (
    "compose", "filters", "groups", "hostnames", "keyed_groups", "leading_separator", "strict",
    "use_extra_vars",
)  # fmt: skip
_HOSTNAMES = "hostnames: "


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
        # Two names may be the same group, once they are made safe.
        self._groups = [
            (name, safe_group_name(str(name)), new(condition, is_condition=True))
            for name, condition in (options["groups"] or {}).items()
        ]
        self._keyed_groups = label_keyed_groups(options["keyed_groups"] or [])
        self._keys = [
            # The helper renders a parent group with the variables that Ansible had for the key.
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
        subject = Subject(host)
        for verb, condition in self._filters:
            try:
                if self._evaluator.holds(condition, subject):
                    return bool(verb == "include")
            except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
                label = f"filters: {verb}: {condition.source}"
                syntax = syntax_error(error)
                if syntax is not None:
                    raise OptionError(f"{label}: syntax error: {one_line(syntax)}") from None
                server, reason = one_line(host.server.id), one_line(str(error))
                raise OptionError(f"{label}: failed for the server {server}: {reason}") from None
        return True

    def preferences(self, host: Host) -> list[str]:
        """Return the result of each expression of hostnames; an empty text if it is not usable.

        With strict, the first failure raises OptionError. Without it, ``failures`` counts.
        """
        subject = Subject(host)
        found = []
        for label, expression in self._hostnames:
            try:
                value = self._evaluator.value(expression, subject)
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
        surroundings = Surroundings(inventory)
        return [self._compose_host(Subject(host, surroundings), surroundings) for host in hosts]

    def _compose_host(self, subject: Subject, surroundings: Surroundings) -> Composed:
        host, variables = subject.host.name, {}
        for name, expression in self._variables.items():
            try:
                value = self._evaluator.value(expression, subject)
                _check_json(value)
                variables[name] = value
            except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
                self._fail(f"compose: {name}", f"Could not set {name} for host {host}: ", error)
        # Entries of compose can't use each other's results, and neither can those of groups.
        subject.composed = variables
        groups = []
        for name, group, condition in self._groups:
            try:
                if self._evaluator.holds(condition, subject):
                    groups.append(group)
            except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
                message = f"Could not add host {host} to group {group}: "
                self._fail(f"groups: {name}", message, error)
        subject.groups += groups
        for (label, entry), key in zip(self._keyed_groups.items(), self._keys, strict=True):
            try:
                recorder = self._evaluator.keyed_groups(entry, key, subject)
            except Exception as error:  # noqa: BLE001  # a user's expression may raise anything
                self._fail(label, "", error)
                continue
            subject.groups += recorder.groups
            for parent, child in recorder.parents:
                self.parents[parent, child] = None
                surroundings.add_parent(parent, child)
        return Composed(variables, subject.groups)

    def _fail(self, label: str, message: str, error: Exception) -> None:
        reason = one_line(str(error))
        if self._strict:
            # With the cause, Ansible would print the reason twice.
            raise OptionError(f"{label}: {message}{reason}") from None
        if is_omission(error):
            return
        count, first = self.failures.get(label, (0, reason))
        self.failures[label] = count + 1, first


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
