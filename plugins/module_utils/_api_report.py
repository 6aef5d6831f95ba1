# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report of api_info: check an account, read-only, and describe it without its servers."""

from __future__ import annotations

import platform
import re
import ssl
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata
from urllib.parse import parse_qsl

from ._client import Client, Report
from ._envelope import Page
from ._errors import CloudError, Forbidden, MalformedResponse, Unauthorized
from ._models import FIELDS, Record
from ._operations import LIST_SERVERS
from ._options import VERSION, Connection
from ._request import Response
from ._text import excerpt, quoted, redact

_MAX_REQUESTS = 3
_MAX_NAMES = 20  # of fields in the report
# What a failure without a list of servers says about the token, by its code.
_TOKEN = {
    Unauthorized.code: "rejected",
    Forbidden.code: f"may lack the scope {LIST_SERVERS.scope}",
}
# The headers whose values are shown, if a response has them.
_HEADERS = (
    "Retry-After",
    "RateLimit",
    "RateLimit-Policy",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "Deprecation",
    "Sunset",
)
# The target and the relation of each link in a header, as in `<https://…?page=2>; rel="next"`.
_LINK = re.compile(r'<([^<>]*)>[^<]*?\brel="?([a-z][a-z. -]*)"?(?:[;, ]|$)')
_MAX_LINK = 4_096  # characters of this header that are read
_FORMS = {
    "ipv4": re.compile(r"\d{1,3}(\.\d{1,3}){3}", re.ASCII),
    "created_at": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII),
}


def check_account(
    connection: Connection, show: Report, ansible: str
) -> tuple[Record, CloudError | None]:
    """Read up to three pages, and return the report with the failure, if there was one."""
    pages: list[Page] = []
    client = Client(connection._replace(retries=0), show, keep_page=pages.append)
    failure: CloudError | None = None
    try:
        client.list_servers(_MAX_REQUESTS)
    except CloudError as error:
        failure = error
    code = failure.code if failure else ""
    report = {
        "versions": _versions(ansible),
        "token": "accepted" if pages else _TOKEN.get(code, "not known"),
        "error_code": code or None,
        **_describe_response(client.last_response, connection.api_token),
        **_describe_pages(pages),
    }
    if code == MalformedResponse.code:
        report["as_documented"] = False
    return report, failure


def _describe_response(response: Response | None, token: str) -> Record:
    """Describe the last response, without its body."""
    if response is None:
        return {"status": None, "headers": {}}
    headers = response.headers
    shown = {name: quoted(headers[name], token) for name in _HEADERS if name in headers}
    if "Link" in headers:
        links = redact(headers["Link"], token, shortest=1)[:_MAX_LINK]
        shown["Link"] = quoted(_describe_links(links), token)
    return {"status": response.status, "headers": shown}


def _describe_links(header: str) -> str:
    """Return the relations of links and their query parameters: "next (starting_after, limit)".

    Values are left out, because they can be ids.
    """
    links = []
    for target, relation in _LINK.findall(header):
        query = target.partition("?")[2]
        parameters = ", ".join(name for name, _value in parse_qsl(query))
        links.append(f"{relation} ({parameters})" if parameters else relation)
    return ", ".join(links)


def _describe_pages(pages: list[Page]) -> Record:
    """Describe the servers of the pages; without pages, 0 would look like an empty account."""
    servers: list[Record] = []
    for page in pages:
        servers += [element for element in page.data if isinstance(element, dict)]
    deviations: Counter[str] = Counter()
    further: Counter[str] = Counter()
    for server in servers:
        deviations.update(_deviations(server))
        further.update(key for key in server if key not in FIELDS)
    return {
        "as_documented": not deviations if pages else None,
        "deviations": [f"{text} ({count})" for text, count in sorted(deviations.items())],
        "further_fields": {excerpt(name): count for name, count in further.most_common(_MAX_NAMES)},
        "servers": len(servers) if pages else None,
        "has_more": pages[-1].has_more if pages else None,
    }


def _deviations(server: Record) -> Iterator[str]:
    """Yield how a server differs from the documentation, without its values."""
    for field in FIELDS:
        if field not in server:
            yield f"{field} is missing"
        elif not isinstance(server[field], str):
            yield f"{field} is not text"
        elif field in _FORMS and not _FORMS[field].fullmatch(server[field]):
            yield f"{field} does not have the documented form"


def _versions(ansible: str) -> Record:
    versions: Record = {
        "collection": VERSION,
        "ansible": ansible,
        "python": platform.python_version(),
        "openssl": ssl.OPENSSL_VERSION,
    }
    for package in ("requests", "urllib3"):
        versions[package] = None
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions
