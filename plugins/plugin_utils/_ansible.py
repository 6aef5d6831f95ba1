# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What differs between versions of Ansible: private or deprecated names, and trust in text.

Names that some version does not have are read only here. Without one of them, a source is slower or
lacks a rare feature, but works.

Text from the API is never rendered, and text from a file never shows its line. "Plain" is text that
can't be a template.

=============  ====================================  =========================================
Text           before ansible-core 2.19, which       since 2.19, which renders only text that
               renders all text but unsafe text      is trusted
=============  ====================================  =========================================
from the API   ``mark``: unsafe, if it is not plain  unchanged
   for an      ``mark_all``: unsafe, because an      unchanged: results are not trusted
   expression  expression can decode a template
from the file  unchanged                             ``without_origin``: trusted as before,
                                                     but without its line
of a result    ``keep_text``: stays text if it       unchanged
               contains text from the API
of a variable  ``trust_plain``: without any mark,    ``trust_plain``: trusted, if it is plain;
               if it is plain                        ansible-inventory prints other text
                                                     wrapped in __ansible_unsafe
=============  ====================================  =========================================
"""

from __future__ import annotations

import keyword
import os
from collections.abc import Callable
from datetime import date, datetime
from functools import lru_cache, partial
from typing import Any

from ansible import constants, errors
from ansible.inventory import manager
from ansible.release import __version__ as ansible_version
from ansible.template import Templar

from ..module_utils._text import is_plain, one_line

# From ansible-core 2.19 on, Ansible evaluates expressions. Earlier versions put them into a
# template, between braces or into an "if".
HAS_EXPRESSIONS = hasattr(Templar, "evaluate_expression")

# Raised by an expression that omits its result on purpose. No class before ansible-core 2.19, where
# omit is not known to inventories.
OMISSION = getattr(errors, "AnsibleValueOmittedError", ())


def setting(name: str) -> Any:
    """Return a setting of Ansible; None if this version does not have it."""
    return getattr(constants, name, None)


def load_config(loader: Any, path: str) -> Any:
    """Return the content of an inventory file, which a refresh of the inventory reads again."""
    if HAS_EXPRESSIONS:
        return loader.load_from_file(path, cache="none", trusted_as_template=True)
    if ansible_version.startswith("2.16."):
        return loader.load_from_file(path, cache=False)
    return loader.load_from_file(path, cache="none")


def is_ignored(name: str) -> bool:
    """Return whether Ansible ignores an entry of an inventory directory, if that can be known."""
    ignored = getattr(manager, "IGNORED", None)
    return ignored is None or bool(ignored.search(os.fsencode(name)))


def reason_text(text: str) -> str:
    """Return the text of an error of a template as one line that says everything once.

    Ansible up to 2.18 repeats its end, as in "'a' is undefined. 'a' is undefined".
    """
    text = one_line(text)
    start, _dot, end = text.rpartition(". ")
    if end and start.endswith(end):
        return start
    return text


def is_identifier(text: str) -> bool:
    """Return whether a text can be the name of a variable, by the rule of all versions."""
    if not text.isascii() or keyword.iskeyword(text):
        return False
    # Jinja reads these as values; ansible-core 2.19 and later do not accept them as names.
    if text in ("false", "none", "true"):
        return False
    return text.isidentifier()


def was_encrypted(text: str) -> bool:
    """Return whether a text was decrypted from a vault value, which is known from 2.19 on."""
    tags = getattr(text, "_ansible_tags_mapping", ())
    return any(tag.__name__ == "VaultedValue" for tag in tags)


def compile_once(templar: Any) -> None:
    """Make a templar compile each expression once, and not again for each host.

    Not before ansible-core 2.19: there, Jinja computes constants such as ``1000000 | random`` when
    it compiles, so that all hosts would get the same number.
    """
    try:
        environment = templar._engine.environment
        compile_expression = environment.compile_expression
    except AttributeError:  # an earlier version, or one that keeps them elsewhere
        return
    if not hasattr(compile_expression, "cache_info"):
        environment.compile_expression = lru_cache(1024)(compile_expression)


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


try:
    from ansible.template import is_trusted_as_template, trust_as_template
except ImportError:  # ansible-core before 2.19
    from ansible.module_utils.common.text.converters import to_text
    from ansible.module_utils.parsing.convert_bool import boolean
    from ansible.utils.native_jinja import NativeJinjaText
    from ansible.utils.unsafe_proxy import AnsibleUnsafeText

    def is_trusted(value: object) -> bool:
        """Return whether Ansible would render a text."""
        return not hasattr(value, "__UNSAFE__")

    def trust(text: str) -> Any:
        """Return text that can't be a template as ordinary text."""
        unmarked = str.__str__(text)  # str(text) would keep the mark
        # The result of a filter such as string: a playbook must not turn "42" into a number.
        if isinstance(text, NativeJinjaText):
            return NativeJinjaText(unmarked)
        return unmarked

    def _mark(value: Any, is_safe: Callable[[str], Any]) -> Any:
        if isinstance(value, str):
            if is_safe(value):
                return value
            return AnsibleUnsafeText(value)
        if isinstance(value, list):
            return [_mark(item, is_safe) for item in value]
        if isinstance(value, dict):
            return {_mark(key, is_safe): _mark(item, is_safe) for key, item in value.items()}
        return value

    def mark(value: Any) -> Any:
        """Return a JSON value with all text that could be a template marked unsafe."""
        return _mark(value, is_plain)

    def mark_all(value: Any) -> Any:
        """Return the API's variables or text for an expression, with all text marked unsafe.

        An expression can decode a template from text that is not one; Ansible would then render it.
        """
        return _mark(value, lambda _text: False)

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
            is_native = templar.jinja2_native
            is_text = isinstance(value, str) or (isinstance(value, bytes) and not is_native)
            if not is_text or not getattr(templar.cur_context, "unsafe", False):
                return value
            text = to_text(value)
            if is_native or text.startswith(("{", "[")) or text in ("True", "False"):
                return NativeJinjaText(text)
            return value

        keep.keeps_text = True  # type: ignore[attr-defined]
        environment.finalize = keep

    def holds(templar: Any, condition: str, variables: dict[str, Any]) -> bool:
        """Return whether a condition is true; the helper for groups asks like this."""
        templar.available_variables = variables
        text = f"{{% if {condition} %}} True {{% else %}} False {{% endif %}}"
        return bool(boolean(templar.template(text)))

    def without_origin(value: Any) -> Any:
        """Return the value unchanged: only later versions show the lines that it came from."""
        return value

