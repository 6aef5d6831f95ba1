# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

import pytest
import yaml

from ansible_collections.server_management.cloud.plugins.module_utils import _url
from ansible_collections.server_management.cloud.plugins.module_utils._errors import OptionError

COMPLETED = yaml.safe_load("""
- ['https://h', 'https://h/api/v1']
- ['https://h///', 'https://h/api/v1']
- ['https://h/api/v1/', 'https://h/api/v1']
- ['http://h:8080/prefix/', 'http://h:8080/prefix/api/v1']
- ['http://h/prefix/api/v1', 'http://h/prefix/api/v1']
- ['http://api/v1/', 'http://api/v1/api/v1']
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
    assert _url.normalize_base_url(base_url) == url


# Each message is compared once.
MALFORMED = yaml.safe_load(r"""
- [api.example.com, is not an http or https URL with a host.]
- ['ftp://h', '']
- ['https:///path', '']
- ['https://[::1', '']
- ['https://h:0', '']
- ['https://h:65536', '']
- ['https://user:secret@h', must not contain a user or a password.]
- ['https://@h', '']
- ['https://h?a=secret', must not contain a query or a fragment.]
- ['https://h/?', '']
- ['https://h/#', '']
- ['https://h\@other', 'contains a space, a backslash or an invisible character.']
- [' https://h', '']
- ["https://h/a\xa0b", '']
- ["https://h/\e[1m", '']
- ["https://h\u200b", '']
""")


@pytest.mark.parametrize(("base_url", "problem"), MALFORMED)
def test_a_malformed_base_url_is_refused(base_url, problem):
    with pytest.raises(OptionError, match=f"^base_url: {problem}"):
        _url.normalize_base_url(base_url)


LOOPBACK = yaml.safe_load("""
- ['localhost:80', true]
- [api.localhost, true]
- [127.0.0.1, true]
- ['[::1]:81', true]
- [localhost.example.com, false]
- [mylocalhost, false]
- [10.0.0.1, false]
""")


@pytest.mark.parametrize(("host", "expected"), LOOPBACK)
def test_names_and_addresses_of_this_machine_are_recognized(host, expected):
    assert _url.is_loopback(f"https://{host}/api/v1") is expected
