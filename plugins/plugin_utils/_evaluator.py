# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Evaluate an expression for a host as Ansible's own helpers do.

This utility is private to the collection: it may change in any release.

Some values are remembered or computed without Ansible, and so are the groups of keyed_groups whose
key has such a value: see the utilities _values and _pure for which, and why that is safe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleError, AnsibleParserError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.template import Templar
from ansible.utils.vars import combine_vars

from ansible_collections.server_management.cloud.plugins.plugin_utils._pure import HAS_EXPRESSIONS
from ansible_collections.server_management.cloud.plugins.plugin_utils._subjects import (
    Recorder,
    Subject,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._trust import keep_text
from ansible_collections.server_management.cloud.plugins.plugin_utils._values import (
    MOST_REMEMBERED,
    NUMBERS,
    Expression,
)

try:
    from ansible.errors import AnsibleValueOmittedError
except ImportError:  # ansible-core before 2.19, where omit is not known to inventories

    class AnsibleValueOmittedError(AnsibleError):  # type: ignore[no-redef]
        """Never raised here."""


def is_omission(error: BaseException | None) -> bool:
    """Return whether an expression failed because it omits its result on purpose."""
    return isinstance(error, AnsibleValueOmittedError)


class Evaluator(BaseInventoryPlugin, Constructable):
    """Evaluate expressions the way Ansible's own helpers do, and add nothing to an inventory.

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
        # For each key in keyed_groups: the groups of its entry, by the values of its variables.
        self._recorders: dict[Expression, dict[tuple[str, ...], Recorder]] = {}
        # The key that Ansible's helper is to evaluate, and the value that it got.
        self._asked: tuple[Expression, Subject]
        self._key_value: Any = None

    def value(self, expression: Expression, subject: Subject) -> Any:
        """Return the value of an expression."""
        if isinstance(expression.source, NUMBERS):
            return expression.source
        return expression.value(subject, self._ask_value)

    def holds(self, condition: Expression, subject: Subject) -> bool:
        """Return whether a condition is true."""
        if isinstance(condition.source, NUMBERS):
            return bool(condition.source)
        return bool(condition.value(subject, self._ask_condition))

    def keyed_groups(self, entry: dict[str, Any], key: Expression, subject: Subject) -> Recorder:
        """Return the groups that an entry of keyed_groups adds.

        They are remembered if the key depends on the values of its variables alone.
        """
        texts = key.texts(subject)
        if texts is None:
            return self._ask_groups(entry, key, subject)
        known = self._recorders.setdefault(key, {})
        recorder = known.get(texts)
        if recorder is None:
            recorder = self._ask_groups(entry, key, subject)
            if len(known) < MOST_REMEMBERED:
                known[texts] = recorder
        return recorder

    def _ask_groups(self, entry: dict[str, Any], key: Expression, subject: Subject) -> Recorder:
        self.inventory = recorder = Recorder()
        self._asked = key, subject
        self._key_value = key  # not empty, until the helper has asked for the value
        try:
            self._add_host_to_keyed_groups(
                [entry], {}, subject.host.name, strict=True, fetch_hostvars=False
            )
        except AnsibleParserError as error:
            # To the helper, an empty or omitted key is always an error, here only with strict.
            is_empty = error.__context__ is None and not self._key_value
            if self.get_option("strict") or not (is_empty or is_omission(error.__context__)):
                raise
        return recorder

    def _compose(self, template: Any, variables: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the key for Ansible's helper for keyed groups, which calls this method."""
        key, subject = self._asked
        if isinstance(key.source, NUMBERS):
            self._show(subject)
            self._key_value = str(key.source)
        else:
            self._key_value = key.value(subject, self._ask_value)
        return self._key_value

    def _ask_value(self, expression: Expression, subject: Subject) -> Any:
        return super()._compose(expression.source, subject.variables())

    def _ask_condition(self, condition: Expression, subject: Subject) -> bool:
        self._show(subject)
        if HAS_EXPRESSIONS:
            return bool(self.templar.evaluate_conditional(condition.source))
        # Not an f-string: a condition that is marked unsafe must stay so, and fail.
        template = "{%% if %s %%} True {%% else %%} False {%% endif %%}" % condition.source  # noqa: UP031
        return bool(boolean(self.templar.template(template)))

    def _show(self, subject: Subject) -> None:
        """Make the variables of a host available to templates, with the extra vars."""
        self.templar.available_variables = combine_vars(subject.variables(), self._vars)
