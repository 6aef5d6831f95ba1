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
    ("body", "problem"),
    [
        (b"<html>", "is not JSON: Expecting value: line 1 column 1 (char 0)"),
        (ENVELOPE + b"x", "is not JSON: Extra data: line 1 column 32 (char 31)"),
        (
            b"\xff" + ENVELOPE,
            "is not JSON: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte",
        ),
        pytest.param(b"[" * 100_000, "is nested too deeply", id="deep"),
        (b"[]", "is JSON, but not an object"),
        (b'{"data": {}, "has_more": false}', 'has no list "data"'),
        (b'{"data": []}', 'has no boolean "has_more"'),
        (b'{"data": [], "has_more": 0}', 'has no boolean "has_more"'),
    ],
)
def test_a_malformed_envelope_is_refused(body, problem):
    with pytest.raises(MalformedResponse) as caught:
        parse(body)
    next_step = "Check base_url: the address of the API, without /api/v1."
    assert str(caught.value) == f"The response {problem}. {next_step}"


def test_the_content_type_of_a_body_that_is_not_json_is_shown():
    with pytest.raises(MalformedResponse, match=r"\(content type: text/html\)\. "):
        read_json(b"<html>", "text/html")
