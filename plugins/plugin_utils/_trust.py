# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Trust in text: text from the API is never rendered, and text from a file never shows its line.

Ansible up to 2.18 renders every text that is not marked unsafe. Later versions render only text
that is marked as trusted, and ansible-inventory prints other text wrapped in __ansible_unsafe. Text
that can't be a template is treated as ordinary text, so that it is printed without the wrapping.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from ..module_utils._text import is_plain

try:
    from ansible.template import is_trusted_as_template, trust_as_template
except ImportError:  # ansible-core before 2.19
    from ansible.module_utils.common.text.converters import to_text
    from ansible.utils.native_jinja import NativeJinjaText
    from ansible.utils.unsafe_proxy import AnsibleUnsafeText, wrap_var

    def is_trusted(value: object) -> bool:
        """Return whether Ansible would render a text."""
        return not hasattr(value, "__UNSAFE__")

    def trust(text: str) -> Any:
        """Return text that can't be a template as ordinary text."""
        unmarked = str.__str__(text)  # str(text) would keep the mark
        # The result of a filter such as string: a playbook must not turn "42" into a number.
        return NativeJinjaText(unmarked) if isinstance(text, NativeJinjaText) else unmarked

    def mark(value: Any) -> Any:
        """Return a JSON value with all text that could be a template marked unsafe."""
        if isinstance(value, str):
            return value if is_plain(value) else AnsibleUnsafeText(value)
        if isinstance(value, list):
            return [mark(item) for item in value]
        if isinstance(value, dict):
            return {mark(key): mark(item) for key, item in value.items()}
        return value

    def as_data(value: Any) -> Any:
        """Return the API's variables or text for an expression, with all text marked unsafe.

        An expression can decode a template from text that is not one; Ansible would then render it.
        """
        return wrap_var(value)

    def text_of(value: Any) -> str | None:
        """Return text without its mark; None for other values, and for text that must stay text."""
        is_text = isinstance(value, str) and not isinstance(value, NativeJinjaText)
        return str.__str__(value) if is_text else None

    def is_data(text: str) -> bool:
        """Return whether Ansible treats text, and what is made of it, as text of the API."""
        return hasattr(text, "__UNSAFE__")

    def keep_text(templar: Any) -> None:
        """Make a templar return text as text if it contains text from the API.

        By default, it returns the value of text that Python can read, such as "{0}" or "[1]".
        """
        environment = templar.environment
        finalize = environment.finalize  # called for the result of an expression
        if getattr(finalize, "keeps_text", False):
            return

        def keep(value: Any) -> Any:
            value = finalize(value)
            is_text = isinstance(value, str if templar.jinja2_native else (str, bytes))
            if is_text and getattr(templar.cur_context, "unsafe", False):
                text = to_text(value)
                if templar.jinja2_native or text[:1] in ("{", "[") or text in ("True", "False"):
                    return NativeJinjaText(text)
            return value

        keep.keeps_text = True  # type: ignore[attr-defined]
        environment.finalize = keep

    def without_origin(value: Any) -> Any:
        """Return the value unchanged: only later versions show the lines that it came from."""
        return value

else:
    trust = trust_as_template
    is_trusted = is_trusted_as_template

    def mark(value: Any) -> Any:
        """Return the value unchanged: Ansible renders only text that is trusted."""
        return value

    def as_data(value: Any) -> Any:
        """Return the value unchanged: Ansible doesn't trust the results of expressions."""
        return value

    def text_of(value: Any) -> str | None:
        """Return text without its mark; None for other values."""
        return str.__str__(value) if isinstance(value, str) else None

    def is_data(text: str) -> bool:
        """Return True: Ansible makes no difference between such text and other text."""
        return True

    def keep_text(templar: Any) -> None:
        """Do nothing: Ansible doesn't convert text."""

    def without_origin(value: Any) -> Any:
        """Return a value from a file without its line; text that is trusted stays trusted.

        With an error or a deprecation, Ansible shows the lines around the value that caused it.
        """
        if isinstance(value, str):
            text = str.__str__(value)
            return trust_as_template(text) if is_trusted(value) else text
        if isinstance(value, list):
            return [without_origin(item) for item in value]
        if isinstance(value, dict):
            return {without_origin(key): without_origin(item) for key, item in value.items()}
        if isinstance(value, (datetime, date)):
            kind = datetime if isinstance(value, datetime) else date
            return kind.fromisoformat(value.isoformat())
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return int(value) if isinstance(value, int) else float(value)
        return value  # a vault value, for example


def trust_plain(value: Any) -> Any:
    """Return a variable's value, with text that can't be a template as ordinary text.

    Other text and all keys keep their marks.
    """
    if isinstance(value, str):
        return trust(value) if is_plain(value) else value
    if isinstance(value, list):
        return [trust_plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(trust_plain(item) for item in value)
    if isinstance(value, dict):
        return {key: trust_plain(item) for key, item in value.items()}
    return value
