# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from contextlib import suppress

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from urllib3.util import parse_url

from ansible_collections.server_management.cloud.plugins.module_utils._url import (
    host_and_port,
    is_loopback,
    origin,
    resolve,
)
from support.http_meanings import URLS

# Pieces from which URLs are made that parsers could read differently.
PIECES = [*"@:#?%[];.\\", "http:", "//", "h", "other", ":80", *URLS]
PAGE = "http://h/api/v1/servers?page=1"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h", ("http", "h", 80)),
        ("HTTPS://H/x", ("https", "h", 443)),
        ("http://h:", ("http", "h", 80)),
        ("http://[::1]:8080/", ("http", "::1", 8080)),
        ("http://user@h", ("http", "user@h", 80)),
        ("ftp://h", ("ftp", "h", None)),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, expected: tuple[str, str, int | None]) -> None:
    assert origin(url) == expected


@pytest.mark.promise("home")
@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("?page=2", "http://h/api/v1/servers?page=2"),
        ("servers?page=2", "http://h/api/v1/servers?page=2"),
        ("//h:80/x", "http://h:80/x"),
        ("http://H/x", "http://H/x"),
        ("https://h/x", None),
        ("//other/x", None),
        ("http://user@h/x", None),
        ("http://h:99999/", None),
        ("http://[::1/", None),
        ("http://h\\@other/", None),
        ("/a b", None),
        ("/a\nb", None),
        ("\x00/a", None),
    ],
)
def test_a_reference_is_only_followed_within_its_origin(reference: str, target: str | None) -> None:
    assert resolve(PAGE, reference) == target


@pytest.mark.promise("home")
@given(st.sampled_from(URLS) | st.lists(st.sampled_from(PIECES), max_size=5).map("".join))
def test_requests_sends_the_token_only_to_the_origin_that_was_checked(reference: str) -> None:
    target = resolve(PAGE, reference)
    if target is None:
        return
    with suppress(ValueError):  # requests refuses the URL
        used = parse_url(str(requests.Request("GET", target).prepare().url))
        assert (used.scheme, used.host, used.port or 80) == ("http", "h", 80)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("api.localhost", True),
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost.example.com", False),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("", False),
    ],
)
def test_loopback_is_this_machine(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_a_message_names_host_and_port() -> None:
    assert host_and_port("https://h/x") == "h:443"
    assert host_and_port("http://[::1]:81") == "[::1]:81"
