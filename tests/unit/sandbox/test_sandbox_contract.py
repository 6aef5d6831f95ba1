# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the sandbox with docs/openapi.yaml, the description of the documented endpoint."""

from pathlib import Path

import pytest
import yaml
from openapi_core import OpenAPI
from openapi_core.contrib.requests import RequestsOpenAPIRequest, RequestsOpenAPIResponse
from openapi_core.exceptions import OpenAPIError

from sandbox import Fault, Sandbox
from sandbox.api import ROUTES

from .conftest import call

DESCRIPTION = Path(__file__).resolve().parents[3] / "docs" / "openapi.yaml"
PROTOCOL = yaml.safe_load(DESCRIPTION.read_text(encoding="utf-8"))
SCHEMAS = PROTOCOL["components"]["schemas"]


@pytest.fixture
def paged():
    """Serve an account of 300 servers in two pages."""
    with Sandbox(servers=300, pagination="link", page_size=150) as running:
        yield running


def check(sandbox, response):
    """Raise OpenAPIError unless request and response are as described."""
    variables = {"base_url": {"default": sandbox.url}}
    servers = [{**PROTOCOL["servers"][0], "variables": variables}]
    description = OpenAPI.from_dict({**PROTOCOL, "servers": servers})
    request = RequestsOpenAPIRequest(response.request)
    description.validate_request(request)
    description.validate_response(request, RequestsOpenAPIResponse(response))


def test_the_listing_is_as_described(paged):
    OpenAPI.from_dict(PROTOCOL).check_spec()
    for start in (0, 150):
        response = call(paged, params={"resume": start})
        check(paged, response)
        assert response.json()["has_more"] is (start == 0)


def described(schema):
    """Return the schema that a reference names."""
    return SCHEMAS[schema["$ref"].rpartition("/")[2]]


# A request of each route, by which its response is compared with the description.
EXAMPLES = {("GET", "/servers"): "/servers"}


@pytest.mark.parametrize("route", ROUTES)
def test_each_route_responds_as_described(paged, route):
    response = call(paged, EXAMPLES[route.method, route.path], route.method)
    assert response.ok
    check(paged, response)


@pytest.mark.parametrize("path", [path for path in PROTOCOL["paths"] if "{" not in path])
def test_only_described_fields_are_served(paged, path):
    response = PROTOCOL["paths"][path]["get"]["responses"]["200"]
    envelope = described(response["content"]["application/json"]["schema"])
    content = call(paged, path).json()
    assert set(envelope["required"]) <= content.keys() <= envelope["properties"].keys()
    element = described(envelope["properties"]["data"]["items"])
    assert content["data"]
    for served in content["data"]:
        assert sorted(served) == sorted(element["properties"]) == sorted(element["required"])


def test_the_body_of_an_error_is_not_described(paged):
    paged.fail(Fault(status=503))
    check(paged, call(paged))


def test_the_token_is_required_as_described(paged):
    response = call(paged, headers={})
    assert response.status_code == 401
    with pytest.raises(OpenAPIError):
        check(paged, response)


def test_only_the_described_operations_are_served(paged):
    described = []
    for path, methods in PROTOCOL["paths"].items():
        for method, operation in methods.items():
            (scope,) = operation.get("security", PROTOCOL["security"])[0]["bearer"]
            described.append((method.upper(), path, scope))
    served = [(route.method, route.path, route.scope) for route in ROUTES]
    assert sorted(served) == sorted(described)
    for path in PROTOCOL["paths"]:
        allowed = {route.method for route in ROUTES if route.path == path}
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - allowed:
            response = call(paged, path, method)
            assert response.status_code == 405
            assert response.headers["Allow"] == ", ".join(sorted(allowed))
    assert call(paged, "/not/described").status_code == 404


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "without"),
        ("id", 7),
        ("ipv4", "192.0.2.256"),
        ("ipv4", "2001:db8::1"),
        ("created_at", "2024-01-01T00:00:00+00:00"),
        ("created_at", "2024-02-30T00:00:00Z"),
    ],
)
def test_a_wrong_value_is_detected(paged, field, value):
    paged.servers[0] = {**paged.servers[0], field: value}
    with pytest.raises(OpenAPIError):
        check(paged, call(paged))
