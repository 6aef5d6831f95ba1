# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Send one GET request to a real account, limited in time and size and without retries."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException

import requests
import urllib3

SIZE_LIMIT = 32 * 2**20  # bytes, decoded
_CHUNK = 64 * 2**10


@dataclass
class Exchange:
    """A complete response, or a ``failure`` without text of the response."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    seconds: float = 0.0
    failure: str = ""


def send(url: str, token: str, verify: bool | str, timeout: float) -> Exchange:
    """Send one GET with this token; ``timeout`` is in seconds, from start to last byte."""
    exchange = Exchange(failure=f"no complete response within {timeout:g} s")
    # In a thread, because the timeout of a socket starts again with each byte.
    worker = threading.Thread(target=_send, args=(exchange, url, token, verify, timeout))
    worker.daemon = True
    start = time.monotonic()
    worker.start()
    worker.join(timeout)
    exchange.seconds = time.monotonic() - start
    # A copy, because an abandoned thread may still change the original.
    return Exchange(**vars(exchange))


def _send(exchange: Exchange, url: str, token: str, verify: bool | str, timeout: float) -> None:
    def add_token(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {token}"
        return request

    failure = ""
    body = b""
    deadline = time.monotonic() + timeout
    try:
        with requests.Session() as session:
            session.auth = add_token  # requests ignores ~/.netrc if auth is set
            response = session.get(
                url, stream=True, allow_redirects=False, timeout=timeout, verify=verify
            )
            response.raw.enforce_content_length = True
            exchange.status, exchange.headers = response.status_code, response.headers
            for chunk in response.iter_content(_CHUNK):
                body += chunk
                if len(body) > SIZE_LIMIT or time.monotonic() > deadline:
                    failure = f"the response is larger than {SIZE_LIMIT // 2**20} MiB"
                    break
    except (OSError, HTTPException, urllib3.exceptions.HTTPError, ValueError) as error:
        # Only the type, because the message contains the name or address of the host.
        failure = f"no complete response ({type(error).__name__})"
    if time.monotonic() <= deadline:
        exchange.body, exchange.failure = body, failure
