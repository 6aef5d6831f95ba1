# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The JSON of a response, and the documented envelope of a listing."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import Any, NamedTuple, NoReturn

from ._errors import MalformedResponse
from ._text import Quote

CHECK_URL = "Check base_url: the address of the API, without /api/v1."


class Listing(NamedTuple):
    """The documented envelope: some elements, and whether the API has more."""

    data: list[Any]
    has_more: bool


def read_json(body: bytes, quote: Quote, content_type: str | None = None) -> Any:
    """Parse a body, or raise MalformedResponse; RecursionError if it is nested too deeply.

    ``quote`` makes text of the response safe for the error; ``content_type`` is only quoted there.
    """
    try:
        return json.loads(
            body.decode("utf-8-sig"),
            object_pairs_hook=partial(_unique, quote),
            parse_constant=_refuse_constant,
        )
    except ValueError as error:
        kind = ""
        if content_type is not None:
            kind = f" (content type: {quote(content_type) or 'none given'})"
        raise MalformedResponse(
            f"The response is not JSON: {_reason(error)}{kind}.", CHECK_URL
        ) from None


def parse_listing(content: Any) -> Listing:
    """Check the documented envelope, or raise MalformedResponse."""
    if not isinstance(content, dict):
        raise MalformedResponse("The response is JSON, but not an object.", CHECK_URL)
    data, has_more = content.get("data"), content.get("has_more")
    if not isinstance(data, list):
        raise MalformedResponse('The response has no list "data".', CHECK_URL)
    if not isinstance(has_more, bool):
        raise MalformedResponse('The response has no boolean "has_more".', CHECK_URL)
    return Listing(data, has_more)


def _unique(quote: Quote, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its keys and values; Python's own parser keeps the last of equal keys."""
    result = dict(pairs)
    if len(result) < len(pairs):
        twice = Counter(key for key, _value in pairs).most_common(1)[0][0]
        raise MalformedResponse(
            f'An object in the response has the key "{quote(twice)}" twice.', CHECK_URL
        )
    return result


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _reason(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    if isinstance(error, json.JSONDecodeError):
        problem = error.msg.removesuffix(" at")
        return f"{problem[:1].lower()}{problem[1:]} at character {error.pos}"
    return str(error)
