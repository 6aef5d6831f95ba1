# Copyright (c) 2026 The server_management.cloud contributors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is live: documents, the client and the tests say the same."""

import re

from ansible_collections.server_management.cloud.plugins.module_utils._models import GROUP_FIELDS
from ansible_collections.server_management.cloud.plugins.module_utils._operations import OPERATIONS
from sandbox.api import ROUTES
from support.collection import REPOSITORY, read, read_yaml, sources
from support.fixtures import SERVERS
from support.places import METHODS, REQUESTS

LIVE = [row for row in OPERATIONS if row.request]
DESCRIPTION = read_yaml("docs/openapi.yaml")
PAGES = [*REPOSITORY.glob("docs/**/*.rst"), REPOSITORY / "README.md"]
DOCUMENTS = "\n".join(read(page) for page in PAGES)
# What users read or run: the sandbox, and everything but tests and tools.
NOT_PUBLISHED = ("tests/", "tools/", ".", "LICENSE")
PUBLISHED = [name for name in sources() if not name.startswith(NOT_PUBLISHED)]
PUBLISHED += [name for name in sources() if name.startswith("tests/sandbox/")]


def described():
    """Return the method, path, scope and status of success of each described operation."""
    operations = []
    for path, methods in DESCRIPTION["paths"].items():
        for method, operation in methods.items():
            security = operation.get("security", DESCRIPTION["security"])
            (scope,) = security[0]["bearer"]
            success = min(operation["responses"])
            operations.append((method.upper(), path, scope, success))
    return sorted(operations)


def test_the_client_sends_the_described_requests():
    sent = [(r.method, r.path, r.scope, str(r.success)) for r in REQUESTS]
    assert sorted(sent) == described()
    assert [request.scope for request in REQUESTS] == [row.scope for row in LIVE]


def test_the_sandbox_serves_the_described_requests():
    served = [(route.method, route.path, route.scope) for route in ROUTES]
    assert sorted(served) == [operation[:3] for operation in described()]


def test_two_servers_of_the_tests_differ_in_each_field_that_groups():
    _web, stopped, db = SERVERS
    for field in GROUP_FIELDS:
        assert stopped[field] != db[field], f"tests/support/fixtures.py: {field}"


def test_documents_do_not_quote_messages_about_what_is_live():
    for row in LIVE:
        assert f"{row.title} is not yet live" not in DOCUMENTS


def test_no_endpoint_and_no_method_is_invented():
    (server,) = DESCRIPTION["servers"]
    prefix = server["url"].removeprefix("{base_url}")
    endpoints = {prefix}
    for path in DESCRIPTION["paths"]:
        (first,) = re.findall(r"^/\w+", path)
        endpoints.add(prefix + first)
    for name in PUBLISHED:
        text = read(name)
        assert set(re.findall(r"/api/v\w+(?:/\w+)?", text)) <= endpoints, name
        assert set(re.findall(r"\b(?:POST|PUT|PATCH|DELETE)\b", text)) <= METHODS, name
