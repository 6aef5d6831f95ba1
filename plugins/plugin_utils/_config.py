# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The inventory file: its name, its keys, its templates, and the values of its options."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleParserError, AnsibleUndefinedVariable
from ansible.parsing.quoting import unquote
from yaml import MarkedYAMLError

from ..module_utils._errors import OptionError
from ..module_utils._models import SELECTING_OPTIONS
from ..module_utils._options import (
    RULES,
    Connection,
    GetOption,
    Options,
    is_empty,
    resolve_options,
)
from ..module_utils._selection import wanted_values
from ..module_utils._text import Show, as_word, one_line
from ..module_utils._unknown_names import unknown_name
from ._ansible import (
    is_encrypted,
    is_identifier,
    is_ignored,
    load_config,
    reason_text,
    trust,
    without_origin,
)
from ._config_expressions import EXPRESSION_OPTIONS, check_entries

# Values or definitions, by the names of options.
ByOption = Mapping[str, Any]

PLUGIN = "server_management.cloud.servers"

_ENDINGS = ("server_management.yml", "server_management.yaml")
# The sign is in "did not find expected ',' or ']'", which quotes nothing of the file.
_quoted_text = re.compile(r"""(?s)(?P<sign>'[^\w']')|(['"]).*\w.*\2""")
_PLUGIN_KEY = rf"""(?m)(?:^|[{{,]\s*)["']?plugin["']?\s*:\s*["']?{re.escape(PLUGIN)}\b"""

# Ignored at the ends of text that becomes a part of a name; white space can be meant there.
_LINE_BREAKS = "\r\n"
# What the documentation of an option does not have.
_FURTHER_RULES = {
    "base_url": {"default": ""},  # Ansible would not name the file without one
    "group_by": {"advice": "For other groups, use keyed_groups."},
    "hostvars_prefix": {"ends": _LINE_BREAKS},
    **{option: {"type": "raw"} for option in EXPRESSION_OPTIONS},  # with checks of their own
}
# For these, null is an empty value, and an error. For the others, it is as if it was not written.
_NEVER_NULL = ("api_token", "api_token_file", *SELECTING_OPTIONS)
# The others could show the value in a message.
_MAY_BE_ENCRYPTED = ("base_url", "api_token", "api_token_file", "ca_path", "cache_connection")
_KEYED_GROUP = (
    "key", "prefix", "separator", "default_value", "trailing_separator", "parent_group"
)  # fmt: skip


def shown_path(path: str) -> str:
    """Return a path for messages: relative if it is in the working directory."""
    relative = os.path.relpath(path)
    if relative.startswith(os.pardir + os.sep):
        return os.path.abspath(path)
    return relative


def accepts_file(path: str, warn: Show) -> bool:
    """Return whether a file has the name of a source file; warn if only its content is of one."""
    if path.endswith(_ENDINGS):
        return True
    with open(path, encoding="utf-8", errors="replace") as file:
        content = file.read(65536)  # the key is near the beginning
    if re.search(_PLUGIN_KEY, content):
        warn(
            f"{shown_path(path)}: The name of an inventory file for {PLUGIN} must end with "
            f"{' or '.join(_ENDINGS)}; the file is not used."
        )
    return False


def check_token_file(connection: Connection, sources: Iterable[str], warn: Show) -> None:
    """Warn if the token is from a file in a directory among the sources, and not ignored there.

    Ansible reads each such file as a source: one that contains a word is a list with one host.
    """
    folder, name = os.path.split(connection.token_path)
    # The file itself can be a link: Ansible reads it where the link is.
    path = os.path.join(os.path.realpath(folder), name)
    for source in sources:
        parts = os.path.relpath(path, os.path.realpath(source)).split(os.sep)
        # Outside the source, the path begins with "..", a name with a dot like other ignored ones.
        if not any(map(is_ignored, parts)):
            warn(
                f"{connection.token_label}: Ansible reads each file of an inventory directory, so "
                "the token becomes the name of a host. Move the file, or let its name start with a "
                "dot."
            )


