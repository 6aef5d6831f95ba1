# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An HTTP response: its bounded body, the documented envelope, or the error that it stands for.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import json
import math
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, NoReturn

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    Forbidden,
    MalformedResponse,
    NotFound,
    RateLimited,
    Redirected,
    ServerFailed,
    StatusError,
    Unauthorized,
)
from ansible_collections.server_management.cloud.plugins.module_utils._text import excerpt

Quote = Callable[[str], str]  # makes text of the server fit for a message, without the token

# For all responses of one listing together. Parsing what is within these limits takes less than
# 1 GiB and a few seconds; 100,000 servers with the documented fields have 1.5 million values.
LISTING_LIMIT = 128 * 2**20  # bytes, decompressed
VALUES_LIMIT = 4_000_000  # brackets, braces, commas and colons outside strings

_TEXT_LIMIT = 2 * LISTING_LIMIT  # bytes in memory, where one character may take four
_MAX_DEPTH = 32
_PIECE = 64 * 2**10  # bytes, decoded, that a compressed body gives at a time
_MAX_DIGITS = 309  # of a number that a float can hold

_CHECK_URL = "Check base_url: the address of the API, without /api/v1."
_STATUS = {
    401: (
        Unauthorized,
        "The API rejected the token",
        "Check api_token: it may be misspelled, revoked or for another account.",
    ),
    403: (
        Forbidden,
        "The token lacks the scope servers:read",
        "Create a token with this scope in the dashboard, and use it as api_token.",
    ),
    404: (NotFound, "The API has no list of servers at this address", _CHECK_URL),
    429: (RateLimited, "The API is throttling requests", "Run again later, or less often."),
}
# The pieces between commas and semicolons outside angle brackets and quotation marks.
_link_pieces = re.compile(r'(?:<[^>]*>?|"(?:[^"\\]|\\.)*"?|[^<",;])+|[,;]').findall

_has_wide_escape = re.compile(r"\\u[dD][89abAB]").search  # of a character that takes four bytes
_find_tokens = re.compile(rb'"[^"]*"?|[\[{,:]').finditer


class Envelope(NamedTuple):
    """The documented envelope of a response, and how many JSON values it counts as."""

    data: list[Any]
    has_more: bool
    values: int


def read_body(chunks: Iterable[bytes], encoding: str, limit: int, quote: Quote = excerpt) -> bytes:
    """Join and decompress a body of at most ``limit`` bytes, without ever holding more.

    Raises MalformedResponse if it is longer, or not in the encoding that it claims.
    """
    encoding = encoding.strip().lower()
    chunks = _at_most(limit, chunks)
    if encoding in ("gzip", "x-gzip"):
        chunks = _at_most(limit, _decompress(chunks))
    elif encoding not in ("", "identity"):
        raise MalformedResponse(
            f'The response has the encoding "{quote(header_text(encoding))}", '
            "although only gzip was requested.",
            _CHECK_URL,
        )
    return b"".join(chunks)


