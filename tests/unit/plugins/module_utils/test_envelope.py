# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _envelope, _errors

ENVELOPE = b'{"data": [], "has_more": false}'


def test_the_envelope_is_parsed():
    page = _envelope.parse_listing('{"data": ["é😀", {}], "has_more": true, "x": 1}'.encode())
    assert page == _envelope.Page(["é😀", {}], True)


def test_a_byte_order_mark_is_ignored():
    page = _envelope.parse_listing(b"\xef\xbb\xbf" + ENVELOPE)
    assert page == _envelope.Page([], False)


# Each message is compared once.
MALFORMED = yaml.safe_load("""
- [<html>, 'is not JSON: Expecting value: line 1 column 1 (char 0).']
- ['{}x', '']
- ['[]', 'is JSON, but not an object.']
- ['{"data": {}, "has_more": false}', has no list "data".]
- ['{"data": []}', '']
- ['{"data": [], "has_more": 0}', has no boolean "has_more".]
""")
MALFORMED.append(("\udcff{}", "is not JSON: 'utf-8' codec can't decode"))
MALFORMED.append(pytest.param("[" * 100_000, "is not JSON: ", id="deep"))


@pytest.mark.parametrize(("body", "problem"), MALFORMED)
def test_a_malformed_envelope_is_refused(body, problem):
    with pytest.raises(_errors.MalformedResponse) as caught:
        _envelope.parse_listing(body.encode(errors="surrogateescape"))
    assert str(caught.value).startswith(f"The response {problem}")
    assert caught.value.next_step == _errors.URL_ADVICE