else:
    trust = trust_as_template
    is_trusted = is_trusted_as_template

    def mark(value: Any) -> Any:
        """Return the value unchanged: Ansible renders only text that is trusted."""
        return value

    def mark_all(value: Any) -> Any:
        """Return the value unchanged: Ansible doesn't trust the results of expressions."""
        return value

    def keep_text(templar: Any) -> None:
        """Do nothing: Ansible doesn't convert text."""

    def holds(templar: Any, condition: str, variables: dict[str, Any]) -> bool:
        """Return whether a condition is true; the helper for groups asks like this."""
        templar.available_variables = variables
        return bool(templar.evaluate_conditional(condition))

    def without_origin(value: Any) -> Any:
        """Return a value from a file without its line; text that is trusted stays trusted.

        With an error or a deprecation, Ansible shows the lines around the value that caused it.
        """
        if isinstance(value, list):
            return [without_origin(item) for item in value]
        if isinstance(value, dict):
            return {without_origin(key): without_origin(item) for key, item in value.items()}
        unmarked: Any = value  # a vault value, for example
        if isinstance(value, str):
            unmarked = str.__str__(value)
            if is_trusted(value):
                unmarked = trust_as_template(unmarked)
        elif isinstance(value, datetime):
            unmarked = datetime.fromisoformat(value.isoformat())
        elif isinstance(value, date):
            unmarked = date.fromisoformat(value.isoformat())
        elif isinstance(value, float):
            unmarked = float(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            unmarked = int(value)
        return unmarked


def trust_plain(value: Any) -> Any:
    """Return a variable's value, with text that can't be a template as ordinary text.

    Other text and all keys keep their marks.
    """
    if isinstance(value, str):
        if is_plain(value):
            return trust(value)
        return value
    if isinstance(value, list):
        return [trust_plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple(trust_plain(item) for item in value)
    if isinstance(value, dict):
        return {key: trust_plain(item) for key, item in value.items()}
    return value
