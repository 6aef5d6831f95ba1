# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The token: a text, or the content of a file."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from ._errors import OptionError, TokenFileUnusable
from ._text import SECRET_LENGTH, visible


def token_in_text(source: str, text: str, path: str) -> str:
    """Return the token in a text; ``source`` is the option or variable that it is from.

    Raises OptionError, without the text, for an invalid token and for a text that is the ``path``
    of a file, such as a secret of a pipeline.
    """
    if os.path.isfile(path):
        raise OptionError(
            f"{source}: the value is the path of a file, and not a token.",
            "Set api_token_file (SERVER_MANAGEMENT_API_TOKEN_FILE in the environment) instead.",
        )
    return _checked(text.strip(), source, OptionError)


def token_in_file(source: str, given: str, path: str) -> str:
    """Return the token in the file that ``source`` names; ``given`` is the path as it was set.

    Raises TokenFileUnusable, without the content of the file, and without the path if it may be a
    token that was set by mistake.
    """
    if not _is_like_a_path(given, path):
        raise TokenFileUnusable(
            f"{source}: no such file.",
            "In an inventory file, a path is relative to that file, elsewhere to the working "
            "directory. The value is not shown, because it may be a token.",
        )
    label = f"{source}: {visible(path)}"
    content = read_file(label, path, TokenFileUnusable)
    token = content.decode("utf-8-sig", "replace").strip()
    if not token:
        raise TokenFileUnusable(f"{label}: the file is empty.")
    return _checked(token, label, TokenFileUnusable)


def _checked(token: str, label: str, error_class: type[OptionError]) -> str:
    if token.startswith("$ANSIBLE_VAULT;"):
        raise error_class(f"{label}: encrypted with Ansible Vault: use `api_token: !vault`.")
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise error_class(
            f"{label}: the token must be visible ASCII without spaces.",
            "Give only the token: no comment, no second line, and not the word Bearer.",
        )
    return token


def register(token: str) -> None:
    """Make Ansible mask the token in all of its output, since ansible-core 2.22.

    A short token is not registered: Ansible would mask each word that contains it.
    """
    with suppress(ImportError):
        from ansible.module_utils.secrets import register_secret

        if len(token) >= SECRET_LENGTH:
            register_secret(token)


def read_file(label: str, path: str, error_class: type[OptionError] = OptionError) -> bytes:
    """Return the content of a file; ``label`` begins the message of an error."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        # A path with a null character has no strerror.
        reason = getattr(error, "strerror", None) or "not a path"
        raise error_class(f"{label}: {reason.lower()}.") from None


def _is_like_a_path(given: str, path: str) -> bool:
    """Return whether an option's value is a path.

    A token can contain slashes, but is unlikely to begin with the name of a folder.
    """
    if os.path.lexists(path):
        return True
    if os.path.dirname(given) in ("", "/"):
        return False
    if given.startswith(("/", "~", ".", "$")):
        return True
    return os.path.isdir(os.path.dirname(path))
