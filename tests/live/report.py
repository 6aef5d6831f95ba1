# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Report how a real API behaves, without private data of the account."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from ansible_collections.server_management.cloud.plugins.module_utils._client import Client
from ansible_collections.server_management.cloud.plugins.module_utils._errors import (
    CloudError,
    IncompleteListing,
)
from ansible_collections.server_management.cloud.plugins.module_utils._models import FIELDS
from ansible_collections.server_management.cloud.plugins.module_utils._options import Connection
from ansible_collections.server_management.cloud.plugins.module_utils._url import (
    next_link,
    origin,
    resolve,
)
from live.exchange import Exchange, send

DESCRIPTION = Path(__file__).resolve().parents[2] / "docs" / "openapi.yaml"
WRONG_TOKEN = "not-a-token-of-any-account"
COUNTED = ("status", "plan", "region")
_MOST_ERRORS = 10_000
_MOST_SHOWN = 20
_HIDDEN = "(not shown)"
_CONTENT_TYPES = ("none", "application/json", "application/problem+json", "text/html", "text/plain")
_is_word = re.compile(r"[A-Za-z][\w./;=+ -]{0,60}", re.ASCII).fullmatch
_is_limit = re.compile(r".*rate-?limit.*|retry-after", re.IGNORECASE).fullmatch


@dataclass
class Report:
    """The lines of the report; ``deviates`` if the API differs from its documentation."""

    connection: Connection
    show_values: bool = False
    lines: list[str] = field(default_factory=list)
    deviates: bool = False
    _private: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._private |= {self.connection.api_token, *origin(self.connection.base_url)[1:2]}

    def check_listing(self) -> None:
        """Request the listing once, and describe the response."""
        exchange, content = self._send("The list of servers", self.connection.api_token)
        if exchange.status != 200 or exchange.failure:
            self.deviates = True
            return
        self._compare(content)
        servers = _servers(content)
        self._add("servers", len(servers))
        more = content.get("has_more") if isinstance(content, dict) else None
        self._add("has_more", json.dumps(more) if isinstance(more, bool) else "not true or false")
        self._add("Link", self._link(exchange.headers))
        extra = Counter(key for server in servers for key in server if key not in FIELDS)
        self._add("fields beyond the documented ones", self._counts(extra))
        for name in COUNTED:
            values = Counter(str(server[name]) for server in servers if name in server)
            shown = self._counts(values) if self.show_values else f"{len(values)} different"
            self._add(f"values of {name}", shown)

    def check_client(self) -> None:
        """Read the account with the collection, without retries, and report the result."""
        self.lines.append("The collection reads the account:")
        try:
            servers = Client(self.connection, lambda text: None).list_servers()
        except CloudError as error:
            # Several pages are not a deviation from the documentation.
            self.deviates = self.deviates or not isinstance(error, IncompleteListing)
            # Not its message, which quotes the response.
            status = f", HTTP {error.status}" if error.status else ""
            self._add("result", f"failed with code {error.code}{status}")
        else:
            self._add("result", f"{len(servers)} servers")

    def check_refusal(self, title: str, token: str) -> None:
        """Send a token that must be refused, and describe the response."""
        self._private.add(token)
        exchange, content = self._send(title, token)
        if isinstance(content, dict):
            self._add("keys of the body", self._counts(Counter(content.keys())))
        scheme = exchange.headers.get("WWW-Authenticate", "").partition(" ")[0]
        self._add("WWW-Authenticate", self._safe(scheme) if scheme else "none")

    def _send(self, title: str, token: str) -> tuple[Exchange, Any]:
        """Report one exchange, and return it with its parsed body, None if that is not JSON."""
        connection = self.connection
        url = f"{connection.base_url}/servers"
        exchange = send(url, token, connection.verify, connection.timeout)
        content = _parse(exchange)
        fields = ("id", "name", "ipv4")
        self._private |= {
            str(server.get(name, "")) for server in _servers(content) for name in fields
        }
        self.lines.append(f"{title}:")
        self._add("time", f"{exchange.seconds:.2f} s")
        if exchange.status:
            self._add("HTTP status", exchange.status)
            kind = exchange.headers.get("Content-Type", "none").partition(";")[0].strip().lower()
            self._add("content type", kind if kind in _CONTENT_TYPES else _HIDDEN)
            self._add("size", f"{len(exchange.body)} bytes")
            self._add_limits(exchange.headers)
        if exchange.failure:
            self._add("failure", exchange.failure)
        elif content is None:
            self._add("body", "not JSON, or nested too deeply")
        return exchange, content

    def _compare(self, content: Any) -> None:
        problems = Counter(deviations(content))
        self.deviates = self.deviates or bool(problems)
        self._add("as documented", "no" if problems else "yes")
        for problem, count in problems.most_common(_MOST_SHOWN):
            self.lines.append(f"    {problem}: {count} times")

    def _link(self, headers: Mapping[str, str]) -> str:
        target = next_link(headers.get("Link", ""))
        if not target:
            return 'without rel="next"' if "Link" in headers else "none"
        url = resolve(f"{self.connection.base_url}/servers", target)
        if url is None:
            return 'rel="next" to another origin'
        names = Counter(name for name, _value in parse_qsl(urlsplit(url).query))
        return f'rel="next" to the same origin, parameters {self._counts(names)}'

    def _add_limits(self, headers: Mapping[str, str]) -> None:
        limits = {name: value for name, value in headers.items() if _is_limit(name)}
        shown = [
            f"{self._safe(name)}: {value if value.isdigit() else 'not a number'}"
            for name, value in limits.items()
        ]
        self._add("rate-limit headers", ", ".join(shown[:_MOST_SHOWN]) or "none")

    def _counts(self, counts: Counter[str]) -> str:
        shown: Counter[str] = Counter()
        for text, count in counts.items():
            shown[self._safe(text)] += count
        listed = [f"{text} ({count})" for text, count in shown.most_common(_MOST_SHOWN)]
        more = len(shown) - len(listed)
        return (", ".join(listed) or "none") + (f" and {more} more" if more else "")

    def _safe(self, text: str) -> str:
        """Return text of the API if it is a plain word without private data."""
        lowered = text.lower()
        # A very short name, such as "a", is part of many words.
        private = any(
            secret.lower() in lowered if len(secret) > 3 else secret.lower() == lowered
            for secret in self._private
            if secret
        )
        return text if _is_word(text) and not private else _HIDDEN

    def _add(self, name: str, value: object) -> None:
        self.lines.append(f"  {name}: {value}")


