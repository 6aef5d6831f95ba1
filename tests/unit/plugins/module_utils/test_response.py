# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import gzip
import itertools
import json
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils import _response
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
)
from ansible_collections.server_management.cloud.plugins.module_utils._response import (
    VALUES_LIMIT,
    header_text,
    next_link,
    parse_listing,
    read_body,
    retry_after,
    status_error,
)
from sandbox.account import make_servers

ENVELOPE = b'{"data": [], "has_more": false}'


@given(st.lists(st.binary(max_size=200), max_size=8), st.lists(st.integers(1, 40)))
def test_a_body_is_what_was_packed_however_it_comes(members: list[bytes], cuts: list[int]) -> None:
    body = b"".join(members)
    packed = b"".join(map(gzip.compress, members)) or gzip.compress(b"")
    assert read_body(_pieces(body, cuts), "", 2000) == body
    assert read_body(_pieces(packed, cuts), "gzip", 2000) == body


def _pieces(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    for size in [*sizes, len(data)]:
        yield data[:size]
        data = data[size:]


@pytest.mark.parametrize("encoding", ["gzip", " GZIP ", "x-gzip"])
def test_gzip_has_several_names(encoding: str) -> None:
    assert read_body([gzip.compress(b"text")], encoding, 100) == b"text"


@pytest.mark.promise("bounded")
@pytest.mark.parametrize("encoding", ["", "identity", " Identity"])
def test_a_body_of_exactly_the_limit_is_read(encoding: str) -> None:
    assert read_body([b"12345", b"67890"], encoding, 10) == b"1234567890"
    with pytest.raises(MalformedResponse, match="larger than 128 MiB"):
        read_body([b"12345", b"678901"], encoding, 10)


@pytest.mark.promise("bounded")
def test_a_compressed_body_counts_by_what_it_unpacks_to() -> None:
    limit = 100_000
    assert len(read_body([gzip.compress(bytes(limit))], "gzip", limit)) == limit
    with pytest.raises(MalformedResponse, match="larger than"):
        read_body([gzip.compress(bytes(limit + 1))], "gzip", limit)


DAMAGED = [
    (b"", "incomplete"),
    (gzip.compress(ENVELOPE, mtime=0)[:-1], "incomplete"),
    (gzip.compress(ENVELOPE, mtime=0)[:10], "incomplete"),
    (ENVELOPE, "is not"),
    (zlib.compress(ENVELOPE), "is not"),
    (gzip.compress(ENVELOPE, mtime=0)[:-8] + bytes(8), "is not"),
    (gzip.compress(ENVELOPE, mtime=0) + b"more", "is not"),
]


@pytest.mark.promise("whole")
@pytest.mark.parametrize(("body", "words"), DAMAGED)
def test_a_damaged_compressed_body_is_refused(body: bytes, words: str) -> None:
    with pytest.raises(MalformedResponse, match=words):
        read_body([body], "gzip", 1000)


@pytest.mark.promise("bounded")
@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "none", "\x1b"])
def test_another_encoding_is_refused_before_anything_is_read(encoding: str) -> None:
    chunks = iter([b"never read"])
    with pytest.raises(MalformedResponse, match="although only gzip was requested"):
        read_body(chunks, encoding, 10)
    assert list(chunks) == [b"never read"]


BOMBS = {
    "compressed zeros": (gzip.compress(bytes(2**24)), "gzip"),
    "empty members": (gzip.compress(b"") * 3000, "gzip"),
    "plain": (bytes(2**16), ""),
}


