# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values of one expression: remembered, computed by Jinja, or computed by Ansible.

This utility is private to the collection: it may change in any release.

The value of a deterministic expression is *remembered* for the values of its variables. A plain
expression is evaluated *without Ansible*. Both require that each of the variables is text from this
collection that can't be a template, and that no extra var and no other source sets it. See the
utility _pure for what deterministic and plain mean, and why this is safe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible import constants
from jinja2 import TemplateSyntaxError

from ansible_collections.server_management.cloud.plugins.module_utils._text import is_plain
from ansible_collections.server_management.cloud.plugins.plugin_utils._pure import (
    HAS_EXPRESSIONS,
    analyse,
)
from ansible_collections.server_management.cloud.plugins.plugin_utils._subjects import Subject

NUMBERS = (bool, int, float)  # as expressions, they stand for themselves
# Lists and mappings are copied when they become variables, and when an expression reads them.
_REMEMBERED = (str, *NUMBERS, type(None), list, tuple, dict)
_UNKNOWN = object()
MOST_REMEMBERED = 1024  # values; if there are more, they differ for each host
# Before ansible-core 2.19, text that starts like this does not stay text.
_CONVERTED = ("True", "False")


class Expression:
    """An expression, with its known values by the text of the variables that it reads."""

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
        self._values: dict[tuple[str, ...], Any] = {}

    def texts(self, subject: Subject) -> tuple[str, ...] | None:
        """Return the values of the variables, or None if the value depends on more than these."""
        return subject.plain_texts(self._pure.names) if self._pure else None

    def value(self, subject: Subject, ask: Callable[[Expression, Subject], Any]) -> Any:
        """Return the value for a host; ``ask`` evaluates the expression with Ansible."""
        pure, texts = self._pure, self.texts(subject)
        if pure is None or texts is None:
            return ask(self, subject)
        known = self._values.get(texts, _UNKNOWN)
        if known is not _UNKNOWN:
            return known
        value = pure.evaluate(texts)
        if not self._is_certain(value):
            value = ask(self, subject)
        if len(self._values) < MOST_REMEMBERED and isinstance(value, _REMEMBERED):
            self._values[texts] = value
        return value

    def _is_certain(self, value: Any) -> bool:
        """Return whether Ansible would return the same value as Jinja."""
        if self._is_condition:
            return value.__class__ is bool
        if HAS_EXPRESSIONS:
            return value.__class__ is str
        # With this setting, text can become a number. Later versions ignore it.
        if constants.DEFAULT_JINJA2_NATIVE or value.__class__ is not str:
            return False
        # Ansible marks the result unsafe if API text is part of it, and may convert other text.
        return is_plain(value) is not None and not value.startswith(_CONVERTED)


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
