# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection options: their argument spec, and the connection that their values describe.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    OptionError,
    TokenFileUnusable,
)
from ansible_collections.server_management.cloud.plugins.module_utils._text import one_line
from ansible_collections.server_management.cloud.plugins.module_utils._url import check_base_url

VERSION = "1.0.0"

# An environment variable for one of them must not complete or replace the other one as an option,
# so that argument specs and Ansible's configuration do not read these variables.
TOKEN_OPTIONS = ("api_token", "api_token_file")
PATH_OPTIONS = ("api_token_file", "ca_path")

_TOKEN_FILE_LIMIT = 16 * 2**10  # bytes; a larger file is not a token
_BUNDLE_LIMIT = 16 * 2**20  # bytes; no CA bundle is larger
_MAX_TIMEOUT = 2.0e6  # seconds: sockets accept little more


@dataclass(frozen=True)
class Connection:
    """Checked values of the connection options, with no Ansible in them.

    ``base_url`` ends in /api/v1; ``verify`` is requests' (a flag, or the path of a CA bundle);
    ``timeout`` is in seconds.
    """

    base_url: str
    api_token: str = field(repr=False)
    verify: bool | str = True
    timeout: float = 30.0
    retries: int = 3
    pagination: str = "none"
    pagination_parameter: str | None = None
    allow_partial: bool = False
    user_agent: str = f"server_management.cloud/{VERSION}"


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
    "pagination": {
        "type": "str",
        "default": "none",
        "choices": ["none", "link", "cursor", "page", "offset"],
    },
    "pagination_parameter": {"type": "str"},
    "allow_partial": {"type": "bool", "default": False},
}
RULES = {**_IN_ENVIRONMENT, **_OF_LISTINGS}
VARIABLES = {option: variable(option) for option in _IN_ENVIRONMENT if option not in TOKEN_OPTIONS}


def connection_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec that every module shares."""
    # Not at the top: the event source has no Ansible, and no argument spec.
    from ansible.module_utils.common.parameters import env_fallback

    spec = {option: dict(rules) for option, rules in RULES.items()}
    for option, name in VARIABLES.items():
        spec[option]["fallback"] = env_fallback, [name]
    # Ansible's own message for a missing option does not name the environment variable.
    spec["base_url"]["fallback"] = _environment_or_empty, [VARIABLES["base_url"]]
    return spec


def _environment_or_empty(name: str) -> str:
    return os.environ.get(name, "")


def connection_from(get_option: Callable[[str], Any], ansible_version: str) -> Connection:
    """Check the options that ``get_option`` returns; raise OptionError at the first bad one.

    For ``api_token`` and ``api_token_file``, ``get_option`` returns what the inventory file or the
    task gives, without the environment.
    """
    timeout, retries = get_option("timeout"), get_option("retries")
    if not (math.isfinite(timeout) and timeout > 0):
        raise OptionError(f"timeout: must be a number of seconds greater than 0, but is {timeout}.")
    if retries < 0:
        raise OptionError(f"retries: must be 0 or more, but is {retries}.")
    return Connection(
        base_url=check_base_url(get_option("base_url")),
        api_token=_token(get_option("api_token"), get_option("api_token_file")),
        verify=_verify(get_option("validate_certs"), get_option("ca_path")),
        timeout=min(timeout, _MAX_TIMEOUT),
        retries=retries,
        pagination=get_option("pagination"),
        pagination_parameter=get_option("pagination_parameter") or None,
        allow_partial=get_option("allow_partial"),
        user_agent=f"server_management.cloud/{VERSION} ansible/{ansible_version}",
    )


def unknown_option(key: object, known: Iterable[str], problem: str) -> OptionError:
    """Make the error for a key that is not an option, with the option that is most similar.

    Only the start of the key is shown: without a space after the colon, a value is part of it.
    """
    import difflib  # only here: this run ends with an error

    known = list(known)
    name = re.split(r"[:=\s]", one_line(str(key)), maxsplit=1)[0]
    near = difflib.get_close_matches(name, known, n=1)
    next_step = f"Did you mean {near[0]}?" if near else ""
    if name in known:
        next_step = "Put a space after the colon."
    return OptionError(f"{name}: {problem}", next_step)


def expand_path(path: str) -> str:
    """Replace environment variables and ``~`` in a path, as Ansible does for options."""
    return os.path.expanduser(os.path.expandvars(path))


def _token(token: str | None, path: str | None) -> str:
    """Return the token of the most specific source: the options, or else the environment."""
    names = TOKEN_OPTIONS
    token, path = (token or "").strip(), path or ""
    if token and path:
        raise OptionError("api_token and api_token_file: both are set.", "Set only one of them.")
    if not (token or path):
        names = variable("api_token"), variable("api_token_file")
        token = os.environ.get(names[0], "").strip()
        path = "" if token else expand_path(os.environ.get(names[1], ""))
    if path:
        token = _read_token(names[1], path)
    if not token:
        raise OptionError(
            "api_token: is required.",
            "Set it or api_token_file, or one of the environment variables "
            f"{names[0]} and {names[1]}.",
        )
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        problem = "the token must be visible ASCII without spaces."
        if path:
            raise TokenFileUnusable(f"{names[1]}: {problem}")
        raise OptionError(f"{names[0]}: {problem}")
    return token


def _read_token(name: str, path: str) -> str:
    content = _read(name, path, _TOKEN_FILE_LIMIT + 1, TokenFileUnusable)
    token = content.decode("latin-1").strip()
    if not token or len(content) > _TOKEN_FILE_LIMIT:
        raise TokenFileUnusable(
            f"{name}: {one_line(path)}: expected a file that contains only a token."
        )
    return token


def _verify(validate_certs: bool, ca_path: str | None) -> bool | str:
    if ca_path and b"-----BEGIN " not in _read("ca_path", ca_path, _BUNDLE_LIMIT):
        raise OptionError(f"ca_path: {one_line(ca_path)}: expected a file of PEM certificates.")
    return (ca_path or True) if validate_certs else False


def _read(name: str, path: str, size: int, error_class: type[OptionError] = OptionError) -> bytes:
    """Return at most ``size`` bytes of a file that the option or variable ``name`` names."""
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not a path").lower()
        raise error_class(f"{name}: {one_line(path)}: {reason}.") from None


_FLAGS = {
    **dict.fromkeys(("yes", "on", "1", "true", "t", "y", "1.0"), True),
    **dict.fromkeys(("no", "off", "0", "false", "f", "n", "0.0"), False),
}


def _text(given: Any) -> str | None:
    return given if isinstance(given, str) else None


def _path(given: Any) -> str | None:
    return expand_path(given) if isinstance(given, str) else None


def _flag(given: Any) -> bool | None:
    return given if isinstance(given, bool) else _FLAGS.get(str(given).strip().lower())


def _number(given: Any) -> float | None:
    if isinstance(given, bool) or not isinstance(given, (int, float, str)):
        return None
    try:
        return float(given)
    except (ValueError, OverflowError):
        return None


def _whole_number(given: Any) -> int | None:
    number = _number(given)
    return int(number) if number is not None and number.is_integer() else None


# For each type of an option: what converts a value, or returns None for one that the option can't
# have, and what the value must be. Values are converted as Ansible does, but without Ansible.
TYPES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "str": (_text, "text; quote a value that looks like a number or a boolean"),
    "path": (_path, "text, the path of a file"),
    "bool": (_flag, "true or false"),
    "float": (_number, "a number"),
    "int": (_whole_number, "a whole number"),
}
