# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An HTTP response: its body within a limit, or the error for its status.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import timezone
from email.utils import parsedate_to_datetime

from ansible_collections.server_management.cloud.plugins.module_utils._envelope import (
    CHECK_URL,
    too_large,
)
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
from ansible_collections.server_management.cloud.plugins.module_utils._text import (
    Quote,
    excerpt,
    header_text,
)

_PIECE = 64 * 2**10  # bytes that are decompressed at a time

_FOREVER = 1e18  # seconds: a Retry-After can have digits for a number that no float can hold

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
    404: (NotFound, "The API has no list of servers at this address", CHECK_URL),
    429: (RateLimited, "The API is throttling requests", "Run again later, or less often."),
}


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
            CHECK_URL,
        )
    return b"".join(chunks)


def _at_most(limit: int, chunks: Iterable[bytes]) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise too_large()
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
                    "The response claims to be compressed with gzip, but is not.", CHECK_URL
                ) from None
            rest = decoder.unconsumed_tail or decoder.unused_data
    if not decoder.eof:
        raise MalformedResponse("The compressed response is incomplete.", "Run again.")


def status_error(
    status: int, headers: Mapping[str, str], body: bytes, quote: Quote = excerpt
) -> StatusError:
    """Make the error for a status other than 200; it quotes a body that is not HTML."""
    is_html = "html" in headers.get("Content-Type", "").lower()
    text = "" if is_html else quote(body.decode("utf-8", "replace"))
    if status in _STATUS:
        kind, message, next_step = _STATUS[status]
    elif 300 <= status < 400:
        kind, text = Redirected, ""
        location = quote(header_text(headers.get("Location", "")))
        target = f'"{location}"' if location else "nowhere"
        message = f"The API redirects to {target}, which is not followed"
        next_step = "If the API is there, set base_url to it."
    elif status >= 500:
        kind, message, next_step = ServerFailed, "The API is failing", "Run again later."
    else:
        kind, message, next_step = StatusError, "The API returned an unexpected status", CHECK_URL
    message += f" (HTTP {status})" + (f', with the response "{text}".' if text else ".")
    error = kind(message, next_step, status)
    error.retry_after = retry_after(headers.get("Retry-After", ""))
    if error.retry_after is not None:
        error.message += f" It asks to wait {error.retry_after:.0f} s."
    return error


def retry_after(value: str) -> float | None:
    """Read a Retry-After header, seconds or a date, as seconds from now; None if it is neither."""
    value = value.strip()
    if re.fullmatch(r"[0-9]+", value):
        return min(float(value), _FOREVER)
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:  # as in one of the three formats of HTTP, which are all in UTC
            date = date.replace(tzinfo=timezone.utc)
        return max(0.0, date.timestamp() - time.time())
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
