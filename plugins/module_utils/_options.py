# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection options: their argument spec, and the connection that their values describe."""

from __future__ import annotations

import codecs
import difflib
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ._errors import OptionError, TokenFileUnusable
from ._text import SECRET_LENGTH, excerpt, one_line, redact
from ._url import check_base_url

VERSION = "1.0.0"

# Returns the value of an option by its name.
GetOption = Callable[[str], Any]

# Argument specs and Ansible's configuration do not read the variables of these two: a variable for
# one of them must neither replace the other one, which the task or the file gives, nor join it.
TOKEN_OPTIONS = ("api_token", "api_token_file")


class Connection(NamedTuple):
    """Checked values of the connection options, with no Ansible in them.

    ``base_url`` ends in /api/v1; ``verify`` is requests' (a flag, or the path of a CA bundle);
    ``timeout`` is in seconds; ``source`` is the option or variable that the token is from,
    with the path of its file, which is also ``token_path``.
    """

    base_url: str
    api_token: str
    source: str = "api_token"
    token_path: str = ""
    verify: bool | str = True
    timeout: float = 30.0
    retries: int = 3
    pagination: str = "none"
    pagination_parameter: str = "starting_after"
    allow_partial: bool = False
    user_agent: str = f"server_management.cloud/{VERSION}"

    def __repr__(self) -> str:
        return f"Connection({self.base_url!r})"  # without the token

    def quote(self, text: str) -> str:
        """Return text from the API for a message: one short line without the token."""
        return excerpt(redact(text, self.api_token, shortest=1))

    @property
    def root_url(self) -> str:
        """The URL without /api/v1, as users write it."""
        return self.base_url.removesuffix("/api/v1")


def variable(option: str) -> str:
    """Return the name of the environment variable for a connection option."""
    return f"SERVER_MANAGEMENT_{option.upper()}"


# The rules for each option, as in an argument spec. The first ones have an environment variable.
_IN_ENVIRONMENT: dict[str, dict[str, Any]] = {
    "base_url": {"type": "str", "required": True},
    "api_token": {"type": "str", "no_log": True},
    # Set explicitly, because the name alone would make Ansible warn.
    "api_token_file": {"type": "path", "no_log": False},
    "validate_certs": {"type": "bool", "default": True},
    "ca_path": {"type": "path"},
    "timeout": {"type": "float", "default": 30.0},
    "retries": {"type": "int", "default": 3},
}
_OF_LISTINGS: dict[str, dict[str, Any]] = {
    "pagination": {"type": "str", "default": "none", "choices": ["none", "link", "cursor"]},
    "pagination_parameter": {"type": "str", "default": "starting_after"},
    "allow_partial": {"type": "bool", "default": False},
}
RULES = {**_IN_ENVIRONMENT, **_OF_LISTINGS}
VARIABLES = {option: variable(option) for option in _IN_ENVIRONMENT if option not in TOKEN_OPTIONS}


