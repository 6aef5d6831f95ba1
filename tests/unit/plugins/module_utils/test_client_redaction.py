# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Messages quote little of a response, on one line, and never contain the token."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any
from urllib.parse import quote

import pytest

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    MalformedResponse,
    StatusError,
    Unauthorized,
)
from sandbox import Fault, Sandbox

TOKEN = 'sk/live+"7\\q%&<>~aZ_longer-token=='
BEARER = f"Bearer {TOKEN}"


def _base64(text: str, altchars: bytes | None = None) -> str:
    return base64.b64encode(text.encode(), altchars).decode()


SPELLINGS = [
    TOKEN,
    json.dumps(TOKEN),
    json.dumps(TOKEN).replace("/", "\\/"),
    "".join(f"\\u{ord(c):04x}" for c in TOKEN),
    quote(TOKEN),
    quote(TOKEN, safe=""),
    quote(TOKEN, safe="").lower(),
    TOKEN.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"),
    TOKEN.replace('"', "&#34;").replace("/", "&#x2F;"),
    _base64(TOKEN),
    _base64(BEARER),
    _base64(f"x{TOKEN}y"),
    _base64(f"xx{TOKEN}yy"),
    _base64(BEARER, b"-_"),
    TOKEN.encode().hex(),
    TOKEN.encode().hex().upper(),
]


def _hides(secret: str, text: str) -> bool:
    """Return whether the text contains no six consecutive characters of the secret."""
    secret = secret.removeprefix(_base64("Bearer ")[:-3])
    return not any(secret[start : start + 6] in text for start in range(len(secret) - 5))


@pytest.mark.promise("secret")
@pytest.mark.parametrize("status", [400, 401])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_quoted_body_hides_the_token(
    read: Any, sandbox: Sandbox, spelling: str, status: int
) -> None:
    sandbox.token = TOKEN
    sandbox.fail(Fault(status=status, body=f"you sent {spelling} here".encode()))
    with pytest.raises(StatusError) as caught:
        read(sandbox)
    message = str(caught.value)
    assert 'with the response "you sent ' in message
    assert "********" in message
    assert _hides(TOKEN, message)
    assert _hides(spelling, message)


def _faults(spelling: str) -> list[Fault]:
    return [
        Fault(status=302, location=f"http://127.0.0.1/?t={spelling}"),
        Fault(content_type=f"text/{spelling}", body="no"),
        Fault(has_more=True, link=f'<//other.invalid/{spelling}>; rel="next"'),
        Fault(status=403, content_type=spelling),
        Fault(status=400, headers={"Content-Encoding": spelling}),
        Fault(headers={"Content-Encoding": spelling}),
        Fault(status=429, retry_after=spelling),
    ]


@pytest.mark.promise("secret")
@pytest.mark.parametrize("number", range(len(_faults(""))))
@pytest.mark.parametrize("spelling", [TOKEN, quote(TOKEN, safe=""), _base64(BEARER)])
def test_a_quoted_header_hides_the_token(
    read: Any, sandbox: Sandbox, spelling: str, number: int
) -> None:
    sandbox.token = TOKEN
    sandbox.fail(_faults(spelling)[number])
    with pytest.raises(CloudError) as caught:
        read(sandbox, pagination="link")
    assert _hides(TOKEN, str(caught.value))
    assert _hides(spelling, str(caught.value))


@pytest.mark.promise("secret")
@pytest.mark.parametrize("before", [100, 130, 140, 150, 155, 160, 200, 65530, 65536])
@pytest.mark.parametrize("filler", ["x", " "])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_truncated_quotation_contains_no_part_of_the_token(
    read: Any, sandbox: Sandbox, before: int, filler: str, chunked: bool
) -> None:
    sandbox.token = TOKEN
    sandbox.fail(Fault(status=400, body=filler * before + "{token} and more", chunked=chunked))
    with pytest.raises(StatusError) as caught:
        read(sandbox)
    assert _hides(TOKEN, str(caught.value))


@pytest.mark.promise("secret")
def test_a_token_split_over_two_chunks_is_redacted(read: Any, sandbox: Sandbox) -> None:
    sandbox.token = TOKEN
    pieces = [b"you sent ", TOKEN[:9].encode(), TOKEN[9:].encode(), b" here"]
    sandbox.fail(Fault(status=401, body=lambda: pieces))
    with pytest.raises(Unauthorized, match=r'with the response "you sent \*{8} here"\.'):
        read(sandbox)


