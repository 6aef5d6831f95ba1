# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection options: where their values are from, and the connection that they describe."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ._errors import OptionError
from ._text import as_word, visible
from ._token import read_file, register, token_in_file, token_in_text
from ._url import normalize_base_url

VERSION = "1.0.0"

# Returns the value of an option by its name.
GetOption = Callable[[str], Any]

# The rules for each option, as in the argument spec of a module. Two more are for inventory files:
# "ends", the characters to remove at the ends of a text, and "advice" about other choices.
Rules = dict[str, dict[str, Any]]

RULES: Rules = {
    # With the fallback, an empty text, a module reports a missing option itself: Ansible's message
    # does not name the environment variable.
    "base_url": {"type": "str", "required": True, "fallback": (str, [])},
    "api_token": {"type": "str", "no_log": True},
    # Set explicitly, because the name alone would make Ansible warn.
    "api_token_file": {"type": "path", "no_log": False},
    "validate_certs": {"type": "bool", "default": True},
    "ca_path": {"type": "path"},
    "timeout": {"type": "float", "default": 30.0},
    "retries": {"type": "int", "default": 3},
    "pagination": {"type": "str", "default": "none", "choices": ["none", "last_id"]},
    "pagination_parameter": {"type": "str", "default": "starting_after"},
    "allow_partial": {"type": "bool", "default": False},
}
_OF_LISTINGS = ("pagination", "pagination_parameter", "allow_partial")
# The environment variables of the other options.
VARIABLES = {
    option: f"SERVER_MANAGEMENT_{option.upper()}" for option in RULES if option not in _OF_LISTINGS
}
_TOKEN_OPTIONS = ("api_token", "api_token_file")


class Options(NamedTuple):
    """The value of each option, and where it is from.

    A source is the name of the option if the user has written it, the name of the environment
    variable, or an empty text for the default. Paths that the user has written are relative to
    ``folder``, those of the environment to the working directory.
    """

    values: dict[str, Any]
    sources: dict[str, str]
    folder: str

    def is_written(self, option: str) -> bool:
        """Return whether the user has written the option, in a file, a task or a rulebook."""
        return self.sources.get(option) == option

    def path(self, option: str) -> str:
        """Return the path that an option names."""
        path: str = os.path.expanduser(os.path.expandvars(self.values[option]))
        if self.is_written(option):
            return os.path.join(self.folder, path)
        return path


class Connection(NamedTuple):
    """Checked values of the connection options, with no Ansible in them.

    ``base_url`` ends in /api/v1; ``verify`` is requests' (a flag, or the path of a CA bundle);
    ``timeout`` is in seconds; ``token_label`` names for a message where the token is from, and
    ``token_path`` is its file, if any.
    """

    base_url: str
    api_token: str
    token_label: str
    token_path: str
    verify: bool | str
    timeout: float
    retries: int
    pagination: str
    pagination_parameter: str
    allow_partial: bool
    user_agent: str

    def __repr__(self) -> str:
        return f"Connection({self.base_url!r})"  # without the token

    @property
    def root_url(self) -> str:
        """The URL without /api/v1, as users write it."""
        return self.base_url.removesuffix("/api/v1")


def resolve_options(written: Mapping[Any, Any], rules: Rules, folder: str = "") -> Options:
    """Return the value of each option, for every module and plugin alike.

    It is what the user has written (``written`` has neither defaults nor the environment), else
    that of the environment, where an empty variable counts as not set, else the default. Null
    counts as not written, except for the token, where it is an empty text, and an error later:
    usually a template has rendered to nothing, and no other account's token must replace it.

    ``folder`` is where relative paths begin that the user has written.
    """
    options = Options({}, {}, folder)
    for option, rule in rules.items():
        value = written.get(option)
        source = option
        if value is None and option in _TOKEN_OPTIONS and option in written:
            value = ""
        if value is None and option in VARIABLES:
            source = VARIABLES[option]
            value = os.environ.get(source, "").strip() or None
        if value is None:
            source = ""
            value = rule.get("default")
        else:
            value = convert(source, value, rule)
        options.values[option] = value
        options.sources[option] = source
    return options


def connection_from(options: Options, ansible_version: str) -> Connection:
    """Check what ``resolve_options`` returns, and raise OptionError at the first bad option."""
    values = options.values
    timeout = values["timeout"]
    if not timeout > 0:  # false for NaN, too
        raise OptionError(f"timeout: must be a number of seconds greater than 0, but is {timeout}.")
    if not values["base_url"]:
        raise OptionError(
            "base_url: an address is required.",
            f"Set it, or set {VARIABLES['base_url']} in the environment, to "
            "http(s)://host[:port][/prefix].",
        )
    base_url = normalize_base_url(values["base_url"])
    token, token_label, token_path = _token(options)
    register(token)
    verify = values["validate_certs"]
    if values["ca_path"]:
        bundle = _bundle(options.path("ca_path"))
        verify = verify and bundle
    return Connection(
        base_url=base_url,
        api_token=token,
        token_label=token_label,
        token_path=token_path,
        verify=verify,
        # Above about 2,147,483 s, the milliseconds of a socket's timeout overflow.
        timeout=min(timeout, 2e6),
        retries=values["retries"],
        pagination=values["pagination"],
        pagination_parameter=values["pagination_parameter"],
        allow_partial=values["allow_partial"],
        user_agent=f"server_management.cloud/{VERSION} ansible/{ansible_version}",
    )


