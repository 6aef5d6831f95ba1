# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inventory file: known keys alone, templates rendered, values that the options can have.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from jinja2 import TemplateError

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._options import (
    PATH_OPTIONS,
    TOKEN_OPTIONS,
    expand_path,
)
from ansible_collections.server_management.cloud.plugins.module_utils._text import one_line

# Expressions are evaluated for each server, and not once as templates.
EXPRESSION_OPTIONS = frozenset({"compose", "groups", "keyed_groups", "hostnames", "filters"})
# The types of numbers, integers by both names that Ansible has for them.
_NUMBERS = {"int": "a whole number", "integer": "a whole number", "float": "a number"}
# What a template may raise: Ansible up to 2.18 lets the errors of filters through as they are.
_TEMPLATE_ERRORS = (
    AnsibleError,
    TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


def check_keys(config: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise OptionError at a key that is no option, with the option that it resembles most."""
    known = list(known)
    for key in config:
        if key not in known:
            import difflib  # only now: a mistake has time

            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"Did you mean {near[0]}?" if near else ""
            raise OptionError(f"{one_line(str(key))}: there is no such option.", hint)


def render(
    config: Mapping[str, Any], templar: Any, extra_vars: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the configuration with its templates rendered and its vault values decrypted."""
    templar.available_variables = extra_vars
    rendered = {}
    for key, value in config.items():
        if key in EXPRESSION_OPTIONS:
            # A single expression may have commas, at which Ansible would split a text.
            rendered[key] = [value] if key == "hostnames" and isinstance(value, str) else value
            continue
        try:
            rendered[key] = templar.template(value)
            if getattr(value, "__ENCRYPTED__", False):  # up to 2.18 a vault value is decrypted late
                rendered[key] = str(value)
        except _TEMPLATE_ERRORS as error:
            # Ansible up to 2.18 quotes the template, and a secret may be written into it.
            reason = str(error)
            if isinstance(value, str):
                reason = reason.replace(value, "the template")
            raise OptionError(f"{key}: {one_line(reason)}") from None
    return rendered


def check_tokens(config: Mapping[str, Any]) -> None:
    """Raise OptionError if a token is not text: Ansible's own message would show the value.

    YAML reads 0123456 as the number 42798, so a number can't be converted back to the token.
    """
    for option in TOKEN_OPTIONS:
        value = config.get(option)
        if isinstance(value, (list, dict)):
            raise OptionError(f"{option}: must be text, not a list or a mapping.")
        if value is not None and not isinstance(value, str):
            raise OptionError(
                f"{option}: YAML reads this value as a number, a boolean or a date.",
                "Put it in quotation marks.",
            )


def resolve_paths(config: dict[str, Any], folder: str) -> None:
    """Make relative paths relative to the folder of the inventory file; drop empty ones."""
    for option in PATH_OPTIONS:
        path = config.get(option)
        if path:
            config[option] = os.path.join(folder, expand_path(str(path)))
        else:
            config.pop(option, None)


def check_values(config: Mapping[str, Any], definitions: Mapping[str, Any]) -> None:
    """Raise OptionError where a value is none that its option can have, and say which those are.

    Ansible says that no longer from 2.19 on, and up to 2.18 it takes any word that is no flag for
    false, which would turn validate_certs off.
    """
    for option, definition in definitions.items():
        names = [entry["name"] for entry in definition.get("env") or []]
        values = [os.environ[name] for name in names if name in os.environ]
        for value in [config[option]] if option in config else values:
            if value is not None:
                _check_value(option, definition, value)


def _check_value(option: str, definition: Mapping[str, Any], value: Any) -> None:
    kind, choices = definition.get("type"), definition.get("choices")
    if kind in ("bool", "boolean"):
        try:
            boolean(value)
        except TypeError:
            raise OptionError(f"{option}: must be true or false.") from None
    elif kind in _NUMBERS:
        try:
            is_one = float(value).is_integer() or kind == "float"
        except (TypeError, ValueError):
            is_one = False
        if not is_one:
            raise OptionError(f"{option}: must be {_NUMBERS[kind]}, and is {_shown(value)}.")
    elif choices:
        if kind == "list" and isinstance(value, str):
            value = value.split(",")
        for element in value if isinstance(value, list) and kind == "list" else [value]:
            if str(element).strip() not in choices:
                expected = ", ".join(choices)
                raise OptionError(f"{option}: must be one of {expected}, and is {_shown(element)}.")


def _shown(value: Any) -> str:
    return one_line(str(value))[:60]
