# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One safe line of text: no control characters, no token, and not too long."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

Quote = Callable[[str], str]  # returns text from the API for a message, without the token

MASK = "********"
SECRET_LENGTH = 16  # characters; a shorter token may be a part of ordinary text

_MIN_IN_MESSAGE = 8  # characters
_MAX_EXCERPT = 160  # characters
_MAX_BRIEF = 60  # characters
_HTML_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}

# Text that can't be a template: it contains neither braces, number signs and per cent signs, which
# start one, nor brackets, quotation marks and parentheses, without which nothing can be called.
_PLAIN = r"\w .:/@+,-"
is_plain = re.compile(f"[{_PLAIN}]*").fullmatch
_not_plain = re.compile(f"[^{_PLAIN}]")


def plain(text: str) -> str:
    """Replace each character that plain text can't have by an underscore."""
    return text if is_plain(text) else _not_plain.sub("_", text)


def one_line(text: str) -> str:
    """Replace line breaks and other characters that a terminal would act on by single spaces."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def excerpt(text: str) -> str:
    """Return the beginning of a text as one line of at most 160 characters."""
    text = one_line(text)
    return text if len(text) <= _MAX_EXCERPT else text[: _MAX_EXCERPT - 3] + "..."


def brief(text: str) -> str:
    """Return the beginning of a text as one line of at most 60 characters, to name a value."""
    return one_line(text)[:_MAX_BRIEF]


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, as in "1 server" and "1,204 servers"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def summarise(texts: Iterable[str], shown: int = 3) -> str:
    """Name the first few of some texts, sorted, on one line, and count the others."""
    ordered = sorted({brief(text) for text in texts})
    more = len(ordered) - shown
    return ", ".join(ordered[:shown]) + (f" and {more} more" if more > 0 else "")


def header_text(value: str) -> str:
    """Decode a header as UTF-8, which requests has decoded as Latin-1."""
    return value.encode("latin-1", "replace").decode("utf-8", "replace")


def redact(text: str, token: str) -> str:
    """Replace the token, as it is or encoded, by ``********``, in one line of text."""
    return _token_spellings(token).sub(MASK, text) if token else text


def redact_message(text: str, token: str) -> str:
    """Replace the token in a whole message; a short one may be a part of our own words."""
    return redact(text, token) if len(token) >= _MIN_IN_MESSAGE else text


def contains_token(body: bytes, token: str) -> bool:
    """Return whether the texts of a JSON document may contain the token.

    It may be there as it is, or its characters may be escaped or have invisible ones between them.
    """
    return len(token) >= SECRET_LENGTH and (
        token.encode() in body or b"\\" in body or b"\x7f" in body or not body.isascii()
    )


def hide_token(text: str, token: str) -> str:
    """Replace the token by ``********`` in a text of a response."""
    if token in text:
        text = text.replace(token, MASK)
    if not text.isprintable():
        visible = "".join(c for c in text if c.isprintable())
        if token in visible:
            return visible.replace(token, MASK)
    return text


# What can be between the characters of a token: a space, which one_line makes of characters that
# are not visible (the text may be UTF-16), or an escape of such a character.
_VISIBLE_ASCII = "(?:2[1-9a-f]|[3-6][0-9a-f]|7[0-9a-e])"
_GAP = (
    rf"(?: |\\u(?!00{_VISIBLE_ASCII})[0-9a-f]{{4}}|\\x(?!{_VISIBLE_ASCII})[0-9a-f]{{2}}"
    rf"|%(?!{_VISIBLE_ASCII})[0-9a-f]{{2}})*"
)


@lru_cache(maxsize=8)
def _token_spellings(token: str) -> re.Pattern[str]:
    """Match the token as it is, escaped for JSON, URLs or HTML, in base64 or in hex."""
    spelled = _GAP.join(
        rf"(?:\\?{re.escape(c)}|\\u00{ord(c):02x}|\\x{ord(c):02x}|%{ord(c):02x}"
        rf"|&#(?:{ord(c)}|x{ord(c):x});|{re.escape(_HTML_ESCAPES.get(c, c))})"
        for c in token
    )
    in_hex = "[ :]?".join(f"{byte:02x}" for byte in token.encode())
    spellings: list[str] = []
    # Base64 encodes groups of three bytes: the token can begin at any byte of a group.
    for before in range(3):
        text = bytes(before) + token.encode()
        # Characters at both ends are left out if they also depend on other bytes.
        start, end = (before * 8 + 5) // 6, len(text) * 8 // 6
        encoded = base64.b64encode(text)[start:end].decode()
        spellings += [encoded, encoded.translate(str.maketrans("+/", "-_"))]
    wrapped = [" ?".join(map(re.escape, encoded)) for encoded in filter(None, spellings)]
    return re.compile("|".join([f"(?i:{spelled}|{in_hex})", *wrapped]))