def load_content(loader: Any, path: str) -> Any:
    """Return the content of an inventory file.

    Raises OptionError at a mistake in its YAML, without any text of the file, which may be a token.
    """
    try:
        return load_config(loader, path)
    # Before ansible-core 2.19, also what PyYAML raises at a value such as !!bool x or !!int ''.
    except (AnsibleParserError, AttributeError, LookupError, ValueError) as error:
        mistake = error.__context__
        problem = "invalid YAML: a value can't be read."
        if isinstance(mistake, MarkedYAMLError):
            mark: Any = mistake.problem_mark
            # It can quote a text of the file, such as the name of an alias.
            kind = _quoted_text.sub(lambda quoted: quoted["sign"] or "…", str(mistake.problem))
            problem = f"invalid YAML in line {mark.line + 1}, column {mark.column + 1}: {kind}."
        advice = "Put text with special characters, such as `: ` or `{{`, in quotes."
        raise OptionError(problem, advice) from None


def read_written(
    content: Any, definitions: ByOption, templar: Any, extra_vars: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values that an inventory file gives to options, with templates rendered.

    Text is a list with commas if a list is expected, as for Ansible.

    Raises OptionError if the file is not ours, or has keys that are not options, and at a template
    or vault value that fails.
    """
    if not isinstance(content, dict):
        raise OptionError("must be a mapping of options to values.")
    if content.get("plugin") != PLUGIN:
        raise OptionError(f"plugin: must be {PLUGIN}.")
    try:
        _check_content(content, definitions)
    except RecursionError:
        problem = "a value contains itself."
        raise OptionError(problem, "Remove the alias (*) that is inside its anchor.") from None
    templar.available_variables = extra_vars
    written: dict[str, Any] = {}
    for option, value in without_origin(content).items():
        if value is None and option not in _NEVER_NULL:
            continue
        written[option] = value
        if option in EXPRESSION_OPTIONS:
            continue
        written[option] = rendered = _render(option, value, templar)
        if isinstance(rendered, str) and definitions[option].get("type") == "list":
            written[option] = [unquote(entry.strip()) for entry in rendered.split(",")]
    for entry in _keyed_groups(written):
        _render_keyed_group(entry, templar)
    return written


def _render_keyed_group(entry: dict[str, Any], templar: Any) -> None:
    """Render what is the same for all hosts in an entry of keyed_groups."""
    for key in ("prefix", "separator", "default_value"):
        if entry.get(key) is None:
            continue
        value = _render(f"keyed_groups: {key}", entry[key], templar)
        if isinstance(value, str):
            value = value.strip(_LINE_BREAKS)
        entry[key] = value
    parent = entry.get("parent_group")
    if isinstance(parent, str):
        entry["parent_group"] = trust(parent.strip())  # it can be a template


def _check_content(content: Mapping[Any, Any], definitions: ByOption) -> None:
    """Raise OptionError for all keys that are not options, or for an encrypted value."""
    if any(map(is_encrypted, content)):
        raise OptionError("the name of an option is encrypted.", "Write it as it is.")
    unknown = [unknown_name(key, definitions) for key in content if key not in definitions]
    for entry in _keyed_groups(content):
        keys = [key for key in entry if key not in _KEYED_GROUP]
        unknown += [unknown_name(key, _KEYED_GROUP, " of keyed_groups") for key in keys]
    if unknown:
        raise OptionError(
            f"{', '.join(unknown)}: there is no such option.",
            f"Remove or rename each; `ansible-doc -t inventory {PLUGIN}` shows all options.",
        )
    for option, value in content.items():
        place = _encrypted_in(value)  # follows all aliases
        if place is None or option in _MAY_BE_ENCRYPTED:
            continue
        label = one_line(f"{option}: {place}") if place else option
        raise OptionError(
            f"{label}: must not be an encrypted value.",
            "Put secrets into a file in group_vars or host_vars, and write other values as they "
            "are.",
        )


def _encrypted_in(value: Any) -> str | None:
    """Return the name or the number of the first entry that is encrypted; None without one.

    It is empty if the value itself, or the name of an entry, is encrypted.
    """
    if is_encrypted(value):
        return ""
    if isinstance(value, list):
        value = dict(enumerate(value, 1))
    if isinstance(value, Mapping):
        for name in value:
            if is_encrypted(name):
                return ""
            if _encrypted_in(value[name]) is not None:
                return str(name)
    return None


def _keyed_groups(options: ByOption) -> list[dict[str, Any]]:
    """Return the entries of keyed_groups that are mappings; others are an error later."""
    entries = options.get("keyed_groups")
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if isinstance(entry, dict)]


def _render(option: str, value: Any, templar: Any) -> Any:
    """Return the value of an option; an empty text for null, also as the result of a template.

    That option is not replaced by its default or by the environment.
    """
    try:
        # Before ansible-core 2.19, templar.template(value) does not decrypt a vault value.
        result = str(value) if is_encrypted(value) else templar.template(value)
    except Exception as error:  # noqa: BLE001  # a lookup or a filter may raise anything
        # Ansible up to 2.18 quotes the template, and a secret may be written into it.
        reason = str(error)
        if isinstance(value, str):
            reason = reason.replace(value, "the template")
        reason = reason_text(reason).rstrip(".") or type(error).__name__
        advice = ""
        if isinstance(error, AnsibleUndefinedVariable):
            advice = "Only extra vars can be used here."
            if option == "api_token":
                advice += " Write the token as an inline `!vault` value, or use a lookup."
        raise OptionError(f"{option}: {reason}.", advice) from None
    return "" if result is None else result


def resolve_written(written: ByOption, definitions: ByOption, folder: str) -> Options:
    """Return the value of each option that the file gives, and of each option of the connection.

    Ansible resolves the others.
    """
    rules = dict(RULES)
    for option in ("base_url", "hostvars_prefix", *written):
        rules[option] = {**definitions[option], **_FURTHER_RULES.get(option, {})}
    options = resolve_options(written, rules, folder)
    values = options.values
    for option in written:
        if option in EXPRESSION_OPTIONS:
            values[option] = check_entries(option, values[option], values["hostvars_prefix"])
    return options


def check_options(get_option: GetOption, options: Options) -> None:
    """Raise OptionError at an option of the inventory plugin that can't be used."""
    prefix = get_option("hostvars_prefix")
    if prefix.startswith("ansible_") or not is_identifier(f"{prefix}id"):
        raise OptionError(
            f"hostvars_prefix: {as_word(prefix)} does not make usable variable names.",
            "Use letters, digits and underscores, and do not start with ansible_.",
        )
    if not get_option("group"):
        raise is_empty("group")
    wanted_values(get_option)
    has_cache = get_option("cache")
    is_stale_allowed = get_option("stale_cache_timeout")
    if is_stale_allowed and not has_cache:
        raise OptionError("stale_cache_timeout: requires cache: true.")
    if not has_cache or get_option("cache_timeout"):
        return
    # For Ansible's cache plugins, 0 means without a limit, and people use it for "no cache".
    if is_stale_allowed:
        raise OptionError(
            "cache_timeout: with 0, an entry of the cache never expires, so that "
            "stale_cache_timeout has no effect.",
            "Set cache_timeout to 1 to ask the API at each run, or leave stale_cache_timeout out.",
        )
    if not options.is_written("cache_timeout"):
        raise OptionError(
            "cache_timeout: is 0 in ansible.cfg (there also as fact_caching_timeout) or in the "
            "environment, so that an entry of the cache never expires.",
            "Write cache_timeout in this file: 1 asks the API at each run, 0 never expires.",
        )
