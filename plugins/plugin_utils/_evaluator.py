# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Evaluate one expression for one host: the result is remembered, or from Jinja, or from Ansible.

- The result of a pure expression is remembered for the key of the variables that it reads.
- Otherwise, Jinja evaluates a portable expression that reads only text which can't be a template.
- Otherwise, Ansible evaluates the expression, as for its own plugins. From ansible-core 2.19 on, it
  compiles the expression only once.

See the utility _pure for what pure and portable mean, and why this is safe; keys are explained in
_host_vars.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import partial
from typing import Any

from ansible.errors import AnsibleError, AnsibleParserError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.template import Templar
from ansible.utils.vars import combine_vars
from jinja2 import TemplateSyntaxError

from ..module_utils._text import is_plain
from ._ansible import HAS_EXPRESSIONS, as_data, is_omission, keep_text, setting
from ._host_vars import HostVars
from ._pure import analyse

NUMBERS = (bool, int, float)  # as expressions, they stand for themselves
Key = tuple[Hashable, ...] | None
_UNKNOWN = object()
_MOST_REMEMBERED = 1024  # results of one expression
# Before ansible-core 2.19, Ansible makes booleans of these texts.
_CONVERTED = ("True", "False")


class Recorder:
    """An inventory for Ansible's helper for keyed_groups, which records the groups that it adds."""

    def __init__(self) -> None:
        self.groups: list[str] = []
        self.parents: list[tuple[str, str]] = []

    def add_group(self, group: str) -> str:
        if not group or not isinstance(group, str):
            raise AnsibleError(f"Invalid empty/false group name provided: {group}")
        return group

    def add_host(self, host: str, group: str) -> None:
        self.groups.append(group)

    def add_child(self, group: str, child: str) -> None:
        self.parents.append((group, child))


# Lists and mappings are copied when they become variables, and when an expression reads them.
_REMEMBERED = (str, *NUMBERS, type(None), list, tuple, dict, Recorder)


class Expression:
    """An expression of the file, and its remembered results."""

    def __init__(
        self,
        source: Any,
        extra_vars: Mapping[str, Any],
        is_fast: bool,
        is_condition: bool = False,
    ) -> None:
        self.source = source
        self._is_condition = is_condition
        pure = analyse(source, is_condition) if is_fast else None
        # An extra var can be a template that has another value each time.
        is_shadowed = pure is not None and any(name in extra_vars for name in pure.names)
        self._pure = None if is_shadowed else pure
        self._results: dict[Key, Any] = {}

    def result(
        self, host_vars: HostVars, evaluate: Callable[[Expression, HostVars, Key], Any]
    ) -> Any:
        """Return the remembered result for a host, or what ``evaluate`` returns."""
        key = host_vars.key(self._pure.names) if self._pure else None
        if key is None:
            return evaluate(self, host_vars, None)
        result = self._results.get(key, _UNKNOWN)
        if result is _UNKNOWN:
            result = evaluate(self, host_vars, key)
            if len(self._results) < _MOST_REMEMBERED and isinstance(result, _REMEMBERED):
                self._results[key] = result
        return result

    def by_jinja(self, key: Key) -> Any:
        """Return Jinja's result, or None if Ansible has to evaluate the expression."""
        if self._pure is None or key is None:
            return None
        value = self._pure.evaluate(key)
        if self._is_condition:
            return value if value.__class__ is bool else None
        if value.__class__ is not str:
            return None
        if HAS_EXPRESSIONS:
            return value
        # With this setting, text can become a number. Later versions ignore it.
        if setting("DEFAULT_JINJA2_NATIVE") or not is_plain(value) or value.startswith(_CONVERTED):
            return None
        return as_data(value) if key else value


class Evaluator(BaseInventoryPlugin, Constructable):
    """Evaluate expressions as Ansible's own helpers do, and add nothing to an inventory.

    ``options`` has the options that those helpers read, and ``strict``.
    """

    NAME = "server_management.cloud.servers"

    def __init__(
        self, options: Mapping[str, Any], templar: Templar, extra_vars: Mapping[str, Any]
    ) -> None:
        super().__init__()
        self.get_option: Callable[..., Any] = options.__getitem__
        self.templar = templar
        keep_text(templar)
        self._vars = extra_vars
        # The key of keyed_groups that Ansible's helper evaluates, and its value.
        self._asked: tuple[Expression, HostVars, Key]
        self._key_value: Any = None

    def value(self, expression: Expression, host_vars: HostVars) -> Any:
        """Return the value of an expression."""
        if isinstance(expression.source, NUMBERS):
            return expression.source
        return expression.result(host_vars, self._evaluate)

    def holds(self, condition: Expression, host_vars: HostVars) -> bool:
        """Return whether a condition is true."""
        if isinstance(condition.source, NUMBERS):
            return bool(condition.source)
        return bool(condition.result(host_vars, self._evaluate_condition))

    def keyed_groups(self, entry: dict[str, Any], key: Expression, host_vars: HostVars) -> Recorder:
        """Return the groups that an entry of keyed_groups adds."""
        recorder: Recorder = key.result(host_vars, partial(self._record, entry))
        return recorder

    def _record(
        self, entry: dict[str, Any], expression: Expression, host_vars: HostVars, key: Key
    ) -> Recorder:
        self.inventory = recorder = Recorder()
        self._asked = expression, host_vars, key
        self._key_value = _UNKNOWN  # a true value: the helper has not evaluated the key yet
        try:
            self._add_host_to_keyed_groups(
                [entry], {}, host_vars.host.name, strict=True, fetch_hostvars=False
            )
        except AnsibleParserError as error:
            # For the helper, an empty or omitted key is always an error; here, only with strict.
            is_empty = error.__context__ is None and not self._key_value
            if self.get_option("strict") or not (is_empty or is_omission(error.__context__)):
                raise
        return recorder

    def _compose(self, template: Any, variables: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the value of the key, for which Ansible's helper calls this method."""
        expression, host_vars, _key = self._asked
        if isinstance(expression.source, NUMBERS):
            self._use_variables(host_vars)
            self._key_value = str(expression.source)
        else:
            self._key_value = self._evaluate(*self._asked)
        return self._key_value

    def _evaluate(self, expression: Expression, host_vars: HostVars, key: Key) -> Any:
        value = expression.by_jinja(key)
        return super()._compose(expression.source, host_vars.all()) if value is None else value

    def _evaluate_condition(self, condition: Expression, host_vars: HostVars, key: Key) -> bool:
        value = condition.by_jinja(key)
        if value is not None:
            return bool(value)
        self._use_variables(host_vars)
        if HAS_EXPRESSIONS:
            return bool(self.templar.evaluate_conditional(condition.source))
        # Not an f-string: a condition that is marked unsafe must stay so, and fail.
        template = "{%% if %s %%} True {%% else %%} False {%% endif %%}" % condition.source  # noqa: UP031
        return bool(boolean(self.templar.template(template)))

    def _use_variables(self, host_vars: HostVars) -> None:
        """Make the variables of a host available to templates, with the extra vars."""
        self.templar.available_variables = combine_vars(host_vars.all(), self._vars)


def syntax_error(error: BaseException) -> str | None:
    """Return the syntax error that made Ansible fail, if that was the cause."""
    cause: BaseException | None = error
    seen: set[int] = set()  # an error of Ansible can be its own cause
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if isinstance(cause, (TemplateSyntaxError, SyntaxError)):
            return str(cause.msg if isinstance(cause, SyntaxError) else cause.message)
        cause = cause.__cause__ or cause.__context__
    return None