def _at_most(limit: int, chunks: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise _too_large()
        yield chunk


def _decompress(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the decompressed pieces of gzip data, which may have several members."""
    decoder = zlib.decompressobj(wbits=31)
    for chunk in chunks:
        rest = chunk
        while rest:
            if decoder.eof:
                decoder = zlib.decompressobj(wbits=31)
            try:
                yield decoder.decompress(rest, _PIECE)
            except zlib.error:
                raise MalformedResponse(
                    "The response claims to be compressed with gzip, but is not.", _CHECK_URL
                ) from None
            rest = decoder.unconsumed_tail or decoder.unused_data
    if not decoder.eof:
        raise MalformedResponse("The compressed response is incomplete.", "Run again.")


def parse_listing(
    body: bytes,
    content_type: str | None = None,
    quote: Quote = excerpt,
    limit: int = VALUES_LIMIT,
) -> Envelope:
    """Check the documented envelope, of at most ``limit`` values, or raise MalformedResponse.

    ``content_type``, the header of a response, is for the message alone.
    """
    values = _count_values(body, limit)
    try:
        text = body.decode("utf-8-sig")
        is_wide = len(text) > _TEXT_LIMIT // 4 and _has_wide_escape(text)
        if sys.getsizeof(text) * (4 if is_wide else 1) > _TEXT_LIMIT:
            raise _too_large()
        response = json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_whole,
        )
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        kind = ""
        if content_type is not None:
            kind = f" (content type: {quote(header_text(content_type)) or 'none given'})"
        raise MalformedResponse(
            f"The response is not JSON: {_reason(error)}{kind}.", _CHECK_URL
        ) from None
    if not isinstance(response, dict):
        raise MalformedResponse("The response is JSON, but not an object.", _CHECK_URL)
    data, has_more = response.pop("data", None), response.pop("has_more", None)
    if not isinstance(data, list):
        raise MalformedResponse('The response has no list "data".', _CHECK_URL)
    if not isinstance(has_more, bool):
        raise MalformedResponse('The response has no boolean "has_more".', _CHECK_URL)
    _check_depth(response, _MAX_DEPTH + 1)
    return Envelope(data, has_more, values)


def _count_values(body: bytes, limit: int) -> int:
    """Return an upper bound for the number of JSON values; raise MalformedResponse beyond a limit.

    Counting is much cheaper than parsing, which takes 100 times the memory of a body of ``[],``.
    """
    count = 0
    for start in range(0, len(body), _PIECE):
        count += sum(body.count(mark, start, start + _PIECE) for mark in (b"[", b"{", b",", b":"))
        if count > limit:
            break
    else:
        return count
    # Many of them may be in strings. Valid JSON has at most one string more than these characters.
    count = strings = 0
    for match in _find_tokens(body.replace(b"\\\\", b"").replace(b'\\"', b"")):
        if match[0][:1] == b'"':
            strings += 1
        else:
            count += 1
        if max(count, strings - 1) > limit:
            raise MalformedResponse(
                f"The listing has more than {VALUES_LIMIT:,} JSON values, the limit.", _CHECK_URL
            )
    return count


def _check_depth(value: Any, levels: int) -> None:
    if isinstance(value, (dict, list)):
        if levels == 0:
            raise _too_deep()
        for item in value.values() if isinstance(value, dict) else value:
            _check_depth(item, levels - 1)


def status_error(
    status: int, headers: Mapping[str, str], body: bytes, quote: Quote = excerpt
) -> StatusError:
    """Make the error for a status other than 200; it quotes a body that is not HTML."""
    is_html = "html" in headers.get("Content-Type", "").lower()
    said = "" if is_html else quote(body.decode("utf-8", "replace"))
    if status in _STATUS:
        kind, message, next_step = _STATUS[status]
    elif 300 <= status < 400:
        kind, said = Redirected, ""
        target = quote(header_text(headers.get("Location", "")))
        pointed = f'"{target}"' if target else "nowhere"
        message = f"The API redirects to {pointed}, which is not followed"
        next_step = "If the API is there, set base_url to it."
    elif status >= 500:
        kind, message, next_step = ServerFailed, "The API is failing", "Run again later."
    else:
        kind, message, next_step = StatusError, "The API returned an unexpected status", _CHECK_URL
    message += f" (HTTP {status})" + (f', with the response "{said}".' if said else ".")
    error = kind(message, next_step, status)
    error.retry_after = retry_after(headers.get("Retry-After", ""))
    if error.retry_after is not None:
        error.message += f" It asks to wait {error.retry_after:.0f} s."
    return error


def retry_after(value: str) -> float | None:
    """Read a Retry-After header, seconds or a date, as seconds from now; None if it is neither."""
    value = value.strip()
    if re.fullmatch(r"[0-9]{1,18}", value):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:  # one of the forms of a date in HTTP, all of which are in UTC
            date = date.replace(tzinfo=timezone.utc)
        return max(0.0, date.timestamp() - time.time())
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def next_link(header: str) -> str:
    """Return the target of rel="next" in a Link header (RFC 8288), or an empty text."""
    links: list[list[str]] = [[]]
    for piece in _link_pieces(header):
        if piece == ",":
            links.append([])
        elif piece != ";":
            links[-1].append(piece.strip())
    for link in links:
        parameters = [parameter.partition("=") for parameter in link[1:]]
        relations = [value for name, equals, value in parameters if name.strip().lower() == "rel"]
        # If a link has more than one, only the first one counts.
        if relations and "next" in relations[0].strip(' "').lower().split():
            return link[0].strip("<> ")
    return ""


def header_text(value: str) -> str:
    """Decode a header as UTF-8, which requests has decoded as Latin-1."""
    return value.encode("latin-1", "replace").decode("utf-8", "replace")


def _too_large() -> MalformedResponse:
    return MalformedResponse(
        f"The listing is larger than {LISTING_LIMIT // 2**20} MiB, the limit.", _CHECK_URL
    )


def _too_deep() -> MalformedResponse:
    return MalformedResponse(f"The response is nested deeper than {_MAX_DEPTH} levels.", _CHECK_URL)


def _reason(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        problem = error.msg.removesuffix(" at")
        return f"{problem[:1].lower()}{problem[1:]} at character {error.pos}"
    return str(error)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _whole(text: str) -> int:
    if len(text) >= _MAX_DIGITS:
        _finite(text)
    return int(text)
