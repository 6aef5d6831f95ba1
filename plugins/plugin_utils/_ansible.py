# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names of Ansible that are private or deprecated, or that some version does not have.

They are read only here. Without one of them, a source is slower or lacks a rare feature, but works.
"""

from __future__ import annotations

import keyword
import os
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from ansible import constants
from ansible.errors import AnsibleError
from ansible.inventory import manager
from ansible.template import Templar

from ..module_utils._text import one_line

# From ansible-core 2.19 on, Ansible evaluates expressions. Earlier versions put them into a
# template, between braces or into an "if".
HAS_EXPRESSIONS = hasattr(Templar, "evaluate_expression")
_MOST_COMPILED = 1024  # expressions

try:
    from ansible.errors import AnsibleValueOmittedError
except ImportError:  # ansible-core before 2.19, where omit is not known to inventories

    class AnsibleValueOmittedError(AnsibleError):  # type: ignore[no-redef]
        """Never raised here."""


def setting(name: str) -> Any:
    """Return a setting of Ansible; None if this version does not have it."""
    return getattr(constants, name, None)


def is_ignored(name: str) -> bool:
    """Return whether Ansible ignores an entry of an inventory directory, if that can be known."""
    ignored = getattr(manager, "IGNORED", None)
    return ignored is None or bool(ignored.search(os.fsencode(name)))


def is_omission(error: BaseException | None) -> bool:
    """Return whether an expression failed because it omits its result on purpose."""
    return isinstance(error, AnsibleValueOmittedError)


def reason_text(text: str) -> str:
    """Return the text of an error of a template as one line that says everything once.

    Ansible up to 2.18 repeats its end, as in "'a' is undefined. 'a' is undefined".
    """
    text = one_line(text)
    start, _dot, end = text.rpartition(". ")
    return start if end and start.endswith(end) else text


def is_identifier(text: str) -> bool:
    """Return whether a text can be the name of a variable, by the rule of all versions."""
    is_name = text.isascii() and text.isidentifier() and not keyword.iskeyword(text)
    # Jinja reads these as values; ansible-core 2.19 and later do not accept them as names.
    return is_name and text not in ("false", "none", "true")


def compile_once(templar: Any) -> None:
    """Make a templar compile each expression once, and not again for each host.

    Not before ansible-core 2.19: there, Jinja computes constants such as ``1000000 | random`` when
    it compiles, so that all hosts would get the same number.
    """
    engine = getattr(templar, "_engine", None)
    environment: Any = getattr(engine, "environment", None)
    compile_expression = getattr(environment, "compile_expression", None)
    if HAS_EXPRESSIONS and compile_expression and not hasattr(compile_expression, "cache_info"):
        environment.compile_expression = lru_cache(_MOST_COMPILED)(compile_expression)


def tagger(sample: Any) -> Callable[[str], str] | None:
    """Return a function that tags text as Ansible has tagged a sample; None if that can't be done.

    From ansible-core 2.19 on, Ansible tags the text of variables with its origin, which takes 5 µs
    and creates a dictionary for each text. Here, all texts share the tags of the sample.
    """
    if sample.__class__ is str:
        return str
    try:
        tags = sample._ansible_tags_mapping
        tag = partial(sample.__class__._instance_factory, tags_mapping=tags)
        return tag if tag("text").__class__ is sample.__class__ else None
    except (AttributeError, TypeError):
        return None
