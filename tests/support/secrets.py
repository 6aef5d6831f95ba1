# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find the tokens of the tests' sandboxes where nobody should read them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

from sandbox.server import DEFAULT_TOKEN

# Every token of the tests; where a test needs one of its own, it starts like these.
_PREFIX = "t0ken-of-the-"
# What tests write the token into themselves.
_OWN_FILES = (".cfg", ".j2", ".pem", ".yaml", ".yml")
_OWN_NAMES = ("token", "password")


def _spellings(secret: str) -> Iterator[str]:
    """Yield a text as it is, and as it stands in base64 of something longer."""
    yield re.escape(secret)
    for before in range(3):  # bytes that precede it in the same group of three
        text = bytes(before) + secret.encode()
        # Without the characters at both ends that have bits of other bytes in them.
        start, end = (before * 8 + 5) // 6, len(text) * 8 // 6
        encoded = base64.b64encode(text).decode()[start:end]
        yield re.escape(encoded)
        yield re.escape(encoded.translate(str.maketrans("+/", "-_")))


_search = re.compile("|".join([*_spellings(DEFAULT_TOKEN), *_spellings(_PREFIX)]).encode()).search


def find_secret(text: str | bytes) -> str:
    """Return the surroundings of the first token in a text, or nothing."""
    content = text.encode("utf-8", "replace") if isinstance(text, str) else text
    found = _search(content)
    if found is None:
        return ""
    around = slice(max(0, found.start() - 80), found.end() + 40)
    return content[around].decode("utf-8", "replace")


def find_in_files(*folders: Path) -> list[str]:
    """Name the files below folders that have a token in them, but for what tests write."""
    return [
        f"{path}: {found}"
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in _OWN_FILES and path.name not in _OWN_NAMES
        if (found := find_secret(path.read_bytes()))
    ]
