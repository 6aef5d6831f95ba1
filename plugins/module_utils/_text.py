# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One safe line of text: no control characters, no token, and not too long.

======================  ==============================================================
Function                Text in a message
======================  ==============================================================
``quoted``              a part of a response: ``redact``, then ``excerpt``
``label``               what names a thing: a server by its name and id, an option, a file
``as_word``             a name or value in a sentence
``summarise``           several values: the first three, and how many more
``first_of``            the same for texts that are in order and short
``count_of``            a number with its noun
``reason_of``           what an exception says
``excerpt``             other text that may be long, at most 160 characters
``visible``             a value whose end is important, such as a path
``one_line``            other text of several lines, such as an expression
``redact``              text that may contain the token
``plain``               text of an event, in which nothing can be a template
======================  ==============================================================
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

# Shows one line of text to the user, as a warning or otherwise.
Show = Callable[[str], None]

MASK = "********"
SECRET_LENGTH = 16  # characters; a shorter token may be a part of ordinary text

_MAX_EXCERPT = 160  # characters

# Text that can't be a template: it contains neither braces, number signs and per cent signs, which
# start one, nor brackets, quotation marks and parentheses, without which nothing can be called.
_PLAIN = r"\w .:/@+,-"
is_plain = re.compile(f"[{_PLAIN}]*").fullmatch
_not_plain = re.compile(f"[^{_PLAIN}]")
_is_one_word = re.compile(rf"[\w.:/@+-]{{1,{_MAX_EXCERPT}}}").fullmatch


def plain(text: str) -> str:
    """Replace each character that plain text can't have by an underscore."""
    return _not_plain.sub("_", text)


def change_texts(change: Callable[[str], Any], value: Any) -> Any:
    """Return a value with each text in it changed, including the keys of mappings."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [change_texts(change, item) for item in value]
    if isinstance(value, tuple):
        return tuple(change_texts(change, list(value)))
    if isinstance(value, dict):
        pairs = change_texts(change, list(value.items()))
        return dict(pairs)
    return value  # a number, or a vault value


def one_line(text: str) -> str:
    """Replace line breaks and other characters that a terminal would act on by single spaces."""
    characters = [character if character.isprintable() else " " for character in text]
    words = "".join(characters).split()
    return " ".join(words)


def excerpt(text: str) -> str:
    """Return the beginning of a text as one line of at most 160 characters."""
    return _shorten(one_line(text))


def _shorten(text: str) -> str:
    if len(text) <= _MAX_EXCERPT:
        return text
    return text[: _MAX_EXCERPT - 3] + "..."


def as_word(text: str) -> str:
    """Return the beginning of a text as one word of a sentence: in quotation marks unless it is.

    With them, a server's name can't look like a part of the message.
    """
    if _is_one_word(text):
        return text
    return f'"{_shorten(_escape(text))}"'


def visible(text: str) -> str:
    """Return a whole text, with the escapes of JSON for what a terminal would not show."""
    if one_line(text) == text:
        return text
    return f'"{_escape(text)}"'


def _escape(text: str) -> str:
    """Replace characters as in a text of JSON, but keep letters that are not ASCII."""
    escaped = ""
    for character in text:
        if character.isprintable() and character not in '"\\':
            escaped += character
        else:
            escaped += json.dumps(character)[1:-1]
    return escaped


def reason_of(error: BaseException) -> str:
    """Return what an exception says, on one line and without a full stop, to follow a colon."""
    return one_line(str(error)).rstrip(".") or type(error).__name__


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, as in "1 server" and "1,204 servers"."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}s"


def summarise(texts: Iterable[str]) -> str:
    """Name the first three of some texts, sorted, and count the others."""
    names = {as_word(text) for text in texts}
    return first_of(sorted(names), 3)


def first_of(texts: Sequence[str], shown: int) -> str:
    """Name the first few of some texts in their order, and count the others."""
    named = ", ".join(texts[:shown])
    more = len(texts) - shown
    if more > 0:
        return f"{named} and {more:,} more"
    return named


def redact(text: str, token: str, shortest: int = 8) -> str:
    """Replace the token by ``********``: as it is, percent-encoded, or escaped for JSON.

    A token of less than ``shortest`` characters may be a part of our own words, and stays.
    """
    if len(token) < shortest:
        return text
    if "%" not in text and "\\" not in text:
        return text.replace(token, MASK)  # without the pattern, which takes milliseconds to compile
    return _spellings(token).sub(MASK, text)


def quoted(text: str, token: str) -> str:
    """Return text from the API for a message: one short line without the token."""
    return excerpt(redact(text, token, shortest=1))


@lru_cache(maxsize=8)
def _spellings(token: str) -> re.Pattern[str]:
    """Match the token, of which each character may be encoded."""
    pattern = ""
    for character in token:
        code = f"{ord(character):02x}"
        pattern += rf"(?:\\?{re.escape(character)}|(?i:%{code}|\\u00{code}))"
    return re.compile(pattern)