@pytest.mark.promise("bounded")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_little_memory(name: str) -> None:
    chunk, encoding = BOMBS[name]
    tracemalloc.start()
    try:
        with pytest.raises(MalformedResponse, match="larger than"):
            read_body(itertools.repeat(chunk), encoding, 2**20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**22


def test_the_envelope_is_taken_apart() -> None:
    assert parse_listing(b'{"data": [1, {}], "has_more": true, "x": 1}', "")[:2] == ([1, {}], True)
    assert parse_listing(b"\xef\xbb\xbf" + ENVELOPE, "")[:2] == ([], False)
    assert parse_listing('{"data": ["é😀"], "has_more": false}'.encode())[:2] == (["é😀"], False)


REFUSED = [
    (b"", "not JSON: expecting value at character 0"),
    (b"<html>", "not JSON: expecting value"),
    (b"{", "not JSON: expecting property name enclosed in double quotes"),
    (ENVELOPE + b"x", "not JSON: extra data"),
    (b'{"data": "a', "not JSON: unterminated string starting at character 9"),
    (ENVELOPE.decode().encode("utf-16"), "not JSON: it is not UTF-8"),
    (b'{"data": [NaN], "has_more": false}', "NaN is no JSON number"),
    (b'{"data": [-Infinity], "has_more": false}', "-Infinity is no JSON number"),
    (b'{"data": [1e999], "has_more": false}', "a number is too large"),
    (b'{"data": [' + b"9" * 309 + b'], "has_more": false}', "a number is too large"),
    (b'{"data": [' + b"9" * 5000 + b'], "has_more": false}', "a number is too large"),
    (b'{"x": ' + b"[" * 33 + b"]" * 33 + b', "data": [], "has_more": true}', "deeper than 32"),
    (b"[" * 200_000, "nested deeper than 32"),
    (b'{"a":' * 200_000, "nested deeper than 32"),
    (b"null", "not an object"),
    (b'"text"', "not an object"),
    (b"[]", "not an object"),
    (b'{"error": "no"}', 'no list "data"'),
    (b'{"data": {}, "has_more": false}', 'no list "data"'),
    (b'{"data": null, "has_more": false}', 'no list "data"'),
    (b'{"data": []}', 'no boolean "has_more"'),
    (b'{"data": [], "has_more": null}', 'no boolean "has_more"'),
    (b'{"data": [], "has_more": 0}', 'no boolean "has_more"'),
    (b'{"data": [], "has_more": "false"}', 'no boolean "has_more"'),
]


@pytest.mark.promise("whole")
@pytest.mark.parametrize(("body", "words"), REFUSED, ids=[words for body, words in REFUSED])
def test_what_is_not_the_envelope_is_refused(body: bytes, words: str) -> None:
    with pytest.raises(MalformedResponse, match=words) as caught:
        parse_listing(body, "text/x")
    assert "base_url" in caught.value.next_step
    assert ("not JSON" in words) <= ("(content type: text/x)" in caught.value.message)


@pytest.mark.promise("whole")
@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:dahsmoretfu0.e-', max_size=60))
def test_no_body_raises_anything_else(body: bytes | str) -> None:
    message = ""
    try:
        parse_listing(body if isinstance(body, bytes) else body.encode(), "")
    except MalformedResponse as error:
        message = error.message
    assert message.isprintable()


MANY = {
    "objects": b"{}," * 50,
    "lists": b"[]," * 50,
    "members": b'{"a":1},' * 50,
    "strings": b'"",' * 101,
    "escapes": b'"\\\\","\\"",' * 101,
    "quotation marks": b'"' * 500 + b"," * 101,
}


@pytest.mark.promise("bounded")
@pytest.mark.parametrize("name", MANY)
def test_values_are_counted_before_parsing(name: str) -> None:
    with pytest.raises(MalformedResponse, match="more than 4,000,000 JSON values") as caught:
        parse_listing(b'{"data":[' + MANY[name], limit=100)
    assert caught.value.next_step


@pytest.mark.parametrize("filler", [",", "[{", '\\"', "\\\\", '\\\\\\",', "\\u002c,"])
def test_the_text_of_strings_does_not_count(filler: str) -> None:
    element = '{"id": "%s"}' % (filler * 1000)
    body = b'{"data": [' + element.encode() + b'], "has_more": false}'
    assert parse_listing(body, limit=10).data == [json.loads(element)]
    with pytest.raises(MalformedResponse, match="JSON values"):
        parse_listing(body, limit=6)


@pytest.mark.promise("bounded")
def test_a_listing_of_a_large_account_is_within_the_limits() -> None:
    body = json.dumps({"data": make_servers(1000), "has_more": False}).encode()
    assert parse_listing(body).values * 100 < VALUES_LIMIT // 2


@pytest.mark.promise("bounded")
def test_text_counts_by_the_memory_that_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_response, "_TEXT_LIMIT", 2000)
    element = [{"id": "y" * 1000}]
    assert parse_listing(json.dumps({"data": element, "has_more": False}).encode()).data == element
    element[0]["name"] = "\U0001f600"
    for ensure_ascii in (False, True):
        text = json.dumps({"data": element, "has_more": False}, ensure_ascii=ensure_ascii)
        with pytest.raises(MalformedResponse, match="larger than 128 MiB"):
            parse_listing(text.encode())


