# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Mark text from the API that could be a template, so that it is never rendered.

This utility is private to the collection: it may change in any release.

Ansible up to 2.18 renders every text that is not marked unsafe. Later versions render only text
that is marked as trusted, and ansible-inventory prints other text wrapped in __ansible_unsafe. Text
that can't be a template is treated as ordinary text, so that it is printed without the wrapping.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ansible_collections.server_management.cloud.plugins.module_utils._text import is_plain

try:
    from ansible.template import trust_as_template
except ImportError:  # ansible-core before 2.19
    from ansible.utils.native_jinja import NativeJinjaText
    from ansible.utils.unsafe_proxy import AnsibleUnsafeText, wrap_var

    def _plain(text: str) -> Any:
        unmarked = str.__str__(text)  # str(text) would keep the mark
        # The result of a filter such as string: a playbook must not turn "42" into a number.
        return NativeJinjaText(unmarked) if isinstance(text, NativeJinjaText) else unmarked

    def as_data(variables: dict[str, Any]) -> dict[str, Any]:
        """Return the API's variables for an expression, with all text marked unsafe.

        An expression can decode a template from text that is not one; Ansible would then render it.
        """
        marked: dict[str, Any] = wrap_var(variables)
        return marked

    _unsafe: Any = AnsibleUnsafeText
else:
    _plain, _unsafe = trust_as_template, str

    def as_data(variables: dict[str, Any]) -> dict[str, Any]:
        """Return the variables unchanged: Ansible doesn't trust the results of expressions."""
        return variables


PLAIN = type(_plain("text"))  # the exact type of text that is treated as ordinary


def mark(value: Any) -> Any:
    """Return a JSON value with all its text marked, including the keys of objects."""
    if isinstance(value, str):
        return _mark_text(value)
    if isinstance(value, list):
        return [mark(item) for item in value]
    if isinstance(value, dict):
        return {key if is_plain(key) else _unsafe(key): mark(item) for key, item in value.items()}
    return value


@lru_cache(maxsize=1024)  # many hosts have the same region, plan and status
def _mark_text(text: str) -> Any:
    return _plain(text) if is_plain(text) else _unsafe(text)


def trust(text: str) -> Any:
    """Return text of the collection that can't be a template as ordinary text."""
    return _plain(text)


def trust_plain(value: Any) -> Any:
    """Return the result of an expression, with text that can't be a template as ordinary text.

    Other text keeps its mark: from 2.19 on, Ansible doesn't trust the results of templates.
    """
    if isinstance(value, str):
        return _plain(value) if is_plain(value) else value
    if isinstance(value, list):
        return [trust_plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(trust_plain(item) for item in value)
    if isinstance(value, dict):
        return {key: trust_plain(item) for key, item in value.items()}
    return value
