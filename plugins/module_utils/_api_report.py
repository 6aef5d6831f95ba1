# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report of api_info: check an account, read-only, and describe it without private data."""

from __future__ import annotations

import ipaddress
import json
import platform
import re
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from email.utils import parsedate_to_datetime
from importlib import metadata
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ._client import Client
from ._envelope import parse_listing, read_json
from ._errors import CloudError, MalformedResponse, MissingLibrary
from ._http import Response
from ._models import FIELDS
from ._options import VERSION, Connection
from ._url import Request, next_link, origin, resolve

_MAX_REQUESTS = 3
_MAX_NAMES = 20  # in each list of the report
_COUNTED = {"statuses": "status", "plans": "plan", "regions": "region"}
_PRIVATE = ("id", "name", "ipv4")  # fields whose values never appear in the report
_HIDDEN = "(not shown)"

# Headers that are named in the report. The values of the standard ones are shown, too.
_is_named = re.compile(
    r".*(rate-?limit|retry-after|deprecat|sunset|request-?id|correlation|trace|version).*", re.I
).fullmatch
_has_value = re.compile(
    r"retry-after|deprecation|sunset|(x-)?ratelimit-(limit|remaining|reset)", re.I
).fullmatch
# Not with an address, as in ip-10.1.2.3: it can be one of a server that the listing does not have.
_is_word = re.compile(r"(?!.*(?:\d+\.){3}\d)[A-Za-z][\w.-]{0,60}", re.ASCII).fullmatch
_is_value = re.compile(r"[\w@:;,=+ -]{1,60}", re.ASCII).fullmatch
_is_time = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII).fullmatch


class _Enough(Exception):
    """The last request that the check may send was successful."""


class _Probe(Client):
    """A client that records its first requests, and sends no more."""

    def __init__(self, connection: Connection, warn: Callable[[str], None]) -> None:
        super().__init__(replace(connection, retries=0), warn)
        self.count = 0
        self.milliseconds: int | None = None
        self.headers: Mapping[str, str] = {}
        self.received = 0.0  # the time of the first response
        self.responses: list[Response] = []

    def _get(self, request: Request, limit: int) -> Response:
        if self.count == _MAX_REQUESTS:
            raise _Enough
        self.count += 1
        start = time.monotonic()
        try:
            response = super()._get(request, limit)
        except MissingLibrary:
            self.count = 0
            raise
        finally:
            if self.count == 1:
                self.milliseconds = round(1000 * (time.monotonic() - start))
                self.headers, self.received = self._http.headers, time.time()
        self.responses.append(response)
        return response


def check(
    connection: Connection, warn: Callable[[str], None], ansible: str, show_values: bool
) -> tuple[dict[str, Any], CloudError | None]:
    """Read up to three pages, and return the report with the failure, if there was one."""
    probe = _Probe(connection, warn)
    failure: CloudError | None = None
    try:
        probe.list_servers()
    except _Enough:
        pass
    except CloudError as error:
        failure = error
    servers, more = _received(probe.responses)
    private = {connection.api_token, origin(connection.base_url)[1]}
    private.update(str(server.get(field, "")) for server in servers for field in _PRIVATE)
    names = _Names(private)
    report = {
        "versions": _versions(ansible),
        "tls": _tls(connection),
        "token": _token(probe, failure),
        "status": 200 if probe.responses else failure.status if failure else None,
        "error_code": failure.code if failure else None,
        "requests": probe.count,
        "milliseconds": probe.milliseconds,
        "clock_skew": _clock_skew(probe),
        **_describe_servers(servers, names, show_values),
        "has_more": more,
        **_describe_headers(probe.headers, connection.base_url, names),
    }
    if failure and failure.code == MalformedResponse.code:
        report["as_documented"] = False
    elif not probe.responses:
        report["as_documented"] = None
    if more is None:  # without a list of servers, 0 would look like an empty account
        report.update(servers=None, distinct=None)
    return report, failure


def _received(responses: Iterable[Response]) -> tuple[list[dict[str, Any]], bool | None]:
    """Return the servers of the pages, and ``has_more`` of the last one; None without a page."""
    elements: list[Any] = []
    more: bool | None = None
    with suppress(MalformedResponse):  # it is the failure
        for response in responses:
            listing = parse_listing(read_json(response.body, str))
            more = listing.has_more
            elements += listing.data
    return [element for element in elements if isinstance(element, dict)], more


