# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the expressions of an inventory file are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jinja2 import Environment, nodes

from ..module_utils._errors import OptionError
from ..module_utils._options import convert
from ..module_utils._text import as_word, one_line

# Expressions are evaluated for each server, and not once as templates.
EXPRESSION_OPTIONS = frozenset({"compose", "groups", "keyed_groups", "hostnames", "filters"})
# With any prefix: an empty one makes no variable of the name.
_FORMS = {
    "compose": "Write entries such as `rack: {0}region ~ '-1'`.",
    # Other plugins have conditions such as `status = RUNNING` and `tag:Name`.
    "filters": (
        "Conditions are Jinja expressions, with == and text in quotes. The API has no tags. Write "
        "entries such as `- exclude: {0}status != 'running'`, or use an option such as statuses."
    ),
    "groups": "Write entries such as `small: {0}plan == 'small'`.",
    "hostnames": "Write entries such as `- {0}id ~ '.example.com'`.",
    "keyed_groups": "Write entries such as `- {{key: {0}region, prefix: zone}}`.",
}
_AS_TEXT = """Write a text in quotes: "[{0}region]" or "{{'zone': {0}region}}"."""
# Before ansible-core 2.19, a list or a mapping is a condition that is always true.
_ONE_CONDITION = "Write one condition; join several with `and` or `or`."


def parts_of(expression: Any) -> list[nodes.Expr]:
    """Return the parts of an expression, the whole first; none if Jinja alone can't read it."""
    try:
        template = Environment(autoescape=True).parse(f"{{{{ ({expression}) }}}}")
        return list(template.find_all(nodes.Expr))
    except Exception:  # noqa: BLE001  # a user's expression; Ansible reports what is wrong
        return []


def check_entries(option: str, value: Any, prefix: str) -> Any:
    """Return the entries of an option of expressions.

    Raises OptionError at the first one that is not written as an expression.
    """
    form = _FORMS[option].format(prefix)
    is_mapping = option in ("compose", "groups")
    if isinstance(value, str) and not is_mapping:
        value = [value]  # one expression, which can have commas
    if not isinstance(value, Mapping if is_mapping else list):
        noun = "mapping" if is_mapping else "list"
        raise OptionError(f"{option}: must be a {noun}.", form)
    if option == "hostnames" and not value:
        raise OptionError(
            "hostnames: must not be empty.", "To use the servers' names, leave it out."
        )
    if option == "filters":
        _check_filters(value, form)
    for entry in value:
        if option == "hostnames":
            _check_source(option, entry, form)
        elif option == "keyed_groups":
            _check_keyed_group(entry, form)
        elif is_mapping:
            _check_name(option, entry)
            advice = _AS_TEXT.format(prefix) if option == "compose" else _ONE_CONDITION
            _check_source(f"{option}: {entry}", value[entry], advice)
    return value


def _check_filters(entries: Iterable[Any], form: str) -> None:
    last = ""
    for entry in entries:
        if isinstance(entry, str):
            form = _forms_of(entry, form)
        if not isinstance(entry, Mapping) or list(entry) not in (["include"], ["exclude"]):
            raise OptionError("filters: each entry must have one key, include or exclude.", form)
        ((last, condition),) = entry.items()
        _check_source(f"filters: {last}", condition, _ONE_CONDITION)
    if last == "include":
        raise OptionError(
            "filters: an include that no exclude follows has no effect, because servers that match "
            "no condition are kept.",
            "To leave out all other servers, end the list with `exclude: true`. If all conditions "
            "must hold, write each as `- exclude: not (…)` instead.",
        )


def _forms_of(condition: str, form: str) -> str:
    """Return how to write a condition by which another plugin includes or excludes servers."""
    if not parts_of(condition):
        return form
    shown = one_line(condition)
    plain = shown if shown[:1].isalnum() else f"({shown})"  # YAML reads quotes and brackets
    return (
        f"Write `- exclude: {plain}` to leave out the servers for which it is true, or "
        f"`- exclude: not ({shown})` to keep only those."
    )


def _check_name(option: str, name: Any) -> None:
    """Raise OptionError at what can't be the name of a variable or a group."""
    is_name = isinstance(name, str) if option == "compose" else not _is_blank(name)
    if not is_name:
        raise OptionError(f"{option}: {as_word(str(name))} can't be a name.")
    if option == "groups" and "{{" in str(name):
        problem = f"groups: {as_word(name)}: names of groups are not templates."
        raise OptionError(problem, "Use keyed_groups.")


def _check_keyed_group(entry: Any, form: str) -> None:
    if not isinstance(entry, Mapping) or _is_blank(entry.get("key")):
        raise OptionError("keyed_groups: each entry must be a mapping with a key.", form)
    if entry.get("parent_group") is not None:
        convert("keyed_groups: parent_group", entry["parent_group"], {})


def _check_source(label: str, source: Any, advice: str) -> None:
    """Raise OptionError at what is not an expression; ``advice`` is what to write for a list."""
    label = one_line(label)
    if _is_blank(source):
        problem = f"{label}: must be an expression that is not empty."
        raise OptionError(problem, "Leave out entries without an expression.")
    if not isinstance(source, (Mapping, list)):
        return
    if "children" in source:
        advice = "Use parent_group of keyed_groups, or repeat the condition for each group."
    raise OptionError(f"{label}: must be an expression, not a list or a mapping.", advice)


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
