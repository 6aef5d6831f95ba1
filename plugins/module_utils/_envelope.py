# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The JSON of a response, and the documented envelope of a listing."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from ._errors import MalformedResponse
from ._text import reason_of


class Page(NamedTuple):
    """The documented envelope: some elements, and whether the API has more."""

    data: list[Any]
    has_more: bool


def parse_listing(body: bytes, content_type: str = "") -> Page:
    """Return the envelope in a body, or raise MalformedResponse; the type is for the message."""
    try:
        content = json.loads(body.decode("utf-8-sig"))
    except (RecursionError, ValueError) as error:
        problem = f"The response is not JSON: {reason_of(error)}"
        if content_type:
            problem += f" (content type: {content_type})"
        raise MalformedResponse(f"{problem}.") from None
    if not isinstance(content, dict):
        raise MalformedResponse("The response is JSON, but not an object.")
    data = content.get("data")
    if not isinstance(data, list):
        raise MalformedResponse('The response has no list "data".')
    has_more = content.get("has_more")
    if not isinstance(has_more, bool):
        raise MalformedResponse('The response has no boolean "has_more".')
    return Page(data, has_more)
