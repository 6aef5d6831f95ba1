# Copyright (c) 2026 The server_management.cloud contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compare the sandbox with docs/openapi.yaml, the description of the documented endpoint."""

from itertools import product
from pathlib import Path

import pytest
import yaml
from openapi_core import OpenAPI
from openapi_core.contrib.requests import RequestsOpenAPIRequest, RequestsOpenAPIResponse
from openapi_core.exceptions import OpenAPIError

from sandbox import Fault, Sandbox
from sandbox.account import SERVER
from sandbox.api import ROUTES

from .conftest import call

DESCRIPTION = Path(__file__).resolve().parents[3] / "docs" / "openapi.yaml"
PROTOCOL = yaml.safe_load(DESCRIPTION.read_text(encoding="utf-8"))


@pytest.fixture
def paged():
    """Serve an account in two pages."""
    with Sandbox(servers=20, page_size=10) as running:
        yield running


@pytest.fixture
def one():
    """Serve the documented server."""
    with Sandbox(servers=[dict(SERVER)]) as running:
        yield running


def check(sandbox, response):
    """Raise OpenAPIError unless request and response are as described."""
    servers = [{"url": f"{sandbox.url}/api/v1"}]
    description = OpenAPI.from_dict({**PROTOCOL, "servers": servers})
    request = RequestsOpenAPIRequest(response.request)
    description.validate_request(request)
    description.validate_response(request, RequestsOpenAPIResponse(response))


def test_the_description_is_valid():
    OpenAPI.from_dict(PROTOCOL).check_spec()


@pytest.mark.parametrize("route", ROUTES)
def test_a_route_is_as_described_and_requires_the_token(paged, route):
    refused = call(paged, route.path, route.method, headers={})
    assert refused.status_code == 401
    with pytest.raises(OpenAPIError):
        check(paged, refused)
    response = call(paged, route.path, route.method)
    check(paged, response)


def test_the_body_of_an_error_is_not_described(paged):
    paged.fail(Fault(status=503))
    check(paged, call(paged))


@pytest.mark.parametrize("header", ["{}", "Basic {}", "Bearer {}x", "Bearer"])
def test_any_other_authorization_header_is_refused(paged, header):
    headers = {"Authorization": header.format(paged.token)}
    assert call(paged, headers=headers).status_code == 401


REFUSED = yaml.safe_load("""
- [POST, /servers, 405]
- [DELETE, /servers, 405]
- [POST, /not/described, 404]
- [GET, /servers/, 404]
- [GET, /servers/srv_1, 404]
- [GET, '/servers?starting_after=srv_nowhere', 400]
""")


@pytest.mark.parametrize(("method", "path", "status"), REFUSED)
def test_other_methods_paths_and_pages_are_refused(paged, method, path, status):
    assert call(paged, path, method).status_code == status


@pytest.mark.parametrize("field", SERVER)
def test_a_server_needs_each_field(one, field):
    del one.servers[0][field]
    with pytest.raises(OpenAPIError):
        check(one, call(one))


WRONG = yaml.safe_load("""
- [id, without]
- [ipv4, 192.0.2.256]
- [ipv4, '2001:db8::1']
- [created_at, '2024-01-01T00:00:00+00:00']
- [created_at, '2024-02-30T00:00:00Z']
""")


@pytest.mark.parametrize(("field", "value"), [*WRONG, *product(SERVER, (7, None))])
def test_a_wrong_value_is_detected(one, field, value):
    one.servers[0][field] = value
    with pytest.raises(OpenAPIError):
        check(one, call(one))


ENVELOPES = yaml.safe_load("""
- {data: []}
- {has_more: false}
- {data: {}, has_more: false}
- {data: [], has_more: 'false'}
- []
""")


@pytest.mark.parametrize("content", ENVELOPES)
def test_a_wrong_envelope_is_detected(one, content):
    one.fail(Fault(body=content))
    with pytest.raises(OpenAPIError):
        check(one, call(one))