class _Names:
    """Show text from the API only if it contains no private data."""

    def __init__(self, private: Iterable[str]) -> None:
        self._private = {text.lower() for text in private if text}

    def show(self, text: str) -> str:
        """Return a text that is one word without private data."""
        return text if _is_word(text) and self.is_public(text) else _HIDDEN

    def is_public(self, text: str) -> bool:
        """Return whether a text of at most 61 characters contains no private data.

        Private data of less than 4 characters is only compared with the whole text: "a" is part of
        many words.
        """
        lowered = text.lower()
        size = len(lowered)
        parts = (lowered[i:j] for i in range(size) for j in range(i + 4, size + 1))
        return lowered not in self._private and self._private.isdisjoint(parts)

    def count(self, counts: Counter[str]) -> dict[str, int]:
        """Return the most frequent texts with their numbers."""
        shown: Counter[str] = Counter()
        for text, count in counts.most_common(1000):
            shown[self.show(text)] += count
        return dict(shown.most_common(_MAX_NAMES))


def _describe_servers(
    servers: list[dict[str, Any]], names: _Names, show_values: bool
) -> dict[str, Any]:
    deviations = Counter(text for server in servers for text in _deviations(server))
    further = Counter(key for server in servers for key in server if key not in FIELDS)
    values = {
        plural: Counter(server[field] for server in servers if isinstance(server.get(field), str))
        for plural, field in _COUNTED.items()
    }
    report: dict[str, Any] = {
        "as_documented": not deviations,
        "deviations": [f"{text} ({count})" for text, count in sorted(deviations.items())],
        "further_fields": names.count(further),
        "servers": len(servers),
        "distinct": {plural: len(counts) for plural, counts in values.items()},
    }
    if show_values:
        report["value_counts"] = {plural: names.count(counts) for plural, counts in values.items()}
    return report


def _deviations(server: dict[str, Any]) -> Iterable[str]:
    """Yield how a server differs from the documentation, without its values."""
    for field in FIELDS:
        if field not in server:
            yield f"{field} is missing"
        elif not isinstance(server[field], str):
            yield f"{field} is not text"
        elif field == "ipv4" and not _is_ipv4(server[field]):
            yield "ipv4 is not an IPv4 address"
        elif field == "created_at" and not _is_time(server[field]):
            yield "created_at is not a time in UTC"


def _is_ipv4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


def _versions(ansible: str) -> dict[str, str | None]:
    versions: dict[str, str | None] = {
        "collection": VERSION,
        "ansible": ansible,
        "python": platform.python_version(),
        "openssl": ssl.OPENSSL_VERSION.partition("  ")[0],
        "requests": None,
        "urllib3": None,
    }
    for package in ("requests", "urllib3"):
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions


def _tls(connection: Connection) -> str:
    if connection.base_url.startswith("http:"):
        return "not used"
    if connection.verify is False:
        return "not verified"
    return "verified" if connection.verify is True else "verified with ca_path"


def _token(probe: _Probe, failure: CloudError | None) -> str:
    if probe.responses:
        return "accepted"
    outcomes = {"unauthorized": "rejected", "forbidden": "lacks the scope servers:read"}
    return outcomes.get(failure.code if failure else "", "not known")


def _clock_skew(probe: _Probe) -> int | None:
    """Return by how many seconds the clock of the API is ahead of this machine's."""
    try:
        date = parsedate_to_datetime(probe.headers.get("Date", ""))
        return round(date.timestamp() + 0.5 - probe.received)  # Date has whole seconds
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def _describe_headers(headers: Mapping[str, str], base_url: str, names: _Names) -> dict[str, Any]:
    shown = {}
    for name, value in sorted(pair for pair in headers.items() if _is_named(pair[0]))[:_MAX_NAMES]:
        is_shown = _has_value(name) and _is_value(value) and names.is_public(value)
        shown[names.show(name)] = value if is_shown else _HIDDEN
    return {"headers": shown, "link": _link(headers.get("Link", ""), base_url, names)}


def _link(header: str, base_url: str, names: _Names) -> str:
    target = next_link(header)
    if not target:
        return 'without rel="next"' if header else "none"
    url = resolve(f"{base_url}/servers", target)
    if url is None:
        return 'rel="next" to another origin'
    parameters = sorted({names.show(name) for name, _value in parse_qsl(urlsplit(url).query)})
    return f'rel="next" to the same origin, parameters {json.dumps(parameters[:_MAX_NAMES])}'