def _token(options: Options) -> tuple[str, str, str]:
    """Return the token, where it is from (an option or a variable, with any path), and the path.

    A token of the environment is used only if neither of its options is written.
    """
    values = options.values
    written = [option for option in _TOKEN_OPTIONS if options.is_written(option)]
    for option in written:
        if not values[option]:
            raise is_empty(option, "to use the environment")
    if len(written) > 1:
        raise OptionError("api_token and api_token_file: both are set.", "Set only one of them.")
    usable = written or [option for option in _TOKEN_OPTIONS if values[option]]
    if not usable:
        variables = [VARIABLES[option] for option in _TOKEN_OPTIONS]
        empty = [variable for variable in variables if variable in os.environ]
        problem = "api_token: a token is required"
        if empty:
            problem += f"; set, but empty: {', '.join(empty)}"
        raise OptionError(
            f"{problem}.",
            f"Set it or api_token_file, or one of the environment variables "
            f"{' and '.join(variables)}.",
        )
    option = usable[0]
    source = options.sources[option]
    path = options.path(option)
    if option == "api_token":
        return token_in_text(source, values[option], path), source, ""
    label = f"{source} ({visible(path)})"
    return token_in_file(source, values[option], path), label, path


def is_empty(option: str, purpose: str = "to use the default") -> OptionError:
    """Return the error for an empty value: usually a template has rendered to nothing."""
    advice = f"Check the template that it comes from, or leave the option out {purpose}."
    return OptionError(f"{option}: must not be empty.", advice)


def _bundle(path: str) -> str:
    """Return the path of the file with certificates, after a check."""
    label = f"ca_path: {visible(path)}"
    if os.path.isdir(path):
        raise OptionError(
            f"{label}: is a directory.",
            "Set it to one file with all certificates, which `cat DIRECTORY/*.pem > FILE` makes.",
        )
    if b"CERTIFICATE-----" not in read_file(label, path):
        raise OptionError(
            f"{label}: the file has no certificate in PEM format (-----BEGIN CERTIFICATE-----).",
            "To trust the usual certificate authorities, leave ca_path out.",
        )
    return path


_FLAGS = dict.fromkeys(("yes", "on", "1", "true", "t", "y", "1.0"), True)
_FLAGS |= dict.fromkeys(("no", "off", "0", "false", "f", "n", "0.0"), False)


def convert(label: str, value: Any, rule: Mapping[str, Any]) -> Any:
    """Return a value that is not null in the type of its option.

    Raises OptionError, which begins with ``label``, for a value that the option can't have. Ansible
    up to 2.18 reads most texts as false, which would turn validate_certs off, and the messages of
    all versions can show the value, which may be a token. Before ansible-core 2.19, the result of
    the template "{{ 6 / 2 }}" is text, which Ansible refuses as a whole number.
    """
    kind = rule.get("type", "str")
    if kind == "raw":
        return value
    if kind == "list":
        if not isinstance(value, list):
            raise OptionError(f"{label}: must be a list.")
        rule = {**rule, "type": "str"}
        return [convert(label, entry, rule) for entry in value]
    if kind in ("bool", "boolean"):  # Ansible has two names for it
        flag = _FLAGS.get(str(value).strip().lower())
        if flag is None:
            raise OptionError(f"{label}: must be true or false.")
        return flag
    if kind in ("int", "float"):
        return _number(label, value, kind)
    if isinstance(value, (list, Mapping)):
        raise OptionError(f"{label}: must be text, not a list or a mapping.")
    if not isinstance(value, str):
        # It can't be converted back: YAML reads 0123456 as 42798.
        raise OptionError(
            f"{label}: YAML reads this value as a number, a boolean, a date or null.",
            "Put it in quotes.",
        )
    text = value.strip(rule.get("ends"))  # a block of YAML ends with a line break
    choices = rule.get("choices", [text])
    if text not in choices:
        expected = ", ".join(choices)
        problem = f"{label}: must be one of {expected}, but is {as_word(text)}."
        raise OptionError(problem, rule.get("advice", ""))
    return text


def _number(label: str, value: Any, kind: str) -> float:
    with suppress(ValueError):
        number = float(str(value))  # "True" is not a number
        if kind == "float":
            return number
        if number.is_integer():
            return int(number)
    noun = "whole number" if kind == "int" else "number"
    raise OptionError(f"{label}: must be a {noun}, but is {as_word(str(value))}.")
