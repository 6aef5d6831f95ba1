# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inventory file: its name, its keys, its templates, and the values of its options."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ansible.parsing.quoting import unquote

from ..module_utils._errors import OptionError
from ..module_utils._models import SELECTING_OPTIONS
from ..module_utils._options import (
    TOKEN_OPTIONS,
    TYPES,
    VARIABLES,
    Connection,
    GetOption,
    environment_or_default,
    null_as_empty,
    unknown_option,
)
from ..module_utils._text import Show, brief, one_line
from ._ansible import is_identifier, is_ignored, reason_text, without_origin

PLUGIN = "server_management.cloud.servers"

_NAMES = ("server_management.yml", "server_management.yaml")
_PLUGIN_KEY = rf"""(?m)(?:^|[{{,]\s*)["']?plugin["']?\s*:\s*["']?{re.escape(PLUGIN)}\b"""

# Expressions are evaluated for each server, and not once as templates.
EXPRESSION_OPTIONS = frozenset({"compose", "groups", "keyed_groups", "hostnames", "filters"})
_KEYED_GROUP = (
    "key", "prefix", "separator", "default_value", "trailing_separator", "parent_group"
)  # fmt: skip
# For these options, null is an empty value, which is an error. For the others, it stands for the
# environment or the default.
_NULL_IS_EMPTY = (*TOKEN_OPTIONS, *SELECTING_OPTIONS)
# Options whose environment variables are read here, because Ansible would use an empty one as a
# value: as false, or as the working directory. Another utility reads that of ca_path.
_FROM_ENVIRONMENT = VARIABLES.keys() - {"ca_path"}
# Ansible has two names for some types.
_TYPE_NAMES = {"boolean": "bool", "integer": "int", "dictionary": "dict"}


def source_label(path: str) -> str:
    """Return the path of a source file for messages: relative if it is in the working directory."""
    relative = os.path.relpath(path)
    if relative.startswith(os.pardir + os.sep):
        return os.path.abspath(path)
    return relative


def is_ours(path: str, warn: Show) -> bool:
    """Return whether a file has the name of a source file; warn if only its content is of one."""
    if path.endswith(_NAMES):
        return True
    with open(path, encoding="utf-8", errors="replace") as file:
        content = file.read(65536)  # the key is near the beginning
    if re.search(_PLUGIN_KEY, content):
        warn(
            f"{source_label(path)}: The name of an inventory file for {PLUGIN} must end with "
            f"{' or '.join(_NAMES)}; the file is not used."
        )
    return False


def check_token_file(connection: Connection, sources: Iterable[str], warn: Show) -> None:
    """Warn if the token is from a file in a directory among the sources, and not ignored there.

    Ansible reads each such file as a source: one that contains a word is a list with one host.
    """
    if not connection.token_path:
        return
    folder, name = os.path.split(connection.token_path)
    # The file itself can be a link: Ansible reads it where the link is.
    path = os.path.join(os.path.realpath(folder), name)
    for source in sources:
        parts = os.path.relpath(path, os.path.realpath(source)).split(os.sep)
        if parts[0] not in (os.curdir, os.pardir) and not any(map(is_ignored, parts)):
            warn(
                f"{connection.source}: Ansible reads each file of an inventory directory, so the "
                "token becomes the name of a host. Move the file, or let its name start with a dot."
            )