def connection_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec that every module shares."""
    spec = {option: dict(rules) for option, rules in RULES.items()}
    for option in VARIABLES:
        spec[option]["fallback"] = (environment_or_default, [option])
    return spec


def null_as_empty(given: Mapping[Any, Any], options: Iterable[str]) -> dict[str, str]:
    """Return an empty text for each of these options that is null in what a user has written.

    Usually a template has rendered to nothing, which is not the same as an option that is left out.
    """
    empty = {}
    for option in options:
        if option in given and given[option] is None:
            empty[option] = ""
    return empty


def from_environment(name: str) -> str | None:
    """Return the value of an environment variable; None if it is not set or empty."""
    value = os.environ.get(name, "")
    if value.strip():
        return value
    return None


def environment_or_default(option: str) -> Any:
    """Return the value of an option that is not given, but has an environment variable."""
    given = from_environment(VARIABLES[option])
    if given is not None:
        return given
    if option == "base_url":
        return ""  # Ansible's own message for a missing option does not name its variable
    return RULES[option].get("default")


def connection_from(get_option: GetOption, ansible_version: str, folder: str = "") -> Connection:
    """Check the options that ``get_option`` returns; raise OptionError at the first bad one.

    For ``api_token`` and ``api_token_file``, ``get_option`` returns what the inventory file or the
    task gives, without the environment, and None only if the option is not there. Relative paths
    are relative to ``folder``, except those of the environment.
    """
    timeout = get_option("timeout")
    if not (math.isfinite(timeout) and timeout > 0):
        raise OptionError(f"timeout: must be a number of seconds greater than 0, but is {timeout}.")
    retries = get_option("retries")
    if retries < 0:
        raise OptionError(f"retries: must be 0 or more, but is {retries}.")
    base_url = check_base_url(get_option("base_url"))
    token, source, token_path = _token(get_option, folder)
    _register(token)
    return Connection(
        base_url=base_url,
        api_token=token,
        source=source,
        token_path=token_path,
        verify=_verify(get_option("validate_certs"), get_option("ca_path"), folder),
        timeout=min(timeout, 2e6),  # sockets accept little more
        retries=retries,
        pagination=get_option("pagination"),
        pagination_parameter=get_option("pagination_parameter") or "starting_after",
        allow_partial=get_option("allow_partial"),
        user_agent=f"server_management.cloud/{VERSION} ansible/{ansible_version}",
    )


def unknown_option(
    key: object, known: Collection[str], problem: str, advice: str = ""
) -> OptionError:
    """Make the error for a key that is not an option, with the most similar one, or ``advice``.

    Only the start of the key is shown: without a space after the colon, a value is part of it.
    """
    name = re.split(r"[:=\s]", one_line(str(key)), maxsplit=1)[0]
    if name in known:
        return OptionError(f"{name}: must be followed by a colon and a space.")
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        advice = f"Did you mean {near[0]}?"
    return OptionError(f"{name}: {problem}", advice)


def _token(get_option: GetOption, folder: str) -> tuple[str, str, str]:
    """Return the token of the most specific source, the name of that source, and any path."""
    for option in TOKEN_OPTIONS:
        given = get_option(option)
        if given is not None and not given.strip():
            raise OptionError(
                f"{option}: is empty.",
                "Check the template that it comes from, or remove the option to use the "
                "environment.",
            )
    token = get_option("api_token")
    path = get_option("api_token_file")
    if token is not None and path is not None:
        raise OptionError("api_token and api_token_file: both are set.", "Set only one of them.")
    if token is not None:
        return _token_in_text("api_token", token)
    if path is not None:
        return _token_in_file("api_token_file", path, folder)
    token_variable = variable("api_token")
    token = from_environment(token_variable)
    if token is not None:
        return _token_in_text(token_variable, token)
    file_variable = variable("api_token_file")
    path = from_environment(file_variable)
    if path is not None:
        return _token_in_file(file_variable, path, "")
    raise OptionError(
        "api_token: is required.",
        "Set it or api_token_file, or one of the environment variables "
        f"{token_variable} and {file_variable}.",
    )


def _token_in_text(name: str, given: str) -> tuple[str, str, str]:
    token = given.strip()
    _check_token(token, name, OptionError, "Give only the token, without the word Bearer.")
    return token, name, ""


def _token_in_file(name: str, given: str, folder: str) -> tuple[str, str, str]:
    path, content = _read(name, given, folder, TokenFileUnusable)
    shown = one_line(path)
    label = f"{name}: {shown}"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise TokenFileUnusable(f"{label}: the file is encoded in UTF-16.", "Save it as UTF-8.")
    content = content.removeprefix(codecs.BOM_UTF8)
    token = content.decode("latin-1").strip()
    if not token:
        raise TokenFileUnusable(f"{label}: the file is empty.")
    advice = (
        "The file must contain only the token: no comment, no second line, and not the word Bearer."
    )
    _check_token(token, label, TokenFileUnusable, advice)
    return token, f"{name} ({shown})", path


def _check_token(token: str, label: str, error_class: type[OptionError], advice: str) -> None:
    if token.startswith("$ANSIBLE_VAULT;"):
        raise error_class(f"{label}: encrypted with Ansible Vault: use `api_token: !vault`.")
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise error_class(f"{label}: the token must be visible ASCII without spaces.", advice)


def _register(token: str) -> None:
    """Make Ansible mask the token in all of its output, since ansible-core 2.22.

    A short token is not registered: Ansible would mask each word that contains it.
    """
    with suppress(ImportError):
        from ansible.module_utils.secrets import register_secret

        if len(token) >= SECRET_LENGTH:
            register_secret(token)


def _verify(validate_certs: bool, ca_path: str | None, folder: str) -> bool | str:
    if ca_path is None:
        ca_path = from_environment(VARIABLES["ca_path"])
        folder = ""
    if not ca_path:
        return validate_certs
    path, content = _read("ca_path", ca_path, folder)
    if b"CERTIFICATE-----" not in content:
        raise OptionError(
            f"ca_path: {one_line(path)}: the file has no certificate in PEM format "
            "(-----BEGIN CERTIFICATE-----).",
            "To trust the usual certificate authorities, leave ca_path out.",
        )
    if not validate_certs:
        return False
    return path


def _read(
    name: str, given: str, folder: str, error_class: type[OptionError] = OptionError
) -> tuple[str, bytes]:
    """Return the path of the file that an option or variable gives, and its content."""
    expanded = os.path.expanduser(os.path.expandvars(given))
    path = os.path.join(folder, expanded)
    reason = "not a path"  # if it contains a null character
    try:
        with open(path, "rb") as file:
            return path, file.read()
    except OSError as error:
        reason = str(error.strerror).lower()
    except ValueError:
        pass
    if _is_like_a_path(given, path):
        raise error_class(f"{name}: {one_line(path)}: {reason}.")
    raise error_class(f"{name}: {reason}.", "The value is not shown, because it may be a token.")


def _is_like_a_path(given: str, path: str) -> bool:
    """Return whether an option's value is a path, and not a token that was set by mistake.

    A token can contain slashes, but is unlikely to begin with the name of a folder.
    """
    if os.path.lexists(path):
        return True
    if os.path.dirname(given) in ("", "/"):
        return False
    if given.startswith(("/", "~", ".", "$")):
        return True
    return os.path.isdir(os.path.dirname(path))


_FLAGS = dict.fromkeys(("yes", "on", "1", "true", "t", "y", "1.0"), True)
_FLAGS |= dict.fromkeys(("no", "off", "0", "false", "f", "n", "0.0"), False)


def _to_text(given: Any) -> str | None:
    return given if isinstance(given, str) else None


def _to_flag(given: Any) -> bool | None:
    return _FLAGS.get(str(given).strip().lower())


def _to_number(given: Any) -> float | None:
    if isinstance(given, bool) or not isinstance(given, (int, float, str)):
        return None
    try:
        return float(given)
    except (ValueError, OverflowError):
        return None


def _to_whole_number(given: Any) -> int | None:
    number = _to_number(given)
    if number is None or not number.is_integer():
        return None
    return int(number)


# For each type of an option: a function that converts a value as Ansible does, or returns None for
# a wrong one, and the values that are expected.
TYPES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "str": (_to_text, "text; quote a value that looks like a number or a boolean"),
    "path": (_to_text, "text, the path of a file"),
    "bool": (_to_flag, "true or false"),
    "float": (_to_number, "a number"),
    "int": (_to_whole_number, "a whole number"),
}
