# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection options, once: for every module's argument spec and for the inventory plugin.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from ansible.module_utils.common.parameters import env_fallback

from ansible_collections.server_management.cloud.plugins.module_utils._connection import (
    VERSION,
    Connection,
)
from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._text import one_line
from ansible_collections.server_management.cloud.plugins.module_utils._url import check_base_url

_TOKEN_FILE_LIMIT = 16 * 2**10  # bytes; a larger file is no token
_BUNDLE_LIMIT = 16 * 2**20  # bytes; no CA bundle has more
_LONGEST_TIMEOUT = 2.0e6  # seconds: sockets take little more


def _environment(option: str) -> tuple[Any, list[str]]:
    return env_fallback, [f"SERVER_MANAGEMENT_{option.upper()}"]


def connection_argument_spec() -> dict[str, dict[str, Any]]:
    """Return the argument spec that every module shares."""
    spec: dict[str, dict[str, Any]] = {
        "base_url": {"type": "str", "required": True},
        "api_token": {"type": "str", "no_log": True},
        # no_log is said outright: the name alone would make Ansible ask.
        "api_token_file": {"type": "path", "no_log": False},
        "validate_certs": {"type": "bool", "default": True},
        "ca_path": {"type": "path"},
        "timeout": {"type": "float", "default": 30.0},
        "retries": {"type": "int", "default": 3},
    }
    for option, rules in spec.items():
        rules["fallback"] = _environment(option)
    spec["pagination"] = {
        "type": "str",
        "default": "none",
        "choices": ["none", "link", "cursor", "page", "offset"],
    }
    spec["pagination_parameter"] = {"type": "str"}
    spec["allow_partial"] = {"type": "bool", "default": False}
    return spec


def connection_from(get_option: Callable[[str], Any], ansible_version: str) -> Connection:
    """Check the options that ``get_option`` gives; raise OptionError at the first bad one."""
    timeout, retries = get_option("timeout"), get_option("retries")
    if not (math.isfinite(timeout) and timeout > 0):
        raise OptionError(f"timeout: must be a number of seconds above 0, and is {timeout}.")
    if retries < 0:
        raise OptionError(f"retries: must be 0 or more, and is {retries}.")
    return Connection(
        base_url=check_base_url(get_option("base_url")),
        api_token=_token(get_option("api_token"), get_option("api_token_file")),
        verify=_verify(get_option("validate_certs"), get_option("ca_path")),
        timeout=min(timeout, _LONGEST_TIMEOUT),
        retries=retries,
        pagination=get_option("pagination"),
        pagination_parameter=get_option("pagination_parameter") or None,
        allow_partial=get_option("allow_partial"),
        user_agent=f"server_management.cloud/{VERSION} ansible/{ansible_version}",
    )


def _token(token: str | None, path: str | None) -> str:
    option = "api_token"
    if not token and path:
        option = "api_token_file"
        token = _read_token(path)
    if not token:
        raise OptionError(
            "api_token: is required.",
            "Set it or SERVER_MANAGEMENT_API_TOKEN, or name a file in api_token_file.",
        )
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise OptionError(f"{option}: the token must be visible ASCII without spaces.")
    return token


def _read_token(path: str) -> str:
    content = _read("api_token_file", path, _TOKEN_FILE_LIMIT + 1)
    token = content.decode("latin-1").strip()
    if not token or len(content) > _TOKEN_FILE_LIMIT:
        raise OptionError(f"api_token_file: {one_line(path)}: expected a file with a token alone.")
    return token


def _verify(validate_certs: bool, ca_path: str | None) -> bool | str:
    if ca_path and b"-----BEGIN " not in _read("ca_path", ca_path, _BUNDLE_LIMIT):
        raise OptionError(f"ca_path: {one_line(ca_path)}: expected a file of certificates in PEM.")
    return (ca_path or True) if validate_certs else False


def _read(option: str, path: str, size: int) -> bytes:
    """Return at most ``size`` bytes of a file that an option names."""
    try:
        with open(path, "rb") as file:
            return file.read(size)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not a path").lower()
        raise OptionError(f"{option}: {one_line(path)}: {reason}.") from None
