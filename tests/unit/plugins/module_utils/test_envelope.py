# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._envelope import (
    Page,
    parse_listing,
    read_json,
)
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
)

ENVELOPE = b'{"data": [], "has_more": false}'


def parse(body):
    return parse_listing(read_json(body))


def test_the_envelope_is_parsed():
    assert parse(b'{"data": [1, {}], "has_more": true, "x": 1}') == Page([1, {}], True)
    assert parse(b"\xef\xbb\xbf" + ENVELOPE) == Page([], False)
    assert parse('{"data": ["é😀"], "has_more": false}'.encode()).data == ["é😀"]
    assert parse(b'{"data": [{"data": 1, "has_more": 2}], "has_more": true}').has_more


REFUSED = [
    (b"<html>", "not JSON: Expecting value: "),
    (ENVELOPE + b"x", "not JSON: Extra data: "),
    (b'{"data": "a', "not JSON: Unterminated string starting at: line 1 column 10"),
    (ENVELOPE.decode().encode("utf-16"), "not JSON: 'utf-8' codec can't decode"),
    (b'{"data": [NaN], "has_more": false}', "NaN is not a finite number"),
    (b'{"data": [-1e999], "has_more": false}', "-1e999 is not a finite number"),
    (b"[" * 100_000, "nested too deeply"),
    (b"[]", "not an object"),
    (b'{"data": {}, "has_more": false}', 'no list "data"'),
    (b'{"data": []}', 'no boolean "has_more"'),
    (b'{"data": [], "has_more": 0}', 'no boolean "has_more"'),
    (b'{"data": [], "has_more": "false"}', 'no boolean "has_more"'),
]


@pytest.mark.parametrize(("body", "words"), REFUSED, ids=[words for _body, words in REFUSED])
def test_a_malformed_envelope_is_refused(body, words):
    with pytest.raises(MalformedResponse, match=words) as caught:
        parse(body)
    assert "base_url" in caught.value.next_step


def test_the_content_type_of_a_body_that_is_not_json_is_shown():
    with pytest.raises(MalformedResponse, match=r"\(content type: text/html\)\. "):
        read_json(b"<html>", "text/html")


ALMOST_JSON = st.text(alphabet='{}[]",:dahsmoretfu0.e-', max_size=60).map(str.encode)


@given(st.binary(max_size=60) | ALMOST_JSON)
def test_any_body_is_parsed_or_refused(body):
    message = ""
    try:
        parse(body)
    except MalformedResponse as error:
        message = error.message
    assert message.isprintable()
