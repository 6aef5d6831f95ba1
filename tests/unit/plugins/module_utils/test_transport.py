# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import gzip
import itertools
import tracemalloc
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    MalformedResponse,
)
from ansible_collections.server_management.cloud.plugins.module_utils._transport import read_body

ENVELOPE = b'{"data": [], "has_more": false}'


@given(st.lists(st.binary(max_size=200), max_size=8), st.lists(st.integers(1, 40)))
def test_a_body_is_restored_from_any_chunks(members: list[bytes], cuts: list[int]) -> None:
    body = b"".join(members)
    compressed = b"".join(map(gzip.compress, members)) or gzip.compress(b"")
    assert read_body(_pieces(body, cuts), "", 2000) == body
    assert read_body(_pieces(compressed, cuts), "gzip", 2000) == body


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
def test_the_limit_applies_to_the_decompressed_body() -> None:
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
def test_an_oversized_body_is_refused_with_little_memory(name: str) -> None:
    chunk, encoding = BOMBS[name]
    tracemalloc.start()
    try:
        with pytest.raises(MalformedResponse, match="larger than"):
            read_body(itertools.repeat(chunk), encoding, 2**20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**22
