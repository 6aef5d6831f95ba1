# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Responses, URLs and variables to which requests, urllib3 and Python's library give a meaning.

The versions are requests 2.28 and 2.34, urllib3 1.26 and 2.8, and Python 3.10 and 3.13. The tests
of the client draw from it.
"""

from __future__ import annotations

import gzip

LISTING = b'{"data": [], "has_more": false}'
CHUNK = b"%x\r\n%b\r\n" % (len(LISTING), LISTING)
END = b"0\r\n\r\n"
GZIP = gzip.compress(LISTING)


def _response(*lines: str, body: bytes = LISTING, start: str = "HTTP/1.1 200 OK") -> bytes:
    """Return a response that ends with its connection, unless a line gives its length."""
    return "\r\n".join([start, *lines, "", ""]).encode("latin-1") + body


def _chunked(*pieces: bytes, line: str = "Transfer-Encoding: chunked") -> bytes:
    return _response(line, body=b"".join(pieces))


# Each has words of its error, or "" if its listing is whole.
RESPONSES: dict[str, dict[bytes, str]] = {
    "status line and headers": {
        b"": "closed before the end",
        b"SSH-2.0-OpenSSH_9.2\r\n": "not valid HTTP",
        LISTING: "not valid HTTP",
        _response(start="HTTP/1.1 206 Partial Content"): "unexpected status (HTTP 206)",
        b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" + _response(): "",
        _response(*["A: b"] * 200): "not valid HTTP",
    },
    "length": {
        _response("Content-Length: 5, 7"): "header of the response is not valid",
        _response("Content-Length: 40"): "closed before the end",
        _response("Content-Length: 20"): "not JSON",
        _response("Content-Length: 0"): "not JSON",
    },
    "chunks": {
        _chunked(b"1f;a=b\r\n", LISTING, b"\r\n", END): "",
        _chunked(CHUNK): "closed before the end",
        _chunked(b"2\r\n{}"): "closed before the end",
        _chunked(b"1e\r\n", LISTING, b"\r\n", END): "closed before the end",
        _chunked(b"not a number\r\n{}\r\n", END): "closed before the end",
        _chunked(b"-1f\r\n", LISTING, b"\r\n", END): "Cannot reach",
    },
    "content encoding": {
        _response("Content-Encoding: X-GZIP", body=GZIP): "",
        _response("Content-Encoding: gzip", body=GZIP + b"x"): "incomplete",
        _response("Content-Encoding: gzip", body=GZIP + bytes(8)): "is not",
        _response("Content-Encoding: gzip", body=b""): "incomplete",
        _response("Content-Encoding: utf-8"): 'the encoding "utf-8"',
    },
    "character encoding": {
        _response(body=b"\xef\xbb\xbf" + LISTING): "",
        _response(body=LISTING.decode().encode("utf-16")): "not UTF-8",
        _response(body=LISTING.decode().encode("utf-16-le")): "not JSON",
        _response("Content-Type: text/plain; charset=utf-7"): "",
    },
}

# Links and addresses, of which each parser could find another host.
URLS = (
    *("?page=2", "//h/x", "///x", "http:x", "http:/x", "http:///x", "HTTP://H:/x", "..//x", ";x"),
    *("//h\uff0f@other/", "//h\u2044other", "//h\uff1a81/", "//other\uff03@h/", "//\uff48/x"),
    *("//h:80@other/x", "//other#@h/", "//other?@h/", "//other;@h/", "//h\\@other/x"),
    *("//h\\.other/", "//h%2f@other/x", "//h%40other/", "//h:080/x", "//h:+80/", "//h:8_0/"),
    *("//[h]/x", "//[h/", "//h]", "/%2e%2e/%zz?a=%", "//[::1]/x", "//[fe80::1%25eth0]/x"),
    *("//[fe80::1%eth0]/x", "//[::ffff:127.0.0.1]/", "//h%25/", "//\u24d7/x", "//h\u3002other/"),
    *("//\xdf.h/", "//h\xad/", "//xn--/", "//*.h/", "//.h/", "//h./x"),
    *("//user:pw@h/", "//@h/", "//:@h/x", "/a%7Eb?c=%41", "/\xe9?\u20ac", "/a|b^c`{}"),
    *(" //other/", "\t//other/", "\xa0//other/", "/a b"),
)

# Variables of the environment, which requests and its libraries also read in lower case.
VARIABLES = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("REQUEST_METHOD",),
    *("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("NETRC",),
    *("SSLKEYLOGFILE",),
)