NOW = datetime(2026, 3, 1, 12, 0, tzinfo=timezone.utc)
RETRY_AFTER: list[tuple[str, Any]] = [
    ("0", 0),
    (" 120 ", 120),
    ("999999999999999999", 1e18),
    ("Sun, 01 Mar 2026 12:00:30 GMT", 30),
    ("Sunday, 01-Mar-26 12:00:30 GMT", 30),
    ("Sun Mar  1 12:00:30 2026", 30),
    ("Sun, 01 Mar 2026 13:00:30 +0100", 30),
    ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
    ("Fri, 31 Dec 9999 23:59:59 GMT", pytest.approx(251_612_999_999, rel=0.1)),
    ("", None),
    ("-5", None),
    ("1.5", None),
    ("٣", None),
    ("soon", None),
    ("Sun, 99 Mar 2026 12:00:30 GMT", None),
    ("1" * 19, None),
    ("," * 100, None),
]


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland", "America/New_York"])
@pytest.mark.parametrize(("value", "seconds"), RETRY_AFTER)
def test_retry_after_is_seconds_or_a_date(
    monkeypatch: pytest.MonkeyPatch, value: str, seconds: float | None, zone: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        monkeypatch.setattr(time, "time", NOW.timestamp)
        assert retry_after(value) == seconds
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=40))
def test_no_retry_after_raises(value: str) -> None:
    seconds = retry_after(value)
    assert seconds is None or seconds >= 0


def test_a_retry_after_that_a_server_writes_is_read() -> None:
    date = datetime.now(timezone.utc) + timedelta(seconds=50)
    seconds = retry_after(format_datetime(date, usegmt=True))
    assert seconds is not None
    assert 48 < seconds <= 50


LINKS = [
    ("", ""),
    ("<https://h/a?b=1>; rel=next", "https://h/a?b=1"),
    ('<a>;rel="next"', "a"),
    ('< a > ; REL = "NEXT"', "a"),
    ('<a>; rel="prev next"', "a"),
    ('<a>; rel="nextpage"', ""),
    ('<a>; rel="prev"', ""),
    ('<a>; rev="next"', ""),
    ("<a>", ""),
    ('<>; rel="next"', ""),
    ('<a>; rel="prev"; rel="next"', ""),
    ('<a>; rel="first", <b>; rel="next", <c>; rel="last"', "b"),
    ('<a,b;c>; rel="next"', "a,b;c"),
    ('<a>; title="x; rel=prev, <b>; \\" y"; rel="next"', "a"),
    ('<a>; title="open; rel="next"', ""),
    ("<a; rel=next", ""),
    (",,;; ,<a>;;rel=next,", "a"),
    ("rel=next", ""),
    ('"' * 20_000 + "<" * 20_000 + "\\" * 20_000, ""),
    ("<a>;" + " " * 60_000 + "rel=next", "a"),
]


@pytest.mark.parametrize(("header", "target"), LINKS, ids=lambda text: text[:40])
def test_the_next_link_is_found_among_others(header: str, target: str) -> None:
    started = time.process_time()
    assert next_link(header) == target
    assert time.process_time() - started < 2


@given(st.text(alphabet='<>",;= \\relnxta', max_size=80))
def test_no_link_header_raises(header: str) -> None:
    assert isinstance(next_link(header), str)


def test_a_header_is_decoded_as_utf_8() -> None:
    assert header_text("é".encode().decode("latin-1")) == "é"
    assert header_text("\xe9") == "\ufffd"
    assert header_text("漢") == "?"


@pytest.mark.parametrize("status", range(100, 1000, 7))
def test_every_status_makes_an_error(status: int) -> None:
    headers: dict[str, Any] = {"Retry-After": "9", "Content-Type": "text/plain"}
    error = status_error(status, headers, b"said")
    assert error.status == status
    assert error.retry_after == 9
    assert error.message.endswith(" It asks to wait 9 s.")
    assert f"(HTTP {status})" in error.message
    assert error.next_step
    assert ('with the response "said".' in error.message) == (not 300 <= status < 400)
