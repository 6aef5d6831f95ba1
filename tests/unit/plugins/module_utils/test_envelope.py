# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest

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
    page = parse('{"data": ["é😀", {}], "has_more": true, "x": 1}'.encode())
    assert page == Page(["é😀", {}], True)


def test_a_byte_order_mark_is_ignored():
    page = parse(b"\xef\xbb\xbf" + ENVELOPE)
    assert page == Page([], False)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>", "not JSON: Expecting value: line 1 column 1"),
        (ENVELOPE + b"x", "not JSON: Extra data: "),
        (ENVELOPE[:-1], r"not JSON: Expecting ',' delimiter: line 1 column 31 \(char 30\)"),
        (ENVELOPE.decode().encode("utf-16"), "not JSON: 'utf-8' codec can't decode"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="deep"),
        (b"[]", "not an object"),
        (b'{"data": {}, "has_more": false}', 'no list "data"'),
        (b'{"data": []}', 'no boolean "has_more"'),
        (b'{"data": [], "has_more": 0}', 'no boolean "has_more"'),
    ],
)
def test_a_malformed_envelope_is_refused(body, words):
    with pytest.raises(MalformedResponse, match=f"{words}.* base_url"):
        parse(body)


def test_the_content_type_of_a_body_that_is_not_json_is_shown():
    with pytest.raises(MalformedResponse, match=r"\(content type: text/html\)\. "):
        read_json(b"<html>", "text/html")
