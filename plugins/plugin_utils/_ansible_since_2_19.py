# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Ansible from ansible-core 2.19 on needs; ``_ansible`` explains it.

Ansible's own names are read when they are used, since earlier versions do not have all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from ansible import errors, template
from ansible.parsing import vault

from ..module_utils._text import change_texts, one_line

# Raised by an expression that omits its result on purpose.
OMITTED_ERRORS: Any = getattr(errors, "AnsibleValueOmittedError", ())


def load_config(loader: Any, path: str) -> Any:
    """Return the content of an inventory file, which a refresh of the inventory reads again."""
    return loader.load_from_file(path, cache="none", trusted_as_template=True)


def is_encrypted(value: object) -> bool:
    """Return whether a value is a vault value, or text that was decrypted from one."""
    return vault.VaultHelper.get_ciphertext(value, with_tags=False) is not None


def without_origin(value: Any) -> Any:
    """Return a value from a file without the line of its text; trusted text stays trusted.

    With an error or a deprecation, Ansible shows the lines around the text that caused it.
    """

    def without(text: str) -> str:
        unmarked = str.__str__(text)
        return trust(unmarked) if template.is_trusted_as_template(text) else unmarked

    return change_texts(without, value)


def mark(value: Any, even_plain: bool = False) -> Any:
    """Return the value unchanged: Ansible renders only text that is trusted."""
    return value


def trust(text: str) -> Any:
    """Return text that can't be a template as text that Ansible trusts."""
    return template.trust_as_template(text)


def tagger(sample: Any) -> Callable[[str], str] | None:
    """Return a function that tags text as Ansible has tagged a sample; None if that can't be done.

    Ansible tags the text of variables with its origin, which takes 5 µs and creates a dictionary
    for each text. Here, all texts share the tags of the sample.
    """
    if sample.__class__ is str:
        return str
    try:
        tags = sample._ansible_tags_mapping
        tag = partial(sample.__class__._instance_factory, tags_mapping=tags)
        return tag if tag("text").__class__ is sample.__class__ else None
    except (AttributeError, TypeError):
        return None


def holds(templar: Any, condition: str, variables: dict[str, Any]) -> bool:
    """Return whether a condition is true; the helper for groups asks like this."""
    templar.available_variables = variables
    return bool(templar.evaluate_conditional(condition))


def compile_once(templar: Any) -> None:
    """Make a templar compile each expression once, and not again for each host."""
    try:
        environment = templar._engine.environment
        compile_expression = environment.compile_expression
    except AttributeError:  # a version that keeps them elsewhere
        return
    if not hasattr(compile_expression, "cache_info"):
        environment.compile_expression = lru_cache(1024)(compile_expression)


def reason_text(text: str) -> str:
    """Return the text of an error of a template as one line, without a place that says nothing."""
    return one_line(text).replace(" at '<unknown>'", "")
