# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils import _envelope
from ansible_collections.server_management.cloud.plugins.module_utils._envelope import (
    VALUES_LIMIT,
    parse_listing,
)
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
)
from sandbox.account import make_servers

ENVELOPE = b'{"data": [], "has_more": false}'


def test_the_envelope_is_parsed() -> None:
    assert parse_listing(b'{"data": [1, {}], "has_more": true, "x": 1}', "")[:2] == ([1, {}], True)
    assert parse_listing(b"\xef\xbb\xbf" + ENVELOPE, "")[:2] == ([], False)
    assert parse_listing('{"data": ["é😀"], "has_more": false}'.encode())[:2] == (["é😀"], False)


@pytest.mark.parametrize(
    "element",
    ['{"data": 1, "has_more": 2}', '{"data": {"data": 1, "data": 2}}', '"\\"data\\": \\u0061"'],
)
def test_the_keys_of_the_envelope_can_be_in_an_element(element: str) -> None:
    body = f'{{"data": [{element}], "has_more": false}}'
    assert parse_listing(body.encode(), "").data == [json.loads(element)]


REFUSED = [
    (b"", "not JSON: expecting value at character 0"),
    (b"<html>", "not JSON: expecting value"),
    (b"{", "not JSON: expecting property name enclosed in double quotes"),
    (ENVELOPE + b"x", "not JSON: extra data"),
    (b'{"data": "a', "not JSON: unterminated string starting at character 9"),
    (ENVELOPE.decode().encode("utf-16"), "not JSON: it is not UTF-8"),
    (b'{"data": [NaN], "has_more": false}', "NaN is not a JSON number"),
    (b'{"data": [-Infinity], "has_more": false}', "-Infinity is not a JSON number"),
    (b'{"data": [1e999], "has_more": false}', "a number is too large"),
    (b'{"data": [' + b"9" * 309 + b'], "has_more": false}', "a number is too large"),
    (b'{"data": [' + b"9" * 5000 + b'], "has_more": false}', "a number is too large"),
    (b'{"x": ' + b"[" * 33 + b"]" * 33 + b', "data": [], "has_more": true}', "deeper than 32"),
    (b"[" * 200_000, "nested deeper than 32"),
    (b'{"a":' * 200_000, "nested deeper than 32"),
    (b'{"data": [], "has_more": true, "has_more": false}', 'the key "has_more" twice'),
    (b'{"data": [{"id": "a"}], "has_more": false, "data": []}', 'the key "data" twice'),
    (b'{"data": [], "has_more": true, "has\\u005fmore": false}', 'the key "has_more" twice'),
    (b'{"d\\u0061ta": [{"data": 1}], "data": [], "has_more": false}', 'the key "data" twice'),
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
def test_a_malformed_envelope_is_refused(body: bytes, words: str) -> None:
    with pytest.raises(MalformedResponse, match=words) as caught:
        parse_listing(body, "text/x")
    assert "base_url" in caught.value.next_step
    assert ("not JSON" in words) <= ("(content type: text/x)" in caught.value.message)


@pytest.mark.promise("whole")
@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:dahsmoretfu0.e-', max_size=60))
def test_any_body_is_parsed_or_refused(body: bytes | str) -> None:
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
def test_characters_in_strings_are_not_counted_as_values(filler: str) -> None:
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
def test_the_limit_of_text_depends_on_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_envelope, "_TEXT_LIMIT", 2000)
    element = [{"id": "y" * 1000}]
    assert parse_listing(json.dumps({"data": element, "has_more": False}).encode()).data == element
    element[0]["name"] = "\U0001f600"
    for ensure_ascii in (False, True):
        text = json.dumps({"data": element, "has_more": False}, ensure_ascii=ensure_ascii)
        with pytest.raises(MalformedResponse, match="larger than 128 MiB"):
            parse_listing(text.encode())
