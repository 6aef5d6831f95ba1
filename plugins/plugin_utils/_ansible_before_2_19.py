# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Ansible before ansible-core 2.19 needs; ``_ansible`` explains it.

Ansible's own names are read when they are used, since later versions do not have all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean
from ansible.release import __version__ as ansible_version
from ansible.utils import unsafe_proxy

from ..module_utils._text import change_texts, is_plain, one_line

# Raised by an expression that omits its result on purpose: omit is not known to inventories.
OMITTED_ERRORS: Any = ()


def load_config(loader: Any, path: str) -> Any:
    """Return the content of an inventory file, which a refresh of the inventory reads again."""
    if ansible_version.startswith("2.16."):
        return loader.load_from_file(path, cache=False)
    return loader.load_from_file(path, cache="none")


def is_encrypted(value: object) -> bool:
    """Return whether a value of a file is a vault value."""
    return hasattr(value, "__ENCRYPTED__")


def without_origin(value: Any) -> Any:
    """Return the value unchanged: only later versions show the lines that it came from."""
    return value


def mark(value: Any, even_plain: bool = False) -> Any:
    """Return a JSON value of the API with its text marked unsafe, if that is not plain or always.

    An expression can decode a template from plain text; Ansible would then render it.
    """

    def marked(text: str) -> Any:
        if is_plain(text) and not even_plain:
            return text
        return unsafe_proxy.AnsibleUnsafeText(text)

    return change_texts(marked, value)


def trust(text: str) -> Any:
    """Return text that can't be a template as ordinary text."""
    unmarked = str.__str__(text)  # str(text) would keep the mark
    # The result of a filter such as string: a playbook must not turn "42" into a number.
    if isinstance(text, unsafe_proxy.NativeJinjaText):
        return unsafe_proxy.NativeJinjaText(unmarked)
    return unmarked


def tagger(sample: Any) -> Callable[[str], str] | None:
    """Return a function that marks text like a sample; None if that can't be done."""
    return str if sample.__class__ is str else None


def holds(templar: Any, condition: str, variables: dict[str, Any]) -> bool:
    """Return whether a condition is true; the helper for groups asks like this."""
    templar.available_variables = variables
    text = f"{{% if {condition} %}} True {{% else %}} False {{% endif %}}"
    return bool(boolean(templar.template(text)))


def compile_once(templar: Any) -> None:
    """Do nothing: when it compiles, Jinja computes constants such as ``1000000 | random``.

    All hosts would get the same number.
    """


def reason_text(text: str) -> str:
    """Return the text of an error of a template as one line that says everything once.

    Ansible repeats its end, as in "'a' is undefined. 'a' is undefined".
    """
    text = one_line(text)
    start, _dot, end = text.rpartition(". ")
    if end and start.endswith(end):
        return start
    return text
