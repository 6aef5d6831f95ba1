# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Arguments of the event source, converted as Ansible would, but without Ansible."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..module_utils._errors import OptionError
from ..module_utils._options import (
    RULES,
    TOKEN_OPTIONS,
    TYPES,
    VARIABLES,
    from_environment,
    unknown_option,
)

# The rules for the arguments that are not connection options, as in an argument spec.
OWN: dict[str, dict[str, Any]] = {
    "interval": {"type": "float", "default": 60.0},
    "hosts": {"type": "str", "default": "name", "choices": ["name", "id"]},
    "initial": {"type": "bool", "default": False},
}
_ALL = {**RULES, **OWN}


def read_arguments(given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the value of each argument; raise OptionError at the first bad one.

    An argument that is missing or null is read from the environment, where an empty variable counts
    as not set. The environment variables of the token are read later, with the connection, and only
    if neither argument is given: a null one is usually a template that rendered to nothing.
    """
    for name in given:
        if name not in _ALL:
            raise unknown_option(name, _ALL, "is not an argument of this event source.")
    given = {**given, **{name: "" for name in TOKEN_OPTIONS if given.get(name, "") is None}}
    values = {name: _value(name, given.get(name), rules) for name, rules in _ALL.items()}
    if not values["interval"] >= 1 or math.isinf(values["interval"]):
        raise OptionError("interval: must be a number of seconds, at least 1.")
    return values


def _value(name: str, given: Any, rules: Mapping[str, Any]) -> Any:
    if given is None and name in VARIABLES:
        given = from_environment(VARIABLES[name])
    if given is None:
        return rules.get("default")
    convert, expected = TYPES[rules["type"]]
    value = convert(given)
    if value is None:
        raise OptionError(f"{name}: must be {expected}.")
    if value not in rules.get("choices", (value,)):
        raise OptionError(f"{name}: must be one of {', '.join(rules['choices'])}.")
    return value
