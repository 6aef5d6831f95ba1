# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from contextlib import suppress

import pytest
import requests
import yaml
from hypothesis import given
from hypothesis import strategies as st
from urllib3.util import parse_url

from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError
from ansible_collections.server_management.cloud.plugins.module_utils._url import (
    is_loopback,
    normalize_base_url,
    resolve_reference,
)

# Links and addresses, in which parsers could find different hosts: those of requests 2.28 and 2.34,
# urllib3 1.26 and 2.8, and Python 3.10 and 3.13.
URLS = yaml.safe_load(r"""[
"?page=2", "//h/x", "///x", "http:x", "http:/x", "http:///x", "HTTP://H:/x", "..//x", ";x",
"//h\uff0f@other/", "//h\u2044other", "//h\uff1a81/", "//other\uff03@h/", "//\uff48/x",
"//h:80@other/x", "//other#@h/", "//other?@h/", "//other;@h/", "//h\\@other/x",
"//h\\.other/", "//h%2f@other/x", "//h%40other/", "//h:080/x", "//h:+80/", "//h:8_0/",
"//[h]/x", "//[h/", "//h]", "/%2e%2e/%zz?a=%", "//[::1]/x", "//[fe80::1%25eth0]/x",
"//[fe80::1%eth0]/x", "//[::ffff:127.0.0.1]/", "//h%25/", "//\u24d7/x", "//h\u3002other/",
"//\xdf.h/", "//h\xad/", "//xn--/", "//*.h/", "//.h/", "//h./x",
"//user:pw@h/", "//@h/", "//:@h/x", "/a%7Eb?c=%41", "/\xe9?\u20ac", "/a|b^c`{}",
" //other/", "\t//other/", "\xa0//other/", "/a b"
]""")
# Pieces from which URLs are made that parsers could read differently.
PIECES = ["@", ":", "#", "?", "%", "[", "]", ";", ".", "\\", "http:", "//", "h", "other", ":80"]
PAGE = "http://h/api/v1/servers?page=1"

COMPLETED = yaml.safe_load("""
- ['https://h', 'https://h/api/v1']
- ['https://h///', 'https://h/api/v1']
- ['https://h/api/v1/', 'https://h/api/v1']
- ['http://h:8080/prefix/', 'http://h:8080/prefix/api/v1']
- ['http://h/prefix/api/v1', 'http://h/prefix/api/v1']
- ['http://h/xapi/v1', 'http://h/xapi/v1/api/v1']
- ['http://h/api/v1/x', 'http://h/api/v1/x/api/v1']
# Equivalent hosts and ports are one base URL.
- ['HTTPS://API.Example.com/Prefix', 'https://api.example.com/Prefix/api/v1']
- ['https://h:443', 'https://h/api/v1']
- ['http://h:80/api/v1', 'http://h/api/v1']
- ['http://h:', 'http://h/api/v1']
- ['http://h:443', 'http://h:443/api/v1']
- ['http://[::A]:80', 'http://[::a]/api/v1']
""")


@pytest.mark.parametrize(("base_url", "url"), COMPLETED)
def test_a_base_url_is_completed(base_url, url):
    assert normalize_base_url(base_url) == url


MALFORMED = yaml.safe_load(r"""
- [api.example.com, is not an http or https URL with a host]
- ['ftp://h', is not an http or https URL with a host]
- ['https:///path', is not an http or https URL with a host]
- ['https://[::1', is not an http or https URL with a host]
- ['https://h:0', is not an http or https URL with a host]
- ['https://h:65536', is not an http or https URL with a host]
- ['https://user:secret@h', must not contain a user or a password]
- ['https://@h', must not contain a user or a password]
- ['https://h?a=secret', must not contain a query or a fragment]
- ['https://h/?', must not contain a query or a fragment]
- ['https://h/#', must not contain a query or a fragment]
- [' https://h', 'contains a space, a backslash or a control character']
- ["https://h\n", 'contains a space, a backslash or a control character']
- ["https://h/a\xa0b", 'contains a space, a backslash or a control character']
- ['https://h\@other', 'contains a space, a backslash or a control character']
- ["https://h/\e[1m", 'contains a space, a backslash or a control character']
""")


@pytest.mark.parametrize(("base_url", "problem"), MALFORMED)
def test_a_malformed_base_url_is_refused(base_url, problem):
    with pytest.raises(OptionError) as caught:
        normalize_base_url(base_url)
    assert caught.value.message == f"base_url: {problem}."


REFERENCES = yaml.safe_load(r"""
- ['?page=2', 'http://h/api/v1/servers?page=2']
- ['//h:80/x', 'http://h:80/x']
- ['http://H/x', 'http://H/x']
- ['https://h:80/x', null]
- ['//h:81/x', null]
- [//other/x, null]
- ['http://user@h/x', null]
- ['http://h:99999/', null]
- ['http://[::1/', null]
- ["/a\nb", null]
- ["\0/a", null]
""")


@pytest.mark.parametrize(("reference", "target"), REFERENCES)
def test_a_reference_is_only_followed_within_its_origin(reference, target):
    assert resolve_reference(PAGE, reference) == target


@given(st.sampled_from(URLS) | st.lists(st.sampled_from(PIECES + URLS), max_size=5).map("".join))
def test_requests_connects_to_the_origin_that_was_checked(reference):
    target = resolve_reference(PAGE, reference)
    if target is None:
        return
    with suppress(ValueError):  # requests refuses the URL
        used = parse_url(str(requests.Request("GET", target).prepare().url))
        assert (used.scheme, used.host, used.port or 80) == ("http", "h", 80)


LOOPBACK = yaml.safe_load("""
- [localhost, true]
- [api.localhost, true]
- [127.0.0.1, true]
- ['::1', true]
- [localhost.example.com, false]
- [10.0.0.1, false]
""")


@pytest.mark.parametrize(("host", "expected"), LOOPBACK)
def test_names_and_addresses_of_this_machine_are_recognized(host, expected):
    assert is_loopback(host) is expected