QUOTED = [
    (b"plain", "plain"),
    (b"two\r\nlines\tand  more", "two lines and more"),
    (b"\x1b[31mred\x07\x00", "[31mred"),
    ("schön 漢字 ok".encode(), "schön 漢字 ok"),
    ("a\u202eb\u200bc\u2028d\u00a0e".encode(), "a b c d e"),
    (b"\xff\xfe latin", "\ufffd\ufffd latin"),
    (b"x" * 161, "x" * 157 + "..."),
    (b"x" * 160, "x" * 160),
    (b'{"error": "no"}', '{"error": "no"}'),
]


@pytest.mark.parametrize(("body", "shown"), QUOTED)
def test_an_error_body_is_quoted_short_and_on_one_line(
    read: Any, sandbox: Sandbox, body: bytes, shown: str
) -> None:
    sandbox.fail(Fault(status=400, body=body, content_type="text/plain"))
    with pytest.raises(StatusError) as caught:
        read(sandbox)
    expected = f'The API returned an unexpected status (HTTP 400), with the response "{shown}".'
    assert caught.value.message == expected


@pytest.mark.parametrize("body", [b"", b" \r\n ", b"\x00\x01"])
def test_an_empty_error_body_is_not_quoted(read: Any, sandbox: Sandbox, body: bytes) -> None:
    sandbox.fail(Fault(status=500, body=body))
    with pytest.raises(StatusError, match=r"^The API is failing \(HTTP 500\)\. Run again later\.$"):
        read(sandbox)


def test_a_compressed_error_body_is_quoted_too(read: Any, sandbox: Sandbox) -> None:
    body = gzip.compress(b"over quota")
    sandbox.fail(Fault(status=400, body=body, headers={"Content-Encoding": "gzip"}))
    with pytest.raises(StatusError, match='with the response "over quota"'):
        read(sandbox)


def test_an_unreadable_error_body_is_not_quoted(read: Any, sandbox: Sandbox) -> None:
    sandbox.fail(Fault(status=401, body=b"no gzip", headers={"Content-Encoding": "gzip"}))
    with pytest.raises(Unauthorized) as caught:
        read(sandbox)
    assert "with the response" not in str(caught.value)


@pytest.mark.promise("whole")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.html(), "(content type: text/html; charset=utf-8)"),
        (Fault(body="", headers={"Content-Type": None}), "(content type: none given)"),
        (Fault(body="no", content_type="a/b\x1b[1m"), "(content type: a/b [1m)"),
        (Fault(body="no", content_type="a" * 200), f"(content type: {'a' * 157}...)"),
        (Fault(headers={"Content-Encoding": "gzip"}), "claims to be compressed"),
        (Fault(headers={"Content-Encoding": "br"}), "although only gzip was requested"),
    ],
    ids=repr,
)
def test_a_content_type_or_encoding_that_is_not_json_is_named(
    read: Any, sandbox: Sandbox, fault: Fault, words: str
) -> None:
    sandbox.fail(fault)
    with pytest.raises(MalformedResponse) as caught:
        read(sandbox)
    assert words in caught.value.message
    assert caught.value.next_step


def test_a_compressed_listing_is_read(read: Any, sandbox: Sandbox) -> None:
    text = json.dumps({"data": sandbox.servers, "has_more": False}).encode()
    for body in (gzip.compress(text), gzip.compress(text[:50]) + gzip.compress(text[50:])):
        for chunked in (False, True):
            headers = {"Content-Encoding": "gzip"}
            sandbox.fail(Fault(body=body, headers=headers, chunked=chunked))
            assert len(read(sandbox)) == 3


@pytest.mark.promise("secret", "lost")
def test_servers_whose_ids_differ_only_in_the_token_are_an_error(
    read: Any, sandbox: Sandbox
) -> None:
    sandbox.token = TOKEN
    sandbox.servers[0]["id"] = f"srv_{TOKEN}"
    assert read(sandbox)[0].id == "srv_********"
    sandbox.servers[1]["id"] = "srv_" + "\u200b".join(TOKEN)
    with pytest.raises(MalformedResponse, match="The ids of several servers contain the token"):
        read(sandbox)


@pytest.mark.promise("secret")
def test_only_a_token_of_16_characters_or_more_is_replaced_in_fields(
    read: Any, sandbox: Sandbox
) -> None:
    for token, shown in (("x" * 15, "x" * 15), ("x" * 16, "********")):
        sandbox.token = token
        sandbox.servers[0].update(name=token, tags=[{token: [f"/{token}"]}])
        fields = read(sandbox)[0].fields
        assert fields["name"] == shown
        assert fields["tags"] == [{shown: [f"/{shown}"]}]
