# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find tokens of the tests in outputs and files that must not contain them."""

from __future__ import annotations

import re
from pathlib import Path

from sandbox.server import DEFAULT_TOKEN

# Every token of the tests starts like this.
_PREFIX = "t0ken-of-the-"
# The names of files into which tests write a token.
_OWN_FILES = (".cfg", ".j2", ".pem", ".yaml", ".yml")
_OWN_NAMES = ("token", "password")


_search = re.compile(f"{DEFAULT_TOKEN}|{_PREFIX}".encode()).search


def find_secret(text: str | bytes) -> str:
    """Return the first token in a text with its surroundings, or an empty text."""
    content = text.encode("utf-8", "replace") if isinstance(text, str) else text
    found = _search(content)
    if found is None:
        return ""
    around = slice(max(0, found.start() - 80), found.end() + 40)
    return content[around].decode("utf-8", "replace")


def find_in_files(folder: Path) -> list[str]:
    """Return the files in a folder that contain a token.

    Those with the names of files into which tests write it are not read.
    """
    found = []
    for path in sorted(folder.rglob("*")):
        is_ours = path.suffix in _OWN_FILES or path.name in _OWN_NAMES
        if path.is_file() and not is_ours:
            secret = find_secret(path.read_bytes())
            if secret:
                found.append(f"{path}: {secret}")
    return found
