# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The exception tree: every failure between a user's options and a checked list of servers.

After the errors with ``is_temporary``, a request is repeated, and a stale cache entry may be used.

    CloudError
    ├── OptionError            an option is missing or malformed
    │   └── TokenFileUnusable  the token file can't be read, or has no token
    ├── MissingLibrary         requests, or PySocks, can't be imported
    ├── NotYetLive             the API has announced the operation, which is not live
    ├── Unreachable            no connection, or one that was interrupted      (is_temporary)
    │   └── TimedOut           no connection, or no response, within the timeout
    ├── TLSFailed              the certificate or the handshake was refused
    ├── StatusError            a response with another status than that of success
    │   ├── Unauthorized       401
    │   ├── Forbidden          403
    │   ├── NotFound           404
    │   ├── ProxyRefused       407, or a proxy that opens no connection
    │   ├── RateLimited        429                                             (is_temporary)
    │   ├── Redirected         3xx
    │   └── ServerFailed       408, 5xx                                        (is_temporary)
    ├── MalformedResponse      not the documented envelope
    │   └── IncompleteListing  has_more, and no way to continue
    └── TooFewServers          fewer servers than min_servers requires
"""

from __future__ import annotations

import json
import sys
from collections.abc import Container
from typing import Any

if sys.version_info < (3, 10):  # noqa: UP036
    # Modules, plugins and the event source import this utility first. The others fail on older
    # Pythons with a traceback.
    _found = ".".join(map(str, sys.version_info[:2]))
    _message = (
        f"server_management.cloud requires Python 3.10 or later; {sys.executable} is {_found}."
    )
    # An inventory plugin has Ansible's plugins, and the event source no Ansible at all.
    if "ansible.plugins" in sys.modules or "ansible.module_utils" not in sys.modules:
        raise RuntimeError(f"{_message} Install Ansible or ansible-rulebook with a later Python.")
    _message += " Set ansible_python_interpreter."
    sys.stdout.write(json.dumps({"failed": True, "changed": False, "msg": _message}))
    raise SystemExit(1)


# The next step if the response is not the API's.
URL_ADVICE = "Check base_url: the address of the API, without /api/v1."


class CloudError(Exception):
    """Base class: ``problem`` says what was wrong, and ``next_step`` what to do.

    ``next_step`` of a class is that of its errors, unless one has another. ``status`` is the HTTP
    status, if there was one; ``code`` is stable, for scripts. ``is_temporary`` means that a further
    attempt may succeed, and that the last good listing may be used for a while. ``retry_after`` is
    the number of seconds that the API asks to wait, if it does, and ``attempts`` how often a
    request was tried.
    """

    code = "error"
    next_step = ""
    is_temporary = False
    retry_after: float | None = None
    attempts = 1

    def __init__(self, problem: str, next_step: str = "", status: int | None = None) -> None:
        super().__init__(problem, next_step, status)
        self.problem = problem
        self.next_step = next_step or self.next_step
        self.status = status

    @property
    def message(self) -> str:
        """What was wrong, and how often a request was sent if it was repeated."""
        if self.attempts == 1:
            return self.problem
        return f"{self.problem} Tried {self.attempts} times."

    def __str__(self) -> str:
        return f"{self.message} {self.next_step}".strip()

    def as_result(self) -> dict[str, Any]:
        """Return ``error`` of a module's result or of an event."""
        return {"code": self.code, "status": self.status, "message": self.message}


class OptionError(CloudError):
    """An option is missing or malformed; the message starts with its name."""

    code = "invalid_option"


class TokenFileUnusable(OptionError):
    """The token file can't be read or has no token; that may be temporary."""

    code = "invalid_token_file"


class MissingLibrary(CloudError):
    """A Python library can't be used where Ansible runs."""

    code = "missing_library"


class NotYetLive(CloudError):
    """The API has announced the operation, but it is not live.

    ``operation`` and ``scope`` are those of the table of operations.
    """

    code = "not_yet_live"
    operation = ""
    scope = ""


class Unreachable(CloudError):
    """There was no connection, or it was interrupted before the end of the response."""

    code = "unreachable"
    next_step = "Check base_url (scheme, host and port), the network, and any firewall or proxy."
    is_temporary = True


class TimedOut(Unreachable):
    """There was no connection, or no response, within the option ``timeout``."""

    code = "timeout"


class TLSFailed(CloudError):
    """The certificate or the handshake was refused; another attempt would not help."""

    code = "tls"
    next_step = (
        "Check base_url (scheme, host and port), any proxy, and the clock of this machine. For a "
        "private CA, set ca_path to its PEM bundle. Python 3.13 and later check certificates "
        "strictly."
    )


class StatusError(CloudError):
    """The API returned another status than that of success.

    A subclass is for some ``statuses``. The names in braces of ``sentence``, what was wrong, and of
    ``next_step`` are those that ``status_error`` fills in.
    """

    code = "unexpected_status"
    statuses: Container[int] = ()
    sentence = "The API returned an unexpected status (HTTP {response.status})."
    next_step = URL_ADVICE


class Unauthorized(StatusError):
    """The token was rejected."""

    code = "unauthorized"
    statuses = (401,)
    sentence = "The API rejected the token (HTTP 401)."
    next_step = (
        "Check {connection.token_label}: the token may be misspelled, revoked or for another "
        "account."
    )


class Forbidden(StatusError):
    """The API refuses the request; the token may lack the scope."""

    code = "forbidden"
    statuses = (403,)
    sentence = (
        "The API refuses the request (HTTP 403); the token may lack the scope {request.scope}."
    )
    next_step = (
        "Check the scopes of the token from {connection.token_label} in the dashboard, and any "
        "firewall."
    )


class NotFound(StatusError):
    """The endpoint does not exist at ``base_url``."""

    code = "not_found"
    statuses = (404,)
    sentence = "The API has no {request.subject} at {response.url} (HTTP 404)."


class ProxyRefused(StatusError):
    """A proxy requires a password, or does not open the connection."""

    code = "proxy_refused"
    statuses = (407,)
    sentence = "A proxy requires a user and a password (HTTP 407)."
    next_step = (
        "Check the environment variables http_proxy, https_proxy and all_proxy (with a password, "
        "the form is http://user:password@host:port) and what the proxy allows, or list the host "
        "in no_proxy."
    )


class RateLimited(StatusError):
    """The API limits requests."""

    code = "rate_limited"
    statuses = (429,)
    sentence = "The API is throttling requests (HTTP 429)."
    next_step = "Run again later, or less often."
    is_temporary = True


class Redirected(StatusError):
    """Redirects are not followed, so that the token stays at the origin of ``base_url``."""

    code = "redirected"
    statuses = range(300, 400)
    sentence = "The API redirects to {target}, which is not followed (HTTP {response.status})."


class ServerFailed(StatusError):
    """The API, or a proxy in front of it, is failing."""

    code = "server_error"
    statuses = (408, *range(500, 600))
    sentence = "The API could not complete the request (HTTP {response.status})."
    next_step = "Run again later."
    is_temporary = True


class MalformedResponse(CloudError):
    """The response is not what the API documents."""

    code = "malformed_response"
    next_step = URL_ADVICE


class IncompleteListing(MalformedResponse):
    """The API reports more servers, but not how to request them."""

    code = "incomplete_listing"


class TooFewServers(CloudError):
    """The account has fewer servers than the option ``min_servers`` requires."""

    code = "too_few_servers"


def class_for(status: int) -> type[StatusError]:
    """Return the class of the error for a status."""
    for error_class in StatusError.__subclasses__():
        if status in error_class.statuses:
            return error_class
    return StatusError