def _parse(exchange: Exchange) -> Any:
    if exchange.failure:
        return None
    try:
        return json.loads(exchange.body)
    except (ValueError, RecursionError):
        return None


def _servers(content: Any) -> list[dict[str, Any]]:
    data = content.get("data") if isinstance(content, dict) else None
    return [item for item in data if isinstance(item, dict)] if isinstance(data, list) else []


def deviations(content: Any) -> list[str]:
    """Return the differences of a listing from docs/openapi.yaml, without its values."""
    document = yaml.safe_load(DESCRIPTION.read_text(encoding="utf-8"))
    schema = {"$ref": "#/components/schemas/ServerList", "components": document["components"]}
    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    return [_describe(error) for error in islice(validator.iter_errors(content), _MOST_ERRORS)]


def _describe(error: ValidationError) -> str:
    # The path contains only documented names, because only those are validated.
    path = "".join("[]" if isinstance(part, int) else f".{part}" for part in error.absolute_path)
    place = path.lstrip(".") or "the response"
    if error.validator == "required" and isinstance(error.instance, dict):
        required: Any = error.validator_value
        # One error for each missing property; its message starts with the name.
        named = next((name for name in required if error.message.startswith(repr(name))), "")
        return f"{place} has no {named}"
    expected = f" {error.validator_value}" if error.validator == "type" else ""
    return f"{place} is not of the documented {error.validator}{expected}"