def read_options(
    config: Mapping[str, Any], known: Collection[str], templar: Any, extra_vars: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options in the content of a file, as ``render`` does."""
    config = without_origin(config)
    check_keys(config, known)
    return render(config, templar, extra_vars)


def check_keys(config: Mapping[str, Any], known: Collection[str]) -> None:
    """Raise OptionError at the first key that is not an option."""
    # For options of other collections.
    advice = f"`ansible-doc -t inventory {PLUGIN}` shows all options."
    for key in config:
        if key not in known:
            raise unknown_option(key, known, "there is no such option.", advice)


def render(
    config: Mapping[str, Any], templar: Any, extra_vars: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the configuration with its templates rendered and its vault values decrypted."""
    templar.available_variables = extra_vars
    rendered = {**config, **null_as_empty(config, _NULL_IS_EMPTY)}
    for key, value in config.items():
        if value is not None and key not in EXPRESSION_OPTIONS:
            rendered[key] = _render_value(key, value, templar)
    hostnames = rendered.get("hostnames")
    if isinstance(hostnames, str):
        # A single expression can have commas, where Ansible would split a text.
        rendered["hostnames"] = [hostnames]
    return rendered


def _render_value(key: str, value: Any, templar: Any) -> Any:
    """Return the value of an option; an empty text for a template whose result is null.

    That option is not replaced by its default or by the environment.
    """
    try:
        result = templar.template(value)
        if getattr(value, "__ENCRYPTED__", False):  # up to 2.18 a vault value is decrypted late
            result = str(value)
    except Exception as error:  # noqa: BLE001  # a lookup or a filter may raise anything
        # Ansible up to 2.18 quotes the template, and a secret may be written into it.
        reason = str(error)
        if isinstance(value, str):
            reason = reason.replace(value, "the template")
        reason = reason_text(reason) or type(error).__name__
        raise OptionError(f"{key}: {reason}") from None
    return "" if result is None else result


def convert_values(config: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration with numbers, booleans and lists of text converted.

    Options of the connection that the file does not give are taken from the environment. Raises
    OptionError at a value that its option can't have. Ansible up to 2.18 reads most texts as false,
    which would turn validate_certs off, and the messages of all versions can show the value, which
    may be a token. Before ansible-core 2.19, the result of the template "{{ 6 / 2 }}" is text,
    which Ansible refuses as a whole number.
    """
    converted = dict(config)
    for option, definition in definitions.items():
        label = option
        value = config.get(option)
        if value is None and option in _FROM_ENVIRONMENT:
            label = f"{option} ({VARIABLES[option]})"
            value = environment_or_default(option)
        if value is not None:
            converted[option] = _converted(label, definition, value)
    return converted


def _converted(option: str, definition: Mapping[str, Any], value: Any) -> Any:
    kind = definition.get("type", "str")
    kind = _TYPE_NAMES.get(kind, kind)
    if kind in ("bool", "int", "float"):
        convert, expected = TYPES[kind]
        converted = convert(value)
        if converted is not None:
            return converted
        problem = f"{option}: must be {expected}"
        if kind != "bool":
            problem += f", but is {_shown(value)}"
        raise OptionError(f"{problem}.")
    if kind == "list":
        return _converted_list(option, definition, value)
    if kind == "dict":
        if not isinstance(value, Mapping):
            raise OptionError(f"{option}: must be a mapping.")
    elif not isinstance(value, str):
        # Ansible's own message would show the value, which may be a token. A number can't be
        # converted back: YAML reads 0123456 as 42798.
        if isinstance(value, (list, Mapping)):
            raise OptionError(f"{option}: must be text, not a list or a mapping.")
        raise OptionError(
            f"{option}: YAML reads this value as a number, a boolean or a date.",
            "Put it in quotes.",
        )
    _check_choices(option, definition, [value])
    return value


def _converted_list(option: str, definition: Mapping[str, Any], value: Any) -> list[Any]:
    is_text = definition.get("elements") == "str"
    if isinstance(value, str) and is_text:
        value = [unquote(element.strip()) for element in value.split(",")]  # as Ansible does
    if not isinstance(value, list):
        raise OptionError(f"{option}: must be a list.")
    if not is_text:
        return value
    kinds: tuple[type, ...] = (str,)
    if option in EXPRESSION_OPTIONS:
        kinds = (str, int, float)
    for element in value:
        if not isinstance(element, kinds):
            advice = "Put each value in quotes."
            raise OptionError(f"{option}: must be a list of text values.", advice)
    if "choices" not in definition:
        return value
    elements = [element.strip() for element in value]
    _check_choices(option, definition, elements)
    return elements


def _check_choices(option: str, definition: Mapping[str, Any], values: Iterable[str]) -> None:
    if "choices" not in definition:
        return
    choices = definition["choices"]
    for value in values:
        if value not in choices:
            expected = ", ".join(choices)
            raise OptionError(f"{option}: must be one of {expected}, but is {_shown(value)}.")


def check_options(get_option: GetOption) -> None:
    """Raise OptionError at an option of the inventory plugin that can't be used."""
    prefix = get_option("hostvars_prefix")
    if prefix.startswith("ansible_") or not is_identifier(f"{prefix}id"):
        raise OptionError(
            f"hostvars_prefix: {one_line(prefix)!r} does not make usable variable names.",
            "Use letters, digits and underscores, and do not start with ansible_.",
        )
    if not get_option("group"):
        raise OptionError("group: must not be empty.", "Leave it out to use the default.")
    for option in ("min_servers", "min_hosts", "stale_cache_timeout"):
        if get_option(option) < 0:
            raise OptionError(f"{option}: must be 0 or more.")
    if get_option("stale_cache_timeout") and not get_option("cache"):
        raise OptionError("stale_cache_timeout: requires cache: true.")
    _check_expressions(get_option)


def _check_expressions(get_option: GetOption) -> None:
    hostnames = get_option("hostnames")
    if hostnames is not None and (not hostnames or any(_is_blank(name) for name in hostnames)):
        raise OptionError(
            "hostnames: must not be empty or contain an empty expression.",
            "Leave it out to use the names of the servers.",
        )
    for name in get_option("compose") or {}:
        if not isinstance(name, str) or not is_identifier(name):
            raise OptionError(f"compose: {_shown(name)} can't be the name of a variable.")
    for name in get_option("groups") or {}:
        if _is_blank(name):
            raise OptionError("groups: a group must have a name.")
    for entry in get_option("keyed_groups") or []:
        _check_keyed_group(entry)
    _check_filters(get_option("filters") or [])


def _check_filters(entries: Iterable[Any]) -> None:
    last = ""
    for entry in entries:
        if not isinstance(entry, Mapping) or list(entry) not in (["include"], ["exclude"]):
            raise OptionError("filters: each entry must have one key, include or exclude.")
        ((last, condition),) = entry.items()
        if _is_blank(condition) or isinstance(condition, (list, Mapping)):
            raise OptionError(f"filters: {last}: must be a condition that is not empty.")
    if last == "include":
        raise OptionError(
            "filters: an include that no exclude follows has no effect, because servers that match "
            "no condition are kept.",
            "To leave out all other servers, end the list with `exclude: true`.",
        )


def _check_keyed_group(entry: Any) -> None:
    if not isinstance(entry, Mapping) or entry.get("key") is None:
        raise OptionError("keyed_groups: each entry must be a mapping with a key.")
    for key in entry:
        if key not in _KEYED_GROUP:
            error = unknown_option(key, _KEYED_GROUP, "there is no such key.")
            raise OptionError(f"keyed_groups: {error.message}", error.next_step)


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _shown(value: Any) -> str:
    return brief(str(value)) or "empty"
