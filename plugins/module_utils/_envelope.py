# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The documented envelope of a listing: parse and check it, with limits on the work."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from ._errors import MalformedResponse
from ._text import Quote, excerpt, header_text

# The limits for all responses of one listing together. Parsing within them takes less than 1 GiB
# and a few seconds; 100,000 servers with the documented fields have 1.5 million values.
LISTING_LIMIT = 128 * 2**20  # bytes, decompressed
VALUES_LIMIT = 4_000_000  # brackets, braces, commas and colons outside strings

_TEXT_LIMIT = 2 * LISTING_LIMIT  # bytes in memory, where one character may take four
_KEYS = ("data", "has_more")
MAX_DEPTH = 32  # levels of nesting in a field; Ansible's own recursion can handle many more
_MAX_DIGITS = 309  # of an integer that a float can hold
_STEP = 64 * 2**10  # bytes that are counted at a time

CHECK_URL = "Check base_url: the address of the API, without /api/v1."

# Escapes for the letters and the underscore of a key: "has\u005fmore" is the key has_more, too.
_has_escaped_letter = re.compile(r"\\u00[5-7]").search
_has_wide_escape = re.compile(r"\\u[dD][89abAB]").search  # an escaped character of four bytes


class Envelope(NamedTuple):
    """The documented envelope of a response, and how many JSON values it counts as."""

    data: list[Any]
    has_more: bool
    values: int


def parse_listing(
    body: bytes,
    content_type: str | None = None,
    quote: Quote = excerpt,
    limit: int = VALUES_LIMIT,
) -> Envelope:
    """Check the documented envelope, of at most ``limit`` values, or raise MalformedResponse.

    ``content_type``, the header of the response, is only quoted in the error.
    """
    values = _count_values(body, limit)
    try:
        text = _decode(body)
        response = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_float,
            parse_int=_integer,
        )
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        kind = ""
        if content_type is not None:
            kind = f" (content type: {quote(header_text(content_type)) or 'none given'})"
        raise MalformedResponse(
            f"The response is not JSON: {_reason(error)}{kind}.", CHECK_URL
        ) from None
    if not isinstance(response, dict):
        raise MalformedResponse("The response is JSON, but not an object.", CHECK_URL)
    data, has_more = response.pop("data", None), response.pop("has_more", None)
    if not isinstance(data, list):
        raise MalformedResponse('The response has no list "data".', CHECK_URL)
    if not isinstance(has_more, bool):
        raise MalformedResponse('The response has no boolean "has_more".', CHECK_URL)
    _check_depth(response, MAX_DEPTH + 1)
    _check_unique(text)
    return Envelope(data, has_more, values)


def _decode(body: bytes) -> str:
    text = body.decode("utf-8-sig")
    is_wide = len(text) > _TEXT_LIMIT // 4 and _has_wide_escape(text)
    if sys.getsizeof(text) * (4 if is_wide else 1) > _TEXT_LIMIT:
        raise too_large()
    return text


def _count_values(body: bytes, limit: int) -> int:
    """Return an upper bound for the number of JSON values; raise MalformedResponse beyond a limit.

    Values are counted before parsing, which takes 30 times the memory of a body of ``[[]],``. The
    count is that of brackets, braces, commas and colons: ``{"data": [], "has_more": false, "note":
    "a,b"}`` counts as 8, or as 7 without the comma in the string if 8 is beyond the limit.
    """
    count = 0
    for piece in _pieces(body):
        count += _count_marks(piece)
        if count > limit:
            break
    else:
        return count
    # Many of these characters can be in strings, so count again without those. Strings count, too:
    # valid JSON has at most one string more than it has such characters.
    count = quotes = 0
    body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    for piece in _pieces(body):
        parts = piece.split(b'"')
        is_in_string = quotes % 2
        count += _count_marks(b"".join(parts[is_in_string::2]))
        quotes += len(parts) - 1
        if max(count, (quotes + 1) // 2 - 1) > limit:
            raise MalformedResponse(
                f"The listing has more than {VALUES_LIMIT:,} JSON values, the limit.", CHECK_URL
            )
    return count


def _pieces(body: bytes) -> Iterator[bytes]:
    """Yield the body in pieces, since a copy of the whole would take too much memory."""
    for start in range(0, len(body), _STEP):
        end = start + _STEP
        yield body[start:end]


def _count_marks(part: bytes) -> int:
    return sum(part.count(mark) for mark in (b"[", b"{", b",", b":"))


def _check_unique(text: str) -> None:
    """Raise MalformedResponse if the envelope has one of its keys twice.

    Python keeps only the last one. Parsing again, with all keys, is necessary only if the text has
    one of them a second time, or in another spelling: the search takes 15 ms for 100,000 servers.
    """
    quoted = [f'"{key}"' for key in _KEYS]
    if all(text.find(key) == text.rfind(key) for key in quoted) and not _has_escaped_letter(text):
        return
    keys: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        keys[:] = [key for key, _value in pairs]  # the last call is for the outermost object

    json.loads(text, object_pairs_hook=note)
    for key in _KEYS:
        if keys.count(key) > 1:
            raise MalformedResponse(f'The response has the key "{key}" twice.', CHECK_URL)


def _check_depth(value: Any, levels: int) -> None:
    if isinstance(value, (dict, list)):
        if levels == 0:
            raise _too_deep()
        for item in value.values() if isinstance(value, dict) else value:
            _check_depth(item, levels - 1)


def too_large() -> MalformedResponse:
    """Make the error for a listing that is larger than the limit."""
    return MalformedResponse(
        f"The listing is larger than {LISTING_LIMIT // 2**20} MiB, the limit.", CHECK_URL
    )


def _too_deep() -> MalformedResponse:
    return MalformedResponse(f"The response is nested deeper than {MAX_DEPTH} levels.", CHECK_URL)


def _reason(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        problem = error.msg.removesuffix(" at")
        return f"{problem[:1].lower()}{problem[1:]} at character {error.pos}"
    return str(error)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _integer(text: str) -> int:
    if len(text) >= _MAX_DIGITS:
        _float(text)
    return int(text)
