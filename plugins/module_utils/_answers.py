# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an HTTP answer says: a bounded body, the documented envelope, or an error to act on.

This utility is private to the collection: it may change in any release.
"""

from __future__ import annotations

import base64
import json
import math
import re
import time
import zlib
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import quote as url_quote

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    Forbidden,
    MalformedAnswer,
    NotFound,
    RateLimited,
    Redirected,
    ServerFailed,
    StatusError,
    Unauthorized,
)

_CHECK_URL = "Check base_url: the address of the API, without /api/v1."
_STATUS = {
    401: (
        Unauthorized,
        "The API rejected the token",
        "Check api_token: it may be mistyped, revoked or of another account.",
    ),
    403: (
        Forbidden,
        "The token lacks the scope servers:read",
        "Create a token with this scope in the dashboard, and use it as api_token.",
    ),
    404: (NotFound, "The API has no list of servers at this address", _CHECK_URL),
    429: (RateLimited, "The API is throttling requests", "Run again later, or less often."),
}
_QUOTED = 160


def read_body(chunks: Iterable[bytes], encoding: str, limit: int) -> bytes:
    """Join and decompress a body of at most ``limit`` bytes, without ever holding more.

    Raises MalformedAnswer where it is longer, or not in the encoding that it claims.
    """
    encoding = encoding.strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise MalformedAnswer(
            f"The answer is compressed in a way that was not asked for ({clean(encoding)}).",
            _CHECK_URL,
        )
    # 47: 15 bits of window, and either a gzip or a zlib header.
    decoder = zlib.decompressobj(47) if encoding not in ("", "identity") else None
    body = bytearray()
    for chunk in chunks:
        try:
            body += decoder.decompress(chunk, limit + 1 - len(body)) if decoder else chunk
        except zlib.error:
            raise MalformedAnswer(
                f"The answer claims to be compressed ({encoding}) and is not.", _CHECK_URL
            ) from None
        if len(body) > limit:
            raise MalformedAnswer(
                f"The listing is larger than {limit // 2**20} MiB, the most that is read.",
                _CHECK_URL,
            )
    if decoder and (not decoder.eof or decoder.unused_data):
        raise MalformedAnswer("The compressed answer is cut short or damaged.", "Run again.")
    return bytes(body)


def parse_listing(body: bytes, content_type: str) -> tuple[list[Any], bool]:
    """Return ``data`` and ``has_more`` of the documented envelope, or raise MalformedAnswer."""
    try:
        answer = json.loads(
            body.decode("utf-8-sig"), parse_constant=_refuse_constant, parse_float=_finite
        )
    except RecursionError:
        raise MalformedAnswer("The answer is nested too deep.", _CHECK_URL) from None
    except ValueError as error:
        kind = clean(content_type) or "none given"
        raise MalformedAnswer(
            f"The answer is not JSON: {_reason(error)} (content type: {kind}).", _CHECK_URL
        ) from None
    if not isinstance(answer, dict):
        raise MalformedAnswer("The answer is JSON and not an object.", _CHECK_URL)
    data, has_more = answer.get("data"), answer.get("has_more")
    if not isinstance(data, list):
        raise MalformedAnswer("The answer has no list data.", _CHECK_URL)
    if not isinstance(has_more, bool):
        raise MalformedAnswer("The answer has no true or false has_more.", _CHECK_URL)
    return data, has_more


def status_error(status: int, headers: Mapping[str, str], body: bytes, token: str) -> StatusError:
    """Make the error that a status other than 200 stands for, with what the server said."""
    content_type = headers.get("Content-Type", "")
    said = quote(body, token) if "html" not in content_type.lower() else ""
    if status in _STATUS:
        kind, message, next_step = _STATUS[status]
    elif 300 <= status < 400:
        kind, said = Redirected, ""
        target = quote(headers.get("Location", "").encode("latin-1", "replace"), token)
        message = f"The API redirects to {target or 'nowhere'}, which is not followed"
        next_step = "If that is where the API lives, set base_url to it."
    elif status >= 500:
        kind, message, next_step = ServerFailed, "The API is failing", "Run again later."
    else:
        kind, message, next_step = StatusError, "The API gave an unexpected answer", _CHECK_URL
    message += f" (HTTP {status})" + (f", and says {said}." if said else ".")
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
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def quote(text: bytes, token: str) -> str:
    """Quote what a server said: one short line, without the token in any usual spelling."""
    said = text.decode("utf-8", "replace")
    encoded = base64.b64encode(token.encode()).decode().rstrip("=")
    for secret in {token, json.dumps(token)[1:-1], url_quote(token, safe=""), encoded}:
        said = said.replace(secret, "[token]")
    said = clean(said)
    if len(said) > _QUOTED:
        said = said[: _QUOTED - 3] + "..."
    return f'"{said}"' if said else ""


def clean(text: str) -> str:
    """Put a server's text on one line, without what a terminal would act on."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _reason(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos}"
    return clean(str(error))[:_QUOTED]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number
