# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What differs between versions of Ansible: private or deprecated names, and trust in text.

Names that some version does not have are read only here and in two files with the same names:
``_ansible_before_2_19``, which is to be deleted with the support of these versions, and
``_ansible_since_2_19``. Without one of the names here, a source is slower or lacks a rare feature,
but works.

Text from the API is never rendered, and text from a file never shows its line. "Plain" is text that
can't be a template.

=============  =====================================  ========================================
Text           before ansible-core 2.19, which        since 2.19, which renders only text that
               renders all text but unsafe text       is trusted
=============  =====================================  ========================================
from the API   ``mark``: unsafe, if it is not plain;  unchanged: it is not trusted
               for expressions, all of it
from the file  unchanged                              ``without_origin``: trusted as before,
                                                      but without its line
of a variable  ``unmark_plain``: without any mark,    ``unmark_plain``: trusted, if it is plain;
               if it is plain                         ansible-inventory prints other text
                                                      wrapped in __ansible_unsafe
=============  =====================================  ========================================
"""

from __future__ import annotations

import keyword
import os
from typing import Any

from ansible import constants
from ansible.inventory import manager
from ansible.template import Templar
from ansible.vars.reserved import get_reserved_names

from ..module_utils._text import change_texts, is_plain

__all__ = [
    "OMITTED_ERRORS", "RESERVED_VARIABLES", "SINCE_2_19", "TEMPLATE_GLOBALS", "compile_once",
    "holds", "is_encrypted", "is_identifier", "is_ignored", "load_config", "mark", "reason_text",
    "tagger", "trust", "unmark_plain", "variable_files", "without_origin",
]  # fmt: skip

# Only these versions evaluate expressions. Earlier ones put them into a template, between braces or
# into an "if".
SINCE_2_19 = hasattr(Templar, "evaluate_expression")

if SINCE_2_19:
    from ._ansible_since_2_19 import (
        OMITTED_ERRORS,
        compile_once,
        holds,
        is_encrypted,
        load_config,
        mark,
        reason_text,
        tagger,
        trust,
        without_origin,
    )
else:
    from ._ansible_before_2_19 import (
        OMITTED_ERRORS,
        compile_once,
        holds,
        is_encrypted,
        load_config,
        mark,
        reason_text,
        tagger,
        trust,
        without_origin,
    )


_templar = Templar(loader=None)
# From ansible-core 2.19 on, the attribute of the templar itself is deprecated.
_engine = getattr(_templar, "_engine", _templar)
_environment = getattr(_engine, "environment", None)
# What every template can use, such as range.
TEMPLATE_GLOBALS = frozenset(getattr(_environment, "globals", ()))
# With keywords of plays, roles, blocks and tasks, internal variables, and the variable of loops.
RESERVED_VARIABLES = TEMPLATE_GLOBALS.union(
    get_reserved_names(), constants.INTERNAL_STATIC_VARS, ["item"]
)


def is_ignored(name: str) -> bool:
    """Return whether Ansible ignores an entry of an inventory directory, if that can be known."""
    ignored = getattr(manager, "IGNORED", None)
    return ignored is None or bool(ignored.search(os.fsencode(name)))


def variable_files() -> list[str]:
    """Return the ends of the names of files in which Ansible looks for variables.

    Those that it looks for without a setting may be missing.
    """
    extensions = getattr(constants, "YAML_FILENAME_EXTENSIONS", None) or ()
    # Ansible adds a dot to an extension without one.
    return [f".{text.lstrip('.').lower()}" for text in extensions if text]


def is_identifier(text: str) -> bool:
    """Return whether a text can be the name of a variable, by the rule of all versions."""
    if not text.isascii() or keyword.iskeyword(text):
        return False
    # Jinja reads these as values; ansible-core 2.19 and later do not accept them as names.
    if text in ("false", "none", "true"):
        return False
    return text.isidentifier()


def unmark_plain(value: Any) -> Any:
    """Return a variable's value, with text that can't be a template as ordinary text.

    Other text keeps its mark.
    """

    def unmarked(text: str) -> Any:
        return trust(text) if is_plain(text) else text

    return change_texts(unmarked, value)
